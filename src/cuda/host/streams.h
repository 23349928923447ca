// SPDX-License-Identifier: Apache-2.0
// Creating and destroying streams.
#ifndef TERN_SRC_CUDA_HOST_STREAMS_H
#define TERN_SRC_CUDA_HOST_STREAMS_H

#include "cuda/host/stream.h"
#include <tern/error.h>

// Creates and destroys what is in the struct; the device is current.
cudaError_t tern_cuda_stream_begin(tern_cuda_stream *stream, int index, int slot);
void tern_cuda_stream_end(tern_cuda_stream *stream);

tern_cuda_stream *tern_plugin_stream_new(int index);
void tern_plugin_stream_free(tern_cuda_stream *stream);
int tern_plugin_stream_index(const tern_cuda_stream *stream);
tern_status tern_plugin_stream_synchronize(tern_cuda_stream *stream);

#endif
