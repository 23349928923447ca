// SPDX-License-Identifier: Apache-2.0
// Padding layers.
#include "nn/layer/layer.h"

typedef struct pad {
    tern_module base;
    tern_pad_mode mode;
    double value;
    tern_pad_list pads;
} pad;

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const pad *self = (const pad *)module;
    TERN_TRY(tern_layer_inputs(module, in, 1));
    return tern_layer_output(out, tern_pad(in->at[0], self->pads, self->mode, self->value));
}

static void add_pads(const pad *self, tern_text *out)
{
    for (int i = 0; i < self->pads.count; i++)
        tern_text_add(out, "%s%lld", i ? ", " : "(", (long long)self->pads.pad[i]);
    tern_text_add(out, ")");
}

static void describe(const tern_module *module, tern_text *out)
{
    add_pads((const pad *)module, out);
}

static void describe_constant(const tern_module *module, tern_text *out)
{
    const pad *self = (const pad *)module;
    tern_text_add(out, "padding=");
    add_pads(self, out);
    tern_text_add(out, ", value=");
    tern_text_add_double(out, self->value);
}

#define CLASS(name_, describe_)                                                                    \
    {                                                                                              \
        .name = name_, .size = sizeof(pad), .call = call, .describe = describe_                    \
    }
#define CLASSES(name_, describe_)                                                                  \
    {                                                                                              \
        CLASS(name_ "1d", describe_), CLASS(name_ "2d", describe_), CLASS(name_ "3d", describe_)   \
    }
static const tern_module_class zero_classes[] = CLASSES("ZeroPad", describe);
static const tern_module_class constant_classes[] = CLASSES("ConstantPad", describe_constant);
static const tern_module_class reflection_classes[] = CLASSES("ReflectionPad", describe);
static const tern_module_class replication_classes[] = CLASSES("ReplicationPad", describe);
static const tern_module_class circular_classes[] = CLASSES("CircularPad", describe);

// What a constructor is told: the sides from the last dimension on.
typedef struct request {
    const char *name;
    const tern_module_class *classes;
    tern_pad_mode mode;
    int64_t padding;
    double value;
    tern_pad_list sides;
} request;

static tern_module *make(request r)
{
    for (int i = 0; i < r.sides.count; i++) {
        int64_t *side = &r.sides.pad[i];
        *side = *side == TERN_ALL_SIDES ? r.padding : *side;
        TERN_CHECK_PTR(*side >= 0 || r.mode == TERN_PAD_CONSTANT, TERN_ERR_ARG,
                       "%s: a padding is %lld, but must be at least 0", r.name, (long long)*side);
        TERN_CHECK_PTR(*side >= -INT32_MAX && *side <= INT32_MAX, TERN_ERR_ARG,
                       "%s: a padding of %lld is too large", r.name, (long long)*side);
    }
    pad *self = (pad *)tern_module_new(&r.classes[r.sides.count / 2 - 1]);
    if (!self)
        return NULL;
    self->mode = r.mode;
    self->value = r.value;
    self->pads = r.sides;
    return tern_module_done(&self->base);
}

// ---- constructors -------------------------------------------------------------------------------

#define SIDES_1(o) tern_pads((o)->left, (o)->right)
#define SIDES_2(o) tern_pads((o)->left, (o)->right, (o)->top, (o)->bottom)
#define SIDES_3(o) tern_pads((o)->left, (o)->right, (o)->top, (o)->bottom, (o)->front, (o)->back)

// `r` with the options of 1 dimension.
static tern_module *make_1d(request r, const tern_nn_pad1d_options *options)
{
    if (!options)
        return (void)tern_null_error(r.name, "options"), NULL;
    r.padding = options->padding;
    r.sides = SIDES_1(options);
    return make(r);
}

// `r` with the options of 2 dimensions.
static tern_module *make_2d(request r, const tern_nn_pad2d_options *options)
{
    if (!options)
        return (void)tern_null_error(r.name, "options"), NULL;
    r.padding = options->padding;
    r.sides = SIDES_2(options);
    return make(r);
}

// `r` with the options of 3 dimensions.
static tern_module *make_3d(request r, const tern_nn_pad3d_options *options)
{
    if (!options)
        return (void)tern_null_error(r.name, "options"), NULL;
    r.padding = options->padding;
    r.sides = SIDES_3(options);
    return make(r);
}

tern_module *tern_nn_zero_pad1d_with(const tern_nn_pad1d_options *options)
{
    return make_1d((request){"nn_zero_pad1d", zero_classes, .mode = TERN_PAD_CONSTANT}, options);
}

tern_module *tern_nn_zero_pad2d_with(const tern_nn_pad2d_options *options)
{
    return make_2d((request){"nn_zero_pad2d", zero_classes, .mode = TERN_PAD_CONSTANT}, options);
}

tern_module *tern_nn_zero_pad3d_with(const tern_nn_pad3d_options *options)
{
    return make_3d((request){"nn_zero_pad3d", zero_classes, .mode = TERN_PAD_CONSTANT}, options);
}

tern_module *tern_nn_reflection_pad1d_with(const tern_nn_pad1d_options *options)
{
    return make_1d((request){"nn_reflection_pad1d", reflection_classes, .mode = TERN_PAD_REFLECT},
                   options);
}

tern_module *tern_nn_reflection_pad2d_with(const tern_nn_pad2d_options *options)
{
    return make_2d((request){"nn_reflection_pad2d", reflection_classes, .mode = TERN_PAD_REFLECT},
                   options);
}

tern_module *tern_nn_reflection_pad3d_with(const tern_nn_pad3d_options *options)
{
    return make_3d((request){"nn_reflection_pad3d", reflection_classes, .mode = TERN_PAD_REFLECT},
                   options);
}

tern_module *tern_nn_replication_pad1d_with(const tern_nn_pad1d_options *options)
{
    return make_1d(
        (request){"nn_replication_pad1d", replication_classes, .mode = TERN_PAD_REPLICATE},
        options);
}

tern_module *tern_nn_replication_pad2d_with(const tern_nn_pad2d_options *options)
{
    return make_2d(
        (request){"nn_replication_pad2d", replication_classes, .mode = TERN_PAD_REPLICATE},
        options);
}

tern_module *tern_nn_replication_pad3d_with(const tern_nn_pad3d_options *options)
{
    return make_3d(
        (request){"nn_replication_pad3d", replication_classes, .mode = TERN_PAD_REPLICATE},
        options);
}

tern_module *tern_nn_circular_pad1d_with(const tern_nn_pad1d_options *options)
{
    return make_1d((request){"nn_circular_pad1d", circular_classes, .mode = TERN_PAD_CIRCULAR},
                   options);
}

tern_module *tern_nn_circular_pad2d_with(const tern_nn_pad2d_options *options)
{
    return make_2d((request){"nn_circular_pad2d", circular_classes, .mode = TERN_PAD_CIRCULAR},
                   options);
}

tern_module *tern_nn_circular_pad3d_with(const tern_nn_pad3d_options *options)
{
    return make_3d((request){"nn_circular_pad3d", circular_classes, .mode = TERN_PAD_CIRCULAR},
                   options);
}

tern_module *tern_nn_constant_pad1d_with(const tern_nn_constant_pad1d_options *options)
{
    if (!options)
        return (void)tern_null_error("nn_constant_pad1d", "options"), NULL;
    return make((request){.name = "nn_constant_pad1d",
                          .classes = constant_classes,
                          .mode = TERN_PAD_CONSTANT,
                          .padding = options->padding,
                          .value = options->value,
                          .sides = SIDES_1(options)});
}

tern_module *tern_nn_constant_pad2d_with(const tern_nn_constant_pad2d_options *options)
{
    if (!options)
        return (void)tern_null_error("nn_constant_pad2d", "options"), NULL;
    return make((request){.name = "nn_constant_pad2d",
                          .classes = constant_classes,
                          .mode = TERN_PAD_CONSTANT,
                          .padding = options->padding,
                          .value = options->value,
                          .sides = SIDES_2(options)});
}

tern_module *tern_nn_constant_pad3d_with(const tern_nn_constant_pad3d_options *options)
{
    if (!options)
        return (void)tern_null_error("nn_constant_pad3d", "options"), NULL;
    return make((request){.name = "nn_constant_pad3d",
                          .classes = constant_classes,
                          .mode = TERN_PAD_CONSTANT,
                          .padding = options->padding,
                          .value = options->value,
                          .sides = SIDES_3(options)});
}
