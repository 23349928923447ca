// SPDX-License-Identifier: Apache-2.0
// How failures of the libraries become errors; see also tern_cuda_check.
#ifndef TERN_SRC_CUDA_HOST_CHECK_H
#define TERN_SRC_CUDA_HOST_CHECK_H

#include <cublas_v2.h>
#include <curand.h>
#include "cuda/plugin.h"

tern_status tern_cuda_check_blas(const char *op, cublasStatus_t status);
tern_status tern_cuda_check_random(const char *op, curandStatus_t status);

#endif
