// SPDX-License-Identifier: Apache-2.0
// x where x > 0, else x times a slope: drawn in training, the mean in evaluation (Xu et al. 2015).
#include <math.h>
#include "nn/layer/layer.h"

typedef struct rrelu {
    tern_module base;
    double lower, upper;
} rrelu;

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const rrelu *self = (const rrelu *)module;
    const bool training = module->private_->training;
    TERN_TRY(tern_layer_inputs(module, in, 1));
    return tern_layer_output(out, tern_rrelu(in->at[0], self->lower, self->upper, training));
}

static void describe(const tern_module *module, tern_text *out)
{
    const rrelu *self = (const rrelu *)module;
    tern_text_add(out, "lower=");
    tern_text_add_double(out, self->lower);
    tern_text_add(out, ", upper=");
    tern_text_add_double(out, self->upper);
}

static const tern_module_class rrelu_class = {
    .name = "RReLU", .size = sizeof(rrelu), .call = call, .describe = describe};

tern_module *tern_nn_rrelu_with(const tern_nn_rrelu_options *options)
{
    if (!options) {
        tern_null_error("nn_rrelu", "options");
        return NULL;
    }
    const double lower = options->lower, upper = options->upper;
    TERN_CHECK_PTR(
        lower <= upper && isfinite(lower) && isfinite(upper), TERN_ERR_ARG,
        "nn_rrelu: slopes are drawn from %g to %g, but lower must not be above upper, and "
        "both finite",
        lower, upper);
    rrelu *self = (rrelu *)tern_module_new(&rrelu_class);
    if (!self)
        return NULL;
    self->lower = lower;
    self->upper = upper;
    return tern_module_done(&self->base);
}
