// SPDX-License-Identifier: Apache-2.0
// A folder that one logger writes to, and what an earlier run left there.
#ifndef TERN_SRC_TRAIN_LOG_RESUME_H
#define TERN_SRC_TRAIN_LOG_RESUME_H

#include "train/log/logger.h"

#define TERN_LOG_LINES_NAME  "log.jsonl"
#define TERN_LOG_CSV_NAME    "log.csv"
#define TERN_LOG_EVENTS_NAME "events.out.tfevents."

// Takes the folder for the logger and opens its files, an earlier run's cut behind .resume_step.
// TERN_ERR_STATE where another logger has it, or there is a run that is not gone on with;
// TERN_ERR_IO where the disk fails.
tern_status tern_log_folder_take(tern_logger *logger, const tern_logger_new_options *options);
void tern_log_folder_leave(tern_logger *logger);

// Locks the folder until it is left.
tern_status tern_log_folder_lock(tern_logger *logger);

// Takes the lines of steps behind logger->resume_step out of log.jsonl and log.csv, and a torn end;
// the tags of the rest, and the last time, are the logger's from here on. No file is fine.
tern_status tern_log_lines_resume(tern_logger *logger);
tern_status tern_log_csv_resume(tern_logger *logger);

// Cuts torn ends of event files. *newest: the greatest number of seconds in their names, 0: there
// is none.
tern_status tern_log_events_resume(const tern_logger *logger, int64_t *newest);
// The first half of that: whether there are event files.
tern_status tern_log_events_find(const tern_logger *logger, int64_t *newest);

#endif
