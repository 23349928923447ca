// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/blas.h"

#include "base/error.h"
#include "cuda/host/current.h"
#include "cuda/host/memory.h"
#include "cuda/host/table.h"

static atomic_bool tf32;

tern_status tern_cuda_check_blas(const char *op, cublasStatus_t status)
{
    if (status == CUBLAS_STATUS_SUCCESS)
        return TERN_OK;
    cudaGetLastError();
    return tern_error_raise(status == CUBLAS_STATUS_ALLOC_FAILED ? TERN_ERR_NOMEM : TERN_ERR_DEVICE,
                            "%s: cuBLAS: %s (%s)", op, cublasGetStatusString(status),
                            cublasGetStatusName(status));
}

void tern_plugin_allow_tf32(bool allow)
{
    atomic_store_explicit(&tf32, allow, memory_order_relaxed);
}

bool tern_cuda_tf32(void)
{
    return atomic_load_explicit(&tf32, memory_order_relaxed);
}

// cublasSetStream resets the workspace to cuBLAS's own: the two calls belong together.
static cublasStatus_t bind(cublasHandle_t handle, cudaStream_t stream, void *workspace)
{
    cublasStatus_t status = cublasSetStream(handle, stream);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublasSetWorkspace(handle, workspace, (size_t)TERN_CUDA_WORKSPACE);
    return status;
}

// Products of 16-bit operands accumulate in float32, also where cuBLAS splits K.
static cublasStatus_t full_precision(cublasHandle_t handle)
{
    return cublasSetMathMode(
        handle,
        (cublasMath_t)(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION));
}

static cublasStatus_t create(int index, cublasHandle_t *handle)
{
    tern_cuda_capture_mode_relaxed_begin();
    cublasStatus_t status = cublasCreate(handle);
    if (status == CUBLAS_STATUS_ALLOC_FAILED &&
        tern_cuda_synchronize_and_trim(tern_cuda_device_get(index)))
        status = cublasCreate(handle);
    tern_cuda_capture_mode_relaxed_end();
    return status;
}

tern_status tern_cuda_blas_bind(int index, cublasHandle_t *handle, cudaStream_t stream,
                                void *workspace)
{
    cublasHandle_t made = *handle;
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    if (!made)
        status = create(index, &made);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = bind(made, stream, workspace);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = full_precision(made);
    if (status == CUBLAS_STATUS_SUCCESS)
        *handle = made;
    else if (made && !*handle)
        cublasDestroy(made);
    return tern_cuda_check_blas("matmul", status);
}

static tern_status workspace_take(tern_cuda_device *device, void **workspace)
{
    cudaError_t error = tern_cuda_workspace_alloc(device, workspace);
    if (error == cudaErrorMemoryAllocation && tern_cuda_synchronize_and_trim(device))
        error = tern_cuda_workspace_alloc(device, workspace);
    if (error == cudaErrorMemoryAllocation)
        return tern_cuda_out_of_memory(device, TERN_CUDA_WORKSPACE);
    return tern_cuda_check("matmul", error);
}

tern_status tern_cuda_graph_workspace(int index, void **workspace)
{
    tern_cuda_device *device = tern_cuda_device_get(index);
    TERN_TRY(workspace_take(device, &device->graph_workspace));
    *workspace = device->graph_workspace;
    return TERN_OK;
}

// ---- handles of streams -------------------------------------------------------------------------

// Handles live as long as the device is open: destroying one synchronizes the device, which would
// invalidate what other threads capture there.
static cublasHandle_t handle_take(tern_cuda_device *device)
{
    pthread_mutex_lock(&device->lock);
    cublasHandle_t handle =
        device->free_handle_count ? device->free_handles[--device->free_handle_count] : NULL;
    pthread_mutex_unlock(&device->lock);
    return handle;
}

// The array is long enough: there are no more handles than streams at a time.
static void handle_give(tern_cuda_device *device, cublasHandle_t handle)
{
    if (!handle)
        return;
    pthread_mutex_lock(&device->lock);
    device->free_handles[device->free_handle_count++] = handle;
    pthread_mutex_unlock(&device->lock);
}

void tern_cuda_blas_handles_destroy(tern_cuda_device *device)
{
    for (cublasHandle_t handle; (handle = handle_take(device));)
        cublasDestroy(handle);
}

static tern_status blas_new(tern_cuda_stream *stream)
{
    tern_cuda_device *device = tern_cuda_device_get(stream->index);
    TERN_TRY(workspace_take(device, &stream->workspace));
    cublasHandle_t handle = handle_take(device);
    tern_status status =
        tern_cuda_blas_bind(stream->index, &handle, stream->stream, stream->workspace);
    if (!status) {
        stream->blas = handle;
        return TERN_OK;
    }
    handle_give(device, handle);
    tern_cuda_workspace_free(device, &stream->workspace);
    return status;
}

// cuBLAS does not tell where another device than the handle's is current, as kernels' launches do.
// A stream that an event forked into a capture has a workspace that is not the graph's to keep.
tern_status tern_cuda_blas_handle(tern_cuda_stream *stream, cublasHandle_t *handle)
{
    TERN_TRY(tern_cuda_check("matmul", tern_cuda_set_current_device(stream->index)));
    const tern_cuda_capture *capture = tern_cuda_current_capture_on(stream->index);
    const bool captured = capture && capture->stream == stream;
    bool forked = false;
    if (!captured)
        TERN_TRY(tern_cuda_check("matmul", tern_cuda_stream_forked(stream, &forked)));
    TERN_CHECK(!forked, TERN_ERR_UNSUPPORTED,
               "matmul: products are captured on the stream that the capture began on; this one "
               "became part of it by an event");
    if (!captured && !stream->blas)
        TERN_TRY(blas_new(stream));
    *handle = captured ? capture->origin->blas : stream->blas;
    return TERN_OK;
}

void tern_cuda_blas_free(tern_cuda_stream *stream)
{
    tern_cuda_device *device = tern_cuda_device_get(stream->index);
    if (!stream->blas)
        return;
    handle_give(device, stream->blas);
    stream->blas = NULL;
    tern_cuda_workspace_free(device, &stream->workspace);
}
