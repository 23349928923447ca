// SPDX-License-Identifier: Apache-2.0
// A folder is one logger's.
#ifndef TERN_SRC_TRAIN_LOG_FOLDER_LOCK_H
#define TERN_SRC_TRAIN_LOG_FOLDER_LOCK_H

#include "train/log/state.h"

// TERN_ERR_STATE where another logger, of this process or another, has it; `shown` is its name in
// messages.
tern_status tern_log_folder_lock(tern_logger *logger, const char *shown);
void tern_log_folder_leave(tern_logger *logger); // one that is not locked is fine

#endif
