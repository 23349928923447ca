// SPDX-License-Identifier: Apache-2.0
// What the layers that normalise share: weights that start as 1, biases that start as 0; and the
// modules with running statistics.
#ifndef TERN_SRC_NN_LAYER_NORM_H
#define TERN_SRC_NN_LAYER_NORM_H

#include "nn/layer/layer.h"

// How a layer's parameters are made.
typedef struct tern_norm_make {
    const char *function; // for messages
    double eps;
    bool affine, bias; // has a weight; and a bias then
    tern_dtype dtype;
    tern_device device; // resolved by tern_norm_check
} tern_norm_make;

tern_status tern_norm_check(tern_norm_make *make);
// Adds "weight" and "bias", NULL where there are none; undefined until reset.
void tern_norm_add(tern_module *module, const tern_norm_make *make, tern_shape shape,
                   tern_tensor **weight, tern_tensor **bias);
// Fills what there is: weight with 1, bias with 0.
tern_status tern_norm_reset(tern_tensor *weight, tern_tensor *bias);

// BatchNorm and InstanceNorm.
typedef struct tern_channel_norm {
    tern_module base;
    tern_tensor *weight, *bias;              // (C), or NULL
    tern_tensor *running_mean, *running_var; // (C), or NULL: not tracked
    tern_tensor *num_batches_tracked;        // (), likewise
    int64_t num_features;
    double eps, momentum;
    int space; // dimensions behind the channels
} tern_channel_norm;

// `space` dimensions are behind the channels.
tern_module *tern_channel_norm_new(const tern_module_class *klass, const char *function, int space,
                                   const tern_nn_batch_norm_options *options);
tern_module_describe_fn tern_channel_norm_describe;
tern_module_reset_fn tern_channel_norm_reset;
// Fills the running statistics, where there are some, with what they begin with.
tern_status tern_channel_norm_reset_running(const tern_channel_norm *self);
// x has num_features channels in dimension `dim`, behind which there are `space` more.
tern_status tern_channel_norm_check(const tern_channel_norm *self, const tern_tensor *x, int dim);

#endif
