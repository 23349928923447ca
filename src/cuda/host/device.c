// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/device.h"

#include "cuda/host/capture.h"

static tern_cuda_device devices[TERN_MAX_DEVICES];

tern_cuda_device *tern_cuda_device_of(int index)
{
    return &devices[index];
}

static void count_reserved(tern_cuda_heap *heap, int64_t nbytes)
{
    heap->reserved += nbytes;
    if (heap->reserved > heap->reserved_peak)
        heap->reserved_peak = heap->reserved;
}

cudaError_t tern_cuda_device_alloc(tern_cuda_device *device, int64_t nbytes, void **data)
{
    tern_cuda_relax();
    cudaError_t error = cudaMalloc(data, (size_t)nbytes);
    tern_cuda_unrelax();
    if (error != cudaSuccess) {
        cudaGetLastError(); // see tern_cuda_clear_error
        return error;
    }
    device->heap.device_allocs++;
    count_reserved(&device->heap, nbytes);
    return cudaSuccess;
}

void tern_cuda_device_free(tern_cuda_device *device, int64_t nbytes, void *data)
{
    tern_cuda_relax();
    if (cudaFree(data) != cudaSuccess)
        cudaGetLastError(); // a sticky error meets the next call as well
    tern_cuda_unrelax();
    device->heap.reserved -= nbytes;
}
