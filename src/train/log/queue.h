// SPDX-License-Identifier: Apache-2.0
// What every call that logs begins and ends with.
#ifndef TERN_SRC_TRAIN_LOG_QUEUE_H
#define TERN_SRC_TRAIN_LOG_QUEUE_H

#include "train/log/state.h"

// tern_logger_check, and refuses what is no tag, or one of another kind, and a negative step.
tern_status tern_logger_check_entry(const char *op, tern_logger *logger, const char *tag,
                                    tern_log_kind kind, int64_t step);
// Appends an entry, whose payload is the logger's from here on; what does not fit is dropped. Fails
// for what is no tag, or one of another kind.
tern_status tern_logger_push(const char *op, tern_logger *logger, tern_log_entry entry,
                             const char *tag);
// The same of a payload; NULL was dropped, and counted, before.
tern_status tern_logger_push_payload(const char *op, tern_logger *logger, tern_log_kind kind,
                                     int64_t step, tern_log_payload *payload, const char *tag);

#endif
