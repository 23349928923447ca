// SPDX-License-Identifier: Apache-2.0
// Views of some of the elements: slices, and the same ones repeated (expand).
#include "base/integer.h"
#include "ops/alias.h"
#include "tensor/liveness.h"

// ---- slices ------------------------------------------------------------------------------------

static tern_tensor *sliced(const tern_op *op, tern_tensor *t, int dim, int64_t start, int64_t count,
                           int64_t step)
{
    tern_shape shape = tern_shape_get(t);
    int64_t stride[TERN_MAX_RANK];
    for (int i = 0; i < t->rank; i++)
        stride[i] = t->stride[i];
    shape.dim[dim] = count;
    stride[dim] *= step;
    // An empty slice must not point past the storage.
    int64_t offset = t->offset + (count > 0 ? start * t->stride[dim] : 0);
    tern_op_attrs attrs = {.i = {dim, start, count, step}};
    return tern_make_view(op, t, shape, stride, offset, &attrs);
}

// Zeros, but for the slice, which is dy.
static tern_status slice_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx);
static const tern_op slice_op = {"slice", {"t"}, slice_backward};
static const tern_op narrow_op = {"narrow", {"t"}, slice_backward};

static tern_status slice_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    const int64_t *at = tern_node_attrs(node)->i;
    dx[0] = tern_new_zeros(dy[0], tern_node_input_shape(node, 0));
    tern_tensor *part = dx[0] ? sliced(&slice_op, dx[0], (int)at[0], at[1], at[2], at[3]) : NULL;
    return part ? tern_launch_copy(part, dy[0]) : tern_error_code();
}

tern_tensor *tern_make_slice(tern_tensor *t, int dim, int64_t start, int64_t count, int64_t step)
{
    return sliced(&slice_op, t, dim, start, count, step);
}

static tern_status check_has_dims(const char *op, const tern_tensor *t, int *dim)
{
    TERN_TRY(tern_check_tensor(op, "t", t));
    TERN_CHECK(t->rank > 0, TERN_ERR_SHAPE, "%s: %s has no dimensions", op, tern_tensor_string(t));
    return tern_check_dim(op, t->rank, dim);
}

tern_tensor *tern_narrow(tern_tensor *t, int dim, int64_t start, int64_t length)
{
    if (check_has_dims("narrow", t, &dim))
        return NULL;
    int64_t size = t->size[dim];
    int64_t first = start < 0 ? start + size : start;
    TERN_CHECK_PTR(length >= 0 && first >= 0 && first <= size && length <= size - first,
                   TERN_ERR_INDEX, "narrow: start %lld and length %lld leave dim %d of %s",
                   (long long)start, (long long)length, dim, tern_tensor_string(t));
    return sliced(&narrow_op, t, dim, first, length, 1);
}

// An end of a slice as Python reads it.
static int64_t slice_end(int64_t at, int64_t size)
{
    if (at < 0)
        at = at < -size ? 0 : at + size;
    return min_int64(at, size);
}

tern_tensor *tern_slice(tern_tensor *t, int dim, int64_t start, int64_t end, int64_t step)
{
    if (check_has_dims("slice", t, &dim))
        return NULL;
    TERN_CHECK_PTR(step > 0, TERN_ERR_ARG, "slice: step %lld is not positive", (long long)step);
    int64_t first = slice_end(start, t->size[dim]);
    int64_t last = slice_end(end, t->size[dim]);
    int64_t count = last > first ? (last - first - 1) / step + 1 : 0;
    return sliced(&slice_op, t, dim, first, count, count > 1 ? step : 1);
}

// ---- select ------------------------------------------------------------------------------------

static tern_tensor *selected(tern_tensor *t, int dim, int64_t index);

static tern_status select_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    const int64_t *at = tern_node_attrs(node)->i;
    dx[0] = tern_new_zeros(dy[0], tern_node_input_shape(node, 0));
    tern_tensor *part = dx[0] ? selected(dx[0], (int)at[0], at[1]) : NULL;
    return part ? tern_launch_copy(part, dy[0]) : tern_error_code();
}

static const tern_op select_op = {"select", {"t"}, select_backward};

static tern_tensor *selected(tern_tensor *t, int dim, int64_t index)
{
    tern_shape shape = {.rank = t->rank - 1};
    int64_t stride[TERN_MAX_RANK];
    for (int i = 0; i < shape.rank; i++) {
        shape.dim[i] = t->size[i < dim ? i : i + 1];
        stride[i] = t->stride[i < dim ? i : i + 1];
    }
    tern_op_attrs attrs = {.i = {dim, index}};
    return tern_make_view(&select_op, t, shape, stride, t->offset + index * t->stride[dim], &attrs);
}

tern_tensor *tern_select(tern_tensor *t, int dim, int64_t index)
{
    if (check_has_dims("select", t, &dim))
        return NULL;
    int64_t size = t->size[dim];
    int64_t at = index < 0 ? index + size : index;
    TERN_CHECK_PTR(at >= 0 && at < size, TERN_ERR_INDEX,
                   "select: index %lld is not in dim %d of %s", (long long)index, dim,
                   tern_tensor_string(t));
    return selected(t, dim, at);
}

// ---- expand ------------------------------------------------------------------------------------

static tern_status expand_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    dx[0] = tern_sum_to(dy[0], tern_node_input_shape(node, 0));
    return dx[0] ? TERN_OK : tern_error_code();
}

static const tern_op expand_op = {"expand", {"t"}, expand_backward};

// Replaces each -1 by the size that t has there and checks the rest.
static tern_status complete_expansion(const tern_tensor *t, tern_shape *shape)
{
    tern_shape wanted = *shape;
    TERN_CHECK(wanted.rank <= TERN_MAX_RANK && wanted.rank >= t->rank, TERN_ERR_SHAPE,
               "expand: %d dimensions for %s: there must be %d to %d", wanted.rank,
               tern_tensor_string(t), t->rank, TERN_MAX_RANK);
    int added = wanted.rank - t->rank;
    for (int i = 0; i < wanted.rank; i++) {
        bool old = i >= added;
        int64_t size = old ? t->size[i - added] : 1;
        if (old && wanted.dim[i] == -1)
            shape->dim[i] = size;
        TERN_CHECK(shape->dim[i] >= 0 && (size == 1 || size == shape->dim[i]), TERN_ERR_SHAPE,
                   "expand: cannot make %s of %s: dim %d", tern_shape_string(wanted),
                   tern_tensor_string(t), i);
    }
    return tern_check_shape("expand", *shape, t->dtype);
}

tern_tensor *tern_expand(tern_tensor *t, tern_shape shape)
{
    if (tern_check_tensor("expand", "t", t) || complete_expansion(t, &shape))
        return NULL;
    tern_strided expanded = tern_view_expand(tern_view_of(t), shape);
    return tern_make_view(&expand_op, t, shape, expanded.stride, t->offset, NULL);
}
