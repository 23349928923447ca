// SPDX-License-Identifier: Apache-2.0
// What the files of the convolution call of each other. Sizes fit what kernels have in 32 bits.
#ifndef TERN_SRC_CUDA_CONV_CONV_H
#define TERN_SRC_CUDA_CONV_CONV_H

#include "cuda/kernels.h"

TERN_BEGIN_DECLS

// The forward, or with `backward` the gradient in the input; on tensor cores float32 as TF32.
tern_status tern_cuda_conv_gather(const tern_exec *exec, const tern_conv_args *args, bool backward);
tern_status tern_cuda_conv_gather_tensor(const tern_exec *exec, const tern_conv_args *args,
                                         bool backward);

// The gradient in the weight, likewise.
tern_status tern_cuda_conv_weight(const tern_exec *exec, const tern_conv_args *args);
tern_status tern_cuda_conv_weight_tensor(const tern_exec *exec, const tern_conv_args *args);

// weight = the sum of `count` partial sums of its size, in order, of the type that it is computed
// in; or that much is added to it.
tern_status tern_cuda_conv_sum_partials(const tern_exec *exec, const tern_strided *weight,
                                        const void *partials, int64_t count, bool accumulate);

TERN_END_DECLS

#endif
