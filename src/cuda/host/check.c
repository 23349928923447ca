// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/check.h"

#include "base/error.h"
#include "cuda/host/device.h"

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

tern_status tern_cuda_launched(const char *op)
{
    return tern_cuda_check(op, cudaGetLastError());
}

tern_status tern_cuda_check_blas(const char *op, cublasStatus_t status)
{
    if (status == CUBLAS_STATUS_SUCCESS)
        return TERN_OK;
    cudaGetLastError();
    return tern_error_raise(status == CUBLAS_STATUS_ALLOC_FAILED ? TERN_ERR_NOMEM : TERN_ERR_DEVICE,
                            "%s: cuBLAS: %s (%s)", op, cublasGetStatusString(status),
                            cublasGetStatusName(status));
}

tern_status tern_cuda_check_random(const char *op, curandStatus_t status)
{
    if (status == CURAND_STATUS_SUCCESS)
        return TERN_OK;
    cudaGetLastError();
    bool memory = status == CURAND_STATUS_ALLOCATION_FAILED;
    return tern_error_raise(memory ? TERN_ERR_NOMEM : TERN_ERR_DEVICE, "%s: cuRAND: %s (status %d)",
                            op, memory ? "no memory" : "it failed", (int)status);
}
