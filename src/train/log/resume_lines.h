// SPDX-License-Identifier: Apache-2.0
// Lines that an earlier process left.
#ifndef TERN_SRC_TRAIN_LOG_RESUME_LINES_H
#define TERN_SRC_TRAIN_LOG_RESUME_LINES_H

#include "train/log/state.h"

// Takes the lines of steps behind logger->resume_step out of log.jsonl and log.csv, and a torn end;
// the tags of the rest, and the last time, are the logger's from here on. No file is fine.
tern_status tern_log_lines_resume(tern_logger *logger);
tern_status tern_log_csv_resume(tern_logger *logger);

#endif
