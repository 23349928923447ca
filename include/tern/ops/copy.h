// SPDX-License-Identifier: Apache-2.0
/// @file
/// Copies: to another device, to another dtype, contiguous; gradients flow back.
///
///     tern_tensor *half = tern_to_dtype(tern_to(x, tern_cuda(0)), TERN_FLOAT16);
///
/// Each returns a temporary of the innermost scope, or NULL with a pending error. Threads: any,
/// each tensor used by one at a time.
#ifndef TERN_OPS_COPY_H
#define TERN_OPS_COPY_H

#include <tern/tensor.h>

TERN_BEGIN_DECLS

/// `t` itself when it is contiguous, else a contiguous copy.
TERN_API TERN_NODISCARD tern_tensor *tern_contiguous(tern_tensor *t);
/// A contiguous copy; gradients flow through.
TERN_API TERN_NODISCARD tern_tensor *tern_clone(tern_tensor *t);
/// A copy on `device`, or `t` itself when it is there already; gradients flow back.
TERN_API TERN_NODISCARD tern_tensor *tern_to(tern_tensor *t, tern_device device);
/// A copy of another dtype, or `t` itself when it has it; gradients flow between floating dtypes.
TERN_API TERN_NODISCARD tern_tensor *tern_to_dtype(tern_tensor *t, tern_dtype dtype);
/// Like tern_to, but does not wait where it need not: from pinned memory to a device, and from a
/// device to cpu:0, where the copy is in pinned memory. Before tern_synchronize of the device, what
/// is copied from pinned memory must not be changed, and what is copied into it not be read.
TERN_API tern_tensor *tern_to_non_blocking(tern_tensor *t, tern_device device);

/// A copy of a CPU tensor in page-locked host memory, from and to which copies need not wait;
/// `t` itself when it is there already. A temporary; not differentiable. TERN_ERR_DEVICE for a
/// tensor that is not on the CPU, and where there is no CUDA device.
TERN_API tern_tensor *tern_pin_memory(tern_tensor *t);

TERN_END_DECLS

#endif
