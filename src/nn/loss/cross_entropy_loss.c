// SPDX-License-Identifier: Apache-2.0
// Softmax and negative log-likelihood, with class weights, ignored labels and smoothing.
#include "nn/layer/layer.h"
#include "tensor/liveness.h"

typedef struct cross_entropy_loss {
    tern_module base;
    tern_tensor *weight; // (C) or NULL
    int64_t ignore_index;
    double label_smoothing;
    tern_reduction reduction;
} cross_entropy_loss;

// The classic mistake: the net was moved and the criterion was not.
static tern_status check_weight(const cross_entropy_loss *self, const tern_tensor *input)
{
    if (!self->weight)
        return TERN_OK;
    TERN_TRY(tern_check_tensor("cross_entropy_loss", "input", input));
    tern_device here = tern_dev(self->weight), there = tern_dev(input);
    TERN_CHECK(tern_device_equal(here, there), TERN_ERR_DEVICE,
               "cross_entropy_loss: the criterion's weight is on %s, input on %s: call "
               "tern_module_to(criterion, ...) with the input's device",
               tern_device_string(here), tern_device_string(there));
    TERN_CHECK(self->weight->dtype == input->dtype, TERN_ERR_DTYPE,
               "cross_entropy_loss: the criterion's weight is %s, input %s: call "
               "tern_module_to_dtype(criterion, ...) with the input's dtype",
               tern_dtype_name(self->weight->dtype), tern_dtype_name(input->dtype));
    return TERN_OK;
}

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const cross_entropy_loss *self = (const cross_entropy_loss *)module;
    TERN_TRY(tern_layer_inputs(module, in, 2));
    TERN_TRY(check_weight(self, in->at[0]));
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
    if (!options->weight)
        return TERN_OK;
    TERN_TRY(tern_check_tensor(function, "weight", options->weight));
    TERN_CHECK(options->weight->rank == 1, TERN_ERR_SHAPE,
               "%s: weight is %s, but must have one dimension, the classes", function,
               tern_tensor_string(options->weight));
    TERN_CHECK(tern_dtype_is_floating(options->weight->dtype), TERN_ERR_DTYPE,
               "%s: weight is %s, but must be floating", function,
               tern_tensor_string(options->weight));
    return TERN_OK;
}

// A buffer of its own, so that moving the criterion leaves the caller's tensor alone.
static void add_weight(cross_entropy_loss *self, tern_tensor *weight)
{
    tern_no_grad {
        weight = weight ? tern_clone(weight) : NULL;
    }
    tern_buffer(self, weight, weight);
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
    add_weight(self, options->weight);
    return tern_module_done(&self->base);
}
