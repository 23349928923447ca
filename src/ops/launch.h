// SPDX-License-Identifier: Apache-2.0
// Checks and launches that several operations share. Nothing here is recorded.
#ifndef TERN_SRC_OPS_LAUNCH_H
#define TERN_SRC_OPS_LAUNCH_H

#include "ops/op.h"

// The code of the failure that just left NULL behind.
static inline tern_status tern_failed(void)
{
    return tern_error_code();
}

// tern_empty_like for a tensor that was checked.
static inline tern_tensor *tern_new_like(const tern_tensor *t)
{
    return tern_tensor_new("empty_like", t->dtype, tern_dev(t), tern_shape_get(t));
}

// All elements of a contiguous tensor as (numel).
static inline tern_strided tern_view_flat(const tern_tensor *t)
{
    tern_strided view;
    view.data = tern_view_data(t);
    view.dtype = t->dtype;
    view.rank = 1;
    view.size[0] = t->numel;
    view.stride[0] = 1;
    return view;
}

// All elements of a contiguous tensor in another shape of as many.
static inline tern_strided tern_view_shaped(const tern_tensor *t, tern_shape shape)
{
    return tern_view_contiguous(tern_view_data(t), t->dtype, shape);
}

// Along-a-dimension kernels want at least one: a 0-dim tensor counts as (1).
static inline tern_strided tern_view_with_dim(const tern_tensor *t)
{
    return t->rank ? tern_view_of(t) : tern_view_flat(t);
}

// ---- one operand -------------------------------------------------------------------------------

// An elementwise operation with one operand: how its dtype is prepared and how it is
// differentiated.
typedef struct tern_unary_function {
    tern_op op;
    tern_unary_op code;
    unsigned flags; // of tern_op_begin
    bool no_bool;   // bool is TERN_ERR_DTYPE
} tern_unary_function;

tern_tensor *tern_unary_run(const tern_unary_function *function, tern_tensor *x, tern_scalar p0,
                            tern_scalar p1);
#define tern_unary_run(function, x, p0, p1)                                                        \
    tern_unary_run(function, x, TERN_SCALAR_(p0), TERN_SCALAR_(p1))
// Backwards for a function: from the saved operand or output; and for operations with a constant
// derivative.
tern_op_backward tern_unary_backward, tern_unary_linear_backward;
// dx = dy * op'(s), all of one shape.
tern_status tern_launch_unary_grad(tern_unary_op op, double p0, double p1, tern_tensor *dx,
                                   const tern_tensor *dy, const tern_tensor *s);

// ---- reductions --------------------------------------------------------------------------------

// What a reduction over some dims of a tensor gives.
typedef struct tern_reduction_shape {
    tern_shape keepdim; // the operand's shape with 1 where it reduces
    tern_shape result;  // the same, or without those dims
    int64_t count;      // elements that meet in one
} tern_reduction_shape;

tern_status tern_reduction_shape_make(const char *op, const tern_tensor *x, tern_axis_list axes,
                                      bool keepdim, tern_reduction_shape *out);
// y (contiguous, numel of `keepdim`) from x.
tern_status tern_launch_reduce(tern_reduce_op op, double p, tern_tensor *y, const tern_tensor *x,
                               tern_shape keepdim);
// Brings x and `count` (1 or 2) results of a reduction (views of x's rank) to as few dims as they
// need, and those into the order of kernels.h.
void tern_views_reduce(tern_strided *x, tern_strided *const *results, int count);

// ---- chosen elements ----------------------------------------------------------------------------

// Backward of what chose elements of its input along one dimension, attribute 0, attribute 1 of
// them in each line; their indices are saved.
tern_op_backward tern_chosen_backward;

// ---- products ----------------------------------------------------------------------------------

// y (.., M, N), contiguous = a (.., M, K) b (.., K, N) + bias (N) or NULL, then relu if asked; or
// added to y. Leading sizes of a and b broadcast to y's; any strides.
typedef tern_matmul_args tern_product;

// Brings the views to the form that kernels take, and launches.
tern_status tern_launch_product(tern_device device, tern_product *p);
// Makes (R, K) of (.., K), rank > 0, where strides allow; else the view is left alone.
bool tern_view_rows(tern_strided *view);
// Exchanges the last two dims.
void tern_view_transpose(tern_strided *view);

#endif
