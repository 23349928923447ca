// SPDX-License-Identifier: Apache-2.0
#include "cuda/blas.h"

#include <stdatomic.h>
#include "cuda/allocator.h"
#include "cuda/check.h"

#define WORKSPACE ((int64_t)32 << 20)

static atomic_bool tf32;

void tern_plugin_allow_tf32(bool allow)
{
    atomic_store_explicit(&tf32, allow, memory_order_relaxed);
}

bool tern_cuda_tf32(void)
{
    return atomic_load_explicit(&tf32, memory_order_relaxed);
}

// Setting the stream takes the workspace away again: these two belong together.
static cublasStatus_t bind(cublasHandle_t handle, const tern_cuda_stream *stream)
{
    cublasStatus_t status = cublasSetStream(handle, stream->stream);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = cublasSetWorkspace(handle, stream->workspace, (size_t)WORKSPACE);
    return status;
}

// Products of 16-bit operands are added up in float32, also across parts of K.
static cublasStatus_t full_precision(cublasHandle_t handle)
{
    return cublasSetMathMode(
        handle,
        (cublasMath_t)(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION));
}

static tern_status take_workspace(tern_cuda_stream *stream)
{
    tern_cuda_device *device = tern_cuda_device_of(stream->index);
    pthread_mutex_lock(&device->lock);
    cudaError_t error = tern_cuda_device_take(device, WORKSPACE, &stream->workspace);
    pthread_mutex_unlock(&device->lock);
    if (error == cudaErrorMemoryAllocation)
        return tern_cuda_out_of_memory(device, WORKSPACE);
    return tern_cuda_check("matmul", error);
}

static void give_workspace(tern_cuda_stream *stream)
{
    tern_cuda_device *device = tern_cuda_device_of(stream->index);
    pthread_mutex_lock(&device->lock);
    tern_cuda_device_give(device, WORKSPACE, stream->workspace);
    pthread_mutex_unlock(&device->lock);
    stream->workspace = NULL;
}

static tern_status blas_new(tern_cuda_stream *stream)
{
    TERN_TRY(take_workspace(stream));
    cublasHandle_t handle = NULL;
    cublasStatus_t status = cublasCreate(&handle);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = bind(handle, stream);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = full_precision(handle);
    if (status == CUBLAS_STATUS_SUCCESS) {
        stream->blas = handle;
        return TERN_OK;
    }
    if (handle)
        cublasDestroy(handle);
    give_workspace(stream);
    return tern_cuda_check_blas("matmul", status);
}

tern_status tern_cuda_blas_of(tern_cuda_stream *stream, cublasHandle_t *handle)
{
    if (!stream->blas)
        TERN_TRY(blas_new(stream));
    *handle = stream->blas;
    return TERN_OK;
}

void tern_cuda_blas_free(tern_cuda_stream *stream)
{
    if (!stream->blas)
        return;
    cublasDestroy(stream->blas);
    stream->blas = NULL;
    give_workspace(stream);
}
