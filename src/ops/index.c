// SPDX-License-Identifier: Apache-2.0
// Reading by index: gather, index_select, one_hot. Indices are checked by the kernels.
#include "ops/launch.h"
#include "tensor/factory.h"

// On the CPU the kernel is done when it returns, so its error belongs to this call.
static tern_status poll(tern_device device)
{
    return device.type == TERN_CPU ? tern_fault_poll(device) : TERN_OK;
}

static tern_status check_index(const tern_op_call *call)
{
    TERN_CHECK(call->in[1]->dtype == TERN_INT64, TERN_ERR_DTYPE,
               "%s: index is %s, not int64 (tern_to_dtype makes it so)", call->op->name,
               tern_tensor_string(call->in[1]));
    return TERN_OK;
}

// ---- gather -------------------------------------------------------------------------------------

static tern_status launch_gather(const char *op, const tern_strided *y, const tern_strided *x,
                                 const tern_strided *index, int dim, tern_device device)
{
    tern_exec exec = tern_exec_of(device);
    exec.location = tern_fault_location(op, "index", x->size[dim]);
    TERN_TRY(tern_kernels_of(device)->gather(&exec, y, x, index, dim));
    return poll(device);
}

// dx[.., index[i..], ..] += dy[i..]
static tern_status scatter(tern_node *node, tern_tensor *dy, const tern_strided *index, int dim,
                           tern_tensor **dx)
{
    dx[0] = tern_node_grad_new(node, 0);
    if (!dx[0] || !tern_filled(dx[0], 0))
        return tern_failed();
    if (dy->numel == 0)
        return TERN_OK;
    tern_strided to = tern_view_with_dim(dx[0]), from = tern_view_with_dim(dy);
    tern_device device = tern_dev(dy);
    tern_exec exec = tern_exec_of(device);
    return tern_kernels_of(device)->scatter_add(&exec, &to, &from, index, dim, false);
}

static tern_status gather_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    tern_strided index = tern_view_with_dim(tern_node_saved(node, 0));
    return scatter(node, dy[0], &index, (int)tern_node_attrs(node)->i[0], dx);
}

static tern_status check_gather(const tern_op_call *call, int *dim)
{
    const tern_tensor *x = call->in[0], *index = call->in[1];
    tern_shape shapes[] = {tern_shape_get(x), tern_shape_get(index)};
    TERN_TRY(check_index(call));
    TERN_TRY(tern_check_dim("gather", x->rank, dim));
    TERN_CHECK(x->rank == index->rank, TERN_ERR_SHAPE,
               "gather: x %s and index %s must have the same number of dimensions",
               tern_shape_string(shapes[0]), tern_shape_string(shapes[1]));
    for (int i = 0; i < x->rank; i++)
        TERN_CHECK(i == *dim || index->size[i] <= x->size[i], TERN_ERR_SHAPE,
                   "gather: index %s is larger than x %s in dimension %d, which is not indexed",
                   tern_shape_string(shapes[1]), tern_shape_string(shapes[0]), i);
    return TERN_OK;
}

tern_tensor *tern_gather(tern_tensor *x, int dim, tern_tensor *index)
{
    static const tern_op gather = {"gather", {"x", "index"}, gather_backward};
    tern_op_call call = {.op = &gather, .count = 2, .in = {x, index}};
    if (tern_op_begin(&call, TERN_OP_PLAIN) || check_gather(&call, &dim))
        return NULL;
    tern_tensor *y = tern_tensor_new("gather", call.dtype, call.device, tern_shape_get(call.in[1]));
    tern_tensor *positions = tern_make_contiguous(call.in[1]); // faults name row-major elements
    if (!y || !positions)
        return NULL;
    if (y->numel > 0) {
        tern_strided yv = tern_view_with_dim(y), xv = tern_view_with_dim(call.in[0]);
        tern_strided iv = tern_view_with_dim(positions);
        if (launch_gather("gather", &yv, &xv, &iv, dim, call.device))
            return NULL;
    }
    call.attrs.i[0] = dim;
    return tern_op_end(&call, y, &positions, 1);
}

// ---- index_select -------------------------------------------------------------------------------

// A list of indices as an index of the result's sizes, which repeats it in every other dimension.
static tern_strided repeat_index(const tern_tensor *index, const tern_tensor *y, int dim)
{
    tern_strided list = tern_view_with_dim(index), view = tern_view_with_dim(y);
    view.data = list.data;
    view.dtype = list.dtype;
    for (int i = 0; i < view.rank; i++)
        view.stride[i] = i == dim ? list.stride[0] : 0;
    return view;
}

static tern_status index_select_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    int dim = (int)tern_node_attrs(node)->i[0];
    tern_strided index = repeat_index(tern_node_saved(node, 0), dy[0], dim);
    return scatter(node, dy[0], &index, dim, dx);
}

static tern_status check_select(const tern_op_call *call, int *dim)
{
    const tern_tensor *x = call->in[0], *index = call->in[1];
    TERN_TRY(check_index(call));
    TERN_TRY(tern_check_dim("index_select", x->rank, dim));
    TERN_CHECK(index->rank <= 1, TERN_ERR_SHAPE, "index_select: index %s has more than 1 dimension",
               tern_shape_string(tern_shape_get(index)));
    TERN_CHECK(x->rank > 0 || index->numel == 1, TERN_ERR_SHAPE,
               "index_select: x has no dimensions, so index %s must have one element",
               tern_shape_string(tern_shape_get(index)));
    return TERN_OK;
}

tern_tensor *tern_index_select(tern_tensor *x, int dim, tern_tensor *index)
{
    static const tern_op index_select = {"index_select", {"x", "index"}, index_select_backward};
    tern_op_call call = {.op = &index_select, .count = 2, .in = {x, index}};
    if (tern_op_begin(&call, TERN_OP_PLAIN) || check_select(&call, &dim))
        return NULL;
    tern_shape shape = tern_shape_get(call.in[0]);
    tern_tensor *list = tern_make_contiguous(call.in[1]);
    if (shape.rank)
        shape.dim[dim] = call.in[1]->numel;
    tern_tensor *y = tern_tensor_new("index_select", call.dtype, call.device, shape);
    if (!y || !list)
        return NULL;
    if (y->numel > 0) {
        tern_strided yv = tern_view_with_dim(y), xv = tern_view_with_dim(call.in[0]);
        tern_strided iv = repeat_index(list, y, dim);
        if (launch_gather("index_select", &yv, &xv, &iv, dim, call.device))
            return NULL;
    }
    call.attrs.i[0] = dim;
    return tern_op_end(&call, y, &list, 1);
}

// ---- one_hot ------------------------------------------------------------------------------------

tern_tensor *tern_one_hot(tern_tensor *labels, int64_t classes)
{
    static const tern_op one_hot = {.name = "one_hot", .inputs = {"labels"}};
    tern_op_call call = {.op = &one_hot, .count = 1, .in = {labels}};
    if (tern_op_begin(&call, TERN_OP_PLAIN))
        return NULL;
    TERN_CHECK_PTR(call.dtype == TERN_INT64, TERN_ERR_DTYPE,
                   "one_hot: labels are %s, not int64 (tern_to_dtype makes them so)",
                   tern_tensor_string(call.in[0]));
    TERN_CHECK_PTR(classes > 0, TERN_ERR_ARG, "one_hot: classes is %lld", (long long)classes);
    TERN_CHECK_PTR(call.shape.rank < TERN_MAX_RANK, TERN_ERR_SHAPE,
                   "one_hot: labels %s have %d dimensions already, and there are at most %d",
                   tern_shape_string(call.shape), call.shape.rank, TERN_MAX_RANK);
    tern_tensor *list = tern_make_contiguous(call.in[0]);
    call.shape.dim[call.shape.rank++] = classes;
    tern_tensor *y = list ? tern_tensor_new("one_hot", TERN_INT64, call.device, call.shape) : NULL;
    if (!y)
        return NULL;
    if (y->numel == 0)
        return tern_op_end(&call, y, NULL, 0);
    tern_strided lv = tern_view_flat(list);
    tern_strided yv = tern_view_shaped(y, (tern_shape){2, {list->numel, classes}});
    tern_exec exec = tern_exec_of(call.device);
    exec.location = tern_fault_location("one_hot", "label", classes);
    if (tern_kernels_of(call.device)->one_hot(&exec, &yv, &lv) || poll(call.device))
        return NULL;
    return tern_op_end(&call, y, NULL, 0);
}
