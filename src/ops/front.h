// SPDX-License-Identifier: Apache-2.0
// What the functions of tensor.h and random.h share: checks of what a tensor is made of, and making
// views.
#ifndef TERN_SRC_OPS_FRONT_H
#define TERN_SRC_OPS_FRONT_H

#include "base/error.h"
#include "tensor/op.h"

// ---- checks ------------------------------------------------------------------------------------

// A dtype that exists.
tern_status tern_check_dtype(const char *op, tern_dtype dtype);
// At most TERN_MAX_RANK sizes, none negative, whose elements can be counted and addressed.
tern_status tern_check_shape(const char *op, tern_shape shape, tern_dtype dtype);
// `value` can be cast to `dtype`: within the range of an integer dtype.
tern_status tern_check_range(const char *op, const char *name, tern_scalar value, tern_dtype dtype);
// `value` has no fraction where `dtype` has none, and fits it.
tern_status tern_check_integral(const char *op, const char *name, tern_scalar value,
                                tern_dtype dtype);
#define tern_check_range(op, name, value, dtype)                                                   \
    tern_check_range(op, name, TERN_SCALAR_(value), dtype)
#define tern_check_integral(op, name, value, dtype)                                                \
    tern_check_integral(op, name, TERN_SCALAR_(value), dtype)
// Data whose C type says `data_type` (tern_from_data_options.reserved_) may be read as `dtype`.
tern_status tern_check_data_type(const char *op, char data_type, tern_dtype dtype);

// ---- making ------------------------------------------------------------------------------------

// A contiguous tensor with undefined contents after all checks; the unspecified device is the
// default one. The caller has replaced an unspecified dtype by its default.
tern_tensor *tern_create(const char *op, tern_dtype dtype, tern_device device, bool requires_grad,
                         tern_shape shape);
// `t` with every element set to `value`, or NULL on failure. Neither checked nor recorded; takes
// NULL.
tern_tensor *tern_filled(tern_tensor *t, tern_scalar value);
#define tern_filled(t, value) tern_filled(t, TERN_SCALAR_(value))
// Copies host memory into `t`, of any strides; not recorded. A bool that is not 0 or 1 is
// TERN_ERR_ARG.
tern_status tern_upload(const char *op, tern_tensor *t, const void *data);

// All elements in row-major order, to host memory, as they are or cast; waits.
tern_status tern_download(const tern_tensor *t, void *data);
tern_status tern_download_as(const tern_tensor *t, tern_dtype dtype, void *data);

// ---- views -------------------------------------------------------------------------------------

// Row-major strides of a shape.
void tern_row_major(tern_shape shape, int64_t *stride);
// A view of `t` that its node class knows how to go back through. `offset` in elements from the
// storage's start; `data` may be NULL.
tern_tensor *tern_make_view(const tern_node_class *node_class, tern_tensor *t, tern_shape shape,
                            const int64_t *stride, int64_t offset, const tern_node_data *data);
// The view of a reshape: gradients take the shape of `t` again. For views that keep the elements'
// order.
tern_tensor *tern_make_reshaped(tern_tensor *t, tern_shape shape, const int64_t *stride);
// Elements start, start + step, ... of a dim, `count` of them; checked before.
tern_tensor *tern_make_slice(tern_tensor *t, int dim, int64_t start, int64_t count, int64_t step);

// True when the tensors may have memory in common and are not the same elements in the same order.
bool tern_overlaps(const tern_tensor *a, const tern_tensor *b);
// A contiguous copy on another device, of the same dtype; not recorded.
tern_tensor *tern_moved(tern_tensor *t, tern_device device);
// A contiguous copy; not recorded.
tern_tensor *tern_copied(const tern_tensor *t);
// The backward of an operation whose gradient is the output's own.
tern_status tern_pass_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx);

// ---- in place ----------------------------------------------------------------------------------

// Before `t` is changed by `other`: t may be, other broadcasts to it, and no gradient would be
// lost.
tern_status tern_check_target(const char *op, const tern_tensor *t, const char *name,
                              const tern_tensor *other);
// Begins the record of a change after which nothing of the old values is left: the old history gets
// a gradient of 0. `*node` may become NULL.
tern_status tern_begin_overwrite(tern_node **node, tern_tensor *t);
// After the kernel: t, with `node` (which may be NULL) as its history; NULL when the kernel failed.
tern_tensor *tern_end_inplace(tern_tensor *t, tern_node *node, tern_status status);

#endif
