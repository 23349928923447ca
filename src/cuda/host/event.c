// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/event.h"

#include <math.h>
#include "base/error.h"
#include "base/mem.h"
#include "cuda/host/capture.h"
#include "cuda/host/check.h"
#include "cuda/host/current_device.h"
#include "cuda/host/current_stream.h"

struct tern_cuda_event {
    cudaEvent_t event;
    int index; // of the device
    bool recorded;
};

tern_cuda_event *tern_plugin_event_new(int index)
{
    if (tern_cuda_check("cuda_event_new", tern_cuda_make_current(index)))
        return NULL;
    tern_cuda_event *event = tern_mem_alloc(sizeof *event);
    if (!event)
        return NULL;
    event->index = index;
    if (!tern_cuda_check("cuda_event_new", cudaEventCreateWithFlags(&event->event, 0)))
        return event;
    tern_mem_free(event, sizeof *event);
    return NULL;
}

void tern_plugin_event_free(tern_cuda_event *event)
{
    if (!event)
        return;
    if (cudaEventDestroy(event->event) != cudaSuccess)
        cudaGetLastError();
    tern_mem_free(event, sizeof *event);
}

tern_status tern_plugin_event_record(tern_cuda_event *event)
{
    TERN_TRY(tern_cuda_check("cuda_event_record", tern_cuda_make_current(event->index)));
    TERN_TRY(tern_cuda_check("cuda_event_record",
                             cudaEventRecord(event->event, tern_cuda_raw_stream_of(event->index))));
    event->recorded = true;
    return TERN_OK;
}

tern_status tern_plugin_event_wait(tern_cuda_event *event, int index)
{
    TERN_TRY(tern_cuda_check("cuda_event_wait", tern_cuda_make_current(index)));
    return tern_cuda_check("cuda_event_wait",
                           cudaStreamWaitEvent(tern_cuda_raw_stream_of(index), event->event, 0));
}

tern_status tern_plugin_event_synchronize(tern_cuda_event *event)
{
    TERN_TRY(tern_cuda_not_capturing(event->index, "an event is waited for"));
    tern_cuda_relax();
    cudaError_t error = cudaEventSynchronize(event->event);
    tern_cuda_unrelax();
    return tern_cuda_check("cuda_event_synchronize", error);
}

static tern_status elapsed(tern_cuda_event *start, tern_cuda_event *end, float *milliseconds)
{
    TERN_CHECK(start->recorded && end->recorded, TERN_ERR_STATE,
               "cuda_event_elapsed: %s was not recorded", start->recorded ? "end" : "start");
    TERN_TRY(tern_plugin_event_synchronize(start));
    TERN_TRY(tern_plugin_event_synchronize(end));
    return tern_cuda_check("cuda_event_elapsed",
                           cudaEventElapsedTime(milliseconds, start->event, end->event));
}

double tern_plugin_event_elapsed(tern_cuda_event *start, tern_cuda_event *end)
{
    float milliseconds = 0;
    return elapsed(start, end, &milliseconds) ? NAN : (double)milliseconds;
}
