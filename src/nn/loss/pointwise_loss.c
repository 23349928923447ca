// SPDX-License-Identifier: Apache-2.0
// Losses of one element after the other: (input - target)^2 and |input - target|.
#include "nn/layer/layer.h"

typedef struct pointwise_loss {
    tern_module base;
    tern_reduction reduction;
} pointwise_loss;

static tern_module *make(const tern_module_class *klass, const char *function,
                         const tern_nn_loss_options *options)
{
    if (!options)
        return (void)tern_null_error(function, "options"), NULL;
    tern_reduction reduction = options->reduction;
    if (tern_layer_reduction(function, &reduction))
        return NULL;
    pointwise_loss *self = (pointwise_loss *)tern_module_new(klass);
    if (!self)
        return NULL;
    self->reduction = reduction;
    return tern_module_done(&self->base);
}

#define LOSS(loss, title)                                                                          \
    static tern_status call_##loss(tern_module *module, const tern_tensors *in, tern_tensors *out) \
    {                                                                                              \
        const pointwise_loss *self = (const pointwise_loss *)module;                               \
        TERN_TRY(tern_layer_inputs(module, in, 2));                                                \
        return tern_layer_output(out, tern_##loss(in->at[0], in->at[1], self->reduction));         \
    }                                                                                              \
    tern_module *tern_nn_##loss##_with(const tern_nn_loss_options *options)                        \
    {                                                                                              \
        static const tern_module_class loss##_class = {                                            \
            .name = title, .size = sizeof(pointwise_loss), .call = call_##loss};                   \
        return make(&loss##_class, "nn_" #loss, options);                                          \
    }

// clang-format off
LOSS(mse_loss, "MSELoss")
LOSS(l1_loss, "L1Loss")
// clang-format on
