// SPDX-License-Identifier: Apache-2.0
// The page of a run.
#ifndef TERN_SRC_TRAIN_LOG_PAGE_H
#define TERN_SRC_TRAIN_LOG_PAGE_H

#include "train/log/state.h"

// Writes it anew; false, with an error, where that fails.
bool tern_log_page_write(tern_logger *logger);
// Once more where there is one, as the run has ended.
void tern_log_page_end(tern_logger *logger);

#endif
