// SPDX-License-Identifier: Apache-2.0
// Records as TensorBoard's events.
#ifndef TERN_SRC_TRAIN_LOG_EVENTS_H
#define TERN_SRC_TRAIN_LOG_EVENTS_H

#include "train/log/bytes.h"
#include "train/log/values.h"

void tern_log_events(tern_log_bytes *to, const tern_log_record *record);
// How the session of hyper-parameters ended.
void tern_log_events_end(tern_log_bytes *to, double time, tern_run_status status);

#endif
