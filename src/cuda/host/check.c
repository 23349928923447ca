// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/check.h"

#include "base/error.h"

cudaError_t tern_cuda_clear_error(cudaError_t error)
{
    if (error != cudaSuccess)
        cudaGetLastError();
    return error;
}

// What to do, where CUDA's own words do not say it.
static const char *advice(cudaError_t error)
{
    return error == cudaErrorNoKernelImageForDevice
               ? ": tern was built for other GPUs, its option gpu_archs says for which"
               : "";
}

tern_status tern_cuda_check(const char *op, cudaError_t error)
{
    if (tern_cuda_clear_error(error) == cudaSuccess)
        return TERN_OK;
    return tern_error_raise(error == cudaErrorMemoryAllocation ? TERN_ERR_NOMEM : TERN_ERR_DEVICE,
                            "%s: CUDA: %s (%s)%s", op, cudaGetErrorString(error),
                            cudaGetErrorName(error), advice(error));
}
