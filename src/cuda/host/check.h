// SPDX-License-Identifier: Apache-2.0
// How a CUDA call's failure becomes an error of tern.
#ifndef TERN_SRC_CUDA_HOST_CHECK_H
#define TERN_SRC_CUDA_HOST_CHECK_H

#include <cuda_runtime_api.h>
#include <tern/error.h>

// Returns its argument, the status of a CUDA call. A failure is CUDA's last error as well, which
// the check after the next launch would take for that launch's: this resets it.
cudaError_t tern_cuda_clear_error(cudaError_t error);

// TERN_OK, or raises TERN_ERR_NOMEM or TERN_ERR_DEVICE: "softmax: CUDA: an illegal memory access
// was encountered (cudaErrorIllegalAddress)".
tern_status tern_cuda_check(const char *op, cudaError_t error);

#endif
