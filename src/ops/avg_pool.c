// SPDX-License-Identifier: Apache-2.0
// The mean of windows.
#include "ops/pool.h"
#include "ops/resample.h"
#include "tensor/liveness.h"

static tern_resample_dim dim_of(const tern_pool *pool, int i, int64_t in, int64_t out)
{
    tern_resample_dim dim = {.kind = TERN_RESAMPLE_WINDOW, .in = in, .out = out};
    dim.kernel = pool->kernel.dim[i];
    dim.stride = pool->stride.dim[i];
    dim.padding = pool->padding.dim[i];
    dim.divisor = pool->divisor_override    ? TERN_DIVISOR_ONE
                  : pool->count_include_pad ? TERN_DIVISOR_PADDED
                                            : TERN_DIVISOR_REAL;
    return dim;
}

static tern_resample_args make_args(const tern_pool *pool, tern_shape x, tern_shape y)
{
    tern_resample_args args = {.scale = 1};
    if (pool->divisor_override)
        args.scale = 1 / (double)pool->divisor_override;
    for (int i = 0; i < 3; i++)
        args.dim[i] = tern_resample_same(1);
    for (int i = 0; i < pool->dims; i++) {
        int dim = x.rank - pool->dims + i;
        args.dim[3 - pool->dims + i] = dim_of(pool, i, x.dim[dim], y.dim[dim]);
    }
    return args;
}

static tern_status backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    tern_pool pool = tern_pool_saved(tern_node_attrs(node));
    tern_shape shape = tern_node_input_shape(node, 0);
    tern_resample_args args = make_args(&pool, shape, tern_shape_get(dy[0]));
    dx[0] = tern_node_grad_new(node, 0);
    return dx[0] ? tern_launch_resample_grad(&args, pool.dims, dx[0], dy[0]) : tern_failed();
}

tern_tensor *tern_avg_pool_run(const tern_pool *pool, tern_tensor *x)
{
    static const tern_op ops[] = {{"avg_pool1d", {"x"}, backward},
                                  {"avg_pool2d", {"x"}, backward},
                                  {"avg_pool3d", {"x"}, backward}};
    const tern_op *op = &ops[pool->dims - 1];
    tern_op_call call = {.op = op, .count = 1, .in = {x}};
    tern_shape shape;
    if (tern_op_begin(&call, TERN_OP_ONLY_FLOATING) || tern_pool_check_input(pool, call.in[0]) ||
        tern_pool_shape(pool, call.in[0], &shape))
        return NULL;
    tern_resample_args args = make_args(pool, call.shape, shape);
    tern_tensor *y = tern_tensor_new(op->name, call.dtype, call.device, shape);
    if (!y || tern_launch_resample(&args, pool->dims, y, call.in[0]))
        return NULL;
    tern_pool_save(pool, &call.attrs);
    return tern_op_end(&call, y, NULL, 0);
}

// ---- by options --------------------------------------------------------------------------------

static tern_tensor *run(const char *name, int dims, const tern_avg_pool_options *o)
{
    tern_pool pool = {.name = name, .dims = dims};
    if (!o)
        return (void)tern_null_error(name, "options"), NULL;
    pool.ceil_mode = o->ceil_mode;
    pool.count_include_pad = o->count_include_pad;
    pool.divisor_override = o->divisor_override;
    if (tern_check_tensor(name, "x", o->x) ||
        tern_pool_finalize(&pool, o->kernel, o->kernel_size, o->stride, o->padding,
                           (tern_sizes)TERN_EACH_(1)))
        return NULL;
    return tern_avg_pool_run(&pool, o->x);
}

tern_tensor *tern_avg_pool1d_with(const tern_avg_pool_options *options)
{
    return run("avg_pool1d", 1, options);
}

tern_tensor *tern_avg_pool2d_with(const tern_avg_pool_options *options)
{
    return run("avg_pool2d", 2, options);
}

tern_tensor *tern_avg_pool3d_with(const tern_avg_pool_options *options)
{
    return run("avg_pool3d", 3, options);
}
