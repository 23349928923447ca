// SPDX-License-Identifier: Apache-2.0
// exp(x) / sum exp(x) over one dimension, and what is made of it.
#include "nn/layer/layer.h"
#include "tensor/liveness.h"

typedef struct softmax {
    tern_module base;
    int dim;
} softmax;

static void describe(const tern_module *module, tern_text *out)
{
    const softmax *self = (const softmax *)module;
    tern_text_add(out, "dim=%d", self->dim);
}

static tern_module *make(const tern_module_class *module_class, int dim)
{
    softmax *self = (softmax *)tern_module_new(module_class);
    if (!self)
        return NULL;
    self->dim = dim;
    return tern_module_done(&self->base);
}

#define LAYER(layer, title, operation)                                                             \
    static tern_status call_##layer(tern_module *module, const tern_tensors *in,                   \
                                    tern_tensors *out)                                             \
    {                                                                                              \
        const softmax *self = (const softmax *)module;                                             \
        TERN_TRY(tern_layer_inputs(module, in, 1));                                                \
        return tern_layer_output(out, operation(in->at[0], self->dim));                            \
    }                                                                                              \
    tern_module *tern_nn_##layer(int dim)                                                          \
    {                                                                                              \
        static const tern_module_class layer##_class = {                                           \
            .name = title, .size = sizeof(softmax), .call = call_##layer, .describe = describe};   \
        return make(&layer##_class, dim);                                                          \
    }

// clang-format off
LAYER(softmax, "Softmax", tern_softmax)
LAYER(log_softmax, "LogSoftmax", tern_log_softmax)
LAYER(softmin, "Softmin", tern_softmin)
// clang-format on

// ---- over channels of images --------------------------------------------------------------------

static tern_status call_softmax2d(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    TERN_TRY(tern_layer_inputs(module, in, 1));
    TERN_TRY(tern_check_tensor("softmax2d", "x", in->at[0]));
    TERN_CHECK(in->at[0]->rank == 3 || in->at[0]->rank == 4, TERN_ERR_SHAPE,
               "softmax2d: x is %s, but must be (N, C, H, W) or (C, H, W)",
               tern_tensor_string(in->at[0]));
    return tern_layer_output(out, tern_softmax(in->at[0], -3));
}

tern_module *tern_nn_softmax2d(void)
{
    static const tern_module_class softmax2d_class = {
        .name = "Softmax2d", .size = sizeof(tern_module), .call = call_softmax2d};
    return tern_layer_plain(&softmax2d_class);
}
