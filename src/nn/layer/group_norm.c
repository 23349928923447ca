// SPDX-License-Identifier: Apache-2.0
// Normalises groups of channels of each sample (Wu and He 2018).
#include "nn/layer/norm.h"
#include "tensor/liveness.h"

typedef struct group_norm {
    tern_module base;
    tern_tensor *weight, *bias; // (C), or NULL
    int64_t num_groups, num_channels;
    double eps;
} group_norm;

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const group_norm *self = (const group_norm *)module;
    TERN_TRY(tern_layer_inputs(module, in, 1));
    const tern_tensor *x = in->at[0];
    TERN_TRY(tern_check_tensor("GroupNorm", "x", x));
    TERN_CHECK(x->rank >= 2 && x->size[1] == self->num_channels, TERN_ERR_SHAPE,
               "GroupNorm: x %s must have %lld channels (num_channels) in dimension 1",
               tern_shape_string(tern_shape_get(x)), (long long)self->num_channels);
    return tern_layer_output(out,
                             tern_group_norm(in->at[0], self->num_groups, .weight = self->weight,
                                             .bias = self->bias, .eps = self->eps));
}

static void describe(const tern_module *module, tern_text *out)
{
    const group_norm *self = (const group_norm *)module;
    tern_text_add(out, "%lld, %lld, eps=", (long long)self->num_groups,
                  (long long)self->num_channels);
    tern_text_add_double(out, self->eps);
    tern_text_add(out, ", affine=%s, bias=%s", tern_text_bool(self->weight),
                  tern_text_bool(self->bias));
}

static tern_status reset(tern_module *module, tern_generator *generator)
{
    const group_norm *self = (const group_norm *)module;
    (void)generator;
    return tern_norm_reset(self->weight, self->bias);
}

static const tern_module_class group_norm_class = {.name = "GroupNorm",
                                                   .size = sizeof(group_norm),
                                                   .call = call,
                                                   .describe = describe,
                                                   .reset = reset};

tern_module *tern_nn_group_norm_with(const tern_nn_group_norm_options *o)
{
    if (!o)
        return (void)tern_null_error("nn_group_norm", "options"), NULL;
    tern_norm_make make = {.function = "nn_group_norm",
                           .eps = o->eps,
                           .affine = o->affine,
                           .bias = o->bias,
                           .dtype = o->dtype,
                           .device = o->device};
    TERN_CHECK_PTR(
        o->num_groups > 0 && o->num_channels > 0 && o->num_channels % o->num_groups == 0,
        TERN_ERR_ARG,
        "nn_group_norm: num_groups is %lld and num_channels %lld: both must be positive, "
        "and the first divide the second",
        (long long)o->num_groups, (long long)o->num_channels);
    if (tern_norm_check(&make))
        return NULL;
    group_norm *self = (group_norm *)tern_module_new(&group_norm_class);
    if (!self)
        return NULL;
    self->num_groups = o->num_groups;
    self->num_channels = o->num_channels;
    self->eps = o->eps;
    tern_norm_add(&self->base, &make, tern_dims(o->num_channels), &self->weight, &self->bias);
    return tern_module_done(&self->base);
}
