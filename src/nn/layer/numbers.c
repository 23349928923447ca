// SPDX-License-Identifier: Apache-2.0
// Activations of one or two numbers.
#include <math.h>
#include "nn/layer/layer.h"

typedef struct numbers {
    tern_module base;
    double a, b;
} numbers;

// A class, and what its numbers are called.
typedef struct kind {
    tern_module_class base;
    const char *function;
    const char *a, *b; // b is NULL where there is one
    bool unnamed;      // printed without its name
} kind;

static void describe(const tern_module *module, tern_text *out)
{
    const numbers *self = (const numbers *)module;
    const kind *k = (const kind *)module->klass;
    if (!k->unnamed)
        tern_text_add(out, "%s=", k->a);
    tern_text_add_double(out, self->a);
    if (k->b) {
        tern_text_add(out, ", %s=", k->b);
        tern_text_add_double(out, self->b);
    }
}

static tern_module *make(const kind *k, double a, double b)
{
    TERN_CHECK_PTR(!isnan(a), TERN_ERR_ARG, "%s: %s is nan", k->function, k->a);
    TERN_CHECK_PTR(!isnan(b), TERN_ERR_ARG, "%s: %s is nan", k->function, k->b);
    numbers *self = (numbers *)tern_module_new(&k->base);
    if (!self)
        return NULL;
    self->a = a;
    self->b = b;
    return tern_module_done(&self->base);
}

#define CALL(layer, ...)                                                                           \
    static tern_status call_##layer(tern_module *module, const tern_tensors *in,                   \
                                    tern_tensors *out)                                             \
    {                                                                                              \
        const numbers *self = (const numbers *)module;                                             \
        TERN_TRY(tern_layer_inputs(module, in, 1));                                                \
        return tern_layer_output(out, __VA_ARGS__);                                                \
    }
#define KIND(layer, title, ...)                                                                    \
    static const kind layer##_kind = {                                                             \
        {.name = title, .size = sizeof(numbers), .call = call_##layer, .describe = describe},      \
        "nn_" #layer,                                                                              \
        __VA_ARGS__};
#define OPTIONS(layer)                                                                             \
    do {                                                                                           \
        if (!options) {                                                                            \
            tern_null_error("nn_" #layer, "options");                                              \
            return NULL;                                                                           \
        }                                                                                          \
    } while (0)

// ---- one ----------------------------------------------------------------------------------------

CALL(elu, tern_elu(in->at[0], self->a))
KIND(elu, "ELU", "alpha", NULL, false)

tern_module *tern_nn_elu_with(const tern_nn_elu_options *options)
{
    OPTIONS(elu);
    return make(&elu_kind, options->alpha, 0);
}

CALL(celu, tern_celu(in->at[0], self->a))
KIND(celu, "CELU", "alpha", NULL, false)

tern_module *tern_nn_celu_with(const tern_nn_celu_options *options)
{
    OPTIONS(celu);
    TERN_CHECK_PTR(options->alpha != 0, TERN_ERR_ARG,
                   "nn_celu: alpha is 0, and the input is divided by it");
    return make(&celu_kind, options->alpha, 0);
}

CALL(hardshrink, tern_hardshrink(in->at[0], self->a))
KIND(hardshrink, "Hardshrink", "lambd", NULL, true)

tern_module *tern_nn_hardshrink_with(const tern_nn_hardshrink_options *options)
{
    OPTIONS(hardshrink);
    return make(&hardshrink_kind, options->lambd, 0);
}

CALL(softshrink, tern_softshrink(in->at[0], self->a))
KIND(softshrink, "Softshrink", "lambd", NULL, true)

tern_module *tern_nn_softshrink_with(const tern_nn_softshrink_options *options)
{
    OPTIONS(softshrink);
    TERN_CHECK_PTR(!(options->lambd < 0), TERN_ERR_ARG,
                   "nn_softshrink: lambd is %g, but must not be below 0", options->lambd);
    return make(&softshrink_kind, options->lambd, 0);
}

// ---- two ----------------------------------------------------------------------------------------

CALL(hardtanh, tern_hardtanh(in->at[0], self->a, self->b))
KIND(hardtanh, "Hardtanh", "min_val", "max_val", false)

tern_module *tern_nn_hardtanh_with(const tern_nn_hardtanh_options *options)
{
    OPTIONS(hardtanh);
    TERN_CHECK_PTR(!(options->max_val <= options->min_val), TERN_ERR_ARG,
                   "nn_hardtanh: max_val is %g, but must be above min_val, which is %g",
                   options->max_val, options->min_val);
    return make(&hardtanh_kind, options->min_val, options->max_val);
}

CALL(softplus, tern_softplus(in->at[0], self->a, self->b))
KIND(softplus, "Softplus", "beta", "threshold", false)

tern_module *tern_nn_softplus_with(const tern_nn_softplus_options *options)
{
    OPTIONS(softplus);
    TERN_CHECK_PTR(options->beta != 0, TERN_ERR_ARG,
                   "nn_softplus: beta is 0, and the result is divided by it");
    return make(&softplus_kind, options->beta, options->threshold);
}

CALL(threshold, tern_threshold(in->at[0], self->a, self->b))
KIND(threshold, "Threshold", "threshold", "value", false)

tern_module *tern_nn_threshold(double threshold, double value)
{
    return make(&threshold_kind, threshold, value);
}
