// SPDX-License-Identifier: Apache-2.0
/// @file
/// Activations: functions of each element, or along a dimension.
///
/// Constructors make modules that the caller frees or hands to a container, NULL on failure, on any
/// thread: nn.h.
#ifndef TERN_NN_ACTIVATION_H
#define TERN_NN_ACTIVATION_H

#include <tern/module.h>
#include <tern/ops/activation.h>

TERN_BEGIN_DECLS

TERN_API tern_module *tern_nn_relu(void);        ///< max(x, 0)
TERN_API tern_module *tern_nn_tanh(void);        ///< tanh(x)
TERN_API tern_module *tern_nn_sigmoid(void);     ///< 1 / (1 + exp(-x))
TERN_API tern_module *tern_nn_silu(void);        ///< x * sigmoid(x)
TERN_API tern_module *tern_nn_hardswish(void);   ///< x min(max(x + 3, 0), 6) / 6
TERN_API tern_module *tern_nn_relu6(void);       ///< min(max(x, 0), 6)
TERN_API tern_module *tern_nn_hardsigmoid(void); ///< min(max(x + 3, 0), 6) / 6
TERN_API tern_module *tern_nn_selu(void);        ///< scaled ELU, tern_selu
TERN_API tern_module *tern_nn_mish(void);        ///< x * tanh(log(1 + exp(x)))
TERN_API tern_module *tern_nn_log_sigmoid(void); ///< log(sigmoid(x))
TERN_API tern_module *tern_nn_tanhshrink(void);  ///< x - tanh(x)
TERN_API tern_module *tern_nn_softsign(void);    ///< x / (1 + |x|)

/// Softmax over one dimension of the input; negative ones count from the end.
TERN_API tern_module *tern_nn_softmax(int dim);
TERN_API tern_module *tern_nn_log_softmax(int dim); ///< its logarithm
TERN_API tern_module *tern_nn_softmin(int dim);     ///< softmax of -x
/// Softmax over the channels of (N, C, H, W) or (C, H, W).
TERN_API tern_module *tern_nn_softmax2d(void);

/// `tern_nn_gelu(.approximate = TERN_APPROXIMATE_TANH)`.
typedef struct tern_nn_gelu_options {
    char reserved_;
    tern_approximate approximate; ///< how it is computed
} tern_nn_gelu_options;

#define TERN_NN_GELU_DEFAULTS_ TERN_GELU_DEFAULTS_
#define TERN_NN_GELU_FIELDS_   0, 1, (approximate), ()
TERN_API tern_nn_gelu_options tern_nn_gelu_defaults(void);
/// tern_gelu of its input.
TERN_API tern_module *tern_nn_gelu_with(const tern_nn_gelu_options *options);
#define tern_nn_gelu(...) TERN_WITH_(tern_nn_gelu, tern_nn_gelu, TERN_NN_GELU, __VA_ARGS__)

/// `tern_nn_leaky_relu(0.2)`.
typedef struct tern_nn_leaky_relu_options {
    char reserved_;
    double negative_slope; ///< where x is not above 0
} tern_nn_leaky_relu_options;

#define TERN_NN_LEAKY_RELU_DEFAULTS_ .negative_slope = 0.01
#define TERN_NN_LEAKY_RELU_FIELDS_   0, 1, (negative_slope), ()
TERN_API tern_nn_leaky_relu_options tern_nn_leaky_relu_defaults(void);
/// x where x > 0, else negative_slope * x.
TERN_API tern_module *tern_nn_leaky_relu_with(const tern_nn_leaky_relu_options *options);
#define tern_nn_leaky_relu(...)                                                                    \
    TERN_WITH_(tern_nn_leaky_relu, tern_nn_leaky_relu, TERN_NN_LEAKY_RELU, __VA_ARGS__)

/// `tern_nn_elu(0.5)`.
typedef struct tern_nn_elu_options {
    char reserved_;
    double alpha; ///< of celu not 0
} tern_nn_elu_options;

#define TERN_NN_ELU_DEFAULTS_ .alpha = 1
#define TERN_NN_ELU_FIELDS_   0, 1, (alpha), ()
TERN_API tern_nn_elu_options tern_nn_elu_defaults(void);
/// x where x > 0, else alpha (exp(x) - 1).
TERN_API tern_module *tern_nn_elu_with(const tern_nn_elu_options *options);
#define tern_nn_elu(...) TERN_WITH_(tern_nn_elu, tern_nn_elu, TERN_NN_ELU, __VA_ARGS__)

/// x where x > 0, else alpha (exp(x / alpha) - 1).
TERN_API tern_module *tern_nn_celu_with(const tern_nn_elu_options *options);
#define tern_nn_celu(...) TERN_WITH_(tern_nn_celu, tern_nn_elu, TERN_NN_ELU, __VA_ARGS__)

/// `tern_nn_hardshrink(1)`.
typedef struct tern_nn_shrink_options {
    char reserved_;
    double lambd; ///< of softshrink at least 0
} tern_nn_shrink_options;

#define TERN_NN_SHRINK_DEFAULTS_ .lambd = 0.5
#define TERN_NN_SHRINK_FIELDS_   0, 1, (lambd), ()
TERN_API tern_nn_shrink_options tern_nn_shrink_defaults(void);
/// 0 from -lambd to lambd, x elsewhere.
TERN_API tern_module *tern_nn_hardshrink_with(const tern_nn_shrink_options *options);
#define tern_nn_hardshrink(...)                                                                    \
    TERN_WITH_(tern_nn_hardshrink, tern_nn_shrink, TERN_NN_SHRINK, __VA_ARGS__)

/// x - lambd above lambd, x + lambd below -lambd, 0 between.
TERN_API tern_module *tern_nn_softshrink_with(const tern_nn_shrink_options *options);
#define tern_nn_softshrink(...)                                                                    \
    TERN_WITH_(tern_nn_softshrink, tern_nn_shrink, TERN_NN_SHRINK, __VA_ARGS__)

/// `tern_nn_hardtanh(-2, 2)`.
typedef struct tern_nn_hardtanh_options {
    char reserved_;
    double min_val; ///< the least result
    double max_val; ///< above min_val
} tern_nn_hardtanh_options;

#define TERN_NN_HARDTANH_DEFAULTS_ .min_val = -1, .max_val = 1
#define TERN_NN_HARDTANH_FIELDS_   0, 2, (min_val, max_val), ()
TERN_API tern_nn_hardtanh_options tern_nn_hardtanh_defaults(void);
/// min(max(x, min_val), max_val).
TERN_API tern_module *tern_nn_hardtanh_with(const tern_nn_hardtanh_options *options);
#define tern_nn_hardtanh(...)                                                                      \
    TERN_WITH_(tern_nn_hardtanh, tern_nn_hardtanh, TERN_NN_HARDTANH, __VA_ARGS__)

/// `tern_nn_softplus(2)`.
typedef struct tern_nn_softplus_options {
    char reserved_;
    double beta;      ///< not 0
    double threshold; ///< of beta x
} tern_nn_softplus_options;

#define TERN_NN_SOFTPLUS_DEFAULTS_ .beta = 1, .threshold = 20
#define TERN_NN_SOFTPLUS_FIELDS_   0, 2, (beta, threshold), ()
TERN_API tern_nn_softplus_options tern_nn_softplus_defaults(void);
/// log(1 + exp(beta x)) / beta, and x itself where beta x > threshold.
TERN_API tern_module *tern_nn_softplus_with(const tern_nn_softplus_options *options);
#define tern_nn_softplus(...)                                                                      \
    TERN_WITH_(tern_nn_softplus, tern_nn_softplus, TERN_NN_SOFTPLUS, __VA_ARGS__)

/// x where x > threshold, else value.
TERN_API tern_module *tern_nn_threshold(double threshold, double value);

/// `tern_nn_rrelu(0.1, 0.3)`.
typedef struct tern_nn_rrelu_options {
    char reserved_;
    double lower; ///< the least slope
    double upper; ///< at least lower
} tern_nn_rrelu_options;

#define TERN_NN_RRELU_DEFAULTS_ .lower = 0.125, .upper = 0.3333333333333333
#define TERN_NN_RRELU_FIELDS_   0, 2, (lower, upper), ()
TERN_API tern_nn_rrelu_options tern_nn_rrelu_defaults(void);
/// x where x > 0, else slope * x: in training a slope from lower to upper for each element, in
/// evaluation their mean. tern_rrelu.
TERN_API tern_module *tern_nn_rrelu_with(const tern_nn_rrelu_options *options);
#define tern_nn_rrelu(...) TERN_WITH_(tern_nn_rrelu, tern_nn_rrelu, TERN_NN_RRELU, __VA_ARGS__)

/// `tern_nn_prelu(64)`.
typedef struct tern_nn_prelu_options {
    tern_dtype dtype;   ///< floating; the default dtype unless said
    tern_device device; ///< the default device unless said
    char reserved_;
    int64_t num_parameters; ///< 1, or the number of channels
    double init;            ///< of the weight
} tern_nn_prelu_options;

#define TERN_NN_PRELU_DEFAULTS_ .num_parameters = 1, .init = 0.25, TERN_DTYPE_DEVICE_DEFAULTS_
#define TERN_NN_PRELU_FIELDS_   0, 2, (num_parameters, init), ()
TERN_API tern_nn_prelu_options tern_nn_prelu_defaults(void);
/// x where x > 0, else weight * x. weight (num_parameters) is learned; several are for the channels
/// of x (N, C, ..).
TERN_API tern_module *tern_nn_prelu_with(const tern_nn_prelu_options *options);
#define tern_nn_prelu(...) TERN_WITH_(tern_nn_prelu, tern_nn_prelu, TERN_NN_PRELU, __VA_ARGS__)

/// `tern_nn_glu(1)`.
typedef struct tern_nn_glu_options {
    char reserved_;
    int dim; ///< which is halved
} tern_nn_glu_options;

#define TERN_NN_GLU_DEFAULTS_ .dim = -1
#define TERN_NN_GLU_FIELDS_   0, 1, (dim), ()
TERN_API tern_nn_glu_options tern_nn_glu_defaults(void);
/// a sigmoid(b), a and b being the halves of x along dim, whose size is even.
TERN_API tern_module *tern_nn_glu_with(const tern_nn_glu_options *options);
#define tern_nn_glu(...) TERN_WITH_(tern_nn_glu, tern_nn_glu, TERN_NN_GLU, __VA_ARGS__)

TERN_END_DECLS

#endif
