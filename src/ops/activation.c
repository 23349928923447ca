// SPDX-License-Identifier: Apache-2.0
// Activations of one operand and options. Those without options are in unary.c.
#include "ops/activation.h"

#include <math.h>
#include "ops/launch.h"
#include "tensor/liveness.h"

#define FUNCTION(name, code)                                                                       \
    static const tern_unary_function function = {                                                  \
        {#name, {"x"}, tern_unary_backward}, TERN_UNARY_##code, TERN_OP_TO_FLOATING, false}

tern_status tern_approximate_check(const char *name, tern_approximate approximate)
{
    TERN_CHECK(approximate >= TERN_APPROXIMATE_UNSPECIFIED && approximate <= TERN_APPROXIMATE_TANH,
               TERN_ERR_ARG, "%s: %d is no way to approximate", name, (int)approximate);
    return TERN_OK;
}

static tern_tensor *gelu_tanh(tern_tensor *x)
{
    FUNCTION(gelu, GELU_TANH);
    return tern_unary_run(&function, x, 0, 0);
}

static tern_tensor *gelu(tern_tensor *x, tern_approximate approximate)
{
    FUNCTION(gelu, GELU);
    if (tern_approximate_check("gelu", approximate))
        return NULL;
    return approximate == TERN_APPROXIMATE_TANH ? gelu_tanh(x) : tern_unary_run(&function, x, 0, 0);
}

static tern_tensor *leaky_relu(tern_tensor *x, double negative_slope)
{
    FUNCTION(leaky_relu, LEAKY_RELU);
    return tern_unary_run(&function, x, negative_slope, 0);
}

static tern_tensor *softplus(tern_tensor *x, double beta, double threshold)
{
    FUNCTION(softplus, SOFTPLUS);
    TERN_CHECK_PTR(beta != 0, TERN_ERR_ARG, "softplus: beta is 0, and the result is divided by it");
    return tern_unary_run(&function, x, beta, threshold);
}

static tern_tensor *elu(tern_tensor *x, double alpha)
{
    FUNCTION(elu, ELU);
    return tern_unary_run(&function, x, alpha, 1);
}

static tern_tensor *celu(tern_tensor *x, double alpha)
{
    FUNCTION(celu, ELU);
    TERN_CHECK_PTR(alpha != 0, TERN_ERR_ARG, "celu: alpha is 0, and x is divided by it");
    return tern_unary_run(&function, x, alpha, 1 / alpha);
}

tern_tensor *tern_relu6(tern_tensor *x)
{
    FUNCTION(relu6, HARDTANH);
    return tern_unary_run(&function, x, 0, 6);
}

static tern_tensor *hardtanh(tern_tensor *x, double min_val, double max_val)
{
    FUNCTION(hardtanh, HARDTANH);
    TERN_CHECK_PTR(min_val <= max_val, TERN_ERR_ARG,
                   "hardtanh: min_val is %g, but must not be above max_val, which is %g", min_val,
                   max_val);
    return tern_unary_run(&function, x, min_val, max_val);
}

static tern_tensor *hardshrink(tern_tensor *x, double lambd)
{
    FUNCTION(hardshrink, HARDSHRINK);
    return tern_unary_run(&function, x, lambd, 0);
}

static tern_tensor *softshrink(tern_tensor *x, double lambd)
{
    FUNCTION(softshrink, SOFTSHRINK);
    TERN_CHECK_PTR(lambd >= 0, TERN_ERR_ARG, "softshrink: lambd is %g, but must not be below 0",
                   lambd);
    return tern_unary_run(&function, x, lambd, 0);
}

// The public functions.
TERN_WITH_OPTIONS_OF(gelu, gelu, o->approximate)
TERN_WITH_OPTIONS_OF(leaky_relu, leaky_relu, o->negative_slope)
TERN_WITH_OPTIONS_OF(softplus, softplus, o->beta, o->threshold)
TERN_WITH_OPTIONS_OF(elu, elu, o->alpha)
TERN_WITH_OPTIONS_OF(celu, elu, o->alpha)
TERN_WITH_OPTIONS_OF(hardtanh, hardtanh, o->min_val, o->max_val)
TERN_WITH_OPTIONS_OF(hardshrink, shrink, o->lambd)
TERN_WITH_OPTIONS_OF(softshrink, shrink, o->lambd)

tern_tensor *tern_threshold(tern_tensor *x, double threshold, double value)
{
    FUNCTION(threshold, THRESHOLD);
    return tern_unary_run(&function, x, threshold, value);
}

tern_tensor *tern_softmin(tern_tensor *x, int dim)
{
    if (tern_check_tensor("softmin", "x", x) || tern_check_dim("softmin", x->rank, &dim))
        return NULL;
    TERN_CHECK_PTR(tern_dtype_is_floating(x->dtype), TERN_ERR_DTYPE,
                   "softmin: x is %s, but must have a floating dtype", tern_dtype_name(x->dtype));
    return tern_softmax(tern_neg(x), dim);
}
