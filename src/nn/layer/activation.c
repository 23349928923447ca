// SPDX-License-Identifier: Apache-2.0
// Activations: a table of all of them, and their constructors.
#include <math.h>
#include "nn/layer/layer.h"
#include "ops/activation.h"
#include "tensor/liveness.h"

typedef struct activation {
    tern_module base;
    double number[2]; // a dimension is one too
} activation;

// A class, how it computes, and what its numbers are called.
typedef struct kind {
    tern_module_class base;
    const char *function;
    const char *number[2];
    tern_tensor *(*run)(const activation *self, tern_tensor *x);
} kind;

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    TERN_TRY(tern_layer_inputs(module, in, 1));
    const kind *k = (const kind *)module->klass;
    return tern_layer_output(out, k->run((const activation *)module, in->at[0]));
}

// ---- descriptions -------------------------------------------------------------------------------

static void describe(const tern_module *module, tern_text *out)
{
    const kind *k = (const kind *)module->klass;
    for (int i = 0; i < 2 && k->number[i]; i++) {
        tern_text_add(out, "%s%s=", i ? ", " : "", k->number[i]);
        tern_text_add_double(out, ((const activation *)module)->number[i]);
    }
}

static void describe_first(const tern_module *module, tern_text *out)
{
    tern_text_add_double(out, ((const activation *)module)->number[0]);
}

static void describe_dim(const tern_module *module, tern_text *out)
{
    tern_text_add(out, "dim=%d", (int)((const activation *)module)->number[0]);
}

static void describe_gelu(const tern_module *module, tern_text *out)
{
    const bool by_tanh = ((const activation *)module)->number[0] == TERN_APPROXIMATE_TANH;
    tern_text_add(out, "approximate='%s'", by_tanh ? "tanh" : "none");
}

// ---- the table ----------------------------------------------------------------------------------

static tern_tensor *softmax2d(tern_tensor *x)
{
    if (tern_check_tensor("softmax2d", "x", x))
        return NULL;
    TERN_CHECK_PTR(x->rank == 3 || x->rank == 4, TERN_ERR_SHAPE,
                   "softmax2d: x is %s, but must be (N, C, H, W) or (C, H, W)",
                   tern_tensor_string(x));
    return tern_softmax(x, -3);
}

// clang-format off
// tern_nn_NAME, PyTorch's name, y of x and the numbers a and b; how they are printed, their names.
#define ACTIVATIONS(OF)                                                                            \
    OF(relu, "ReLU", tern_relu(x), NULL, NULL, NULL)                                               \
    OF(relu6, "ReLU6", tern_relu6(x), NULL, NULL, NULL)                                            \
    OF(leaky_relu, "LeakyReLU", tern_leaky_relu(x, a), describe, "negative_slope", NULL)           \
    OF(rrelu, "RReLU", tern_rrelu(x, a, b, .training = training), describe, "lower",               \
       "upper")                                                                                    \
    OF(elu, "ELU", tern_elu(x, a), describe, "alpha", NULL)                                        \
    OF(celu, "CELU", tern_celu(x, a), describe, "alpha", NULL)                                     \
    OF(selu, "SELU", tern_selu(x), NULL, NULL, NULL)                                               \
    OF(gelu, "GELU", tern_gelu(x, .approximate = (tern_approximate)a), describe_gelu, NULL, NULL)  \
    OF(silu, "SiLU", tern_silu(x), NULL, NULL, NULL)                                               \
    OF(mish, "Mish", tern_mish(x), NULL, NULL, NULL)                                               \
    OF(tanh, "Tanh", tern_tanh(x), NULL, NULL, NULL)                                               \
    OF(tanhshrink, "Tanhshrink", tern_tanhshrink(x), NULL, NULL, NULL)                             \
    OF(sigmoid, "Sigmoid", tern_sigmoid(x), NULL, NULL, NULL)                                      \
    OF(log_sigmoid, "LogSigmoid", tern_logsigmoid(x), NULL, NULL, NULL)                            \
    OF(softsign, "Softsign", tern_softsign(x), NULL, NULL, NULL)                                   \
    OF(softplus, "Softplus", tern_softplus(x, a, b), describe, "beta", "threshold")                \
    OF(hardswish, "Hardswish", tern_hardswish(x), NULL, NULL, NULL)                                \
    OF(hardsigmoid, "Hardsigmoid", tern_hardsigmoid(x), NULL, NULL, NULL)                          \
    OF(hardtanh, "Hardtanh", tern_hardtanh(x, a, b), describe, "min_val", "max_val")               \
    OF(hardshrink, "Hardshrink", tern_hardshrink(x, a), describe_first, "lambd", NULL)             \
    OF(softshrink, "Softshrink", tern_softshrink(x, a), describe_first, "lambd", NULL)             \
    OF(threshold, "Threshold", tern_threshold(x, a, b), describe, "threshold", "value")            \
    OF(glu, "GLU", tern_glu(x, (int)a), describe_dim, NULL, NULL)                                  \
    OF(softmax, "Softmax", tern_softmax(x, (int)a), describe_dim, NULL, NULL)                      \
    OF(log_softmax, "LogSoftmax", tern_log_softmax(x, (int)a), describe_dim, NULL, NULL)           \
    OF(softmin, "Softmin", tern_softmin(x, (int)a), describe_dim, NULL, NULL)                      \
    OF(softmax2d, "Softmax2d", softmax2d(x), NULL, NULL, NULL)
// clang-format on

#define RUN(name, title, y, ...)                                                                   \
    static tern_tensor *run_##name(const activation *self, tern_tensor *x)                         \
    {                                                                                              \
        const bool training = self->base.private_->training;                                       \
        const double a = self->number[0], b = self->number[1];                                     \
        (void)training, (void)a, (void)b;                                                          \
        return y;                                                                                  \
    }
ACTIVATIONS(RUN)

#define CODE(name, ...) code_##name,
enum { ACTIVATIONS(CODE) };

#define KIND(name_, title, y, describe_, a, b)                                                     \
    {{.name = title, .size = sizeof(activation), .call = call, .describe = describe_},             \
     "nn_" #name_,                                                                                 \
     {a, b},                                                                                       \
     run_##name_},
static const kind kinds[] = {ACTIVATIONS(KIND)};

bool tern_nn_is_relu(const tern_module *module)
{
    return module->klass == &kinds[code_relu].base;
}

// ---- constructors -------------------------------------------------------------------------------

static tern_status check(int code, double a, double b)
{
    const kind *k = &kinds[code];
    for (int i = 0; i < 2; i++)
        TERN_CHECK(!isnan(i ? b : a) || code == code_rrelu, TERN_ERR_ARG, "%s: %s is nan",
                   k->function, k->number[i]);
    TERN_CHECK(code != code_leaky_relu || isfinite(a), TERN_ERR_ARG, "%s: %s is %g", k->function,
               k->number[0], a);
    TERN_CHECK(code != code_rrelu || (a <= b && isfinite(a) && isfinite(b)), TERN_ERR_ARG,
               "nn_rrelu: slopes are drawn from %g to %g, but lower must not be above upper, and "
               "both finite",
               a, b);
    TERN_CHECK(code != code_celu || a != 0, TERN_ERR_ARG,
               "nn_celu: alpha is 0, and the input is divided by it");
    TERN_CHECK(code != code_softshrink || a >= 0, TERN_ERR_ARG,
               "nn_softshrink: lambd is %g, but must not be below 0", a);
    TERN_CHECK(code != code_hardtanh || b > a, TERN_ERR_ARG,
               "nn_hardtanh: max_val is %g, but must be above min_val, which is %g", b, a);
    TERN_CHECK(code != code_softplus || a != 0, TERN_ERR_ARG,
               "nn_softplus: beta is 0, and the result is divided by it");
    return TERN_OK;
}

static tern_module *make(int code, double a, double b)
{
    if (check(code, a, b))
        return NULL;
    activation *self = (activation *)tern_module_new(&kinds[code].base);
    if (!self)
        return NULL;
    self->number[0] = a;
    self->number[1] = b;
    return tern_module_done(&self->base);
}

#define PLAIN(name)                                                                                \
    tern_module *tern_nn_##name(void)                                                              \
    {                                                                                              \
        return make(code_##name, 0, 0);                                                            \
    }
PLAIN(relu)
PLAIN(relu6)
PLAIN(selu)
PLAIN(silu)
PLAIN(mish)
PLAIN(tanh)
PLAIN(tanhshrink)
PLAIN(sigmoid)
PLAIN(log_sigmoid)
PLAIN(softsign)
PLAIN(hardswish)
PLAIN(hardsigmoid)
PLAIN(softmax2d)

#define ALONG(name)                                                                                \
    tern_module *tern_nn_##name(int dim)                                                           \
    {                                                                                              \
        return make(code_##name, dim, 0);                                                          \
    }
ALONG(softmax)
ALONG(log_softmax)
ALONG(softmin)

#define OPTIONS(name, family, a, b)                                                                \
    tern_module *tern_nn_##name##_with(const tern_nn_##family##_options *options)                  \
    {                                                                                              \
        if (options)                                                                               \
            return make(code_##name, a, b);                                                        \
        tern_null_error("nn_" #name, "options");                                                   \
        return NULL;                                                                               \
    }
OPTIONS(leaky_relu, leaky_relu, options->negative_slope, 0)
OPTIONS(rrelu, rrelu, options->lower, options->upper)
OPTIONS(elu, elu, options->alpha, 0)
OPTIONS(celu, elu, options->alpha, 0)
OPTIONS(softplus, softplus, options->beta, options->threshold)
OPTIONS(hardtanh, hardtanh, options->min_val, options->max_val)
OPTIONS(hardshrink, shrink, options->lambd, 0)
OPTIONS(softshrink, shrink, options->lambd, 0)
OPTIONS(glu, glu, options->dim, 0)

tern_module *tern_nn_threshold(double threshold, double value)
{
    return make(code_threshold, threshold, value);
}

tern_module *tern_nn_gelu_with(const tern_nn_gelu_options *options)
{
    if (!options)
        return (void)tern_null_error("nn_gelu", "options"), NULL;
    if (tern_approximate_check("nn_gelu", options->approximate))
        return NULL;
    return make(code_gelu, options->approximate, 0);
}
