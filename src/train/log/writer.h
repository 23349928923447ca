// SPDX-License-Identifier: Apache-2.0
// The writer.
#ifndef TERN_SRC_TRAIN_LOG_WRITER_H
#define TERN_SRC_TRAIN_LOG_WRITER_H

#include "train/log/state.h"

// The thread, until logger->stop.
void tern_logger_run(void *logger);
// Without one: writes what is in the ring.
void tern_logger_drain(tern_logger *logger);
// Ends the thread with everything written, the end of the run too, closes the files and leaves the
// folder.
void tern_logger_end(tern_logger *logger, tern_run_status status);

#endif
