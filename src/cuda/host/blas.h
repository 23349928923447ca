// SPDX-License-Identifier: Apache-2.0
// cuBLAS handles: each stream has one with a workspace of its own, each capture stream one with the
// workspace that all graphs share. Handles of streams that ended are used again.
#ifndef TERN_SRC_CUDA_HOST_BLAS_H
#define TERN_SRC_CUDA_HOST_BLAS_H

#include "cuda/host/device.h"

// TERN_OK, or raises TERN_ERR_NOMEM or TERN_ERR_DEVICE with cuBLAS's words.
tern_status tern_cuda_check_blas(const char *op, cublasStatus_t status);

// The handle for the calling thread's products on the stream, made when first asked for; the
// stream's lock is held by the caller.
tern_status tern_cuda_blas_handle(tern_cuda_stream *stream, cublasHandle_t *handle);
void tern_cuda_blas_free(tern_cuda_stream *stream);
// Destroys the free handles of a device that is closed.
void tern_cuda_blas_handles_destroy(tern_cuda_device *device);

// Binds a handle to the stream that its products run on and the workspace that they use. Where
// *handle is NULL it is created.
tern_status tern_cuda_blas_bind(int index, cublasHandle_t *handle, cudaStream_t stream,
                                void *workspace);

// The workspace of captured products: graphs of a device share one, because their replays are
// ordered. It is allocated when first asked for, and stays while there are graphs.
tern_status tern_cuda_graph_workspace(int index, void **workspace);

bool tern_cuda_tf32(void);

#endif
