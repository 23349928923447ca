// SPDX-License-Identifier: Apache-2.0
// From entries to records: what tensors hold is read, counted and encoded, by the writer.
#ifndef TERN_SRC_TRAIN_LOG_RECORD_H
#define TERN_SRC_TRAIN_LOG_RECORD_H

#include "image/image.h"
#include "train/log/state.h"

// What a record points to; zeroed at the start.
typedef struct tern_log_scratch {
    void *memory;
    size_t nbytes;
    tern_image_bytes png;
} tern_log_scratch;
void tern_log_scratch_free(tern_log_scratch *scratch);

// False, with an error, where it cannot be made.
bool tern_log_record_make(int64_t bins, const tern_log_entry *entry, tern_log_record *record,
                          tern_log_scratch *scratch);

#endif
