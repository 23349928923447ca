// SPDX-License-Identifier: Apache-2.0
// The CUDA table's functions for events.
#ifndef TERN_SRC_CUDA_HOST_EVENT_H
#define TERN_SRC_CUDA_HOST_EVENT_H

#include <tern/cuda.h>

tern_cuda_event *tern_plugin_event_new(int index);
void tern_plugin_event_free(tern_cuda_event *event);
tern_status tern_plugin_event_record(tern_cuda_event *event);
tern_status tern_plugin_event_wait(tern_cuda_event *event, int index);
tern_status tern_plugin_event_synchronize(tern_cuda_event *event);
double tern_plugin_event_elapsed(tern_cuda_event *start, tern_cuda_event *end);

#endif
