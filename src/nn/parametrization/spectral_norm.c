// SPDX-License-Identifier: Apache-2.0
// w = W / sigma(W), the largest singular value by power iteration.
#include <math.h>
#include <tern/nn/parametrizations.h>
#include "nn/layer/layer.h"
#include "nn/parametrization/parametrization.h"
#include "tensor/liveness.h"

typedef struct spectral_norm {
    tern_module base;
    tern_tensor *u; // (rows); NULL for a weight of one dimension
    tern_tensor *v; // (columns)
    int dim;
    int64_t n_power_iterations;
    double eps;
    bool to_draw;              // u and v, when there is a new value
    tern_generator *generator; // that draws them; NULL: the default one
} spectral_norm;

#define FIRST_ITERATIONS 15

tern_tensor *tern_parametrization_target(const char *function, const tern_module *module,
                                         const char *name, tern_module **owner)
{
    if (tern_check_module(function, module))
        return NULL;
    tern_parametrization_list *list = tern_parametrization_find(module, name, owner);
    if (list)
        return tern_parametrization_compute(list);
    const tern_module_tensor *entry = tern_module_find_tensor(function, module, name, true, owner);
    if (!entry)
        return NULL;
    TERN_CHECK_PTR(entry->tensor, TERN_ERR_STATE, "%s: \"%s\" is absent", function, name);
    return entry->tensor;
}

// (rows, columns), the indices of dim as rows.
static tern_tensor *matrix_of(tern_tensor *weight, int dim)
{
    tern_axis_list axes = {.count = 1, .axis = {dim}};
    for (int i = 0; i < weight->rank; i++)
        if (i != dim)
            axes.axis[axes.count++] = i;
    return tern_flatten(dim == 0 ? weight : tern_permute(weight, axes), 1, -1);
}

// to = a x, divided by its norm.
static tern_status step(tern_tensor *to, tern_tensor *a, tern_tensor *x, double eps)
{
    tern_tensor *y = tern_normalize(tern_matmul(a, x), .dim = 0, .eps = eps);
    return y && tern_copy_(to, y) ? TERN_OK : tern_error_code();
}

static tern_status iterate(const spectral_norm *self, tern_tensor *w, int64_t count)
{
    tern_scope scope = tern_scope_open();
    tern_status status = scope ? TERN_OK : tern_error_code();
    tern_no_grad {
        tern_tensor *transposed = status ? NULL : tern_transpose(w, 0, 1);
        for (int64_t i = 0; i < count && !status; i++) {
            status = step(self->u, w, self->v, self->eps);
            if (!status)
                status = step(self->v, transposed, self->u, self->eps);
        }
    }
    tern_scope_close(scope);
    return status;
}

// The vectors are cloned: the next forward changes them, and both forwards may have a backward.
static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const spectral_norm *self = (const spectral_norm *)module;
    TERN_TRY(tern_layer_inputs(module, in, 1));
    tern_tensor *weight = in->at[0];
    TERN_TRY(tern_check_tensor("nn_spectral_norm", "the weight", weight));
    if (!self->u)
        return tern_layer_output(out, tern_normalize(weight, .dim = 0, .eps = self->eps));
    tern_tensor *w = matrix_of(weight, self->dim);
    if (!w)
        return tern_error_code();
    if (module->private_->training)
        TERN_TRY(iterate(self, w, self->n_power_iterations));
    tern_tensor *u = tern_clone(self->u), *v = tern_clone(self->v);
    tern_tensor *sigma = tern_matmul(u, tern_matmul(w, v));
    return tern_layer_output(out, tern_div(weight, sigma));
}

static tern_status draw_unit(const spectral_norm *self, tern_tensor *t)
{
    TERN_TRY(tern_layer_draw_normal(t, 1, self->generator));
    tern_tensor *y = tern_normalize(t, .dim = 0, .eps = self->eps);
    return y && tern_copy_(t, y) ? TERN_OK : tern_error_code();
}

// Vectors for a weight that has nothing to do with those before.
static tern_status start(spectral_norm *self, tern_tensor *weight)
{
    tern_status status = TERN_OK;
    self->to_draw = false;
    if (!self->u)
        return TERN_OK;
    tern_no_grad {
        tern_tensor *w = matrix_of(weight, self->dim);
        status = w ? draw_unit(self, self->u) : tern_error_code();
        if (!status)
            status = draw_unit(self, self->v);
        if (!status)
            status = iterate(self, w, FIRST_ITERATIONS);
    }
    return status;
}

// What the weight becomes is not known yet: its module's class draws it after this.
static tern_status reset(tern_module *module, tern_generator *generator)
{
    ((spectral_norm *)module)->to_draw = true;
    ((spectral_norm *)module)->generator = generator;
    return TERN_OK;
}

static tern_status right_inverse(tern_module *module, tern_tensor *value, tern_tensors *originals)
{
    spectral_norm *self = (spectral_norm *)module;
    if (self->to_draw)
        TERN_TRY(start(self, value));
    originals->count = 1;
    originals->at[0] = value;
    return TERN_OK;
}

static const tern_module_class spectral_norm_class = {
    .name = "_SpectralNorm", .size = sizeof(spectral_norm), .call = call, .reset = reset};

static tern_tensor *empty_vector(int64_t size, const tern_tensor *weight)
{
    return tern_empty(tern_dims(size), .dtype = weight->dtype, .device = tern_dev(weight));
}

static tern_module *make(const tern_nn_spectral_norm_options *o, tern_tensor *weight, int dim)
{
    spectral_norm *self = (spectral_norm *)tern_module_new(&spectral_norm_class);
    if (!self)
        return NULL;
    self->dim = dim;
    self->eps = o->eps;
    self->n_power_iterations = o->n_power_iterations;
    if (weight->rank > 1) {
        const int64_t rows = weight->size[dim], columns = weight->numel / rows;
        (void)tern_module_add_buffer(&self->base, "_u", &self->u, empty_vector(rows, weight), true);
        (void)tern_module_add_buffer(&self->base, "_v", &self->v, empty_vector(columns, weight),
                                     true);
    }
    tern_module *module = tern_done(self);
    if (!module || !start(self, weight))
        return module;
    tern_module_free(module);
    return NULL;
}

static int usual_dim(const tern_module *owner)
{
    const tern_module_class *transposed = tern_nn_conv_classes[1];
    return owner->klass >= transposed && owner->klass < transposed + 3;
}

static const char *name_of(const tern_nn_spectral_norm_options *o)
{
    return o->name ? o->name : "weight";
}

static tern_status check_options(const tern_nn_spectral_norm_options *o, const tern_tensor *weight,
                                 int *dim)
{
    const char *function = "nn_spectral_norm", *name = name_of(o);
    TERN_CHECK(*dim >= -weight->rank && *dim < weight->rank, TERN_ERR_ARG,
               "%s: dim is %d, but \"%s\" is %s", function, *dim, name, tern_tensor_string(weight));
    TERN_CHECK(weight->numel > 0, TERN_ERR_SHAPE, "%s: \"%s\" is %s, which has no elements",
               function, name, tern_tensor_string(weight));
    TERN_CHECK(o->n_power_iterations > 0, TERN_ERR_ARG,
               "%s: n_power_iterations is %lld, but must be positive", function,
               (long long)o->n_power_iterations);
    TERN_CHECK(o->eps > 0 && isfinite(o->eps), TERN_ERR_ARG,
               "%s: eps is %g, but must be positive and finite", function, o->eps);
    *dim += *dim < 0 ? weight->rank : 0;
    return TERN_OK;
}

static tern_module *register_in_scope(const tern_nn_spectral_norm_options *o)
{
    tern_module *owner;
    tern_tensor *weight =
        tern_parametrization_target("nn_spectral_norm", o->module, name_of(o), &owner);
    if (!weight)
        return NULL;
    int dim = o->dim == TERN_OUTPUT_DIM ? usual_dim(owner) : o->dim;
    if (check_options(o, weight, &dim))
        return NULL;
    tern_module *parametrization = make(o, weight, dim);
    if (!parametrization ||
        tern_module_register_parametrization(o->module, name_of(o), parametrization,
                                             .right_inverse = right_inverse))
        return NULL;
    return o->module;
}

tern_module *tern_nn_spectral_norm_with(const tern_nn_spectral_norm_options *options)
{
    if (!options)
        return (void)tern_null_error("nn_spectral_norm", "options"), NULL;
    tern_scope scope = tern_scope_open();
    tern_module *module = scope ? register_in_scope(options) : NULL;
    tern_scope_close(scope);
    return module;
}
