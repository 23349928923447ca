// SPDX-License-Identifier: Apache-2.0
// Softmax and negative log-likelihood, with class weights, ignored labels and smoothing.
#include "nn/loss/weight.h"

typedef struct cross_entropy_loss {
    tern_module base;
    tern_tensor *weight; // (C) or NULL
    int64_t ignore_index;
    double label_smoothing;
    tern_reduction reduction;
} cross_entropy_loss;

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const cross_entropy_loss *self = (const cross_entropy_loss *)module;
    TERN_TRY(tern_layer_inputs(module, in, 2));
    TERN_TRY(tern_loss_match_weight("cross_entropy_loss", "weight", self->weight, in->at[0]));
    return tern_layer_output(out, tern_cross_entropy(in->at[0], in->at[1], .weight = self->weight,
                                                     .ignore_index = self->ignore_index,
                                                     .label_smoothing = self->label_smoothing,
                                                     .reduction = self->reduction));
}

static const tern_module_class cross_entropy_loss_class = {
    .name = "CrossEntropyLoss", .size = sizeof(cross_entropy_loss), .call = call};

static tern_status check_options(const tern_nn_cross_entropy_loss_options *options)
{
    const char *function = "nn_cross_entropy_loss";
    TERN_CHECK(options->label_smoothing >= 0 && options->label_smoothing <= 1, TERN_ERR_ARG,
               "%s: label_smoothing is %g, but must be from 0 to 1", function,
               options->label_smoothing);
    return tern_loss_check_class_weight(function, options->weight);
}

tern_module *tern_nn_cross_entropy_loss_with(const tern_nn_cross_entropy_loss_options *options)
{
    if (!options)
        return (void)tern_null_error("nn_cross_entropy_loss", "options"), NULL;
    tern_reduction reduction = options->reduction;
    if (check_options(options) || tern_layer_reduction("nn_cross_entropy_loss", &reduction))
        return NULL;
    cross_entropy_loss *self = (cross_entropy_loss *)tern_module_new(&cross_entropy_loss_class);
    if (!self)
        return NULL;
    self->ignore_index = options->ignore_index;
    self->label_smoothing = options->label_smoothing;
    self->reduction = reduction;
    tern_buffer(self, weight, tern_loss_copy_weight(options->weight));
    return tern_module_done(&self->base);
}
