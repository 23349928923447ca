// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/current_device.h"

#include "cuda/host/check.h"

// CUDA is asked each time: other code of the process may have made another device this thread's.
cudaError_t tern_cuda_enter(int index)
{
    int current = -1;
    if (tern_cuda_told(cudaGetDevice(&current)) == cudaSuccess && current == index)
        return cudaSuccess;
    return tern_cuda_told(cudaSetDevice(index));
}

cudaError_t tern_cuda_enter_to_launch(int index)
{
    cudaGetLastError();
    return tern_cuda_enter(index);
}
