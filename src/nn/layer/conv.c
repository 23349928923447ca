// SPDX-License-Identifier: Apache-2.0
// Convolutions and transposed ones.
#include "nn/layer/layer.h"
#include "ops/conv_sizes.h"
#include "tensor/liveness.h"
#include "tensor/tensor.h"

typedef struct conv {
    tern_module base;
    tern_tensor *weight; // (K, C / groups, ..), transposed (C, K / groups, ..)
    tern_tensor *bias;   // (K) or NULL
    conv_sizes sizes;    // op: the constructor
    tern_shape kernel_size;
    int64_t in_channels, out_channels;
    tern_pad_mode padding_mode;
} conv;

// As tern_pad wants them: the last dim first.
static tern_pad_list pads_of(const conv *self)
{
    const conv_sizes *o = &self->sizes;
    int dims = o->padding.rank;
    tern_pad_list pads = {.count = 2 * dims};
    for (int i = 0; i < dims; i++) {
        int64_t padding = o->padding.dim[dims - 1 - i];
        int64_t reach = o->dilation.dim[dims - 1 - i] * (self->kernel_size.dim[dims - 1 - i] - 1);
        bool same = padding == TERN_SAME_PADDING;
        pads.pad[2 * i] = same ? reach / 2 : padding;
        pads.pad[2 * i + 1] = same ? reach - reach / 2 : padding;
    }
    return pads;
}

tern_tensor *tern_nn_conv_activated(tern_module *module, tern_tensor *x, tern_activation activation)
{
    const conv *self = (const conv *)module;
    conv_sizes sizes = self->sizes;
    sizes.activation = activation;
    if (self->padding_mode != TERN_PAD_ZEROS) {
        x = tern_pad(x, pads_of(self), self->padding_mode, 0);
        sizes.padding = (tern_shape){.rank = sizes.padding.rank};
        if (!x)
            return NULL;
    }
    return tern_conv_run(sizes, x, self->weight, self->bias);
}

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    TERN_TRY(tern_layer_inputs(module, in, 1));
    return tern_layer_output(out, tern_nn_conv_activated(module, in->at[0], TERN_ACT_NONE));
}

static tern_status reset(tern_module *module, tern_generator *generator)
{
    const conv *self = (const conv *)module;
    const tern_tensor *weight = self->weight;
    TERN_TRY(tern_check_tensor(self->sizes.op, "weight", weight));
    TERN_CHECK(weight->rank == self->sizes.stride.rank + 2 && weight->numel > 0, TERN_ERR_SHAPE,
               "%s: weight is %s, but must have %d dimensions to be drawn", self->sizes.op,
               tern_tensor_string(weight), self->sizes.stride.rank + 2);
    return tern_layer_draw(self->weight, self->bias, weight->numel / weight->size[0], generator);
}

// ", name=(1, 2)" unless all are `usual`.
static void add_sizes(tern_text *out, const char *name, tern_shape sizes, int64_t usual)
{
    bool same = true;
    for (int i = 0; i < sizes.rank; i++)
        same = same && sizes.dim[i] == TERN_SAME_PADDING;
    for (int i = 0; i < sizes.rank; i++) {
        if (sizes.dim[i] != usual) {
            tern_text_add(out, ", %s=%s", name, same ? "same" : tern_shape_string(sizes));
            return;
        }
    }
}

static void describe(const tern_module *module, tern_text *out)
{
    static const char *const modes[] = {[TERN_PAD_REFLECT] = "reflect",
                                        [TERN_PAD_REPLICATE] = "replicate",
                                        [TERN_PAD_CIRCULAR] = "circular"};
    const conv *self = (const conv *)module;
    const conv_sizes *o = &self->sizes;
    tern_text_add(out, "%lld, %lld, kernel_size=%s, stride=%s", (long long)self->in_channels,
                  (long long)self->out_channels, tern_shape_string(self->kernel_size),
                  tern_shape_string(o->stride));
    add_sizes(out, "padding", o->padding, 0);
    add_sizes(out, "dilation", o->dilation, 1);
    add_sizes(out, "output_padding", o->output_padding, 0);
    if (o->groups != 1)
        tern_text_add(out, ", groups=%lld", (long long)o->groups);
    if (!self->bias)
        tern_text_add(out, ", bias=False");
    if (self->padding_mode != TERN_PAD_ZEROS)
        tern_text_add(out, ", padding_mode=%s", modes[self->padding_mode]);
}

#define CLASS(torch_name)                                                                          \
    {                                                                                              \
        .name = torch_name, .size = sizeof(conv), .call = call, .describe = describe,              \
        .reset = reset                                                                             \
    }
const tern_module_class tern_nn_conv_classes[2][3] = {
    {CLASS("Conv1d"), CLASS("Conv2d"), CLASS("Conv3d")},
    {CLASS("ConvTranspose1d"), CLASS("ConvTranspose2d"), CLASS("ConvTranspose3d")}};

static tern_status check_kernel(const char *name, const tern_nn_conv_options *o, int dims,
                                tern_shape *size)
{
    TERN_TRY(tern_sizes_shape(name, "kernel_size", o->kernel_size, dims, size));
    bool sized = false;
    for (int i = 0; i < dims; i++)
        sized |= size->dim[i] != 0;
    TERN_CHECK(sized != (o->kernel != 0), TERN_ERR_ARG,
               "%s: kernel is %lld and kernel_size %s: give one of the two", name,
               (long long)o->kernel, tern_shape_string(*size));
    for (int i = 0; i < dims && !sized; i++)
        size->dim[i] = o->kernel;
    return tern_sizes_check(name, "kernel_size", *size, 1);
}

static tern_status check_options(const char *name, const tern_nn_conv_options *o, int dims,
                                 conv_sizes *sizes)
{
    TERN_CHECK(o->in_channels > 0 && o->out_channels > 0, TERN_ERR_ARG,
               "%s: in_channels is %lld and out_channels %lld, but both must be positive", name,
               (long long)o->in_channels, (long long)o->out_channels);
    TERN_TRY(tern_conv_sizes(sizes, dims, o->stride, o->padding, o->dilation));
    TERN_TRY(tern_conv_check_sizes(sizes));
    TERN_CHECK(o->in_channels % o->groups == 0 && o->out_channels % o->groups == 0, TERN_ERR_ARG,
               "%s: groups %lld must divide in_channels %lld and out_channels %lld", name,
               (long long)o->groups, (long long)o->in_channels, (long long)o->out_channels);
    TERN_CHECK(o->padding_mode >= TERN_PAD_UNSPECIFIED && o->padding_mode <= TERN_PAD_CIRCULAR,
               TERN_ERR_ARG, "%s: there is no padding_mode %d", name, (int)o->padding_mode);
    TERN_CHECK(o->dtype == TERN_DTYPE_UNSPECIFIED || tern_dtype_is_floating(o->dtype),
               TERN_ERR_DTYPE, "%s: %s is not a floating dtype", name, tern_dtype_name(o->dtype));
    return TERN_OK;
}

static tern_module *make_parameters(conv *self, const tern_nn_conv_options *o, tern_device device)
{
    const bool transposed = self->sizes.transposed;
    tern_shape shape = {.rank = self->kernel_size.rank + 2};
    shape.dim[0] = transposed ? o->in_channels : o->out_channels;
    shape.dim[1] = (transposed ? o->out_channels : o->in_channels) / o->groups;
    for (int i = 0; i < self->kernel_size.rank; i++)
        shape.dim[2 + i] = self->kernel_size.dim[i];
    tern_parameter(self, weight, tern_empty(shape, .dtype = o->dtype, .device = device));
    tern_shape row = tern_dims(o->out_channels);
    tern_parameter(self, bias,
                   o->bias ? tern_empty(row, .dtype = o->dtype, .device = device) : NULL);
    return tern_done(self);
}

static tern_module *make(conv_sizes sizes, int dims, const tern_nn_conv_options *o,
                         tern_sizes output_padding)
{
    tern_shape kernel_size;
    tern_device device = o->device;
    sizes.groups = o->groups;
    if (check_options(sizes.op, o, dims, &sizes) || check_kernel(sizes.op, o, dims, &kernel_size) ||
        tern_sizes_shape(sizes.op, "output_padding", output_padding, dims, &sizes.output_padding) ||
        tern_sizes_check(sizes.op, "output_padding", sizes.output_padding, 0) ||
        tern_device_resolve(sizes.op, &device))
        return NULL;
    conv *self = (conv *)tern_module_new(&tern_nn_conv_classes[sizes.transposed][dims - 1]);
    if (!self)
        return NULL;
    self->sizes = sizes;
    self->kernel_size = kernel_size;
    self->in_channels = o->in_channels;
    self->out_channels = o->out_channels;
    self->padding_mode = o->padding_mode ? o->padding_mode : TERN_PAD_ZEROS;
    return make_parameters(self, o, device);
}

static tern_module *make_conv(const char *name, int dims, const tern_nn_conv_options *options)
{
    if (!options)
        return (void)tern_null_error(name, "options"), NULL;
    return make((conv_sizes){.op = name}, dims, options, (tern_sizes){0});
}

static tern_module *make_transposed(const char *name, int dims,
                                    const tern_nn_conv_transpose_options *o)
{
    if (!o)
        return (void)tern_null_error(name, "options"), NULL;
    const tern_nn_conv_options options = {.stride = o->stride,
                                          .padding = o->padding,
                                          .dilation = o->dilation,
                                          .groups = o->groups,
                                          .bias = o->bias,
                                          .kernel_size = o->kernel_size,
                                          .dtype = o->dtype,
                                          .device = o->device,
                                          .in_channels = o->in_channels,
                                          .out_channels = o->out_channels,
                                          .kernel = o->kernel};
    return make((conv_sizes){.op = name, .transposed = true}, dims, &options, o->output_padding);
}

#define CONV(dims)                                                                                 \
    tern_module *tern_nn_conv##dims##d_with(const tern_nn_conv_options *options)                   \
    {                                                                                              \
        return make_conv("nn_conv" #dims "d", dims, options);                                      \
    }                                                                                              \
    tern_module *tern_nn_conv_transpose##dims##d_with(                                             \
        const tern_nn_conv_transpose_options *options)                                             \
    {                                                                                              \
        return make_transposed("nn_conv_transpose" #dims "d", dims, options);                      \
    }
CONV(1)
CONV(2)
CONV(3)
