// SPDX-License-Identifier: Apache-2.0
// x where x > 0, else negative_slope * x.
#include <math.h>
#include "nn/layer/layer.h"

typedef struct leaky_relu {
    tern_module base;
    double negative_slope;
} leaky_relu;

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const leaky_relu *self = (const leaky_relu *)module;
    TERN_TRY(tern_layer_inputs(module, in, 1));
    return tern_layer_output(out, tern_leaky_relu(in->at[0], self->negative_slope));
}

static void describe(const tern_module *module, tern_text *out)
{
    const leaky_relu *self = (const leaky_relu *)module;
    tern_text_add(out, "negative_slope=");
    tern_text_add_double(out, self->negative_slope);
}

static const tern_module_class leaky_relu_class = {
    .name = "LeakyReLU", .size = sizeof(leaky_relu), .call = call, .describe = describe};

tern_module *tern_nn_leaky_relu_with(const tern_nn_leaky_relu_options *options)
{
    if (!options) {
        tern_null_error("nn_leaky_relu", "options");
        return NULL;
    }
    TERN_CHECK_PTR(isfinite(options->negative_slope), TERN_ERR_ARG,
                   "nn_leaky_relu: negative_slope is %g", options->negative_slope);
    leaky_relu *self = (leaky_relu *)tern_module_new(&leaky_relu_class);
    if (!self)
        return NULL;
    self->negative_slope = options->negative_slope;
    return tern_module_done(&self->base);
}
