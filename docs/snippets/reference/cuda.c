// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/cuda.h, for the site.
#include "examples.h"

static void show_cuda_stream_new(void)
{
    if (!tern_cuda_is_available())
        return;
    // [tern_cuda_stream_new]
    tern_cuda_stream *stream = tern_cuda_stream_new(0);
    tern_status status = tern_cuda_stream_synchronize(stream);
    // [/tern_cuda_stream_new]
    expect(!status);
    tern_cuda_stream_free(stream);
}

static void show_cuda_event_new(void)
{
    if (!tern_cuda_is_available())
        return;
    // [tern_cuda_event_new]
    tern_cuda_event *event = tern_cuda_event_new(0);
    tern_status status = tern_cuda_event_record(event);
    // [/tern_cuda_event_new]
    expect(!status);
    tern_cuda_event_free(event);
}

int cuda_examples(void)
{
    show_cuda_stream_new();
    show_cuda_event_new();
    return failures;
}
