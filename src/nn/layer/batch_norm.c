// SPDX-License-Identifier: Apache-2.0
// Normalises channels over the batch in training, by running statistics in evaluation (Ioffe and
// Szegedy 2015).
#include "nn/layer/norm.h"

static tern_status check_input(const tern_channel_norm *self, const tern_tensor *x)
{
    const int rank = x->rank, min_rank = self->space == 1 ? 2 : self->space + 2;
    TERN_CHECK(rank >= min_rank && rank <= self->space + 2, TERN_ERR_SHAPE,
               "%s: x %s must have %s dimensions: %s", self->base.klass->name,
               tern_shape_string(tern_shape_get(x)),
               (const char *[]){"2 or 3", "4", "5"}[self->space - 1],
               (const char *[]){"(N, C) or (N, C, L)", "(N, C, H, W)",
                                "(N, C, D, H, W)"}[self->space - 1]);
    return tern_channel_norm_check(self, x, 1);
}

static tern_tensor *run(const tern_channel_norm *self, tern_tensor *x, tern_activation activation)
{
    if (!x || check_input(self, x))
        return (void)(x ? 0 : tern_null_error(self->base.klass->name, "x")), NULL;
    return tern_batch_norm(x, .weight = self->weight, .bias = self->bias,
                           .running_mean = self->running_mean, .running_var = self->running_var,
                           .num_batches_tracked = self->num_batches_tracked,
                           .training = self->base.private_->training || !self->running_mean,
                           .momentum = self->momentum, .eps = self->eps, .activation = activation);
}

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    TERN_TRY(tern_layer_inputs(module, in, 1));
    return tern_layer_output(out, run((const tern_channel_norm *)module, in->at[0], TERN_ACT_NONE));
}

#define BATCH_NORM(number)                                                                         \
    static const tern_module_class class_##number##d = {.name = "BatchNorm" #number "d",           \
                                                        .size = sizeof(tern_channel_norm),         \
                                                        .call = call,                              \
                                                        .describe = tern_channel_norm_describe,    \
                                                        .reset = tern_channel_norm_reset};         \
    tern_module *tern_nn_batch_norm##number##d_with(const tern_nn_batch_norm_options *options)     \
    {                                                                                              \
        return tern_channel_norm_new(&class_##number##d, "nn_batch_norm" #number "d", number,      \
                                     options);                                                     \
    }
BATCH_NORM(1)
BATCH_NORM(2)
BATCH_NORM(3)

bool tern_nn_is_batch_norm(const tern_module *module)
{
    const tern_module_class *klass = module->klass;
    return klass == &class_1d || klass == &class_2d || klass == &class_3d;
}

tern_tensor *tern_nn_batch_norm_activated(tern_module *module, tern_tensor *x,
                                          tern_activation activation)
{
    return run((const tern_channel_norm *)module, x, activation);
}
