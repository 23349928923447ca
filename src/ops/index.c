// SPDX-License-Identifier: Apache-2.0
// Reading by index: gather, index_select, one_hot. Indices are checked by the kernels.
#include "ops/launch.h"

// On the CPU the kernel is done when it returns, so its error belongs to this call.
static tern_status poll(tern_device device)
{
    return device.type == TERN_CPU ? tern_fault_poll(device) : TERN_OK;
}

static tern_status check_index(const tern_operands *in)
{
    TERN_CHECK(in->at[1]->dtype == TERN_INT64, TERN_ERR_DTYPE,
               "%s: index is %s, not int64 (tern_to_dtype makes it so)", in->op,
               tern_tensor_string(in->at[1]));
    return TERN_OK;
}

// ---- gather -------------------------------------------------------------------------------------

static tern_status launch_gather(const char *op, const tern_strided *y, const tern_strided *x,
                                 const tern_strided *index, int dim, tern_device device)
{
    tern_exec exec = tern_exec_of(device);
    exec.site = tern_fault_site(op, "index", x->size[dim]);
    TERN_TRY(tern_kernels_of(device)->gather(&exec, y, x, index, dim));
    return poll(device);
}

// dx[.., index[i..], ..] += dy[i..]
static tern_status scatter(tern_node *node, tern_tensor *dy, const tern_strided *index, int dim,
                           tern_tensor **dx)
{
    dx[0] = tern_new_zeros(dy, tern_node_input_shape(node, 0));
    if (!dx[0])
        return tern_failed();
    if (dy->numel == 0)
        return TERN_OK;
    tern_strided to = tern_view_with_dim(dx[0]), from = tern_view_with_dim(dy);
    tern_device device = tern_dev(dy);
    tern_exec exec = tern_exec_of(device);
    return tern_kernels_of(device)->scatter_add(&exec, &to, &from, index, dim);
}

static tern_status gather_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    tern_strided index = tern_view_with_dim(tern_node_saved(node, 0));
    return scatter(node, dy[0], &index, (int)tern_node_data_of(node)->i[0], dx);
}

static tern_status check_gather(const tern_operands *in, int *dim)
{
    const tern_tensor *x = in->at[0], *index = in->at[1];
    tern_shape shapes[] = {tern_shape_get(x), tern_shape_get(index)};
    TERN_TRY(check_index(in));
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
    static const tern_node_class gather = {"gather", gather_backward};
    tern_operands in = {.op = "gather", .count = 2, .name = {"x", "index"}, .at = {x, index}};
    if (tern_op_prepare(&in, TERN_PREPARE_PLAIN) || check_gather(&in, &dim))
        return NULL;
    tern_tensor *y = tern_tensor_new("gather", in.dtype, in.device, tern_shape_get(in.at[1]));
    tern_tensor *places = tern_make_contiguous(in.at[1]); // faults name row-major elements
    if (!y || !places)
        return NULL;
    if (y->numel > 0) {
        tern_strided yv = tern_view_with_dim(y), xv = tern_view_with_dim(in.at[0]);
        tern_strided iv = tern_view_with_dim(places);
        if (launch_gather("gather", &yv, &xv, &iv, dim, in.device))
            return NULL;
    }
    tern_node_data data = {.i = {dim}};
    return tern_record_op(&gather, y, in.at, 1, &places, 1, &data);
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
    int dim = (int)tern_node_data_of(node)->i[0];
    tern_strided index = repeat_index(tern_node_saved(node, 0), dy[0], dim);
    return scatter(node, dy[0], &index, dim, dx);
}

static tern_status check_select(const tern_operands *in, int *dim)
{
    const tern_tensor *x = in->at[0], *index = in->at[1];
    TERN_TRY(check_index(in));
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
    static const tern_node_class index_select = {"index_select", index_select_backward};
    tern_operands in = {.op = "index_select", .count = 2, .name = {"x", "index"}, .at = {x, index}};
    if (tern_op_prepare(&in, TERN_PREPARE_PLAIN) || check_select(&in, &dim))
        return NULL;
    tern_shape shape = tern_shape_get(in.at[0]);
    tern_tensor *list = tern_make_contiguous(in.at[1]);
    if (shape.rank)
        shape.dim[dim] = in.at[1]->numel;
    tern_tensor *y = tern_tensor_new("index_select", in.dtype, in.device, shape);
    if (!y || !list)
        return NULL;
    if (y->numel > 0) {
        tern_strided yv = tern_view_with_dim(y), xv = tern_view_with_dim(in.at[0]);
        tern_strided iv = repeat_index(list, y, dim);
        if (launch_gather("index_select", &yv, &xv, &iv, dim, in.device))
            return NULL;
    }
    tern_node_data data = {.i = {dim}};
    return tern_record_op(&index_select, y, in.at, 1, &list, 1, &data);
}

// ---- one_hot ------------------------------------------------------------------------------------

tern_tensor *tern_one_hot(tern_tensor *labels, int64_t classes)
{
    tern_operands in = {.op = "one_hot", .count = 1, .name = {"labels"}, .at = {labels}};
    if (tern_op_prepare(&in, TERN_PREPARE_PLAIN))
        return NULL;
    TERN_CHECK_PTR(in.dtype == TERN_INT64, TERN_ERR_DTYPE,
                   "one_hot: labels are %s, not int64 (tern_to_dtype makes them so)",
                   tern_tensor_string(in.at[0]));
    TERN_CHECK_PTR(classes > 0, TERN_ERR_ARG, "one_hot: classes is %lld", (long long)classes);
    TERN_CHECK_PTR(in.shape.rank < TERN_MAX_RANK, TERN_ERR_SHAPE,
                   "one_hot: labels %s have %d dimensions already, and there are at most %d",
                   tern_shape_string(in.shape), in.shape.rank, TERN_MAX_RANK);
    tern_tensor *list = tern_make_contiguous(in.at[0]);
    in.shape.dim[in.shape.rank++] = classes;
    tern_tensor *y = list ? tern_tensor_new("one_hot", TERN_INT64, in.device, in.shape) : NULL;
    if (!y || y->numel == 0)
        return y;
    tern_strided lv = tern_view_flat(list);
    tern_strided yv = tern_view_shaped(y, (tern_shape){2, {list->numel, classes}});
    tern_exec exec = tern_exec_of(in.device);
    exec.site = tern_fault_site("one_hot", "label", classes);
    return tern_kernels_of(in.device)->one_hot(&exec, &yv, &lv) || poll(in.device) ? NULL : y;
}
