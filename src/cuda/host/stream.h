// SPDX-License-Identifier: Apache-2.0
// Creating and destroying streams.
#ifndef TERN_SRC_CUDA_HOST_STREAM_H
#define TERN_SRC_CUDA_HOST_STREAM_H

#include "cuda/host/device.h"

// Creates and destroys what is in the struct; the device is current.
cudaError_t tern_cuda_stream_init(tern_cuda_stream *stream, int index, int slot);
void tern_cuda_stream_destroy(tern_cuda_stream *stream);

#endif
