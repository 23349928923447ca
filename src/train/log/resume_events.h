// SPDX-License-Identifier: Apache-2.0
// Event files that an earlier process left.
#ifndef TERN_SRC_TRAIN_LOG_RESUME_EVENTS_H
#define TERN_SRC_TRAIN_LOG_RESUME_EVENTS_H

#include "train/log/state.h"

#define TERN_LOG_EVENTS_NAME "events.out.tfevents."

// The number of seconds in the last of the names of those that are not empty; 0: there is none.
tern_status tern_log_events_find(const tern_logger *logger, int64_t *newest);
// That of all of them, and takes the events of steps behind logger->resume_step out of them, and
// torn ends.
tern_status tern_log_events_resume(const tern_logger *logger, int64_t *newest);

#endif
