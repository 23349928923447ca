// SPDX-License-Identifier: Apache-2.0
// The largest and the smallest value along a dimension, and where it is.
#include "ops/launch.h"

typedef struct extremes {
    tern_op_call call;
    tern_tensor *x, *values, *indices; // values may be NULL
    int dim;
} extremes;

static tern_shape shape_without(const tern_tensor *x, int dim, bool keepdim, tern_shape *kept)
{
    tern_shape result = {0};
    *kept = tern_shape_get(x);
    for (int i = 0; i < x->rank; i++) {
        if (i == dim)
            kept->dim[i] = 1;
        if (i != dim || keepdim)
            result.dim[result.rank++] = kept->dim[i];
    }
    return result;
}

// The dim to go along, where its size is 1.
static void add_dim(tern_strided *x, tern_strided *indices, tern_strided *values)
{
    tern_strided *all[] = {x, indices, values};
    for (int k = 0; k < 3; k++) {
        all[k]->size[all[k]->rank] = 1;
        all[k]->stride[all[k]->rank] = 0;
        all[k]->rank++;
    }
}

static tern_status launch(bool largest, const extremes *e, tern_shape kept)
{
    if (e->indices->numel == 0)
        return TERN_OK;
    if (kept.rank == 0)
        kept = (tern_shape){.rank = 1, .dim = {1}};
    tern_strided x = tern_view_with_dim(e->x), values = {0};
    tern_strided indices = tern_view_shaped(e->indices, kept);
    if (e->values)
        values = tern_view_shaped(e->values, kept);
    tern_views_reduce(&x, (tern_strided *const[]){&indices, &values}, e->values ? 2 : 1);
    if (e->x->rank == 0 || e->x->size[e->dim] == 1)
        add_dim(&x, &indices, &values);
    tern_device device = tern_dev(e->x);
    tern_exec exec = tern_exec_of(device);
    return tern_kernels_of(device)->arg_reduce(&exec, largest, e->values ? &values : NULL, &indices,
                                               &x, x.rank - 1);
}

static tern_status find(const tern_op *op, bool largest, tern_tensor *x, int dim, bool keepdim,
                        bool with_values, extremes *e)
{
    *e = (extremes){.call = {.op = op, .count = 1, .in = {x}}, .dim = dim};
    TERN_TRY(tern_op_begin(&e->call, TERN_OP_PLAIN));
    e->x = e->call.in[0];
    TERN_TRY(tern_check_dim(op->name, e->x->rank, &e->dim));
    TERN_CHECK(e->x->rank == 0 || e->x->size[e->dim] > 0, TERN_ERR_SHAPE,
               "%s: x %s has no elements along dimension %d", op->name,
               tern_shape_string(tern_shape_get(e->x)), e->dim);
    tern_shape kept, result = shape_without(e->x, e->dim, keepdim, &kept);
    e->indices = tern_tensor_new(op->name, TERN_INT64, e->call.device, result);
    if (with_values)
        e->values = tern_tensor_new(op->name, e->call.dtype, e->call.device, result);
    if (!e->indices || (with_values && !e->values))
        return tern_failed();
    return launch(largest, e, kept);
}

// dy goes to the elements that were chosen.
tern_status tern_chosen_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    tern_shape kept = tern_node_input_shape(node, 0);
    int dim = (int)tern_node_attrs(node)->i[0];
    dx[0] = tern_new_zeros(dy[0], kept);
    tern_tensor *share = tern_make_contiguous(dy[0]), *indices = tern_node_saved(node, 0);
    if (!dx[0] || !share)
        return tern_failed();
    if (share->numel == 0)
        return TERN_OK;
    if (kept.rank == 0)
        kept = (tern_shape){.rank = 1};
    kept.dim[dim] = tern_node_attrs(node)->i[1];
    tern_strided to = tern_view_with_dim(dx[0]), from = tern_view_shaped(share, kept);
    tern_strided index_view = tern_view_shaped(indices, kept);
    tern_device device = tern_dev(dx[0]);
    tern_exec exec = tern_exec_of(device);
    return tern_kernels_of(device)->scatter_add(&exec, &to, &from, &index_view, dim, true);
}

static tern_tensor *extreme_values(const tern_op *op, bool largest, tern_tensor *x, int dim,
                                   bool keepdim, tern_tensor **indices)
{
    extremes e;
    if (find(op, largest, x, dim, keepdim, true, &e))
        return NULL;
    e.call.attrs.i[0] = e.dim;
    e.call.attrs.i[1] = 1;
    tern_tensor *const y[] = {e.values, e.indices};
    if (tern_op_end_many(&e.call, y, 2, 1, &e.indices, 1))
        return NULL;
    if (indices)
        *indices = e.indices;
    return e.values;
}

tern_tensor *tern_max(tern_tensor *x, int dim, bool keepdim, tern_tensor **indices)
{
    static const tern_op max = {"max", {"x"}, tern_chosen_backward};
    return extreme_values(&max, true, x, dim, keepdim, indices);
}

tern_tensor *tern_min(tern_tensor *x, int dim, bool keepdim, tern_tensor **indices)
{
    static const tern_op min = {"min", {"x"}, tern_chosen_backward};
    return extreme_values(&min, false, x, dim, keepdim, indices);
}

static tern_tensor *extreme_index(const tern_op *op, bool largest, tern_tensor *x, int dim,
                                  bool keepdim)
{
    extremes e;
    if (find(op, largest, x, dim, keepdim, false, &e))
        return NULL;
    return tern_op_end(&e.call, e.indices, NULL, 0);
}

tern_tensor *tern_argmax(tern_tensor *x, int dim, bool keepdim)
{
    static const tern_op argmax = {.name = "argmax", .inputs = {"x"}};
    return extreme_index(&argmax, true, x, dim, keepdim);
}

tern_tensor *tern_argmin(tern_tensor *x, int dim, bool keepdim)
{
    static const tern_op argmin = {.name = "argmin", .inputs = {"x"}};
    return extreme_index(&argmin, false, x, dim, keepdim);
}
