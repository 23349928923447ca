// SPDX-License-Identifier: Apache-2.0
// Views of tensors as kernels see them, and elementwise launches on them. Nothing here is recorded.
#ifndef TERN_SRC_TENSOR_VIEW_H
#define TERN_SRC_TENSOR_VIEW_H

#include "base/integer.h"
#include "device/backend.h"
#include "device/dtype.h"
#include "tensor/tensor.h"

// Where the elements of a contiguous tensor are.
static inline void *tern_view_data(const tern_tensor *t)
{
    if (t->storage->block)
        tern_storage_use(t->storage, t->label);
    const int64_t before = t->offset * tern_element_size(t->dtype);
    return (char *)t->storage->data + before;
}

// In place: a view that is returned by value is copied, by loads that wait for its stores.
static inline void tern_view_set(tern_strided *view, const tern_tensor *t)
{
    view->data = tern_view_data(t);
    view->dtype = t->dtype;
    view->rank = t->rank;
    memcpy(view->size, t->size, sizeof view->size); // whole: cheaper than a loop over the rank
    memcpy(view->stride, t->stride, sizeof view->stride);
}

static inline tern_strided tern_view_of(const tern_tensor *t)
{
    tern_strided view;
    tern_view_set(&view, t);
    return view;
}

// Contiguous view of the given sizes over data.
static inline tern_strided tern_view_contiguous(void *data, tern_dtype dtype, tern_shape shape)
{
    tern_strided view;
    view.data = data;
    view.dtype = dtype;
    view.rank = shape.rank;
    int64_t stride = 1;
    for (int i = shape.rank - 1; i >= 0; i--) {
        view.size[i] = shape.dim[i];
        view.stride[i] = stride;
        stride = wrap_mul(stride, shape.dim[i] > 0 ? shape.dim[i] : 1); // without elements: any
    }
    return view;
}

// The view with sizes of `shape`, stride 0 where it repeats. The shapes are known to fit.
tern_strided tern_view_expand(tern_strided view, tern_shape shape);
// A contiguous copy.
tern_tensor *tern_copied(const tern_tensor *t);
// `t` itself, or a contiguous copy.
tern_tensor *tern_make_contiguous(tern_tensor *t);

// Elementwise launches: expand operands to y's sizes, coalesce, call the kernel. Not recorded; y's
// version is not touched.
tern_status tern_launch_copy(tern_tensor *y, const tern_tensor *x);
tern_status tern_launch_unary(tern_unary_op op, tern_scalar p0, tern_scalar p1, tern_tensor *y,
                              const tern_tensor *x);
#define tern_launch_unary(op, p0, p1, y, x)                                                        \
    tern_launch_unary(op, TERN_SCALAR_(p0), TERN_SCALAR_(p1), y, x)
tern_status tern_launch_binary(tern_binary_op op, double alpha, tern_tensor *y,
                               const tern_tensor *a, const tern_tensor *b);
// Both gradients of op(a, b), dx[0] and dx[1]; all of one shape.
tern_status tern_launch_binary_grad(tern_binary_op op, tern_tensor *const dx[2],
                                    const tern_tensor *dy, const tern_tensor *a,
                                    const tern_tensor *b);

#endif
