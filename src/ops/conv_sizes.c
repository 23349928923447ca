// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_sizes.h"
#include "base/integer.h"

tern_status tern_conv_sizes(conv_sizes *sizes, int dims, tern_sizes stride, tern_sizes padding,
                            tern_sizes dilation)
{
    sizes->output_padding = sizes->output_size = (tern_shape){.rank = dims};
    TERN_TRY(tern_sizes_shape(sizes->op, "stride", stride, dims, &sizes->stride));
    TERN_TRY(tern_sizes_shape(sizes->op, "padding", padding, dims, &sizes->padding));
    return tern_sizes_shape(sizes->op, "dilation", dilation, dims, &sizes->dilation);
}

// Padding with what is TERN_SAME_PADDING left out.
static tern_status check_padding(const conv_sizes *sizes)
{
    tern_shape padding = sizes->padding;
    for (int i = 0; i < padding.rank && !sizes->transposed; i++) {
        if (padding.dim[i] != TERN_SAME_PADDING)
            continue;
        TERN_CHECK(sizes->stride.dim[i] == 1, TERN_ERR_ARG,
                   "%s: padding is TERN_SAME_PADDING and stride is %s, but only with stride 1 has "
                   "the output the input's size",
                   sizes->op, tern_shape_string(sizes->stride));
        padding.dim[i] = 0;
    }
    return tern_sizes_check(sizes->op, "padding", padding, 0);
}

// Either output_padding or output_size, which is all 0 when it is not given.
static tern_status check_output(const conv_sizes *sizes)
{
    TERN_TRY(tern_sizes_check(sizes->op, "output_padding", sizes->output_padding, 0));
    TERN_TRY(tern_sizes_check(sizes->op, "output_size", sizes->output_size, 0));
    bool sized = tern_shape_numel(sizes->output_size) != 0;
    for (int i = 0; i < sizes->stride.rank; i++) {
        int64_t stride = sizes->stride.dim[i], dilation = sizes->dilation.dim[i];
        TERN_CHECK(sizes->output_padding.dim[i] < max_int64(stride, dilation), TERN_ERR_ARG,
                   "%s: output_padding %s must be less than stride %s or dilation %s", sizes->op,
                   tern_shape_string(sizes->output_padding), tern_shape_string(sizes->stride),
                   tern_shape_string(sizes->dilation));
        TERN_CHECK(!sized || sizes->output_padding.dim[i] == 0, TERN_ERR_ARG,
                   "%s: output_padding is %s and output_size %s: give one of the two", sizes->op,
                   tern_shape_string(sizes->output_padding), tern_shape_string(sizes->output_size));
        TERN_CHECK(sized || sizes->output_size.dim[i] == 0, TERN_ERR_ARG,
                   "%s: output_size is %s, but must be 1 or more in each dimension", sizes->op,
                   tern_shape_string(sizes->output_size));
    }
    return TERN_OK;
}

tern_status tern_conv_check_sizes(const conv_sizes *sizes)
{
    TERN_TRY(tern_sizes_check(sizes->op, "stride", sizes->stride, 1));
    TERN_TRY(tern_sizes_check(sizes->op, "dilation", sizes->dilation, 1));
    TERN_TRY(check_padding(sizes));
    TERN_CHECK(sizes->groups >= 1, TERN_ERR_ARG, "%s: groups is %lld, but must be 1 or more",
               sizes->op, (long long)sizes->groups);
    return TERN_OK;
}

tern_status tern_conv_check_options(const conv_sizes *sizes)
{
    TERN_TRY(tern_conv_check_sizes(sizes));
    if (sizes->transposed)
        TERN_TRY(check_output(sizes));
    return tern_linear_conv_check(sizes->op, sizes->activation);
}

static const char *const layouts[] = {"(N, C, L)", "(N, C, H, W)", "(N, C, D, H, W)"};
static const char *const last_layouts[] = {"(N, L, C)", "(N, H, W, C)", "(N, D, H, W, C)"};
static const char *const kernels[] = {"KL", "KH, KW", "KD, KH, KW"};

static tern_status check_ranks(const conv_sizes *sizes, const tern_tensor *x,
                               const tern_tensor *weight)
{
    int dims = sizes->stride.rank;
    TERN_CHECK(weight->rank == dims + 2, TERN_ERR_SHAPE, "%s: weight %s is not (%s, %s)", sizes->op,
               tern_shape_string(tern_shape_get(weight)),
               sizes->transposed ? "C, K / groups" : "K, C / groups", kernels[dims - 1]);
    for (int i = 0; i < weight->rank; i++)
        TERN_CHECK(weight->size[i] > 0 && weight->size[i] <= TERN_SIZE_MAX, TERN_ERR_SHAPE,
                   "%s: weight %s has a size that is not 1 to %lld", sizes->op,
                   tern_shape_string(tern_shape_get(weight)), (long long)TERN_SIZE_MAX);
    TERN_CHECK(x->rank == dims + 2 || x->rank == dims + 1, TERN_ERR_SHAPE,
               "%s: x %s has %d dimensions, but must be %s, or without N", sizes->op,
               tern_shape_string(tern_shape_get(x)), x->rank, layouts[dims - 1]);
    return TERN_OK;
}

static tern_status check_channels(const conv_sizes *sizes, const tern_tensor *x,
                                  const tern_tensor *weight, int64_t expected)
{
    int dims = sizes->stride.rank;
    int64_t channels = x->size[x->rank - dims - 1];
    if (channels == expected)
        return TERN_OK;
    TERN_CHECK(x->size[x->rank - 1] != expected, TERN_ERR_SHAPE,
               "%s: x %s looks like %s; %s wants %s, here %lld channels: tern_permute", sizes->op,
               tern_shape_string(tern_shape_get(x)), last_layouts[dims - 1], sizes->op,
               layouts[dims - 1], (long long)expected);
    return tern_error_raise(
        TERN_ERR_SHAPE, "%s: weight %s, groups %lld: expected %lld channels, but x %s has %lld",
        sizes->op, tern_shape_string(tern_shape_get(weight)), (long long)sizes->groups,
        (long long)expected, tern_shape_string(tern_shape_get(x)), (long long)channels);
}

tern_status tern_conv_check_operands(const conv_sizes *sizes, const tern_op_call *call)
{
    const tern_tensor *x = call->in[TERN_LINEAR_CONV_X],
                      *weight = call->in[TERN_LINEAR_CONV_WEIGHT];
    const tern_tensor *bias = tern_linear_conv_bias(call);
    TERN_TRY(check_ranks(sizes, x, weight));
    TERN_CHECK(weight->size[0] % sizes->groups == 0, TERN_ERR_SHAPE,
               "%s: weight %s has %lld %s, which groups %lld does not divide", sizes->op,
               tern_shape_string(tern_shape_get(weight)), (long long)weight->size[0],
               sizes->transposed ? "input channels" : "filters", (long long)sizes->groups);
    int64_t across = weight->size[1] * sizes->groups;
    TERN_TRY(check_channels(sizes, x, weight, sizes->transposed ? weight->size[0] : across));
    int64_t out = sizes->transposed ? across : weight->size[0];
    TERN_CHECK(!bias || (bias->rank == 1 && bias->size[0] == out), TERN_ERR_SHAPE,
               "%s: bias %s does not fit weight %s, groups %lld: it must be (%lld,)", sizes->op,
               tern_shape_string(tern_shape_get(bias)), tern_shape_string(tern_shape_get(weight)),
               (long long)sizes->groups, (long long)out);
    return TERN_OK;
}

// The spatial sizes of a tensor: the last dims.
static tern_shape spatial_sizes(const conv_sizes *sizes, const tern_tensor *t)
{
    tern_shape space = {.rank = sizes->stride.rank};
    for (int i = 0; i < space.rank; i++)
        space.dim[i] = t->size[t->rank - space.rank + i];
    return space;
}

static tern_status windows(conv_sizes *sizes, tern_shape in, tern_shape kernel, tern_shape *out)
{
    tern_shape padded = in, extent = kernel;
    for (int i = 0; i < in.rank; i++) {
        int64_t *padding = &sizes->padding.dim[i], beyond;
        bool same = *padding == TERN_SAME_PADDING;
        beyond = sizes->dilation.dim[i] * (kernel.dim[i] - 1);
        *padding = same ? beyond / 2 : *padding;
        extent.dim[i] = beyond + 1;
        padded.dim[i] = in.dim[i] + (same ? beyond : 2 * *padding);
        out->dim[i] = (padded.dim[i] - extent.dim[i]) / sizes->stride.dim[i] + 1;
    }
    for (int i = 0; i < in.rank; i++)
        TERN_CHECK(in.dim[i] > 0 && extent.dim[i] <= padded.dim[i], TERN_ERR_SHAPE,
                   "%s: the kernel is larger than the padded input, %s and %s: kernel %s with "
                   "dilation %s, input %s with padding %s",
                   sizes->op, tern_shape_string(extent), tern_shape_string(padded),
                   tern_shape_string(kernel), tern_shape_string(sizes->dilation),
                   tern_shape_string(in), tern_shape_string(sizes->padding));
    return TERN_OK;
}

static tern_status transposed_windows(const conv_sizes *sizes, tern_shape in, tern_shape kernel,
                                      tern_shape *out)
{
    tern_shape min = in, max = in;
    bool sized = tern_shape_numel(sizes->output_size) != 0;
    for (int i = 0; i < in.rank; i++) {
        min.dim[i] = (in.dim[i] - 1) * sizes->stride.dim[i] - 2 * sizes->padding.dim[i] +
                     sizes->dilation.dim[i] * (kernel.dim[i] - 1) + 1;
        max.dim[i] = min.dim[i] + sizes->stride.dim[i] - 1;
        out->dim[i] = sized ? sizes->output_size.dim[i] : min.dim[i] + sizes->output_padding.dim[i];
    }
    for (int i = 0; i < in.rank; i++) {
        TERN_CHECK(in.dim[i] > 0 && out->dim[i] > 0, TERN_ERR_SHAPE,
                   "%s: input %s with kernel %s, stride %s and padding %s gives output %s, which "
                   "must be 1 or more",
                   sizes->op, tern_shape_string(in), tern_shape_string(kernel),
                   tern_shape_string(sizes->stride), tern_shape_string(sizes->padding),
                   tern_shape_string(*out));
        TERN_CHECK(!sized || (min.dim[i] <= out->dim[i] && out->dim[i] <= max.dim[i]),
                   TERN_ERR_SHAPE, "%s: output_size is %s, but must be from %s to %s for input %s",
                   sizes->op, tern_shape_string(sizes->output_size), tern_shape_string(min),
                   tern_shape_string(max), tern_shape_string(in));
    }
    return TERN_OK;
}

tern_status tern_conv_shape(conv_sizes *sizes, const tern_tensor *x, const tern_tensor *weight,
                            tern_shape *shape)
{
    tern_shape in = spatial_sizes(sizes, x), kernel = spatial_sizes(sizes, weight), out = in;
    for (int i = 0; i < in.rank; i++)
        TERN_CHECK(in.dim[i] <= INT32_MAX && kernel.dim[i] <= INT32_MAX, TERN_ERR_SHAPE,
                   "%s: input %s or kernel %s is not below 2^31 along dimension %d", sizes->op,
                   tern_shape_string(in), tern_shape_string(kernel), i);
    TERN_TRY(sizes->transposed ? transposed_windows(sizes, in, kernel, &out)
                               : windows(sizes, in, kernel, &out));
    *shape = tern_shape_get(x);
    int first = shape->rank - out.rank;
    shape->dim[first - 1] = sizes->transposed ? weight->size[1] * sizes->groups : weight->size[0];
    for (int i = 0; i < out.rank; i++)
        shape->dim[first + i] = out.dim[i];
    return TERN_OK;
}

// In the attrs, behind those of fused.h: the last three for each of three dims.
enum {
    TRANSPOSED = TERN_LINEAR_CONV_ATTRS,
    GROUPS,
    STRIDE,
    PADDING = STRIDE + 3,
    DILATION = PADDING + 3
};

void tern_conv_save(const conv_sizes *sizes, tern_op_attrs *attrs)
{
    int first = 3 - sizes->stride.rank;
    attrs->i[TRANSPOSED] = sizes->transposed;
    attrs->i[GROUPS] = sizes->groups;
    for (int d = 0; d < 3; d++) {
        attrs->i[STRIDE + d] = d < first ? 1 : sizes->stride.dim[d - first];
        attrs->i[PADDING + d] = d < first ? 0 : sizes->padding.dim[d - first];
        attrs->i[DILATION + d] = d < first ? 1 : sizes->dilation.dim[d - first];
    }
}

bool tern_conv_is_transposed(const tern_op_attrs *attrs)
{
    return attrs->i[TRANSPOSED] != 0;
}

// (N, C, D, H, W) of `dims` spatial dims with or without a batch.
static tern_strided view_with_batch(const tern_tensor *t, int dims)
{
    int lead = t->rank - dims;
    tern_shape shape = {.rank = 5, .dim = {1, 1, 1, 1, 1}};
    for (int i = 0; i < lead; i++)
        shape.dim[2 - lead + i] = t->size[i];
    for (int i = 0; i < dims; i++)
        shape.dim[5 - dims + i] = t->size[lead + i];
    return tern_view_shaped(t, shape);
}

tern_conv_args tern_conv_make_args(const tern_op_attrs *attrs, const tern_tensor *x,
                                   const tern_tensor *weight, const tern_tensor *y)
{
    int dims = weight->rank - 2;
    bool transposed = tern_conv_is_transposed(attrs);
    tern_conv_args args = {.x = view_with_batch(transposed ? y : x, dims),
                           .weight = view_with_batch(weight, dims),
                           .y = view_with_batch(transposed ? x : y, dims),
                           .groups = attrs->i[GROUPS]};
    for (int d = 0; d < 3; d++) {
        args.stride[d] = attrs->i[STRIDE + d];
        args.padding[d] = attrs->i[PADDING + d];
        args.dilation[d] = attrs->i[DILATION + d];
    }
    return args;
}
