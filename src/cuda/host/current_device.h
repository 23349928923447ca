// SPDX-License-Identifier: Apache-2.0
// The calling thread's current device, in CUDA's sense.
#ifndef TERN_SRC_CUDA_HOST_CURRENT_DEVICE_H
#define TERN_SRC_CUDA_HOST_CURRENT_DEVICE_H

#include <cuda_runtime_api.h>

// cudaSetDevice, where that is not the current device already.
cudaError_t tern_cuda_make_current(int index);

// The same before launches, which would be blamed for a last error that other code of the process
// left: that is reset.
cudaError_t tern_cuda_make_current_for_launch(int index);

#endif
