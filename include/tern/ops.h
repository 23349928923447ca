// SPDX-License-Identifier: Apache-2.0
/// @file
/// Operations on tensors.
///
///     tern_tensor *p = tern_softmax(tern_matmul(x, w), -1);
///     tern_tensor *loss = tern_mean(tern_abs(tern_sub(p, y)), TERN_ALL_AXES, false);
///
/// All of them return a new temporary of the innermost scope on the operands' device, or NULL with
/// a pending error. Sizes broadcast as in NumPy; dtypes are promoted as in PyTorch (docs), except
/// for matmul, linear and losses, whose operands must agree; a 0-dim CPU tensor may mix with
/// tensors on another device. Operations are differentiable unless they say otherwise. Nothing
/// waits for a device. Threads: any, each tensor used by one at a time.
#ifndef TERN_OPS_H
#define TERN_OPS_H

#include <tern/activation.h>
#include <tern/autograd.h>
#include <tern/ops/activation.h>
#include <tern/ops/conv.h>
#include <tern/ops/copy.h>
#include <tern/ops/dropout.h>
#include <tern/ops/inplace.h>
#include <tern/ops/join.h>
#include <tern/ops/loss.h>
#include <tern/ops/norm.h>
#include <tern/ops/pool.h>
#include <tern/ops/resize.h>
#include <tern/ops/shuffle.h>
#include <tern/ops/sort.h>
#include <tern/ops/view.h>
#include <tern/tensor.h>

TERN_BEGIN_DECLS

/// The dtype in which two tensors meet (PyTorch's table; a 0-dim tensor does not widen one with
/// dimensions of the same kind). TERN_DTYPE_UNSPECIFIED with a pending error for NULL.
TERN_API tern_dtype tern_promote(const tern_tensor *a, const tern_tensor *b);

// ---- elementwise, two operands ------------------------------------------------------------------

TERN_API TERN_NODISCARD tern_tensor *tern_add(tern_tensor *a,
                                              tern_tensor *b); ///< a + b; of bools: or
TERN_API TERN_NODISCARD tern_tensor *tern_sub(tern_tensor *a,
                                              tern_tensor *b); ///< a - b; not for bool
TERN_API TERN_NODISCARD tern_tensor *tern_mul(tern_tensor *a,
                                              tern_tensor *b); ///< a * b; of bools: and
/// a / b, true division: integers give the default dtype.
TERN_API TERN_NODISCARD tern_tensor *tern_div(tern_tensor *a, tern_tensor *b);
/// a to the power b; not for bool. Integers to a negative power are TERN_ERR_ARG in the scalar
/// form.
TERN_API TERN_NODISCARD tern_tensor *tern_pow(tern_tensor *a, tern_tensor *b);
/// The smaller value; NaN wins; equal values share the gradient.
TERN_API TERN_NODISCARD tern_tensor *tern_minimum(tern_tensor *a, tern_tensor *b);
TERN_API TERN_NODISCARD tern_tensor *tern_maximum(tern_tensor *a,
                                                  tern_tensor *b); ///< the larger value, likewise

/// x + value. Integers are taken exactly (scalar.h), as in all that follows; those of an int64 x
/// wrap around. A number never changes the dtype of x: one with a fraction and an integer x is
/// TERN_ERR_DTYPE, and so is a bool x.
TERN_API TERN_NODISCARD tern_tensor *tern_add_scalar(tern_tensor *x, tern_scalar value);
TERN_API TERN_NODISCARD tern_tensor *tern_sub_scalar(tern_tensor *x,
                                                     tern_scalar value); ///< x - value, likewise
TERN_API TERN_NODISCARD tern_tensor *tern_mul_scalar(tern_tensor *x,
                                                     tern_scalar value); ///< x * value, likewise
/// x / value; integers and bool give the default dtype.
TERN_API TERN_NODISCARD tern_tensor *tern_div_scalar(tern_tensor *x, tern_scalar value);
/// x to a power, likewise; an integer x and a negative one are TERN_ERR_ARG.
TERN_API TERN_NODISCARD tern_tensor *tern_pow_scalar(tern_tensor *x, tern_scalar exponent);

// Comparisons give bool; not differentiable. A number is seen as a floating x's dtype holds it;
// integers are compared with any number exactly.
TERN_API TERN_NODISCARD tern_tensor *tern_eq(tern_tensor *a, tern_tensor *b); ///< a == b, as bool
TERN_API TERN_NODISCARD tern_tensor *tern_ne(tern_tensor *a, tern_tensor *b); ///< a != b, as bool
TERN_API TERN_NODISCARD tern_tensor *tern_lt(tern_tensor *a, tern_tensor *b); ///< a < b, as bool
TERN_API TERN_NODISCARD tern_tensor *tern_le(tern_tensor *a, tern_tensor *b); ///< a <= b, as bool
TERN_API TERN_NODISCARD tern_tensor *tern_gt(tern_tensor *a, tern_tensor *b); ///< a > b, as bool
TERN_API TERN_NODISCARD tern_tensor *tern_ge(tern_tensor *a, tern_tensor *b); ///< a >= b, as bool
TERN_API TERN_NODISCARD tern_tensor *tern_eq_scalar(tern_tensor *x,
                                                    tern_scalar value); ///< x == value, as bool
TERN_API TERN_NODISCARD tern_tensor *tern_ne_scalar(tern_tensor *x,
                                                    tern_scalar value); ///< x != value, as bool
TERN_API TERN_NODISCARD tern_tensor *tern_lt_scalar(tern_tensor *x,
                                                    tern_scalar value); ///< x < value, as bool
TERN_API TERN_NODISCARD tern_tensor *tern_le_scalar(tern_tensor *x,
                                                    tern_scalar value); ///< x <= value, as bool
TERN_API TERN_NODISCARD tern_tensor *tern_gt_scalar(tern_tensor *x,
                                                    tern_scalar value); ///< x > value, as bool
TERN_API TERN_NODISCARD tern_tensor *tern_ge_scalar(tern_tensor *x,
                                                    tern_scalar value); ///< x >= value, as bool
// Logic on truth values (non-zero is true); results are bool; not differentiable.
TERN_API TERN_NODISCARD tern_tensor *tern_logical_and(tern_tensor *a,
                                                      tern_tensor *b); ///< both are not 0, as bool
TERN_API TERN_NODISCARD tern_tensor *tern_logical_or(tern_tensor *a,
                                                     tern_tensor *b);  ///< one is not 0, as bool
TERN_API TERN_NODISCARD tern_tensor *tern_logical_not(tern_tensor *x); ///< x is 0, as bool

// ---- elementwise, one operand -------------------------------------------------------------------
// Integers and bool give the default dtype, except neg, abs, clamp and round, which keep theirs.
// Activations: ops/activation.h.

TERN_API TERN_NODISCARD tern_tensor *tern_neg(tern_tensor *x); ///< -x; not for bool
TERN_API TERN_NODISCARD tern_tensor *tern_abs(
    tern_tensor *x); ///< |x|, derivative 0 at 0; not for bool
TERN_API TERN_NODISCARD tern_tensor *tern_sqrt(tern_tensor *x);  ///< square root
TERN_API TERN_NODISCARD tern_tensor *tern_rsqrt(tern_tensor *x); ///< 1 / sqrt(x)
TERN_API TERN_NODISCARD tern_tensor *tern_exp(tern_tensor *x);   ///< e to the power x
TERN_API TERN_NODISCARD tern_tensor *tern_log(tern_tensor *x);   ///< natural logarithm; NaN below 0
TERN_API TERN_NODISCARD tern_tensor *tern_log1p(tern_tensor *x); ///< log(1 + x), exact near 0
TERN_API TERN_NODISCARD tern_tensor *tern_sin(tern_tensor *x);   ///< sine, x in radians
TERN_API TERN_NODISCARD tern_tensor *tern_cos(tern_tensor *x);   ///< cosine, x in radians
TERN_API TERN_NODISCARD tern_tensor *tern_tanh(tern_tensor *x);  ///< hyperbolic tangent
TERN_API TERN_NODISCARD tern_tensor *tern_sigmoid(tern_tensor *x); ///< 1 / (1 + exp(-x))
/// min(max(x, low), high); a bound of -INFINITY or INFINITY leaves that side open. NaN stays NaN.
/// The derivative is 1 where low < x < high, else 0.
TERN_API TERN_NODISCARD tern_tensor *tern_clamp(tern_tensor *x, tern_scalar low, tern_scalar high);
TERN_API TERN_NODISCARD tern_tensor *tern_round(
    tern_tensor *x); ///< half to even; not differentiable (gradient 0)
TERN_API TERN_NODISCARD tern_tensor *tern_isfinite(
    tern_tensor *x); ///< neither NaN nor infinite, as bool

/// a where the bool condition holds, else b; all three broadcast.
TERN_API TERN_NODISCARD tern_tensor *tern_where(tern_tensor *condition, tern_tensor *a,
                                                tern_tensor *b);
/// x with `value` where the bool mask (broadcast to x's shape) holds.
TERN_API TERN_NODISCARD tern_tensor *tern_masked_fill(tern_tensor *x, tern_tensor *mask,
                                                      tern_scalar value);

// ---- reductions ---------------------------------------------------------------------------------
// Over any axes (TERN_ALL_AXES, or an empty list: all). keepdim leaves them with size 1.

/// The sum; integers and bool give int64.
TERN_API TERN_NODISCARD tern_tensor *tern_sum(tern_tensor *x, tern_axis_list axes, bool keepdim);
/// The mean. Floating only.
TERN_API TERN_NODISCARD tern_tensor *tern_mean(tern_tensor *x, tern_axis_list axes, bool keepdim);
/// The sum of all elements, 0-dim: tern_sum(x, TERN_ALL_AXES, false).
TERN_API TERN_NODISCARD tern_tensor *tern_sum_all(tern_tensor *x);
/// The mean of all elements, 0-dim: tern_mean(x, TERN_ALL_AXES, false).
TERN_API TERN_NODISCARD tern_tensor *tern_mean_all(tern_tensor *x);
/// Sum of squared deviations over n - correction: 1 is unbiased, 0 the population's. Floating only.
TERN_API TERN_NODISCARD tern_tensor *tern_var(tern_tensor *x, tern_axis_list axes,
                                              int64_t correction, bool keepdim);
/// The square root of tern_var.
TERN_API TERN_NODISCARD tern_tensor *tern_std(tern_tensor *x, tern_axis_list axes,
                                              int64_t correction, bool keepdim);
/// The largest value; NaN wins; equal values share the gradient. Empty is TERN_ERR_SHAPE.
TERN_API TERN_NODISCARD tern_tensor *tern_amax(tern_tensor *x, tern_axis_list axes, bool keepdim);
/// The smallest value, likewise.
TERN_API TERN_NODISCARD tern_tensor *tern_amin(tern_tensor *x, tern_axis_list axes, bool keepdim);
/// (sum |x|^p)^(1/p); p may be 0 (count of non-zeros) and +-INFINITY. Floating only.
TERN_API TERN_NODISCARD tern_tensor *tern_norm(tern_tensor *x, double p, tern_axis_list axes,
                                               bool keepdim);
/// `tern_normalize(x, .dim = -1)`.
typedef struct tern_normalize_options {
    double p;   ///< of the norm
    int dim;    ///< along which norms are taken
    double eps; ///< the least that is divided by
    char reserved_;
    tern_tensor *x; ///< floating
} tern_normalize_options;

#define TERN_NORMALIZE_DEFAULTS_ .p = 2, .dim = 1, .eps = 1e-12
#define TERN_NORMALIZE_FIELDS_   1, 0, (x), (tensor)
TERN_API tern_normalize_options tern_normalize_defaults(void);
/// x / max(norm, eps), the p-norm being that along dim. Where eps is taken the norm counts as a
/// constant.
TERN_API tern_tensor *tern_normalize_with(const tern_normalize_options *options);
#define tern_normalize(...) TERN_WITH_(tern_normalize, tern_normalize, TERN_NORMALIZE, __VA_ARGS__)

/// Whether one element is not 0, as bool; false for none.
TERN_API TERN_NODISCARD tern_tensor *tern_any(tern_tensor *x, tern_axis_list axes, bool keepdim);
/// Whether every element is not 0, as bool; true for none.
TERN_API TERN_NODISCARD tern_tensor *tern_all(tern_tensor *x, tern_axis_list axes, bool keepdim);

/// The largest value along one dimension and the int64 index of its first place; the gradient goes
/// to that element. `indices` may be NULL.
TERN_API TERN_NODISCARD tern_tensor *tern_max(tern_tensor *x, int dim, bool keepdim,
                                              tern_tensor **indices);
/// The smallest value and its place, likewise.
TERN_API TERN_NODISCARD tern_tensor *tern_min(tern_tensor *x, int dim, bool keepdim,
                                              tern_tensor **indices);
/// The int64 index of the first largest value; not differentiable.
TERN_API TERN_NODISCARD tern_tensor *tern_argmax(tern_tensor *x, int dim, bool keepdim);
/// The int64 index of the first smallest value; not differentiable.
TERN_API TERN_NODISCARD tern_tensor *tern_argmin(tern_tensor *x, int dim, bool keepdim);
/// Running sum along one dimension; integers give int64.
TERN_API TERN_NODISCARD tern_tensor *tern_cumsum(tern_tensor *x, int dim);

// ---- products -----------------------------------------------------------------------------------

/// (.., M, K) x (.., K, N) -> (.., M, N), leading sizes broadcast; a vector counts as a row on the
/// left and a column on the right, and its dimension goes away again. Floating, one dtype.
TERN_API TERN_NODISCARD tern_tensor *tern_matmul(tern_tensor *a, tern_tensor *b);

/// activation(x W^T + b): x (.., In), weight (Out, In), bias (Out) or NULL -> (.., Out).
TERN_API TERN_NODISCARD tern_tensor *tern_linear(tern_tensor *x, tern_tensor *weight,
                                                 tern_tensor *bias, tern_activation activation);

// ---- softmax ------------------------------------------------------------------------------------

/// exp(x) / sum exp(x) along one dimension. Floating only.
TERN_API TERN_NODISCARD tern_tensor *tern_softmax(tern_tensor *x, int dim);
/// Its logarithm, x - log sum exp(x), without overflow. Floating only.
TERN_API TERN_NODISCARD tern_tensor *tern_log_softmax(tern_tensor *x, int dim);

/// The share of the samples whose largest logit is that of their label, a 0-dim float32; NaN of no
/// sample. input (N, C), (N, C, d1, ..) or (C), target the integer labels (N), (N, d1, ..) or ().
/// Of equal logits the first counts. Without history.
TERN_API TERN_NODISCARD tern_tensor *tern_accuracy(tern_tensor *input, tern_tensor *target);

// ---- indexing -----------------------------------------------------------------------------------
// Indices are int64; one out of range is TERN_ERR_INDEX.

/// out[i][j] = x[index[i][j]][j] for dim 0, and so on: the result has index's shape.
TERN_API TERN_NODISCARD tern_tensor *tern_gather(tern_tensor *x, int dim, tern_tensor *index);
/// The slices of x along dim that a 1-dim index names.
TERN_API TERN_NODISCARD tern_tensor *tern_index_select(tern_tensor *x, int dim, tern_tensor *index);
/// int64 labels (..) -> int64 (.., classes) with a single 1; not differentiable.
TERN_API TERN_NODISCARD tern_tensor *tern_one_hot(tern_tensor *labels, int64_t classes);

TERN_END_DECLS

#ifndef __cplusplus
// Numbers of any C type, integers exactly.
#define tern_add_scalar(x, value)        tern_add_scalar(x, TERN_SCALAR_(value))
#define tern_sub_scalar(x, value)        tern_sub_scalar(x, TERN_SCALAR_(value))
#define tern_mul_scalar(x, value)        tern_mul_scalar(x, TERN_SCALAR_(value))
#define tern_div_scalar(x, value)        tern_div_scalar(x, TERN_SCALAR_(value))
#define tern_pow_scalar(x, value)        tern_pow_scalar(x, TERN_SCALAR_(value))
#define tern_eq_scalar(x, value)         tern_eq_scalar(x, TERN_SCALAR_(value))
#define tern_ne_scalar(x, value)         tern_ne_scalar(x, TERN_SCALAR_(value))
#define tern_lt_scalar(x, value)         tern_lt_scalar(x, TERN_SCALAR_(value))
#define tern_le_scalar(x, value)         tern_le_scalar(x, TERN_SCALAR_(value))
#define tern_gt_scalar(x, value)         tern_gt_scalar(x, TERN_SCALAR_(value))
#define tern_ge_scalar(x, value)         tern_ge_scalar(x, TERN_SCALAR_(value))
#define tern_clamp(x, low, high)         tern_clamp(x, TERN_SCALAR_(low), TERN_SCALAR_(high))
#define tern_masked_fill(x, mask, value) tern_masked_fill(x, mask, TERN_SCALAR_(value))
#endif

#endif
