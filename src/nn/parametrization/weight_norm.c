// SPDX-License-Identifier: Apache-2.0
// w = g v / |v|: length and direction of a weight.
#include <tern/nn/parametrizations.h>
#include "nn/layer/layer.h"
#include "nn/parametrization/parametrization.h"
#include "tensor/liveness.h"

typedef struct weight_norm {
    tern_module base;
    int dim; // or TERN_ALL_DIMS
} weight_norm;

// The 2-norm over all dimensions but one, which stays.
static tern_tensor *norm_except_dim(tern_tensor *v, int dim)
{
    tern_axis_list axes = {0};
    if (dim == TERN_ALL_DIMS)
        return tern_norm(v, 2, TERN_ALL_AXES, false);
    if (v->rank == 1)
        return tern_abs(v); // no dimension is left to take it over
    for (int i = 0; i < v->rank; i++)
        if (i != dim)
            axes.axis[axes.count++] = i;
    return tern_norm(v, 2, axes, true);
}

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    TERN_TRY(tern_layer_inputs(module, in, 2));
    tern_tensor *g = in->at[0], *v = in->at[1];
    TERN_TRY(tern_check_tensor("nn_weight_norm", "v", v));
    tern_tensor *norm = norm_except_dim(v, ((const weight_norm *)module)->dim);
    return tern_layer_output(out, tern_mul(v, tern_div(g, norm)));
}

static tern_status right_inverse(tern_module *module, tern_tensor *value, tern_tensors *originals)
{
    originals->count = 2;
    originals->at[0] = norm_except_dim(value, ((const weight_norm *)module)->dim);
    originals->at[1] = value;
    return originals->at[0] ? TERN_OK : tern_error_code();
}

static const tern_module_class weight_norm_class = {
    .name = "_WeightNorm", .size = sizeof(weight_norm), .call = call};

static const tern_parametrization_old_names old_names = {{"_g", "_v"}};

static tern_status check_options(const char *function, const tern_nn_weight_norm_options *o,
                                 const char *name, const tern_tensor *weight)
{
    TERN_CHECK(!tern_module_is_parametrized(o->module, name), TERN_ERR_STATE,
               "%s: \"%s\" is parametrized already, and length and direction can only be what "
               "comes first",
               function, name);
    TERN_CHECK(o->dim == TERN_ALL_DIMS || (o->dim >= 0 && o->dim < weight->rank), TERN_ERR_ARG,
               "%s: dim is %d, but \"%s\" is %s: 0 to %d, or TERN_ALL_DIMS for one norm", function,
               o->dim, name, tern_tensor_string(weight), weight->rank - 1);
    return TERN_OK;
}

tern_module *tern_nn_weight_norm_with(const tern_nn_weight_norm_options *options)
{
    const char *function = "nn_weight_norm";
    tern_module *owner;
    if (!options)
        return (void)tern_null_error(function, "options"), NULL;
    const char *name = options->name ? options->name : "weight";
    const tern_tensor *weight =
        tern_parametrization_target(function, options->module, name, &owner);
    if (!weight || check_options(function, options, name, weight))
        return NULL;
    weight_norm *self = (weight_norm *)tern_module_new(&weight_norm_class);
    if (self)
        self->dim = options->dim;
    tern_module *parametrization = tern_done(self);
    if (!parametrization ||
        tern_module_register_parametrization(options->module, name, parametrization,
                                             .right_inverse = right_inverse, .unsafe = true))
        return NULL;
    tern_parametrization_find(options->module, name, &owner)->old_names = &old_names;
    return options->module;
}
