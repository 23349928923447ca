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

// A side that is TERN_ALL_SIDES is `padding`. A layer of fewer dimensions has fewer sides.
static tern_status check_sides(const char *name, tern_pad_mode mode, int64_t padding, int dims,
                               tern_pad_list *sides)
{
    static const char *const names[] = {"left", "right", "top", "bottom", "front", "back"};
    for (int i = 0; i < sides->count; i++) {
        int64_t *side = &sides->pad[i];
        TERN_CHECK(i < 2 * dims || *side == TERN_ALL_SIDES, TERN_ERR_ARG,
                   "%s: %s is %lld, but there %s %d dimension%s", name, names[i], (long long)*side,
                   dims == 1 ? "is" : "are", dims, dims == 1 ? "" : "s");
        *side = *side == TERN_ALL_SIDES ? padding : *side;
        TERN_CHECK(*side >= 0 || mode == TERN_PAD_CONSTANT, TERN_ERR_ARG,
                   "%s: a padding is %lld, but must be at least 0", name, (long long)*side);
        TERN_CHECK(*side >= -INT32_MAX && *side <= INT32_MAX, TERN_ERR_ARG,
                   "%s: a padding of %lld is too large", name, (long long)*side);
    }
    sides->count = 2 * dims;
    return TERN_OK;
}

static tern_module *make(const tern_module_class *klass, const char *name, tern_pad_mode mode,
                         int dims, const tern_nn_constant_pad_options *o)
{
    tern_pad_list sides = tern_pads(o->left, o->right, o->top, o->bottom, o->front, o->back);
    if (check_sides(name, mode, o->padding, dims, &sides))
        return NULL;
    pad *self = (pad *)tern_module_new(klass);
    if (!self)
        return NULL;
    self->mode = mode;
    self->value = o->value;
    self->pads = sides;
    return tern_module_done(&self->base);
}

// The options but for a value.
static tern_module *make_plain(const tern_module_class *klass, const char *name, tern_pad_mode mode,
                               int dims, const tern_nn_pad_options *o)
{
    if (!o)
        return (void)tern_null_error(name, "options"), NULL;
    const tern_nn_constant_pad_options options = {.left = o->left,
                                                  .right = o->right,
                                                  .top = o->top,
                                                  .bottom = o->bottom,
                                                  .front = o->front,
                                                  .back = o->back,
                                                  .padding = o->padding};
    return make(klass, name, mode, dims, &options);
}

#define PAD(kind, mode, dims)                                                                      \
    tern_module *tern_nn_##kind##_pad##dims##d_with(const tern_nn_pad_options *options)            \
    {                                                                                              \
        return make_plain(&kind##_classes[dims - 1], "nn_" #kind "_pad" #dims "d", mode, dims,     \
                          options);                                                                \
    }
#define PADS(kind, mode) PAD(kind, mode, 1) PAD(kind, mode, 2) PAD(kind, mode, 3)

// clang-format off
PADS(zero, TERN_PAD_CONSTANT)
PADS(reflection, TERN_PAD_REFLECT)
PADS(replication, TERN_PAD_REPLICATE)
PADS(circular, TERN_PAD_CIRCULAR)
// clang-format on

#define CONSTANT_PAD(dims)                                                                         \
    tern_module *tern_nn_constant_pad##dims##d_with(const tern_nn_constant_pad_options *options)   \
    {                                                                                              \
        if (options)                                                                               \
            return make(&constant_classes[dims - 1], "nn_constant_pad" #dims "d",                  \
                        TERN_PAD_CONSTANT, dims, options);                                         \
        tern_null_error("nn_constant_pad" #dims "d", "options");                                   \
        return NULL;                                                                               \
    }
CONSTANT_PAD(1)
CONSTANT_PAD(2)
CONSTANT_PAD(3)
