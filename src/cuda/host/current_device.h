// SPDX-License-Identifier: Apache-2.0
// The calling thread's current device, to which CUDA's calls go.
#ifndef TERN_SRC_CUDA_HOST_CURRENT_DEVICE_H
#define TERN_SRC_CUDA_HOST_CURRENT_DEVICE_H

#include <cuda_runtime_api.h>

// Makes the device current.
cudaError_t tern_cuda_enter(int index);

// The same before launches: an error that other code of the process left is not theirs.
cudaError_t tern_cuda_enter_to_launch(int index);

#endif
