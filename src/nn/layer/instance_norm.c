// SPDX-License-Identifier: Apache-2.0
// Normalises each channel of each sample (Ulyanov et al. 2016).
#include <math.h>
#include "nn/layer/norm.h"
#include "tensor/liveness.h"

static tern_status check_input(const tern_channel_norm *self, const tern_tensor *x)
{
    const int min_rank = self->space + 1;
    TERN_CHECK(x->rank == min_rank || x->rank == min_rank + 1, TERN_ERR_SHAPE,
               "%s: x %s must have %d or %d dimensions: %s", self->base.klass->name,
               tern_shape_string(tern_shape_get(x)), min_rank, min_rank + 1,
               (const char *[]){"(C, L) or (N, C, L)", "(C, H, W) or (N, C, H, W)",
                                "(C, D, H, W) or (N, C, D, H, W)"}[self->space - 1]);
    return tern_channel_norm_check(self, x, x->rank - min_rank);
}

// num_batches_tracked is PyTorch's key, and never counts.
static tern_tensor *run(const tern_channel_norm *self, tern_tensor *x)
{
    const bool training = self->base.private_->training;
    return tern_instance_norm(
        x, .weight = self->weight, .bias = self->bias, .running_mean = self->running_mean,
        .running_var = self->running_var, .use_input_stats = training || !self->running_mean,
        .momentum = isnan(self->momentum) ? 0 : self->momentum, .eps = self->eps);
}

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const tern_channel_norm *self = (const tern_channel_norm *)module;
    TERN_TRY(tern_layer_inputs(module, in, 1));
    tern_tensor *x = in->at[0];
    TERN_TRY(tern_check_tensor(module->klass->name, "x", x));
    TERN_TRY(check_input(self, x));
    if (x->rank == self->space + 2)
        return tern_layer_output(out, run(self, x));
    tern_tensor *y = run(self, tern_unsqueeze(x, 0));
    return tern_layer_output(out, tern_squeeze(y, 0));
}

#define INSTANCE_NORM(number)                                                                      \
    static const tern_module_class class_##number##d = {.name = "InstanceNorm" #number "d",        \
                                                        .size = sizeof(tern_channel_norm),         \
                                                        .call = call,                              \
                                                        .describe = tern_channel_norm_describe,    \
                                                        .reset = tern_channel_norm_reset};         \
    tern_module *tern_nn_instance_norm##number##d_with(                                            \
        const tern_nn_instance_norm_options *options)                                              \
    {                                                                                              \
        return tern_channel_norm_new(&class_##number##d, "nn_instance_norm" #number "d", number,   \
                                     options);                                                     \
    }
INSTANCE_NORM(1)
INSTANCE_NORM(2)
INSTANCE_NORM(3)
