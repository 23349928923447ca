// SPDX-License-Identifier: Apache-2.0
// (input - target)^2.
#include "nn/layer/layer.h"

typedef struct mse_loss {
    tern_module base;
    tern_reduction reduction;
} mse_loss;

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const mse_loss *self = (const mse_loss *)module;
    TERN_TRY(tern_layer_inputs(module, in, 2));
    return tern_layer_output(out, tern_mse_loss(in->at[0], in->at[1], self->reduction));
}

static const tern_module_class mse_loss_class = {
    .name = "MSELoss", .size = sizeof(mse_loss), .call = call};

tern_module *tern_nn_mse_loss_with(const tern_nn_mse_loss_options *options)
{
    if (!options) {
        tern_null_error("nn_mse_loss", "options");
        return NULL;
    }
    tern_reduction reduction = options->reduction;
    if (tern_layer_reduction("nn_mse_loss", &reduction))
        return NULL;
    mse_loss *self = (mse_loss *)tern_module_new(&mse_loss_class);
    if (!self)
        return NULL;
    self->reduction = reduction;
    return tern_module_done(&self->base);
}
