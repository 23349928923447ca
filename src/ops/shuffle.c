// SPDX-License-Identifier: Apache-2.0
// Elements in another order of dimensions that some sizes are cut into: reshape, permute, reshape
// in one copy.
#include "ops/launch.h"

// `from` as the sizes of `shape`, whose dimension axis[i] becomes dimension i, copied to `to`. Both
// are contiguous; the copy goes through the longer of their innermost dimensions.
static tern_status rearrange(tern_tensor *to, const tern_tensor *from, tern_shape shape,
                             const int *axis)
{
    const int last = shape.rank - 1;
    tern_shape result = shape;
    for (int i = 0; i <= last; i++)
        result.dim[i] = shape.dim[axis[i]];
    tern_strided source = tern_view_shaped(from, shape), target = tern_view_shaped(to, result);
    const tern_strided all = source, whole = target;
    const bool by_source = shape.dim[last] > result.dim[last];
    for (int i = 0; i <= last; i++) {
        if (by_source) {
            target.size[axis[i]] = whole.size[i];
            target.stride[axis[i]] = whole.stride[i];
        } else {
            source.size[i] = all.size[axis[i]];
            source.stride[i] = all.stride[axis[i]];
        }
    }
    tern_views_coalesce((tern_strided *const[]){&target, &source}, 2);
    const tern_device device = tern_dev(to);
    const tern_exec exec = tern_exec_of(device);
    return to->numel ? tern_kernels_of(device)->copy(&exec, &target, &source) : TERN_OK;
}

// Product of the sizes of dimensions first ... last - 1.
static int64_t product(tern_shape shape, int first, int last)
{
    int64_t numel = 1;
    for (int i = first; i < last; i++)
        numel *= shape.dim[i];
    return numel;
}

// ---- pixels -------------------------------------------------------------------------------------

// (.., C r^2, H, W) -> (.., C, H r, W r) where `apart`, else the way back; of the sizes of x.
static tern_shape pixel_shape(tern_shape shape, int64_t r, bool apart)
{
    int64_t *c = &shape.dim[shape.rank - 3], *h = c + 1, *w = c + 2;
    *c = apart ? *c / (r * r) : *c * (r * r);
    *h = apart ? *h * r : *h / r;
    *w = apart ? *w * r : *w / r;
    return shape;
}

static tern_status move_pixels(tern_tensor *y, const tern_tensor *x, int64_t r, bool apart)
{
    static const int spread[] = {0, 3, 1, 4, 2}, gather[] = {0, 2, 4, 1, 3};
    const tern_shape small = tern_shape_get(apart ? x : y), large = tern_shape_get(apart ? y : x);
    const int64_t planes = product(large, 0, large.rank - 2); // .. C
    const int64_t h = small.dim[small.rank - 2], w = small.dim[small.rank - 1];
    const tern_shape by_channel = {5, {planes, r, r, h, w}},
                     by_position = {5, {planes, h, r, w, r}};
    return apart ? rearrange(y, x, by_channel, spread) : rearrange(y, x, by_position, gather);
}

// Checked before; of the op's name.
static tern_tensor *moved_pixels(const char *name, tern_tensor *x, int64_t r, bool apart)
{
    tern_tensor *dense = tern_make_contiguous(x);
    tern_tensor *y =
        tern_tensor_new(name, x->dtype, tern_dev(x), pixel_shape(tern_shape_get(x), r, apart));
    return dense && y && !move_pixels(y, dense, r, apart) ? y : NULL;
}

static tern_status pixel_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    const tern_op_attrs *attrs = tern_node_attrs(node);
    dx[0] = moved_pixels("pixel_shuffle", dy[0], attrs->i[0], !attrs->i[1]);
    return dx[0] ? TERN_OK : tern_failed();
}

static tern_tensor *pixels(tern_op_call *call, int64_t r, bool apart)
{
    tern_tensor *y = moved_pixels(call->op->name, call->in[0], r, apart);
    call->attrs.i[0] = r;
    call->attrs.i[1] = apart;
    return tern_op_end(call, y, NULL, 0);
}

static tern_status begin_pixels(tern_op_call *call, const char *factor, int64_t r)
{
    TERN_TRY(tern_op_begin(call, TERN_OP_PLAIN));
    TERN_CHECK(r > 0 && r <= INT16_MAX, TERN_ERR_ARG,
               "%s: %s is %lld, but must be at least 1 and below 2^15", call->op->name, factor,
               (long long)r);
    TERN_CHECK(call->shape.rank >= 3, TERN_ERR_SHAPE, "%s: x is %s, but must be (.., C, H, W)",
               call->op->name, tern_tensor_string(call->in[0]));
    return TERN_OK;
}

tern_tensor *tern_pixel_shuffle(tern_tensor *x, int64_t upscale_factor)
{
    static const tern_op op = {"pixel_shuffle", {"x"}, pixel_backward};
    tern_op_call call = {.op = &op, .count = 1, .in = {x}};
    if (begin_pixels(&call, "upscale_factor", upscale_factor))
        return NULL;
    const int64_t channels = x->size[x->rank - 3], square = upscale_factor * upscale_factor;
    TERN_CHECK_PTR(channels % square == 0, TERN_ERR_SHAPE,
                   "pixel_shuffle: x %s has %lld channels, which upscale_factor^2 = %lld does not "
                   "divide",
                   tern_tensor_string(x), (long long)channels, (long long)square);
    return pixels(&call, upscale_factor, true);
}

tern_tensor *tern_pixel_unshuffle(tern_tensor *x, int64_t downscale_factor)
{
    static const tern_op op = {"pixel_unshuffle", {"x"}, pixel_backward};
    tern_op_call call = {.op = &op, .count = 1, .in = {x}};
    if (begin_pixels(&call, "downscale_factor", downscale_factor))
        return NULL;
    const int64_t h = x->size[x->rank - 2], w = x->size[x->rank - 1];
    TERN_CHECK_PTR(h % downscale_factor == 0 && w % downscale_factor == 0, TERN_ERR_SHAPE,
                   "pixel_unshuffle: x %s is %lld high and %lld wide, and downscale_factor = %lld "
                   "must divide both",
                   tern_tensor_string(x), (long long)h, (long long)w, (long long)downscale_factor);
    return pixels(&call, downscale_factor, false);
}

// ---- channels -----------------------------------------------------------------------------------

// Channels seen as (groups, C / groups), transposed.
static tern_tensor *moved_channels(tern_tensor *x, int64_t groups)
{
    static const int transposed[] = {0, 2, 1, 3};
    const tern_shape shape = tern_shape_get(x);
    tern_tensor *dense = tern_make_contiguous(x);
    tern_tensor *y = tern_tensor_new("channel_shuffle", x->dtype, tern_dev(x), shape);
    const int64_t inner = product(shape, 2, shape.rank);
    const tern_shape cut = {4, {shape.dim[0], groups, shape.dim[1] / groups, inner}};
    return dense && y && !rearrange(y, dense, cut, transposed) ? y : NULL;
}

static tern_status channel_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    const int64_t groups = tern_node_attrs(node)->i[0], channels = dy[0]->size[1];
    dx[0] = channels ? moved_channels(dy[0], channels / groups) : tern_empty_like(dy[0]);
    return dx[0] ? TERN_OK : tern_failed();
}

tern_tensor *tern_channel_shuffle(tern_tensor *x, int64_t groups)
{
    static const tern_op op = {"channel_shuffle", {"x"}, channel_backward};
    tern_op_call call = {.op = &op, .count = 1, .in = {x}, .attrs.i = {groups}};
    if (tern_op_begin(&call, TERN_OP_PLAIN))
        return NULL;
    TERN_CHECK_PTR(groups > 0, TERN_ERR_ARG,
                   "channel_shuffle: groups is %lld, but must be positive", (long long)groups);
    TERN_CHECK_PTR(x->rank >= 3, TERN_ERR_SHAPE, "channel_shuffle: x is %s, but must be (N, C, ..)",
                   tern_tensor_string(x));
    TERN_CHECK_PTR(x->size[1] % groups == 0, TERN_ERR_SHAPE,
                   "channel_shuffle: x %s has %lld channels, which %lld groups do not divide",
                   tern_tensor_string(x), (long long)x->size[1], (long long)groups);
    return tern_op_end(&call, moved_channels(call.in[0], groups), NULL, 0);
}
