// SPDX-License-Identifier: Apache-2.0
// Launchers of the CUDA backend: the kernels of its table, and others that its host half calls. For
// C and for .cu files.
#ifndef TERN_SRC_CUDA_KERNELS_H
#define TERN_SRC_CUDA_KERNELS_H

#include <cuda_runtime_api.h>
#include "device/backend.h"

TERN_BEGIN_DECLS

// ---- kernels ------------------------------------------------------------------------------------

#define TERN_CUDA_DECLARE_KERNEL_(slot) tern_kernel_##slot tern_cuda_##slot;
TERN_KERNELS(TERN_CUDA_DECLARE_KERNEL_)

// y (B, M, N), contiguous, after the product: plus bias (N) or NULL, then relu if asked.
tern_status tern_cuda_epilogue(const tern_exec *exec, const tern_strided *y,
                               const tern_strided *bias, bool relu);

// Makes the elements of y from random words (uint32, memory of the device) as args say; see
// host/random.c. There are tern_cuda_word_count of them.
tern_status tern_cuda_from_words(const tern_exec *exec, const tern_random_args *args,
                                 const uint32_t *words, const tern_strided *y);
int64_t tern_cuda_word_count(tern_random_kind kind, tern_dtype dtype, int64_t numel);

// ---- state of a device, written by one-thread kernels in stream order ---------------------------

// `other`, a copy of another device's record, becomes the fault when that is set and this is not.
tern_status tern_cuda_fault_propagate(cudaStream_t stream, tern_fault *fault,
                                      const tern_fault *other);
tern_status tern_cuda_fault_clear(cudaStream_t stream, tern_fault *fault);
tern_status tern_cuda_draws_write(cudaStream_t stream, tern_draw_state *draws,
                                  tern_draw_state value);
tern_status tern_cuda_draws_advance(cudaStream_t stream, tern_draw_state *draws, uint64_t count);

TERN_END_DECLS

#endif
