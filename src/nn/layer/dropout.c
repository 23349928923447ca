// SPDX-License-Identifier: Apache-2.0
// Leaves out elements or channels at random in training (Srivastava et al. 2014).
#include "nn/layer/layer.h"

typedef struct dropout {
    tern_module base;
    double p;
} dropout;

static void describe(const tern_module *module, tern_text *out)
{
    const dropout *self = (const dropout *)module;
    tern_text_add(out, "p=");
    tern_text_add_double(out, self->p);
    tern_text_add(out, ", inplace=False");
}

static tern_module *make(const char *function, const tern_module_class *module_class, double p)
{
    TERN_CHECK_PTR(p >= 0 && p <= 1, TERN_ERR_ARG, "%s: p is %g, but must be from 0 to 1", function,
                   p);
    dropout *self = (dropout *)tern_module_new(module_class);
    if (!self)
        return NULL;
    self->p = p;
    return tern_module_done(&self->base);
}

#define LAYER(layer, title)                                                                        \
    static tern_status call_##layer(tern_module *module, const tern_tensors *in,                   \
                                    tern_tensors *out)                                             \
    {                                                                                              \
        const dropout *self = (const dropout *)module;                                             \
        const bool training = module->private_->training;                                          \
        TERN_TRY(tern_layer_inputs(module, in, 1));                                                \
        return tern_layer_output(out, tern_##layer(in->at[0], self->p, training));                 \
    }                                                                                              \
    tern_module *tern_nn_##layer##_with(const tern_nn_dropout_options *options)                    \
    {                                                                                              \
        static const tern_module_class layer##_class = {                                           \
            .name = title, .size = sizeof(dropout), .call = call_##layer, .describe = describe};   \
        if (options)                                                                               \
            return make("nn_" #layer, &layer##_class, options->p);                                 \
        tern_null_error("nn_" #layer, "options");                                                  \
        return NULL;                                                                               \
    }

// clang-format off
LAYER(dropout, "Dropout")
LAYER(dropout1d, "Dropout1d")
LAYER(dropout2d, "Dropout2d")
LAYER(dropout3d, "Dropout3d")
LAYER(alpha_dropout, "AlphaDropout")
// clang-format on
