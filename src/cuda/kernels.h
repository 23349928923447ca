// SPDX-License-Identifier: Apache-2.0
// Launchers of the CUDA backend: the kernels of its table, and others that its host half calls. For
// C and for .cu files.
#ifndef TERN_SRC_CUDA_KERNELS_H
#define TERN_SRC_CUDA_KERNELS_H

#include <cuda_runtime_api.h>
#include "device/backend.h"

TERN_BEGIN_DECLS

// ---- kernels ------------------------------------------------------------------------------------

tern_kernel_fill tern_cuda_fill;
tern_kernel_copy tern_cuda_copy;
tern_kernel_arange tern_cuda_arange;
tern_kernel_unary tern_cuda_unary;
tern_kernel_unary_grad tern_cuda_unary_grad;
tern_kernel_binary tern_cuda_binary;
tern_kernel_where tern_cuda_where;
tern_kernel_reduce tern_cuda_reduce;
tern_kernel_var tern_cuda_var;
tern_kernel_arg_reduce tern_cuda_arg_reduce;
tern_kernel_cumsum tern_cuda_cumsum;
tern_kernel_matmul tern_cuda_matmul;
tern_kernel_softmax tern_cuda_softmax;
tern_kernel_softmax_grad tern_cuda_softmax_grad;
tern_kernel_cross_entropy tern_cuda_cross_entropy;
tern_kernel_cross_entropy_grad tern_cuda_cross_entropy_grad;
tern_kernel_loss tern_cuda_loss;
tern_kernel_loss_grad tern_cuda_loss_grad;
tern_kernel_dropout tern_cuda_dropout;
tern_kernel_gather tern_cuda_gather;
tern_kernel_scatter_add tern_cuda_scatter_add;
tern_kernel_one_hot tern_cuda_one_hot;
tern_kernel_random tern_cuda_random;
tern_kernel_sgd tern_cuda_sgd;
tern_kernel_adam tern_cuda_adam;
tern_kernel_list_norm tern_cuda_list_norm;
tern_kernel_list_clip tern_cuda_list_clip;

// y (B, M, N), contiguous, after the product: plus bias (N) or NULL, then relu if asked.
tern_status tern_cuda_epilogue(const tern_exec *exec, const tern_strided *y,
                               const tern_strided *bias, bool relu);

// Makes the elements of y from random words (uint32, memory of the device) as the kind says; see
// random/random.c. There are tern_cuda_word_count of them.
tern_status tern_cuda_from_words(const tern_exec *exec, tern_random_kind kind, double a, double b,
                                 int64_t low, int64_t high, const uint32_t *words,
                                 const tern_strided *y);
int64_t tern_cuda_word_count(tern_random_kind kind, tern_dtype dtype, int64_t numel);

// ---- state of a device, written by one-thread kernels in stream order ---------------------------

// `other`, a copy of another device's record, becomes the fault when that is set and this is not.
tern_status tern_cuda_fault_carry(cudaStream_t stream, tern_fault *fault, const tern_fault *other);
tern_status tern_cuda_fault_clear(cudaStream_t stream, tern_fault *fault);
tern_status tern_cuda_draws_write(cudaStream_t stream, tern_draw_state *draws,
                                  tern_draw_state value);
tern_status tern_cuda_draws_advance(cudaStream_t stream, tern_draw_state *draws, uint64_t count);

TERN_END_DECLS

#endif
