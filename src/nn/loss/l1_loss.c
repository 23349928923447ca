// SPDX-License-Identifier: Apache-2.0
// |input - target|.
#include "nn/layer/layer.h"

typedef struct l1_loss {
    tern_module base;
    tern_reduction reduction;
} l1_loss;

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const l1_loss *self = (const l1_loss *)module;
    TERN_TRY(tern_layer_inputs(module, in, 2));
    return tern_layer_output(out, tern_l1_loss(in->at[0], in->at[1], self->reduction));
}

static const tern_module_class l1_loss_class = {
    .name = "L1Loss", .size = sizeof(l1_loss), .call = call};

tern_module *tern_nn_l1_loss_with(const tern_nn_l1_loss_options *options)
{
    if (!options) {
        tern_null_error("nn_l1_loss", "options");
        return NULL;
    }
    tern_reduction reduction = options->reduction;
    if (tern_layer_reduction("nn_l1_loss", &reduction))
        return NULL;
    l1_loss *self = (l1_loss *)tern_module_new(&l1_loss_class);
    if (!self)
        return NULL;
    self->reduction = reduction;
    return tern_module_done(&self->base);
}
