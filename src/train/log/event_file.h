// SPDX-License-Identifier: Apache-2.0
// Event files of TensorBoard: records, each its length and an Event of event.proto, with checksums.
#ifndef TERN_SRC_TRAIN_LOG_EVENT_FILE_H
#define TERN_SRC_TRAIN_LOG_EVENT_FILE_H

#include "train/log/bytes.h"

// An event whose other fields are added between the two.
int64_t tern_event_begin(tern_log_bytes *to, double time, int64_t step);
void tern_event_end(tern_log_bytes *to, int64_t begun);

// The first record of a file; with `purge_step` >= 0 also the one by which readers forget what
// earlier files have from that step on.
void tern_event_file_begin(tern_log_bytes *to, double time, int64_t purge_step);

// Whether `count` bytes begin with a whole record: *nbytes of it, and the step of its event.
bool tern_event_record(const uint8_t *bytes, int64_t count, int64_t *nbytes, int64_t *step);

#endif
