// SPDX-License-Identifier: Apache-2.0
// Pooling into a number of windows that share the elements of x as evenly as they can.
#include "base/integer.h"
#include "ops/max_pool.h"
#include "tensor/liveness.h"

// ---- the mean ----------------------------------------------------------------------------------

static tern_resample_args mean_args(int dims, tern_shape x, tern_shape y)
{
    tern_resample_args args = {.scale = 1};
    for (int i = 0; i < 3; i++)
        args.dim[i] = tern_resample_same(1);
    for (int i = 0; i < dims; i++) {
        int64_t in = x.dim[x.rank - 1 - i], out = y.dim[y.rank - 1 - i];
        args.dim[2 - i] = (tern_resample_dim){
            .kind = in == out ? TERN_RESAMPLE_SAME : TERN_RESAMPLE_AREA, .in = in, .out = out};
    }
    return args;
}

// One window a plane that is large enough to be summed as reductions are.
static bool is_reduction(int dims, tern_shape x, tern_shape y)
{
    int64_t count = 1;
    for (int i = 0; i < dims; i++) {
        count *= x.dim[x.rank - 1 - i];
        if (y.dim[y.rank - 1 - i] != 1)
            return false;
    }
    return count > 256;
}

static tern_status mean_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    int dims = (int)tern_node_attrs(node)->i[0];
    tern_shape shape = tern_node_input_shape(node, 0);
    tern_resample_args args = mean_args(dims, shape, tern_shape_get(dy[0]));
    dx[0] = tern_node_grad_new(node, 0);
    return dx[0] ? tern_launch_resample_grad(&args, dims, dx[0], dy[0]) : tern_failed();
}

tern_tensor *tern_adaptive_avg_pool_run(const tern_pool *pool, tern_tensor *x)
{
    static const tern_op ops[] = {{"adaptive_avg_pool1d", {"x"}, mean_backward},
                                  {"adaptive_avg_pool2d", {"x"}, mean_backward}};
    const tern_op *op = &ops[pool->dims - 1];
    tern_op_call call = {.op = op, .count = 1, .in = {x}, .attrs.i = {pool->dims}};
    tern_shape shape;
    if (tern_op_begin(&call, TERN_OP_ONLY_FLOATING) || tern_pool_check_input(pool, call.in[0]) ||
        tern_pool_adaptive_shape(pool, call.in[0], &shape))
        return NULL;
    tern_resample_args args = mean_args(pool->dims, call.shape, shape);
    tern_tensor *y = tern_tensor_new(op->name, call.dtype, call.device, shape);
    if (!y)
        return NULL;
    tern_status status = is_reduction(pool->dims, call.shape, shape)
                             ? tern_launch_reduce(TERN_REDUCE_MEAN, 0, y, call.in[0], shape)
                             : tern_launch_resample(&args, pool->dims, y, call.in[0]);
    return status ? NULL : tern_op_end(&call, y, NULL, 0);
}

// ---- the largest -------------------------------------------------------------------------------

// The largest window. One that begins f / out behind a whole element has ceil((f + in) / out), and
// the largest f is out less the common divisor.
static int64_t largest_window(int64_t in, int64_t out)
{
    int64_t common = out, rest = in;
    while (rest) {
        const int64_t next = common % rest;
        common = rest;
        rest = next;
    }
    return out > 0 ? ceil_div(out - common + in, out) : 1;
}

static tern_max_pool_args max_args(int dims, tern_shape x, tern_shape y)
{
    tern_max_pool_args args = {0};
    for (int i = 0; i < 3; i++)
        args.dim[i] = tern_pool_dim_same();
    for (int i = 0; i < dims; i++) {
        tern_pool_dim *dim = &args.dim[2 - i];
        dim->in = x.dim[x.rank - 1 - i];
        dim->out = y.dim[y.rank - 1 - i];
        dim->adaptive = true;
        dim->kernel = largest_window(dim->in, dim->out);
    }
    return args;
}

static tern_status max_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    int dims = (int)tern_node_attrs(node)->i[0];
    tern_max_pool_args args = max_args(dims, tern_node_input_shape(node, 0), tern_shape_get(dy[0]));
    return tern_max_pool_launch_grad(node, &args, dims, dy[0], &dx[0]);
}

tern_tensor *tern_adaptive_max_pool_run(const tern_pool *pool, tern_tensor *x,
                                        tern_tensor **indices)
{
    static const tern_op ops[] = {{"adaptive_max_pool1d", {"x"}, max_backward},
                                  {"adaptive_max_pool2d", {"x"}, max_backward}};
    tern_op_call call = {.op = &ops[pool->dims - 1], .count = 1, .in = {x}};
    tern_max_pooled out = {.with_index = indices};
    tern_shape shape;
    call.attrs.i[0] = pool->dims;
    if (tern_op_begin(&call, TERN_OP_ONLY_FLOATING) || tern_pool_check_input(pool, call.in[0]) ||
        tern_pool_adaptive_shape(pool, call.in[0], &shape))
        return NULL;
    tern_max_pool_args args = max_args(pool->dims, call.shape, shape);
    if (tern_max_pool_launch(&call, &args, pool->dims, shape, &out))
        return NULL;
    return tern_max_pool_end(&call, &out, indices);
}

// ---- by options --------------------------------------------------------------------------------

static tern_tensor *run(const char *name, int dims, bool largest,
                        const tern_adaptive_pool_options *o)
{
    tern_pool pool = {.name = name, .dims = dims};
    if (!o)
        return (void)tern_null_error(name, "options"), NULL;
    TERN_CHECK_PTR(largest || !o->indices, TERN_ERR_ARG, "%s: only the largest have indices", name);
    if (tern_check_tensor(name, "x", o->x) || tern_pool_finalize_adaptive(&pool, o->out, o->size))
        return NULL;
    return largest ? tern_adaptive_max_pool_run(&pool, o->x, o->indices)
                   : tern_adaptive_avg_pool_run(&pool, o->x);
}

tern_tensor *tern_adaptive_avg_pool1d_with(const tern_adaptive_pool_options *options)
{
    return run("adaptive_avg_pool1d", 1, false, options);
}

tern_tensor *tern_adaptive_avg_pool2d_with(const tern_adaptive_pool_options *options)
{
    return run("adaptive_avg_pool2d", 2, false, options);
}

tern_tensor *tern_adaptive_max_pool1d_with(const tern_adaptive_pool_options *options)
{
    return run("adaptive_max_pool1d", 1, true, options);
}

tern_tensor *tern_adaptive_max_pool2d_with(const tern_adaptive_pool_options *options)
{
    return run("adaptive_max_pool2d", 2, true, options);
}
