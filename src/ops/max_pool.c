// SPDX-License-Identifier: Apache-2.0
// The largest of windows, and where it is.
#include "ops/max_pool.h"
#include "base/integer.h"
#include "tensor/liveness.h"

tern_pool_dim tern_pool_dim_same(void)
{
    return (tern_pool_dim){
        .in = 1, .out = 1, .kernel = 1, .stride = 1, .padding = 0, .dilation = 1};
}

static tern_max_pool_args make_args(const tern_pool *pool, tern_shape x, tern_shape y)
{
    tern_max_pool_args args = {0};
    for (int i = 0; i < 3; i++)
        args.dim[i] = tern_pool_dim_same();
    for (int i = 0; i < pool->dims; i++) {
        int dim = x.rank - pool->dims + i;
        args.dim[3 - pool->dims + i] = (tern_pool_dim){.in = x.dim[dim],
                                                       .out = y.dim[dim],
                                                       .kernel = pool->kernel.dim[i],
                                                       .stride = pool->stride.dim[i],
                                                       .padding = pool->padding.dim[i],
                                                       .dilation = pool->dilation.dim[i]};
    }
    return args;
}

// ---- with any windows --------------------------------------------------------------------------

static tern_tensor *new_taps(const tern_op_call *call, const tern_max_pool_args *args,
                             tern_shape shape)
{
    int64_t volume = args->dim[0].kernel * args->dim[1].kernel * args->dim[2].kernel;
    return tern_tensor_new(call->op->name, volume <= 256 ? TERN_UINT8 : TERN_INT32, call->device,
                           shape);
}

tern_status tern_max_pool_launch(const tern_op_call *call, tern_max_pool_args *args, int dims,
                                 tern_shape shape, tern_max_pooled *out)
{
    bool recorded = call->in[0]->requires_grad && tern_grad_enabled();
    tern_tensor *x = tern_make_contiguous(call->in[0]);
    out->y = tern_tensor_new(call->op->name, call->dtype, call->device, shape);
    if (recorded)
        out->tap = new_taps(call, args, shape);
    if (out->with_index)
        out->index = tern_tensor_new(call->op->name, TERN_INT64, call->device, shape);
    if (!x || !out->y || (recorded && !out->tap) || (out->with_index && !out->index))
        return tern_failed();
    tern_strided xv = tern_view_shaped(x, tern_planes_of(tern_shape_get(x), dims)), tap, index;
    tern_shape planes = tern_planes_of(shape, dims);
    tern_strided yv = tern_view_shaped(out->y, planes);
    if (recorded) {
        tap = tern_view_shaped(out->tap, planes);
        args->tap = &tap;
    }
    if (out->with_index) {
        index = tern_view_shaped(out->index, planes);
        args->index = &index;
    }
    tern_exec exec = tern_exec_of(call->device);
    return tern_kernels_of(call->device)->max_pool(&exec, args, &yv, &xv);
}

tern_tensor *tern_max_pool_end(const tern_op_call *call, const tern_max_pooled *out,
                               tern_tensor **indices)
{
    if (!indices)
        return tern_op_end(call, out->y, &out->tap, 1);
    tern_tensor *const y[] = {out->y, out->index};
    if (tern_op_end_many(call, y, 2, 1, &out->tap, 1))
        return NULL;
    *indices = out->index;
    return out->y;
}

tern_status tern_max_pool_launch_grad(tern_node *node, tern_max_pool_args *args, int dims,
                                      tern_tensor *dy, tern_tensor **dx)
{
    tern_tensor *dense = tern_make_contiguous(dy), *tap = tern_node_saved(node, 0);
    tern_shape shape = tern_node_input_shape(node, 0);
    *dx = tern_node_grad_new(node, 0);
    if (!dense || !*dx)
        return tern_failed();
    tern_shape planes = tern_planes_of(tern_shape_get(dy), dims);
    tern_strided dyv = tern_view_shaped(dense, planes);
    tern_strided dxv = tern_view_shaped(*dx, tern_planes_of(shape, dims));
    tern_strided at = tern_view_shaped(tap, planes);
    args->tap = &at;
    tern_exec exec = tern_exec_of(tern_dev(dy));
    return tern_kernels_of(exec.device)->max_pool_grad(&exec, args, &dxv, &dyv);
}

// ---- with windows of one size ------------------------------------------------------------------

// Padding that is wider than a dilated window leaves no element to be the largest.
static tern_status check_windows(const tern_pool *pool, const tern_max_pool_args *args)
{
    for (int i = 0; i < pool->dims; i++) {
        const tern_pool_dim *dim = &args->dim[3 - pool->dims + i];
        for (int64_t o = 0; o < dim->out && o * dim->stride < dim->padding; o++) {
            int64_t first = ceil_div(dim->padding - o * dim->stride, dim->dilation);
            TERN_CHECK(o * dim->stride - dim->padding + first * dim->dilation < dim->in,
                       TERN_ERR_SHAPE,
                       "%s: window %lld has only padding: x has %lld elements there, the padding "
                       "is %lld and the dilation %lld",
                       pool->name, (long long)o, (long long)dim->in, (long long)dim->padding,
                       (long long)dim->dilation);
        }
    }
    return TERN_OK;
}

static tern_status backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    tern_pool pool = tern_pool_saved(tern_node_attrs(node));
    tern_max_pool_args args =
        make_args(&pool, tern_node_input_shape(node, 0), tern_shape_get(dy[0]));
    return tern_max_pool_launch_grad(node, &args, pool.dims, dy[0], &dx[0]);
}

tern_tensor *tern_max_pool_run(const tern_pool *pool, tern_tensor *x, tern_tensor **indices)
{
    static const tern_op ops[] = {{"max_pool1d", {"x"}, backward},
                                  {"max_pool2d", {"x"}, backward},
                                  {"max_pool3d", {"x"}, backward}};
    tern_op_call call = {.op = &ops[pool->dims - 1], .count = 1, .in = {x}};
    tern_max_pooled out = {.with_index = indices};
    tern_shape shape;
    if (tern_op_begin(&call, TERN_OP_ONLY_FLOATING) || tern_pool_check_input(pool, call.in[0]) ||
        tern_pool_shape(pool, call.in[0], &shape))
        return NULL;
    tern_max_pool_args args = make_args(pool, call.shape, shape);
    if (check_windows(pool, &args) || tern_max_pool_launch(&call, &args, pool->dims, shape, &out))
        return NULL;
    tern_pool_save(pool, &call.attrs);
    return tern_max_pool_end(&call, &out, indices);
}

// ---- by options --------------------------------------------------------------------------------

static tern_tensor *run(const char *name, int dims, const tern_max_pool_options *o)
{
    tern_pool pool = {.name = name, .dims = dims};
    if (!o)
        return (void)tern_null_error(name, "options"), NULL;
    pool.ceil_mode = o->ceil_mode;
    if (tern_check_tensor(name, "x", o->x) ||
        tern_pool_finalize(&pool, o->kernel, o->kernel_size, o->stride, o->padding, o->dilation))
        return NULL;
    return tern_max_pool_run(&pool, o->x, o->indices);
}

tern_tensor *tern_max_pool1d_with(const tern_max_pool_options *options)
{
    return run("max_pool1d", 1, options);
}

tern_tensor *tern_max_pool2d_with(const tern_max_pool_options *options)
{
    return run("max_pool2d", 2, options);
}

tern_tensor *tern_max_pool3d_with(const tern_max_pool_options *options)
{
    return run("max_pool3d", 3, options);
}
