// SPDX-License-Identifier: Apache-2.0
// Zeroes elements at random in training (Srivastava et al. 2014).
#include "nn/layer.h"

typedef struct dropout {
    tern_module base;
    double p;
} dropout;

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const dropout *self = (const dropout *)module;
    TERN_TRY(tern_layer_inputs(module, in, 1));
    return tern_layer_output(out, tern_dropout(in->at[0], self->p, module->private_->training));
}

static void describe(const tern_module *module, tern_text *out)
{
    const dropout *self = (const dropout *)module;
    tern_text_add(out, "p=");
    tern_layer_add_double(out, self->p);
    tern_text_add(out, ", inplace=False");
}

static const tern_module_class dropout_class = {
    .name = "Dropout", .size = sizeof(dropout), .call = call, .describe = describe};

tern_nn_dropout_options tern_nn_dropout_defaults(void)
{
    return (tern_nn_dropout_options){.p = 0.5};
}

tern_module *tern_nn_dropout_with(const tern_nn_dropout_options *options)
{
    if (!options) {
        tern_null_error("nn_dropout", "options");
        return NULL;
    }
    TERN_CHECK_PTR(options->p >= 0 && options->p <= 1, TERN_ERR_ARG,
                   "nn_dropout: p is %g, but must be from 0 to 1", options->p);
    dropout *self = (dropout *)tern_module_new(&dropout_class);
    if (!self)
        return NULL;
    self->p = options->p;
    return tern_module_done(&self->base);
}
