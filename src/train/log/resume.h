// SPDX-License-Identifier: Apache-2.0
// Taking a folder: a new run's, or one that goes on.
#ifndef TERN_SRC_TRAIN_LOG_RESUME_H
#define TERN_SRC_TRAIN_LOG_RESUME_H

#include "train/log/state.h"

// Takes the folder for the logger and opens its files, an earlier run's cut behind .resume_step.
// TERN_ERR_STATE where another logger has it, or there is a run that is not gone on with;
// TERN_ERR_IO where the disk fails.
tern_status tern_log_folder_take(tern_logger *logger, const tern_logger_new_options *options);

#endif
