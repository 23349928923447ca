// SPDX-License-Identifier: Apache-2.0
// Convolutions and transposed ones.
#include "nn/layer/layer.h"
#include "ops/conv_sizes.h"
#include "tensor/liveness.h"
#include "tensor/tensor.h"

// What the constructors of all of them ask for. Shapes have a size for each spatial dim.
typedef struct conv_options {
    const char *name; // of the constructor
    bool transposed;
    int64_t in_channels, out_channels, kernel, groups;
    tern_shape kernel_size, stride, padding, dilation, output_padding;
    bool bias;
    tern_pad_mode padding_mode;
    tern_dtype dtype;
    tern_device device;
} conv_options;

typedef struct conv {
    tern_module base;
    tern_tensor *weight; // (K, C / groups, ..), transposed (C, K / groups, ..)
    tern_tensor *bias;   // (K) or NULL
    conv_options options;
} conv;

#define SIZE_1(shape) ((shape).dim[0])
#define SIZE_2(shape) tern_pair_of((shape).dim[0], (shape).dim[1])
#define SIZE_3(shape) tern_triple_of((shape).dim[0], (shape).dim[1], (shape).dim[2])
#define WORDS(size_of)                                                                             \
    x, self->weight, self->bias, .stride = size_of(o->stride), .padding = size_of(padding),        \
                                 .dilation = size_of(o->dilation), .groups = o->groups,            \
                                 .activation = activation
#define TRANSPOSED_WORDS(size_of) WORDS(size_of), .output_padding = size_of(o->output_padding)

static tern_tensor *run(const conv *self, tern_tensor *x, tern_shape padding,
                        tern_activation activation)
{
    const conv_options *o = &self->options;
    switch (o->stride.rank) {
    case 1:
        return tern_conv1d(WORDS(SIZE_1));
    case 2:
        return tern_conv2d(WORDS(SIZE_2));
    default:
        return tern_conv3d(WORDS(SIZE_3));
    }
}

static tern_tensor *run_transposed(const conv *self, tern_tensor *x, tern_activation activation)
{
    const conv_options *o = &self->options;
    tern_shape padding = o->padding;
    switch (o->stride.rank) {
    case 1:
        return tern_conv_transpose1d(TRANSPOSED_WORDS(SIZE_1));
    case 2:
        return tern_conv_transpose2d(TRANSPOSED_WORDS(SIZE_2));
    default:
        return tern_conv_transpose3d(TRANSPOSED_WORDS(SIZE_3));
    }
}

// As tern_pad wants them: the last dim first.
static tern_pad_list pads_of(const conv_options *o)
{
    int dims = o->padding.rank;
    tern_pad_list pads = {.count = 2 * dims};
    for (int i = 0; i < dims; i++) {
        int64_t padding = o->padding.dim[dims - 1 - i];
        int64_t reach = o->dilation.dim[dims - 1 - i] * (o->kernel_size.dim[dims - 1 - i] - 1);
        bool same = padding == TERN_SAME_PADDING;
        pads.pad[2 * i] = same ? reach / 2 : padding;
        pads.pad[2 * i + 1] = same ? reach - reach / 2 : padding;
    }
    return pads;
}

tern_tensor *tern_nn_conv_activated(tern_module *module, tern_tensor *x, tern_activation activation)
{
    const conv *self = (const conv *)module;
    const conv_options *o = &self->options;
    if (o->transposed)
        return run_transposed(self, x, activation);
    if (o->padding_mode == TERN_PAD_ZEROS)
        return run(self, x, o->padding, activation);
    tern_shape none = {.rank = o->padding.rank};
    tern_tensor *padded = tern_pad(x, pads_of(o), o->padding_mode, 0);
    return padded ? run(self, padded, none, activation) : NULL;
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
    TERN_TRY(tern_check_tensor(self->options.name, "weight", weight));
    TERN_CHECK(weight->rank == self->options.stride.rank + 2 && weight->numel > 0, TERN_ERR_SHAPE,
               "%s: weight is %s, but must have %d dimensions to be drawn", self->options.name,
               tern_tensor_string(weight), self->options.stride.rank + 2);
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
    const conv_options *o = &self->options;
    tern_text_add(out, "%lld, %lld, kernel_size=%s, stride=%s", (long long)o->in_channels,
                  (long long)o->out_channels, tern_shape_string(o->kernel_size),
                  tern_shape_string(o->stride));
    add_sizes(out, "padding", o->padding, 0);
    add_sizes(out, "dilation", o->dilation, 1);
    add_sizes(out, "output_padding", o->output_padding, 0);
    if (o->groups != 1)
        tern_text_add(out, ", groups=%lld", (long long)o->groups);
    if (!self->bias)
        tern_text_add(out, ", bias=False");
    if (o->padding_mode != TERN_PAD_ZEROS)
        tern_text_add(out, ", padding_mode=%s", modes[o->padding_mode]);
}

#define CLASS(torch_name)                                                                          \
    {                                                                                              \
        .name = torch_name, .size = sizeof(conv), .call = call, .describe = describe,              \
        .reset = reset                                                                             \
    }
const tern_module_class tern_nn_conv_classes[2][3] = {
    {CLASS("Conv1d"), CLASS("Conv2d"), CLASS("Conv3d")},
    {CLASS("ConvTranspose1d"), CLASS("ConvTranspose2d"), CLASS("ConvTranspose3d")}};

static tern_status check_kernel(conv_options *o)
{
    bool sized = false;
    for (int i = 0; i < o->kernel_size.rank; i++)
        sized |= o->kernel_size.dim[i] != 0;
    TERN_CHECK(sized != (o->kernel != 0), TERN_ERR_ARG,
               "%s: kernel is %lld and kernel_size %s: give one of the two", o->name,
               (long long)o->kernel, tern_shape_string(o->kernel_size));
    for (int i = 0; i < o->kernel_size.rank && !sized; i++)
        o->kernel_size.dim[i] = o->kernel;
    return tern_sizes_check(o->name, "kernel_size", o->kernel_size, 1);
}

static tern_status check_options(conv_options *o)
{
    const conv_sizes sizes = {.op = o->name,
                              .transposed = o->transposed,
                              .stride = o->stride,
                              .padding = o->padding,
                              .dilation = o->dilation,
                              .groups = o->groups};
    TERN_CHECK(o->in_channels > 0 && o->out_channels > 0, TERN_ERR_ARG,
               "%s: in_channels is %lld and out_channels %lld, but both must be positive", o->name,
               (long long)o->in_channels, (long long)o->out_channels);
    TERN_TRY(tern_conv_check_sizes(&sizes));
    TERN_CHECK(o->in_channels % o->groups == 0 && o->out_channels % o->groups == 0, TERN_ERR_ARG,
               "%s: groups %lld must divide in_channels %lld and out_channels %lld", o->name,
               (long long)o->groups, (long long)o->in_channels, (long long)o->out_channels);
    TERN_TRY(check_kernel(o));
    TERN_TRY(tern_sizes_check(o->name, "output_padding", o->output_padding, 0));
    TERN_CHECK(o->padding_mode >= TERN_PAD_UNSPECIFIED && o->padding_mode <= TERN_PAD_CIRCULAR,
               TERN_ERR_ARG, "%s: there is no padding_mode %d", o->name, (int)o->padding_mode);
    TERN_CHECK(o->dtype == TERN_DTYPE_UNSPECIFIED || tern_dtype_is_floating(o->dtype),
               TERN_ERR_DTYPE, "%s: %s is not a floating dtype", o->name,
               tern_dtype_name(o->dtype));
    return tern_device_resolve(o->name, &o->device);
}

static tern_module *make(conv_options o)
{
    if (o.padding_mode == TERN_PAD_UNSPECIFIED)
        o.padding_mode = TERN_PAD_ZEROS;
    if (check_options(&o))
        return NULL;
    int dims = o.stride.rank;
    conv *self = (conv *)tern_module_new(&tern_nn_conv_classes[o.transposed][dims - 1]);
    if (!self)
        return NULL;
    self->options = o;
    tern_shape shape = {.rank = dims + 2};
    shape.dim[0] = o.transposed ? o.in_channels : o.out_channels;
    shape.dim[1] = (o.transposed ? o.out_channels : o.in_channels) / o.groups;
    for (int i = 0; i < dims; i++)
        shape.dim[2 + i] = o.kernel_size.dim[i];
    tern_parameter(self, weight, tern_empty(shape, .dtype = o.dtype, .device = o.device));
    tern_shape row = tern_dims(o.out_channels);
    tern_parameter(self, bias,
                   o.bias ? tern_empty(row, .dtype = o.dtype, .device = o.device) : NULL);
    return tern_done(self);
}

#define ONE(size)   (size)
#define TWO(size)   tern_pair_of(size, TERN_SAME_AS_FIRST)
#define THREE(size) tern_triple_of(size, TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST)

// The options that only some of them have.
#define PADDED_DEFAULTS(of)      , .padding_mode = TERN_PAD_ZEROS
#define PADDED_OPTIONS(shape_of) , .padding_mode = options->padding_mode
#define TRANSPOSED_DEFAULTS(of)  , .output_padding = of(0)
#define TRANSPOSED_OPTIONS(shape_of)                                                               \
    , .transposed = true, .output_padding = shape_of(options->output_padding)

// The public functions; `of` makes a size of a number, `shape_of` a shape of a size.
#define CONV(function, kind, of, shape_of)                                                         \
    tern_module *tern_nn_##function##_with(const tern_nn_##function##_options *options)            \
    {                                                                                              \
        if (!options) {                                                                            \
            tern_null_error("nn_" #function, "options");                                           \
            return NULL;                                                                           \
        }                                                                                          \
        return make((conv_options){.name = "nn_" #function,                                        \
                                   .in_channels = options->in_channels,                            \
                                   .out_channels = options->out_channels,                          \
                                   .kernel = options->kernel,                                      \
                                   .groups = options->groups,                                      \
                                   .kernel_size = shape_of(options->kernel_size),                  \
                                   .stride = shape_of(options->stride),                            \
                                   .padding = shape_of(options->padding),                          \
                                   .dilation = shape_of(options->dilation),                        \
                                   .bias = options->bias,                                          \
                                   .dtype = options->dtype,                                        \
                                   .device = options->device kind##_OPTIONS(shape_of)});           \
    }

CONV(conv1d, PADDED, ONE, tern_sizes_1)
CONV(conv2d, PADDED, TWO, tern_sizes_2)
CONV(conv3d, PADDED, THREE, tern_sizes_3)
CONV(conv_transpose1d, TRANSPOSED, ONE, tern_sizes_1)
CONV(conv_transpose2d, TRANSPOSED, TWO, tern_sizes_2)
CONV(conv_transpose3d, TRANSPOSED, THREE, tern_sizes_3)
