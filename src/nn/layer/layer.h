// SPDX-License-Identifier: Apache-2.0
// What layers and losses share.
#ifndef TERN_SRC_NN_LAYER_LAYER_H
#define TERN_SRC_NN_LAYER_LAYER_H

#include <tern/nn.h>
#include "nn/module/describe.h"
#include "nn/module/module.h"
#include "ops/pointwise_loss.h"

// TERN_ERR_ARG unless `count` tensors came in.
static inline tern_status tern_layer_inputs(const tern_module *module, const tern_tensors *in,
                                            int count)
{
    TERN_CHECK(in->count == count, TERN_ERR_ARG, "%s takes %d tensor%s, not %d",
               module->klass->name, count, count == 1 ? "" : "s", in->count);
    return TERN_OK;
}

// Makes y the only output; hands a failure on when it is NULL.
static inline tern_status tern_layer_output(tern_tensors *out, tern_tensor *y)
{
    if (!y)
        return tern_error_code();
    out->count = 1;
    out->at[0] = y;
    return TERN_OK;
}

// A module that needs nothing but its class.
static inline tern_module *tern_layer_plain(const tern_module_class *module_class)
{
    tern_module *module = tern_module_new(module_class);
    return module ? tern_module_done(module) : NULL;
}

// A reduction that exists; the unspecified one becomes the mean.
static inline tern_status tern_layer_reduction(const char *loss, tern_reduction *reduction)
{
    TERN_TRY(tern_loss_reduction(loss, *reduction));
    if (*reduction == TERN_REDUCTION_UNSPECIFIED)
        *reduction = TERN_REDUCTION_MEAN;
    return TERN_OK;
}

// Draws a weight uniformly in Kaiming's bounds, and then a bias (or NULL) in +-1 / sqrt(fan_in),
// where fan_in counts the inputs of one output.
tern_status tern_layer_draw(tern_tensor *weight, tern_tensor *bias, int64_t fan_in,
                            tern_generator *generator);
// Draws a weight from a normal distribution with mean 0.
tern_status tern_layer_draw_normal(tern_tensor *weight, double std, tern_generator *generator);

extern const tern_module_class tern_nn_linear_class;
// A Linear whose weight starts, and starts anew, with zeros.
tern_module *tern_nn_linear_zeros(const tern_nn_linear_options *options);
// What a Linear multiplies by and adds (may be NULL); TERN_ERR_ARG for a module of another class.
tern_status tern_nn_linear_parameters(const tern_module *module, tern_tensor **weight,
                                      tern_tensor **bias);
// By transposed or not, and dims - 1.
extern const tern_module_class tern_nn_conv_classes[2][3];

// activation(layer(x)) in one pass; the caller has entered the forward of the layer.
typedef tern_tensor *tern_layer_activated(tern_module *layer, tern_tensor *x,
                                          tern_activation activation);
tern_layer_activated tern_nn_linear_activated, tern_nn_conv_activated;
tern_layer_activated tern_nn_batch_norm_activated; // relu alone
bool tern_nn_is_batch_norm(const tern_module *module);
bool tern_nn_is_relu(const tern_module *module);

#endif
