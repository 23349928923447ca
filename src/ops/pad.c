// SPDX-License-Identifier: Apache-2.0
// Padding: with a value, by a copy into the middle; else by resampling, whose gradient adds what
// was repeated.
#include "base/integer.h"
#include "ops/resample.h"
#include "tensor/factory.h"
#include "tensor/liveness.h"

_Static_assert(TERN_MAX_PADS == 2 * TERN_MAX_RANK, "two for each dimension");

tern_pad_list tern_pad_list_make(int count, const int64_t *pads)
{
    tern_pad_list list = {.count = count};
    for (int i = 0; pads && i < count && i < TERN_MAX_PADS; i++)
        list.pad[i] = pads[i];
    return list;
}

static const char *name_of(tern_pad_mode mode)
{
    switch (mode) {
    case TERN_PAD_UNSPECIFIED:
    case TERN_PAD_CONSTANT:
        return "constant";
    case TERN_PAD_REFLECT:
        return "reflect";
    case TERN_PAD_REPLICATE:
        return "replicate";
    case TERN_PAD_CIRCULAR:
        return "circular";
    }
    return NULL;
}

// ---- with a value ------------------------------------------------------------------------------

// The part of t along each dimension that lies in x and in the padded x: of t = x what padding
// does not cut, of t = y what it does not add.
static tern_tensor *middle_of(const tern_tensor *t, const int64_t *pad, int count, bool padded)
{
    tern_shape shape = tern_shape_get(t);
    int64_t offset = t->offset;
    for (int i = 0; i < count / 2; i++) {
        int dim = t->rank - 1 - i;
        for (int side = 0; side < 2; side++) {
            const int64_t beside = max_int64(padded ? pad[2 * i + side] : -pad[2 * i + side], 0);
            shape.dim[dim] -= beside;
            offset += side == 0 ? beside * t->stride[dim] : 0;
        }
        if (shape.dim[dim] <= 0)
            return NULL;
    }
    return tern_tensor_alias("pad", t, shape, t->stride, offset);
}

// The middle of `to`, which is padded or not, from that of `from`; nothing where there is none.
static tern_status copy_middle(tern_tensor *to, const tern_tensor *from, const int64_t *pad,
                               int count, bool to_padded)
{
    if (to->numel == 0 || from->numel == 0)
        return TERN_OK;
    tern_tensor *inner = middle_of(to, pad, count, to_padded);
    tern_tensor *source = inner ? middle_of(from, pad, count, !to_padded) : NULL;
    if (!source)
        return tern_error_pending() ? tern_failed() : TERN_OK;
    return tern_launch_copy(inner, source);
}

static tern_status constant_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    const tern_op_attrs *attrs = tern_node_attrs(node);
    int count = (int)attrs->d[0];
    dx[0] = tern_tensor_new("pad", dy[0]->dtype, tern_dev(dy[0]), tern_node_input_shape(node, 0));
    if (!dx[0] || !tern_filled(dx[0], 0))
        return tern_failed();
    return copy_middle(dx[0], dy[0], attrs->i, count, false);
}

static tern_status check_constant(const tern_tensor *x, tern_pad_list pads)
{
    TERN_CHECK(pads.count / 2 <= x->rank, TERN_ERR_SHAPE,
               "pad: %d numbers are for %d dimensions, but x is %s", pads.count, pads.count / 2,
               tern_tensor_string(x));
    for (int i = 0; i < pads.count / 2; i++) {
        int dim = x->rank - 1 - i;
        const int64_t before = pads.pad[2 * i], after = pads.pad[2 * i + 1], size = x->size[dim];
        const int64_t cut = (before < 0 ? -before : 0) + (after < 0 ? -after : 0);
        TERN_CHECK(size <= INT64_MAX / 4, TERN_ERR_SHAPE, "pad: dimension %d of x %s is too long",
                   dim, tern_shape_string(tern_shape_get(x)));
        TERN_CHECK(cut <= size, TERN_ERR_SHAPE,
                   "pad: %lld and %lld cut more than dimension %d of x %s has",
                   (long long)pads.pad[2 * i], (long long)pads.pad[2 * i + 1], dim,
                   tern_shape_string(tern_shape_get(x)));
    }
    return TERN_OK;
}

static tern_tensor *pad_constant(tern_tensor *x, tern_pad_list pads, tern_scalar value)
{
    static const tern_op pad = {"pad", {"x"}, constant_backward};
    tern_op_call call = {.op = &pad, .count = 1, .in = {x}, .attrs.d = {pads.count}};
    if (tern_op_begin(&call, TERN_OP_PLAIN) || check_constant(call.in[0], pads) ||
        tern_check_integral("pad", "value", value, call.dtype))
        return NULL;
    for (int i = 0; i < pads.count; i++) {
        call.attrs.i[i] = pads.pad[i];
        call.shape.dim[call.shape.rank - 1 - i / 2] += pads.pad[i];
    }
    tern_tensor *y =
        tern_filled(tern_create("pad", call.dtype, call.device, false, call.shape), value);
    if (!y || copy_middle(y, call.in[0], pads.pad, pads.count, true))
        return NULL;
    return tern_op_end(&call, y, NULL, 0);
}

// ---- with what is there ------------------------------------------------------------------------

static tern_resample_kind kind_of(tern_pad_mode mode)
{
    return mode == TERN_PAD_REFLECT     ? TERN_RESAMPLE_REFLECT
           : mode == TERN_PAD_REPLICATE ? TERN_RESAMPLE_REPLICATE
                                        : TERN_RESAMPLE_CIRCULAR;
}

static tern_resample_args args_of(tern_shape x, tern_pad_mode mode, const int64_t *pad, int dims)
{
    tern_resample_args args = {.scale = 1};
    for (int i = 0; i < 3; i++)
        args.dim[i] = tern_resample_same(1);
    for (int i = 0; i < dims; i++) {
        int64_t in = x.dim[x.rank - 1 - i], before = pad[2 * i], after = pad[2 * i + 1];
        args.dim[2 - i] = tern_resample_same(in);
        if (before || after)
            args.dim[2 - i] = (tern_resample_dim){
                .kind = kind_of(mode), .in = in, .out = in + before + after, .padding = before};
    }
    return args;
}

enum {
    MODE = TERN_MAX_PADS - 2,
    DIMS = TERN_MAX_PADS - 1
}; // of the numbers, behind those of padding

static tern_status repeated_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    const int64_t *i = tern_node_attrs(node)->i;
    tern_shape shape = tern_node_input_shape(node, 0);
    tern_resample_args args = args_of(shape, (tern_pad_mode)i[MODE], i, (int)i[DIMS]);
    dx[0] = tern_tensor_new("pad", dy[0]->dtype, tern_dev(dy[0]), shape);
    return dx[0] ? tern_launch_resample_grad(&args, (int)i[DIMS], dx[0], dy[0]) : tern_failed();
}

static tern_status check_amount(const tern_tensor *x, tern_pad_mode mode, int64_t pad, int dim)
{
    int64_t size = x->size[dim], max = INT32_MAX;
    if (mode != TERN_PAD_REPLICATE)
        max = mode == TERN_PAD_REFLECT ? size - 1 : size;
    TERN_CHECK(size > 0, TERN_ERR_SHAPE, "pad: x %s has nothing to repeat: dimension %d is empty",
               tern_shape_string(tern_shape_get(x)), dim);
    TERN_CHECK(pad >= 0, TERN_ERR_ARG,
               "pad: mode %s takes no negative padding, such as %lld: cut with tern_narrow",
               name_of(mode), (long long)pad);
    TERN_CHECK(pad <= max, TERN_ERR_SHAPE,
               "pad: mode %s pads dimension %d of x %s, of size %lld, by at most %lld, not %lld",
               name_of(mode), dim, tern_shape_string(tern_shape_get(x)), (long long)size,
               (long long)max, (long long)pad);
    return TERN_OK;
}

static tern_status check_repeated(const tern_tensor *x, tern_pad_list pads, tern_pad_mode mode,
                                  tern_scalar value)
{
    int dims = pads.count / 2;
    bool zero = value.is_integer ? value.integer == 0 : value.floating == 0;
    TERN_CHECK(zero, TERN_ERR_ARG, "pad: mode %s takes no value: it must be 0", name_of(mode));
    TERN_CHECK(dims >= 1 && dims <= 3 && (x->rank == dims + 1 || x->rank == dims + 2),
               TERN_ERR_SHAPE,
               "pad: mode %s takes 2, 4 or 6 numbers and one or two dimensions before those that "
               "it pads, but %d numbers and x %s were given",
               name_of(mode), pads.count, tern_shape_string(tern_shape_get(x)));
    for (int i = 0; i < pads.count; i++)
        TERN_TRY(check_amount(x, mode, pads.pad[i], x->rank - 1 - i / 2));
    return TERN_OK;
}

static tern_tensor *pad_repeated(tern_tensor *x, tern_pad_list pads, tern_pad_mode mode,
                                 tern_scalar value)
{
    static const tern_op pad = {"pad", {"x"}, repeated_backward};
    tern_op_call call = {.op = &pad, .count = 1, .in = {x}};
    if (tern_op_begin(&call, TERN_OP_ONLY_FLOATING) ||
        check_repeated(call.in[0], pads, mode, value))
        return NULL;
    int dims = pads.count / 2;
    for (int i = 0; i < pads.count; i++) {
        call.attrs.i[i] = pads.pad[i];
        call.shape.dim[call.shape.rank - 1 - i / 2] += pads.pad[i];
    }
    call.attrs.i[MODE] = mode;
    call.attrs.i[DIMS] = dims;
    tern_resample_args args = args_of(tern_shape_get(call.in[0]), mode, pads.pad, dims);
    tern_tensor *y = tern_create("pad", call.dtype, call.device, false, call.shape);
    if (!y || tern_launch_resample(&args, dims, y, call.in[0]))
        return NULL;
    return tern_op_end(&call, y, NULL, 0);
}

tern_tensor *(tern_pad)(tern_tensor *x, tern_pad_list pads, tern_pad_mode mode, tern_scalar value)
{
    if (tern_check_tensor("pad", "x", x))
        return NULL;
    TERN_CHECK_PTR(mode >= TERN_PAD_UNSPECIFIED && mode <= TERN_PAD_CIRCULAR, TERN_ERR_ARG,
                   "pad: there is no mode %d", (int)mode);
    TERN_CHECK_PTR(
        pads.count >= 0 && pads.count % 2 == 0 && pads.count <= TERN_MAX_PADS, TERN_ERR_ARG,
        "pad: there are %d numbers of padding, but each dimension takes two", pads.count);
    for (int i = 0; i < pads.count; i++)
        TERN_CHECK_PTR(pads.pad[i] >= -INT32_MAX && pads.pad[i] <= INT32_MAX, TERN_ERR_ARG,
                       "pad: a padding of %lld is too large", (long long)pads.pad[i]);
    return mode <= TERN_PAD_CONSTANT ? pad_constant(x, pads, value)
                                     : pad_repeated(x, pads, mode, value);
}
