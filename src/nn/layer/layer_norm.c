// SPDX-License-Identifier: Apache-2.0
// Normalises over the last dimensions: LayerNorm (Ba et al. 2016) and RMSNorm (Zhang and Sennrich
// 2019).
#include <math.h>
#include "nn/layer/norm.h"
#include "ops/row_norm.h"

typedef struct last_norm {
    tern_module base;
    tern_tensor *weight, *bias; // of `shape`, or NULL
    tern_shape shape;
    double eps;
} last_norm;

static tern_status call_layer_norm(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const last_norm *self = (const last_norm *)module;
    TERN_TRY(tern_layer_inputs(module, in, 1));
    return tern_layer_output(out, tern_layer_norm(in->at[0], self->shape, .weight = self->weight,
                                                  .bias = self->bias, .eps = self->eps));
}

static tern_status call_rms_norm(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const last_norm *self = (const last_norm *)module;
    TERN_TRY(tern_layer_inputs(module, in, 1));
    return tern_layer_output(
        out, tern_rms_norm(in->at[0], self->shape, .weight = self->weight, .eps = self->eps));
}

// A Python tuple, the number and elementwise_affine.
static void describe(const last_norm *self, tern_text *out)
{
    for (int i = 0; i < self->shape.rank; i++)
        tern_text_add(out, "%s%lld", i ? ", " : "(", (long long)self->shape.dim[i]);
    tern_text_add(out, "%s), eps=", self->shape.rank == 1 ? "," : "");
    if (isnan(self->eps))
        tern_text_add(out, "None");
    else
        tern_text_add_double(out, self->eps);
    tern_text_add(out, ", elementwise_affine=%s", tern_text_bool(self->weight));
}

static void describe_layer_norm(const tern_module *module, tern_text *out)
{
    const last_norm *self = (const last_norm *)module;
    describe(self, out);
    tern_text_add(out, ", bias=%s", tern_text_bool(self->bias));
}

static void describe_rms_norm(const tern_module *module, tern_text *out)
{
    describe((const last_norm *)module, out);
}

static tern_status reset(tern_module *module, tern_generator *generator)
{
    const last_norm *self = (const last_norm *)module;
    (void)generator;
    return tern_norm_reset(self->weight, self->bias);
}

static const tern_module_class layer_norm_class = {.name = "LayerNorm",
                                                   .size = sizeof(last_norm),
                                                   .call = call_layer_norm,
                                                   .describe = describe_layer_norm,
                                                   .reset = reset};
static const tern_module_class rms_norm_class = {.name = "RMSNorm",
                                                 .size = sizeof(last_norm),
                                                 .call = call_rms_norm,
                                                 .describe = describe_rms_norm,
                                                 .reset = reset};

// eps: NAN is for rms_norm to choose.
static tern_module *make(const tern_module_class *klass, tern_norm_make make, tern_shape shape)
{
    const double eps = make.eps;
    const bool rms = klass == &rms_norm_class;
    make.eps = rms && isnan(eps) ? 0 : eps;
    if (tern_norm_check_shape(make.function, shape) || tern_norm_check(&make))
        return NULL;
    last_norm *self = (last_norm *)tern_module_new(klass);
    if (!self)
        return NULL;
    self->shape = shape;
    self->eps = eps;
    tern_norm_add(&self->base, &make, shape, &self->weight, rms ? NULL : &self->bias);
    return tern_module_done(&self->base);
}

tern_module *tern_nn_layer_norm_with(const tern_nn_layer_norm_options *o)
{
    if (!o)
        return (void)tern_null_error("nn_layer_norm", "options"), NULL;
    return make(&layer_norm_class,
                (tern_norm_make){.function = "nn_layer_norm",
                                 .eps = o->eps,
                                 .affine = o->elementwise_affine,
                                 .bias = o->bias,
                                 .dtype = o->dtype,
                                 .device = o->device},
                o->normalized_shape);
}

tern_module *tern_nn_rms_norm_with(const tern_nn_rms_norm_options *o)
{
    if (!o)
        return (void)tern_null_error("nn_rms_norm", "options"), NULL;
    return make(&rms_norm_class,
                (tern_norm_make){.function = "nn_rms_norm",
                                 .eps = o->eps,
                                 .affine = o->elementwise_affine,
                                 .dtype = o->dtype,
                                 .device = o->device},
                o->normalized_shape);
}
