// SPDX-License-Identifier: Apache-2.0
// cuRAND generators: each stream has one.
#ifndef TERN_SRC_CUDA_HOST_RANDOM_H
#define TERN_SRC_CUDA_HOST_RANDOM_H

#include "cuda/host/device.h"

void tern_cuda_random_free(tern_cuda_stream *stream);

#endif
