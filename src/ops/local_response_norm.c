// SPDX-License-Identifier: Apache-2.0
// y = x / t^beta with t = k + alpha / size * the sum of neighbouring channels' squares.
#include "ops/resample.h"

// A contiguous (N, C, ..) as (N, C, S).
static tern_tensor *by_channels(const tern_tensor *t)
{
    int64_t channels = t->size[1], space = 1;
    for (int i = 2; i < t->rank; i++)
        space *= t->size[i];
    tern_shape shape = {3, {t->size[0], channels, space}};
    return tern_tensor_alias("local_response_norm", t, shape,
                             (const int64_t[]){channels * space, space, 1}, t->offset);
}

// Sums over the windows of channels, or the other way round.
static tern_status add_neighbours(bool transposed, int64_t size, double scale, tern_tensor *to,
                                  tern_tensor *from)
{
    tern_tensor *y = by_channels(to), *x = by_channels(from);
    if (!y || !x)
        return tern_failed();
    tern_resample_args args = {.scale = scale};
    args.dim[0] = tern_resample_same(1);
    args.dim[1] = (tern_resample_dim){.kind = TERN_RESAMPLE_WINDOW,
                                      .in = x->size[1],
                                      .out = x->size[1],
                                      .kernel = size,
                                      .stride = 1,
                                      .padding = size / 2,
                                      .divisor = TERN_DIVISOR_ONE};
    args.dim[2] = tern_resample_same(x->size[2]);
    return transposed ? tern_launch_resample_grad(&args, 2, y, x)
                      : tern_launch_resample(&args, 2, y, x);
}

// dx = dy t^-beta - 2 alpha beta / size * x * the sum over the windows of which x is part of
// dy x t^(-beta - 1)
static tern_status backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    const tern_op_attrs *attrs = tern_node_attrs(node);
    tern_tensor *x = tern_node_saved(node, 0), *t = tern_node_saved(node, 1);
    int64_t size = attrs->i[0];
    double alpha = attrs->d[0], beta = attrs->d[1];
    tern_tensor *scaled = tern_mul(dy[0], tern_pow_scalar(t, -beta));
    tern_tensor *share = tern_make_contiguous(tern_div(tern_mul(scaled, x), t));
    tern_tensor *sum = tern_empty_like(x);
    if (!scaled || !share || !sum)
        return tern_failed();
    TERN_TRY(add_neighbours(true, size, -2 * alpha * beta / (double)size, sum, share));
    dx[0] = tern_add(scaled, tern_mul(x, sum));
    return dx[0] ? TERN_OK : tern_failed();
}

static tern_status check(const tern_tensor *x, int64_t size)
{
    TERN_CHECK(x->rank >= 3, TERN_ERR_SHAPE,
               "local_response_norm: x %s is not (N, C, ..) with three dimensions or more",
               tern_shape_string(tern_shape_get(x)));
    TERN_CHECK(size >= 1 && size <= INT32_MAX, TERN_ERR_ARG,
               "local_response_norm: size is %lld, but must be at least 1 and below 2^31",
               (long long)size);
    TERN_CHECK(x->size[1] <= INT32_MAX, TERN_ERR_SHAPE,
               "local_response_norm: x %s has more than 2^31 channels",
               tern_shape_string(tern_shape_get(x)));
    return TERN_OK;
}

// t, or NULL
static tern_tensor *divisor_of(tern_tensor *x, int64_t size, double alpha, double k)
{
    tern_tensor *square = tern_empty_like(x), *t = tern_empty_like(x);
    if (!square || !t || tern_launch_binary(TERN_BINARY_MUL, 1, square, x, x) ||
        add_neighbours(false, size, alpha / (double)size, t, square) ||
        tern_launch_unary(TERN_UNARY_ADD_SCALAR, k, 0, t, t))
        return NULL;
    return t;
}

tern_tensor *tern_local_response_norm(tern_tensor *x, int64_t size, double alpha, double beta,
                                      double k)
{
    static const tern_op norm = {"local_response_norm", {"x"}, backward};
    tern_op_call call = {.op = &norm, .count = 1, .in = {x}, .attrs.d = {alpha, beta}};
    call.attrs.i[0] = size;
    if (tern_op_begin(&call, TERN_OP_ONLY_FLOATING) || check(call.in[0], size))
        return NULL;
    tern_tensor *dense = tern_make_contiguous(call.in[0]);
    tern_tensor *t = dense ? divisor_of(dense, size, alpha, k) : NULL;
    tern_tensor *y = t ? tern_empty_like(t) : NULL;
    if (!y || tern_launch_unary(TERN_UNARY_POW_SCALAR, -beta, 0, y, t) ||
        tern_launch_binary(TERN_BINARY_MUL, 1, y, y, dense))
        return NULL;
    tern_tensor *saved[] = {dense, t};
    return tern_op_end(&call, y, saved, 2);
}
