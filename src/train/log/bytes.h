// SPDX-License-Identifier: Apache-2.0
// Bytes that grow while an entry is encoded. Where there is no memory for more, `failed` says so,
// and nothing is added until tern_log_bytes_cut.
#ifndef TERN_SRC_TRAIN_LOG_BYTES_H
#define TERN_SRC_TRAIN_LOG_BYTES_H

#include "base/error.h"

typedef struct tern_log_bytes {
    uint8_t *data;
    int64_t count, capacity;
    bool failed;
} tern_log_bytes;

void tern_log_bytes_free(tern_log_bytes *bytes);
// Takes all behind `count` away, a failure as well.
void tern_log_bytes_cut(tern_log_bytes *bytes, int64_t count);
void tern_log_add(tern_log_bytes *bytes, const void *data, size_t count);
void tern_log_add_text(tern_log_bytes *bytes, const char *text);

// A decimal number of at most 17 digits that is `value` again, which is finite; the thread's locale
// is C.
#define TERN_LOG_NUMBER_SIZE 32
void tern_log_number_text(char text[TERN_LOG_NUMBER_SIZE], double value);
void tern_log_add_number(tern_log_bytes *bytes, double value);
void tern_log_add_integer(tern_log_bytes *bytes, int64_t value);
// Seconds with six decimals.
void tern_log_add_time(tern_log_bytes *bytes, double time);

#endif
