// SPDX-License-Identifier: Apache-2.0
// A folder that one logger writes to, and what an earlier run left there.
#ifndef TERN_SRC_TRAIN_LOG_RESUME_H
#define TERN_SRC_TRAIN_LOG_RESUME_H

#include "train/log/logger.h"

#define TERN_LOG_LINES_NAME "log.jsonl"
#define TERN_LOG_CSV_NAME   "log.csv"

// Takes the folder for the logger and opens its files, an earlier run's cut behind .resume_step.
// TERN_ERR_STATE where another logger has it, or there is a run that is not gone on with; where it
// cannot be written the logger is off.
tern_status tern_log_folder_take(tern_logger *logger, const tern_logger_new_options *options);
void tern_log_folder_leave(tern_logger *logger);

#endif
