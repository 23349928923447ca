// SPDX-License-Identifier: Apache-2.0
/// @file
/// In-place changes: they change `t` and return it, or NULL with a pending error.
///
///     tern_add_(t, other, -1);
///
/// A leaf that requires a gradient may only be changed under tern_no_grad. Elsewhere gradients flow
/// through. What a backward needs and finds changed is an error there. `t` stays owned by whoever
/// owned it. Threads: any, each tensor used by one at a time.
#ifndef TERN_OPS_INPLACE_H
#define TERN_OPS_INPLACE_H

#include <tern/tensor.h>

TERN_BEGIN_DECLS

/// Overwrites t's elements, row-major, with host memory of `nbytes` bytes, which must be numel
/// times the dtype's size (else TERN_ERR_SHAPE). Gradients do not flow from what was there.
TERN_API TERN_NODISCARD tern_status tern_from_host(tern_tensor *t, const void *data, size_t nbytes)
    TERN_READS_(2, 3);
/// Copies `source`, broadcast to t's shape, cast to its dtype, from any device.
TERN_API tern_tensor *tern_copy_(tern_tensor *t, tern_tensor *source);
/// All of them `value`; out of an integer dtype's range is TERN_ERR_ARG.
TERN_API tern_tensor *tern_fill_(tern_tensor *t, tern_scalar value);
TERN_API tern_tensor *tern_zero_(tern_tensor *t); ///< all of them 0
/// t + alpha * other, other broadcast to t's shape; alpha has the digits of a double, and is 1
/// where it is left out: `tern_add_(t, other)`.
TERN_API tern_tensor *tern_add_(tern_tensor *t, tern_tensor *other, double alpha);
/// t * other, other broadcast to t's shape.
TERN_API tern_tensor *tern_mul_(tern_tensor *t, tern_tensor *other);
/// t + value; as tern_add_scalar, a fraction and an integer t are TERN_ERR_DTYPE.
TERN_API tern_tensor *tern_add_scalar_(tern_tensor *t, tern_scalar value);
/// t * value, likewise.
TERN_API tern_tensor *tern_mul_scalar_(tern_tensor *t, tern_scalar value);

TERN_END_DECLS
/// The two operands of tern_add_ behind t: an alpha that is left out is 1.
#define TERN_ADD_OPERANDS_(other, alpha, ...) other, alpha
/// The function above, with alpha or without.
#define tern_add_(t, ...) tern_add_(t, TERN_ADD_OPERANDS_(__VA_ARGS__, 1, ))
#ifndef __cplusplus
// Numbers of any C type, integers exactly.
#define tern_fill_(t, value)       tern_fill_(t, TERN_SCALAR_(value))
#define tern_add_scalar_(t, value) tern_add_scalar_(t, TERN_SCALAR_(value))
#define tern_mul_scalar_(t, value) tern_mul_scalar_(t, TERN_SCALAR_(value))
#endif

#endif
