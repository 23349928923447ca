// SPDX-License-Identifier: Apache-2.0
// Lines of log.jsonl about the run itself.
#ifndef TERN_SRC_TRAIN_LOG_LINES_H
#define TERN_SRC_TRAIN_LOG_LINES_H

#include "train/log/state.h"

// The first line that a process writes.
void tern_log_run_line(tern_log_bytes *to, const tern_logger *logger, double time);
void tern_log_dropped_line(tern_log_bytes *to, int64_t count, double time);
void tern_log_end_line(tern_log_bytes *to, tern_run_status status, double time);

#endif
