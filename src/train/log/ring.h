// SPDX-License-Identifier: Apache-2.0
// The ring of entries between threads that log and the writer.
#ifndef TERN_SRC_TRAIN_LOG_RING_H
#define TERN_SRC_TRAIN_LOG_RING_H

#include "train/log/state.h"

// Refuses a logger that was freed, and a forked child. NULL follows no rule here: callers have
// returned before.
tern_status tern_logger_check(const char *op, const tern_logger *logger);

// Whether an entry with a payload of that many bytes would be dropped now; it is counted then.
bool tern_log_ring_is_full(tern_logger *logger, int64_t nbytes);
// Appends an entry at the current time; false where it is dropped. With the lock held.
bool tern_log_ring_append(tern_logger *logger, tern_log_entry *entry);
// Entries that the writer has not done yet.
int64_t tern_log_ring_used(const tern_logger *logger);
// Now, or the last time before a clock went back. With the lock held.
double tern_log_time(tern_logger *logger);

// A payload with so many bytes at its end. NULL raises.
tern_log_payload *tern_log_payload_new(size_t nbytes);
void tern_log_payload_free(tern_log_payload *payload); // NULL is fine

#endif
