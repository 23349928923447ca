// SPDX-License-Identifier: Apache-2.0
#include "cuda/host/current_device.h"

#include "cuda/host/check.h"

// CUDA is asked each time: other code of the process may have made another device current.
cudaError_t tern_cuda_make_current(int index)
{
    int current = -1;
    if (tern_cuda_clear_error(cudaGetDevice(&current)) == cudaSuccess && current == index)
        return cudaSuccess;
    return tern_cuda_clear_error(cudaSetDevice(index));
}

cudaError_t tern_cuda_make_current_for_launch(int index)
{
    cudaGetLastError();
    return tern_cuda_make_current(index);
}
