// SPDX-License-Identifier: Apache-2.0
// Protocol Buffers' wire format, as far as event files need it.
#ifndef TERN_SRC_TRAIN_LOG_PROTOBUF_H
#define TERN_SRC_TRAIN_LOG_PROTOBUF_H

#include "train/log/bytes.h"

void tern_pb_add_int(tern_log_bytes *to, int field, int64_t value);
void tern_pb_add_double(tern_log_bytes *to, int field, double value);
void tern_pb_add_float(tern_log_bytes *to, int field, float value);
void tern_pb_add_bytes(tern_log_bytes *to, int field, const void *data, int64_t count);
void tern_pb_add_text(tern_log_bytes *to, int field, const char *text);
// Of packed repeated fields, without a key.
void tern_pb_add_raw_double(tern_log_bytes *to, double value);
void tern_pb_add_raw_float(tern_log_bytes *to, float value);

// A message, a text or packed values as a field: what is added between the two is its contents.
int64_t tern_pb_begin(tern_log_bytes *to, int field);
void tern_pb_end(tern_log_bytes *to, int64_t begun);

#endif
