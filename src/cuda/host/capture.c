// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/capture.h"

#include <stdatomic.h>
#include "base/error.h"
#include "cuda/host/check.h"

static _Thread_local tern_cuda_capture *capturing;
static atomic_int captures; // of all threads

tern_cuda_capture *tern_cuda_capture_of(int index)
{
    return capturing && capturing->index == index ? capturing : NULL;
}

tern_cuda_capture *tern_cuda_capture_of_thread(void)
{
    return capturing;
}

bool tern_cuda_any_capture(void)
{
    return atomic_load_explicit(&captures, memory_order_acquire) > 0;
}

tern_status tern_cuda_not_capturing(int index, const char *what)
{
    TERN_CHECK(!tern_cuda_capture_of(index), TERN_ERR_STATE,
               "%s while device cuda:%d is being captured: do it before the capture begins, or "
               "after it ended",
               what, index);
    return TERN_OK;
}

static bool exchange_mode(void)
{
    return tern_cuda_clear_error(cudaThreadExchangeStreamCaptureMode(&capturing->mode)) ==
           cudaSuccess;
}

void tern_cuda_relax(void)
{
    if (!capturing || capturing->relaxed++ > 0)
        return;
    capturing->mode = cudaStreamCaptureModeRelaxed;
    capturing->exchanged = exchange_mode();
}

void tern_cuda_unrelax(void)
{
    if (capturing && --capturing->relaxed == 0 && capturing->exchanged)
        (void)exchange_mode();
}

cudaError_t tern_cuda_capture_begin(tern_cuda_capture *capture)
{
    atomic_fetch_add(&captures, 1);
    const cudaError_t error =
        cudaStreamBeginCapture(capture->origin->stream, cudaStreamCaptureModeThreadLocal);
    if (error == cudaSuccess)
        capturing = capture;
    else
        atomic_fetch_sub(&captures, 1);
    return error;
}

cudaError_t tern_cuda_capture_end(tern_cuda_capture *capture, cudaGraph_t *graph)
{
    const cudaError_t error = cudaStreamEndCapture(capture->origin->stream, graph);
    atomic_fetch_sub(&captures, 1);
    capturing = NULL;
    if (error == cudaSuccess && *graph)
        return cudaSuccess;
    if (*graph) // the error is one of earlier work
        cudaGraphDestroy(*graph);
    cudaGetLastError();
    return error != cudaSuccess ? error : cudaErrorStreamCaptureInvalidated;
}
