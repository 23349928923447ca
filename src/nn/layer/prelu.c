// SPDX-License-Identifier: Apache-2.0
// x where x > 0, else weight * x (He et al. 2015).
#include <math.h>
#include "nn/layer/layer.h"
#include "tensor/liveness.h"

typedef struct prelu {
    tern_module base;
    tern_tensor *weight; // (num_parameters)
    double init;
} prelu;

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const prelu *self = (const prelu *)module;
    TERN_TRY(tern_layer_inputs(module, in, 1));
    return tern_layer_output(out, tern_prelu(in->at[0], self->weight));
}

static tern_status reset(tern_module *module, tern_generator *generator)
{
    const prelu *self = (const prelu *)module;
    (void)generator;
    TERN_TRY(tern_check_tensor("nn_prelu", "weight", self->weight));
    return tern_fill_(self->weight, self->init) ? TERN_OK : tern_error_code();
}

static void describe(const tern_module *module, tern_text *out)
{
    const prelu *self = (const prelu *)module;
    if (self->weight)
        tern_text_add(out, "num_parameters=%lld", (long long)self->weight->numel);
}

static const tern_module_class prelu_class = {
    .name = "PReLU", .size = sizeof(prelu), .call = call, .describe = describe, .reset = reset};

static tern_status check_options(const tern_nn_prelu_options *options, tern_device *device)
{
    TERN_CHECK(options->num_parameters > 0, TERN_ERR_ARG,
               "nn_prelu: num_parameters is %lld, but must be 1 or the number of channels",
               (long long)options->num_parameters);
    TERN_CHECK(isfinite(options->init), TERN_ERR_ARG, "nn_prelu: init is %g", options->init);
    TERN_CHECK(options->dtype == TERN_DTYPE_UNSPECIFIED || tern_dtype_is_floating(options->dtype),
               TERN_ERR_DTYPE, "nn_prelu: %s is not a floating dtype",
               tern_dtype_name(options->dtype));
    return tern_device_resolve("nn_prelu", device);
}

tern_module *tern_nn_prelu_with(const tern_nn_prelu_options *options)
{
    if (!options)
        return (void)tern_null_error("nn_prelu", "options"), NULL;
    tern_device device = options->device;
    if (check_options(options, &device))
        return NULL;
    prelu *self = (prelu *)tern_module_new(&prelu_class);
    if (!self)
        return NULL;
    self->init = options->init;
    tern_parameter(
        self, weight,
        tern_empty(tern_dims(options->num_parameters), .dtype = options->dtype, .device = device));
    return tern_done(self);
}
