// SPDX-License-Identifier: Apache-2.0
// Loggers that are alive when the process exits write what they have.
#ifndef TERN_SRC_TRAIN_LOG_EXIT_H
#define TERN_SRC_TRAIN_LOG_EXIT_H

#include "train/log/state.h"

void tern_logger_register(tern_logger *logger);
void tern_logger_unregister(tern_logger *logger);

#endif
