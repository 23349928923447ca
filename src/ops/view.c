// SPDX-License-Identifier: Apache-2.0
// Views of all elements: other shapes, other orders of dimensions, detached.
#include "ops/alias.h"
#include "tensor/liveness.h"

static void row_major(tern_shape shape, int64_t *stride)
{
    int64_t step = 1;
    for (int i = shape.rank - 1; i >= 0; i--) {
        stride[i] = step;
        step *= shape.dim[i] > 0 ? shape.dim[i] : 1;
    }
}

tern_tensor *tern_make_view(const tern_op *op, tern_tensor *t, tern_shape shape,
                            const int64_t *stride, int64_t offset, const tern_op_attrs *attrs)
{
    tern_op_call call = {.op = op, .count = 1, .in = {t}};
    tern_tensor *y = tern_tensor_alias(op->name, t, shape, stride, offset);
    if (!y)
        return NULL;
    y->is_view = true;
    if (attrs)
        call.attrs = *attrs;
    return tern_op_end(&call, y, NULL, 0);
}

// ---- reshape -----------------------------------------------------------------------------------

static tern_status reshape_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    dx[0] = tern_reshape(dy[0], tern_node_input_shape(node, 0));
    return dx[0] ? TERN_OK : tern_error_code();
}

static const tern_op reshape_op = {"reshape", {"t"}, reshape_backward};

tern_tensor *tern_make_reshaped(tern_tensor *t, tern_shape shape, const int64_t *stride)
{
    return tern_make_view(&reshape_op, t, shape, stride, t->offset, NULL);
}

static tern_status reshape_error(const char *op, const tern_tensor *t, tern_shape shape,
                                 const char *why)
{
    return tern_error_raise(TERN_ERR_SHAPE, "%s: cannot make %s of %s: %s", op,
                            tern_shape_string(shape), tern_tensor_string(t), why);
}

// The place of the one -1, or -1.
static tern_status find_open_size(const char *op, const tern_tensor *t, tern_shape shape, int *open)
{
    TERN_CHECK(shape.rank >= 0 && shape.rank <= TERN_MAX_RANK, TERN_ERR_SHAPE,
               "%s: %d dimensions are more than %d", op, shape.rank, TERN_MAX_RANK);
    *open = -1;
    for (int i = 0; i < shape.rank; i++) {
        if (shape.dim[i] < -1)
            return reshape_error(op, t, shape, "a size is negative");
        if (shape.dim[i] != -1)
            continue;
        if (*open >= 0)
            return reshape_error(op, t, shape, "only one size may be -1");
        *open = i;
    }
    return TERN_OK;
}

// Fills in the -1 and checks that the number of elements stays.
static tern_status complete_shape(const char *op, const tern_tensor *t, tern_shape *shape)
{
    tern_shape wanted = *shape;
    int open = -1;
    TERN_TRY(find_open_size(op, t, wanted, &open));
    if (open >= 0)
        shape->dim[open] = 1;
    int64_t known = tern_shape_numel(*shape);
    if (known < 0)
        return reshape_error(op, t, wanted, "too many elements");
    if (open >= 0) {
        if (known == 0)
            return reshape_error(op, t, wanted, "-1 could be any size");
        TERN_CHECK(t->numel % known == 0, TERN_ERR_SHAPE,
                   "%s: cannot make %s of %s: %lld does not divide %lld elements", op,
                   tern_shape_string(wanted), tern_tensor_string(t), (long long)known,
                   (long long)t->numel);
        shape->dim[open] = t->numel / known;
        return TERN_OK;
    }
    TERN_CHECK(known == t->numel, TERN_ERR_SHAPE,
               "%s: cannot make %s of %s: %lld elements, not %lld", op, tern_shape_string(wanted),
               tern_tensor_string(t), (long long)known, (long long)t->numel);
    return TERN_OK;
}

// Strides that walk t's elements in the new shape; false where only a copy can. Runs of t's
// dimensions that are one piece of memory are cut into the new sizes, from the innermost outwards.
static bool reshape_strides(const tern_tensor *t, tern_shape shape, int64_t *stride)
{
    if (t->numel == 0) {
        row_major(shape, stride);
        return true;
    }
    int to = shape.rank - 1;
    int64_t run = 1, taken = 1; // elements of the run, and those that the new sizes cover
    int64_t step = t->rank ? t->stride[t->rank - 1] : 1;
    for (int from = t->rank - 1; from >= 0; from--) {
        run *= t->size[from];
        if (from > 0 && (t->size[from - 1] == 1 || t->stride[from - 1] == run * step))
            continue;
        for (; to >= 0 && (taken < run || shape.dim[to] == 1); to--) {
            stride[to] = taken * step;
            taken *= shape.dim[to];
        }
        if (taken != run)
            return false;
        if (from > 0)
            step = t->stride[from - 1];
        run = taken = 1;
    }
    for (; to >= 0; to--) // t has no dimensions: all sizes are 1
        stride[to] = 1;
    return true;
}

tern_tensor *tern_reshape(tern_tensor *t, tern_shape shape)
{
    if (tern_check_tensor("reshape", "t", t) || complete_shape("reshape", t, &shape))
        return NULL;
    int64_t stride[TERN_MAX_RANK];
    if (reshape_strides(t, shape, stride))
        return tern_make_reshaped(t, shape, stride);
    tern_tensor *copy = tern_clone(t);
    if (!copy)
        return NULL;
    row_major(shape, stride);
    return tern_make_reshaped(copy, shape, stride);
}

tern_tensor *tern_view(tern_tensor *t, tern_shape shape)
{
    if (tern_check_tensor("view", "t", t) || complete_shape("view", t, &shape))
        return NULL;
    int64_t stride[TERN_MAX_RANK];
    if (!reshape_strides(t, shape, stride)) {
        reshape_error("view", t, shape, "its strides need a copy: use tern_reshape");
        return NULL;
    }
    return tern_make_reshaped(t, shape, stride);
}

tern_tensor *tern_flatten(tern_tensor *t, int first, int last)
{
    if (tern_check_tensor("flatten", "t", t) || tern_check_dim("flatten", t->rank, &first) ||
        tern_check_dim("flatten", t->rank, &last))
        return NULL;
    TERN_CHECK_PTR(first <= last, TERN_ERR_ARG, "flatten: dim %d comes after dim %d", first, last);
    if (t->rank == 0)
        return tern_reshape(t, tern_dims(1));
    tern_shape shape = {.rank = t->rank - (last - first)};
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = t->size[i <= first ? i : i + last - first];
    for (int i = first + 1; i <= last; i++)
        shape.dim[first] *= t->size[i];
    return tern_reshape(t, shape);
}

// The sizes of `cut`, without its -1, multiply to that of the dimension.
static tern_status complete_cut(const tern_tensor *t, int dim, tern_shape *cut)
{
    const tern_shape wanted = *cut;
    int open = -1;
    TERN_CHECK(cut->rank > 0, TERN_ERR_SHAPE, "unflatten: no sizes for dim %d of %s", dim,
               tern_tensor_string(t));
    TERN_TRY(find_open_size("unflatten", t, wanted, &open));
    if (open >= 0)
        cut->dim[open] = 1;
    const int64_t known = tern_shape_numel(*cut);
    if (open >= 0)
        cut->dim[open] = known > 0 ? t->size[dim] / known : 0;
    TERN_CHECK(known >= 0 && tern_shape_numel(*cut) == t->size[dim] && (open < 0 || known > 0),
               TERN_ERR_SHAPE, "unflatten: %s does not multiply to %lld, the size of dim %d of %s",
               tern_shape_string(wanted), (long long)t->size[dim], dim, tern_tensor_string(t));
    return TERN_OK;
}

tern_tensor *tern_unflatten(tern_tensor *t, int dim, tern_shape shape)
{
    if (tern_check_tensor("unflatten", "t", t) || tern_check_dim("unflatten", t->rank, &dim))
        return NULL;
    TERN_CHECK_PTR(t->rank > 0, TERN_ERR_SHAPE, "unflatten: t is %s, and has no dimension to cut",
                   tern_tensor_string(t));
    if (complete_cut(t, dim, &shape))
        return NULL;
    tern_shape whole = tern_shape_get(t);
    TERN_CHECK_PTR(whole.rank - 1 + shape.rank <= TERN_MAX_RANK, TERN_ERR_SHAPE,
                   "unflatten: %s in place of dim %d of %s makes more than %d dimensions",
                   tern_shape_string(shape), dim, tern_tensor_string(t), TERN_MAX_RANK);
    for (int i = whole.rank - 1; i > dim; i--)
        whole.dim[i + shape.rank - 1] = whole.dim[i];
    for (int i = 0; i < shape.rank; i++)
        whole.dim[dim + i] = shape.dim[i];
    whole.rank += shape.rank - 1;
    return tern_reshape(t, whole);
}

// ---- sizes of 1 --------------------------------------------------------------------------------

tern_tensor *tern_squeeze(tern_tensor *t, int dim)
{
    if (tern_check_tensor("squeeze", "t", t) || tern_check_dim("squeeze", t->rank, &dim))
        return NULL;
    bool remove = t->rank > 0 && t->size[dim] == 1;
    tern_shape shape = {.rank = t->rank - remove};
    int64_t stride[TERN_MAX_RANK];
    for (int i = 0; i < shape.rank; i++) {
        shape.dim[i] = t->size[remove && i >= dim ? i + 1 : i];
        stride[i] = t->stride[remove && i >= dim ? i + 1 : i];
    }
    return tern_make_reshaped(t, shape, stride);
}

tern_tensor *tern_unsqueeze(tern_tensor *t, int dim)
{
    if (tern_check_tensor("unsqueeze", "t", t))
        return NULL;
    TERN_CHECK_PTR(t->rank < TERN_MAX_RANK, TERN_ERR_SHAPE,
                   "unsqueeze: %s has %d dimensions already", tern_tensor_string(t), TERN_MAX_RANK);
    if (tern_check_dim("unsqueeze", t->rank + 1, &dim))
        return NULL;
    tern_shape shape = {.rank = t->rank + 1};
    int64_t stride[TERN_MAX_RANK];
    for (int i = 0; i < shape.rank; i++) {
        shape.dim[i] = i == dim ? 1 : t->size[i > dim ? i - 1 : i];
        if (i < dim)
            stride[i] = t->stride[i];
        else if (i == dim)
            stride[i] = dim < t->rank ? t->stride[dim] * t->size[dim] : 1;
        else
            stride[i] = t->stride[i - 1];
    }
    return tern_make_reshaped(t, shape, stride);
}

// ---- permute -----------------------------------------------------------------------------------

static tern_tensor *permuted(const tern_op *op, tern_tensor *t, const int *axis)
{
    tern_shape shape = {.rank = t->rank};
    int64_t stride[TERN_MAX_RANK];
    tern_op_attrs attrs = {0};
    for (int i = 0; i < t->rank; i++) {
        shape.dim[i] = t->size[axis[i]];
        stride[i] = t->stride[axis[i]];
        attrs.i[axis[i]] = i; // the way back
    }
    return tern_make_view(op, t, shape, stride, t->offset, &attrs);
}

static tern_status permute_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx);
static const tern_op permute_op = {"permute", {"t"}, permute_backward};
static const tern_op transpose_op = {"transpose", {"t"}, permute_backward};

static tern_status permute_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    int axis[TERN_MAX_RANK];
    for (int i = 0; i < dy[0]->rank; i++)
        axis[i] = (int)tern_node_attrs(node)->i[i];
    dx[0] = permuted(&permute_op, dy[0], axis);
    return dx[0] ? TERN_OK : tern_error_code();
}

tern_tensor *tern_transpose(tern_tensor *t, int a, int b)
{
    if (tern_check_tensor("transpose", "t", t) || tern_check_dim("transpose", t->rank, &a) ||
        tern_check_dim("transpose", t->rank, &b))
        return NULL;
    int axis[TERN_MAX_RANK];
    for (int i = 0; i < TERN_MAX_RANK; i++)
        axis[i] = i == a ? b : i == b ? a : i;
    return permuted(&transpose_op, t, axis);
}

tern_tensor *tern_permute(tern_tensor *t, tern_axis_list axes)
{
    if (tern_check_tensor("permute", "t", t))
        return NULL;
    TERN_CHECK_PTR(axes.count == t->rank, TERN_ERR_ARG,
                   "permute: %d axes for the %d dimensions of %s", axes.count, t->rank,
                   tern_tensor_string(t));
    unsigned seen = 0;
    for (int i = 0; i < t->rank; i++) {
        if (tern_check_dim("permute", t->rank, &axes.axis[i]))
            return NULL;
        TERN_CHECK_PTR(!(seen & 1u << axes.axis[i]), TERN_ERR_ARG, "permute: axis %d comes twice",
                       axes.axis[i]);
        seen |= 1u << axes.axis[i];
    }
    return permuted(&permute_op, t, axes.axis);
}

// ---- detach ------------------------------------------------------------------------------------

tern_tensor *tern_detach(tern_tensor *t)
{
    if (tern_check_tensor("detach", "t", t))
        return NULL;
    static const tern_op detach = {.name = "detach", .inputs = {"t"}};
    tern_op_call call = {.op = &detach, .count = 1, .in = {t}};
    tern_tensor *y = tern_tensor_alias("detach", t, tern_shape_get(t), t->stride, t->offset);
    if (y)
        y->detached = true;
    return tern_op_end(&call, y, NULL, 0);
}
