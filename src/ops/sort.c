// SPDX-License-Identifier: Apache-2.0
// Elements in order along a dimension, and the first of them.
#include <tern/ops/sort.h>
#include "ops/launch.h"

typedef struct ordering {
    tern_op_call call;
    tern_tensor *x, *values, *indices; // values may be NULL
    int dim;
    int64_t count; // of elements that are wanted along dim
} ordering;

static tern_status launch(const ordering *o, bool descending)
{
    if (o->indices->numel == 0)
        return TERN_OK;
    const tern_strided x = tern_view_with_dim(o->x), indices = tern_view_with_dim(o->indices);
    tern_strided values;
    if (o->values)
        values = tern_view_with_dim(o->values);
    tern_device device = tern_dev(o->x);
    tern_exec exec = tern_exec_of(device);
    return tern_kernels_of(device)->sort(&exec, descending, o->values ? &values : NULL, &indices,
                                         &x, o->dim);
}

static tern_status begin(const tern_op *op, tern_tensor *x, int dim, ordering *o)
{
    *o = (ordering){.call = {.op = op, .count = 1, .in = {x}}, .dim = dim};
    TERN_TRY(tern_op_begin(&o->call, TERN_OP_PLAIN));
    o->x = o->call.in[0];
    TERN_TRY(tern_check_dim(op->name, o->x->rank, &o->dim));
    o->count = o->x->rank > 0 ? o->x->size[o->dim] : 1;
    return TERN_OK;
}

static tern_status find(ordering *o, bool descending, bool with_values)
{
    const char *op = o->call.op->name;
    tern_shape shape = o->call.shape;
    if (shape.rank > 0)
        shape.dim[o->dim] = o->count;
    o->indices = tern_tensor_new(op, TERN_INT64, o->call.device, shape);
    if (with_values)
        o->values = tern_tensor_new(op, o->call.dtype, o->call.device, shape);
    if (!o->indices || (with_values && !o->values))
        return tern_failed();
    return launch(o, descending);
}

static tern_tensor *values_in_order(ordering *o, bool descending, tern_tensor **indices)
{
    if (find(o, descending, true))
        return NULL;
    o->call.attrs.i[0] = o->dim;
    o->call.attrs.i[1] = o->count;
    tern_tensor *const y[] = {o->values, o->indices};
    if (tern_op_end_many(&o->call, y, 2, 1, &o->indices, 1))
        return NULL;
    if (indices)
        *indices = o->indices;
    return o->values;
}

tern_tensor *tern_sort(tern_tensor *x, int dim, bool descending, tern_tensor **indices)
{
    static const tern_op sort = {"sort", {"x"}, tern_chosen_backward};
    ordering o;
    return begin(&sort, x, dim, &o) ? NULL : values_in_order(&o, descending, indices);
}

tern_tensor *tern_argsort(tern_tensor *x, int dim, bool descending)
{
    static const tern_op argsort = {.name = "argsort", .inputs = {"x"}};
    ordering o;
    if (begin(&argsort, x, dim, &o) || find(&o, descending, false))
        return NULL;
    return tern_op_end(&o.call, o.indices, NULL, 0);
}

static tern_status check_count(const ordering *o, int64_t k)
{
    TERN_CHECK(k >= 0 && k <= o->count, TERN_ERR_ARG,
               "topk: k is %lld, but x %s has %lld elements along dimension %d", (long long)k,
               tern_shape_string(tern_shape_get(o->x)), (long long)o->count, o->dim);
    TERN_CHECK(k > 0 || o->x->rank > 0, TERN_ERR_ARG,
               "topk: k is 0, but x has no dimension, and what is made of it has one element");
    return TERN_OK;
}

tern_tensor *tern_topk(tern_tensor *x, int64_t k, int dim, bool largest, tern_tensor **indices)
{
    static const tern_op topk = {"topk", {"x"}, tern_chosen_backward};
    ordering o;
    if (begin(&topk, x, dim, &o) || check_count(&o, k))
        return NULL;
    o.count = k;
    return values_in_order(&o, largest, indices);
}
