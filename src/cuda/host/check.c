// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/check.h"

#include "base/error.h"

cudaError_t tern_cuda_told(cudaError_t error)
{
    if (error != cudaSuccess)
        cudaGetLastError();
    return error;
}

// What CUDA's own words leave open.
static const char *advice(cudaError_t error)
{
    return error == cudaErrorNoKernelImageForDevice
               ? ": tern was built for other GPUs, its option gpu_archs says for which"
               : "";
}

tern_status tern_cuda_check(const char *op, cudaError_t error)
{
    if (tern_cuda_told(error) == cudaSuccess)
        return TERN_OK;
    return tern_error_raise(error == cudaErrorMemoryAllocation ? TERN_ERR_NOMEM : TERN_ERR_DEVICE,
                            "%s: CUDA: %s (%s)%s", op, cudaGetErrorString(error),
                            cudaGetErrorName(error), advice(error));
}
