// SPDX-License-Identifier: Apache-2.0
/// @file
/// Activations: functions of each element, or along a dimension. NaN stays NaN.
///
///     tern_tensor *y = tern_elu(tern_linear(x, weight, bias, TERN_ACT_NONE));
///
/// Each returns a new temporary of the innermost scope, or NULL with a pending error. Integers and
/// bool give the default dtype, except for relu, which keeps theirs; prelu, glu and softmin want a
/// floating dtype. Threads: any, each tensor used by one at a time.
#ifndef TERN_OPS_ACTIVATION_H
#define TERN_OPS_ACTIVATION_H

#include <tern/tensor.h>

TERN_BEGIN_DECLS

// ---- linear in pieces ---------------------------------------------------------------------------

TERN_API TERN_NODISCARD tern_tensor *tern_relu(
    tern_tensor *x); ///< max(x, 0), derivative 0 at 0, NaN stays
/// min(max(x, 0), 6), derivative 0 at 0 and 6.
TERN_API TERN_NODISCARD tern_tensor *tern_relu6(tern_tensor *x);
/// `tern_leaky_relu(x)`, `tern_leaky_relu(x, 0.2)`.
typedef struct tern_leaky_relu_options {
    char reserved_;
    tern_tensor *x;        ///< the operand
    double negative_slope; ///< where x is not above 0
} tern_leaky_relu_options;
#define TERN_LEAKY_RELU_DEFAULTS_ .negative_slope = 0.01
#define TERN_LEAKY_RELU_FIELDS_   1, 1, (x, negative_slope), (tensor)
TERN_API tern_leaky_relu_options tern_leaky_relu_defaults(void);
/// x where x > 0, else negative_slope * x.
TERN_API tern_tensor *tern_leaky_relu_with(const tern_leaky_relu_options *options);
#define tern_leaky_relu(...)                                                                       \
    TERN_WITH_(tern_leaky_relu, tern_leaky_relu, TERN_LEAKY_RELU, __VA_ARGS__)
/// x where x > 0, else slope * x (He et al. 2015). weight (1) is the slope, or (C) has one for each
/// channel of x (N, C, ..); of x's dtype, else TERN_ERR_DTYPE. TERN_ERR_SHAPE for other sizes.
TERN_API TERN_NODISCARD tern_tensor *tern_prelu(tern_tensor *x, tern_tensor *weight);
/// `tern_rrelu(x, .training = true)`.
typedef struct tern_rrelu_options {
    bool training; ///< slopes are drawn
    char reserved_;
    tern_tensor *x; ///< the operand
    double lower;   ///< the least slope
    double upper;   ///< the largest, at least lower
} tern_rrelu_options;
#define TERN_RRELU_DEFAULTS_ .training = false, .lower = 0.125, .upper = 0.3333333333333333
#define TERN_RRELU_FIELDS_   1, 2, (x, lower, upper), (tensor)
TERN_API tern_rrelu_options tern_rrelu_defaults(void);
/// x where x > 0, else slope * x (Xu et al. 2015): in training a slope from lower to upper for each
/// element, drawn by Philox4x32-10 by element and call; else their mean. TERN_ERR_ARG unless lower
/// <= upper.
TERN_API tern_tensor *tern_rrelu_with(const tern_rrelu_options *options);
#define tern_rrelu(...) TERN_WITH_(tern_rrelu, tern_rrelu, TERN_RRELU, __VA_ARGS__)
/// `tern_hardtanh(x)`, `tern_hardtanh(x, -2, 2)`.
typedef struct tern_hardtanh_options {
    char reserved_;
    tern_tensor *x; ///< the operand
    double min_val; ///< the least result
    double max_val; ///< the largest, not below min_val
} tern_hardtanh_options;
#define TERN_HARDTANH_DEFAULTS_ .min_val = -1, .max_val = 1
#define TERN_HARDTANH_FIELDS_   1, 2, (x, min_val, max_val), (tensor)
TERN_API tern_hardtanh_options tern_hardtanh_defaults(void);
/// min(max(x, min_val), max_val), derivative 0 at both. TERN_ERR_ARG when min_val > max_val.
TERN_API tern_tensor *tern_hardtanh_with(const tern_hardtanh_options *options);
#define tern_hardtanh(...) TERN_WITH_(tern_hardtanh, tern_hardtanh, TERN_HARDTANH, __VA_ARGS__)
/// min(max(x + 3, 0), 6) / 6, derivative 0 at -3 and 3.
TERN_API TERN_NODISCARD tern_tensor *tern_hardsigmoid(tern_tensor *x);
/// x min(max(x + 3, 0), 6) / 6; NaN at -infinity. The derivative is 0 at -3 and 1 at 3.
TERN_API TERN_NODISCARD tern_tensor *tern_hardswish(tern_tensor *x);
/// `tern_hardshrink(x)`, `tern_softshrink(x, 1)`.
typedef struct tern_shrink_options {
    char reserved_;
    tern_tensor *x; ///< the operand
    double lambd;   ///< the largest x that becomes 0
} tern_shrink_options;
#define TERN_SHRINK_DEFAULTS_ .lambd = 0.5
#define TERN_SHRINK_FIELDS_   1, 1, (x, lambd), (tensor)
TERN_API tern_shrink_options tern_shrink_defaults(void);
/// 0 from -lambd to lambd, x elsewhere; the derivative is 0 at both.
TERN_API tern_tensor *tern_hardshrink_with(const tern_shrink_options *options);
#define tern_hardshrink(...) TERN_WITH_(tern_hardshrink, tern_shrink, TERN_SHRINK, __VA_ARGS__)
/// x - lambd above lambd, x + lambd below -lambd, 0 between, with derivative 0 at both.
/// TERN_ERR_ARG when lambd < 0.
TERN_API tern_tensor *tern_softshrink_with(const tern_shrink_options *options);
#define tern_softshrink(...) TERN_WITH_(tern_softshrink, tern_shrink, TERN_SHRINK, __VA_ARGS__)
/// x where x > threshold, else value; derivative 0 at the threshold.
TERN_API TERN_NODISCARD tern_tensor *tern_threshold(tern_tensor *x, double threshold, double value);

// ---- smooth -------------------------------------------------------------------------------------

/// How GELU is computed.
typedef enum tern_approximate {
    TERN_APPROXIMATE_UNSPECIFIED = 0, ///< none
    TERN_APPROXIMATE_NONE,            ///< x * Phi(x) by erf
    TERN_APPROXIMATE_TANH             ///< 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
} tern_approximate;

/// `tern_gelu(x)`, `tern_gelu(x, .approximate = TERN_APPROXIMATE_TANH)`.
typedef struct tern_gelu_options {
    tern_approximate approximate; ///< how it is computed
    char reserved_;
    tern_tensor *x; ///< the operand
} tern_gelu_options;
#define TERN_GELU_DEFAULTS_ .approximate = TERN_APPROXIMATE_NONE
#define TERN_GELU_FIELDS_   1, 0, (x), (tensor)
TERN_API tern_gelu_options tern_gelu_defaults(void);
/// x * Phi(x), Phi the normal distribution function (Hendrycks and Gimpel 2016). TERN_ERR_ARG for
/// an approximate that there is not.
TERN_API tern_tensor *tern_gelu_with(const tern_gelu_options *options);
#define tern_gelu(...) TERN_WITH_(tern_gelu, tern_gelu, TERN_GELU, __VA_ARGS__)
TERN_API TERN_NODISCARD tern_tensor *tern_silu(tern_tensor *x); ///< x * sigmoid(x)
/// x * tanh(log(1 + exp(x))) (Misra 2019); NaN at -infinity.
TERN_API TERN_NODISCARD tern_tensor *tern_mish(tern_tensor *x);
/// `tern_softplus(x)`, `tern_softplus(x, .beta = 2)`.
typedef struct tern_softplus_options {
    char reserved_;
    tern_tensor *x;   ///< the operand
    double beta;      ///< not 0
    double threshold; ///< of beta x
} tern_softplus_options;
#define TERN_SOFTPLUS_DEFAULTS_ .beta = 1, .threshold = 20
#define TERN_SOFTPLUS_FIELDS_   1, 2, (x, beta, threshold), (tensor)
TERN_API tern_softplus_options tern_softplus_defaults(void);
/// log(1 + exp(beta x)) / beta, and x itself where beta x > threshold. TERN_ERR_ARG for beta 0.
TERN_API tern_tensor *tern_softplus_with(const tern_softplus_options *options);
#define tern_softplus(...) TERN_WITH_(tern_softplus, tern_softplus, TERN_SOFTPLUS, __VA_ARGS__)
/// log(sigmoid(x)), without overflow.
TERN_API TERN_NODISCARD tern_tensor *tern_logsigmoid(tern_tensor *x);
/// `tern_elu(x)`, `tern_celu(x, 0.5)`.
typedef struct tern_elu_options {
    char reserved_;
    tern_tensor *x; ///< the operand
    double alpha;   ///< of celu not 0
} tern_elu_options;
#define TERN_ELU_DEFAULTS_ .alpha = 1
#define TERN_ELU_FIELDS_   1, 1, (x, alpha), (tensor)
TERN_API tern_elu_options tern_elu_defaults(void);
/// x where x > 0, else alpha (exp(x) - 1) (Clevert et al. 2016); derivative alpha at 0.
TERN_API tern_tensor *tern_elu_with(const tern_elu_options *options);
#define tern_elu(...) TERN_WITH_(tern_elu, tern_elu, TERN_ELU, __VA_ARGS__)
/// 1.0507009873554805 tern_elu(x, 1.6732632423543772) (Klambauer et al. 2017).
TERN_API TERN_NODISCARD tern_tensor *tern_selu(tern_tensor *x);
/// x where x > 0, else alpha (exp(x / alpha) - 1) (Barron 2017). TERN_ERR_ARG for alpha 0.
TERN_API tern_tensor *tern_celu_with(const tern_elu_options *options);
#define tern_celu(...) TERN_WITH_(tern_celu, tern_elu, TERN_ELU, __VA_ARGS__)
/// x - tanh(x), exact near 0.
TERN_API TERN_NODISCARD tern_tensor *tern_tanhshrink(tern_tensor *x);
/// x / (1 + |x|); NaN at the infinities.
TERN_API TERN_NODISCARD tern_tensor *tern_softsign(tern_tensor *x);

// ---- along a dimension --------------------------------------------------------------------------
// Negative dimensions count from the end; one that is not there is TERN_ERR_ARG.

/// `tern_glu(x)`, `tern_glu(x, 0)`.
typedef struct tern_glu_options {
    char reserved_;
    tern_tensor *x; ///< the operand
    int dim;        ///< which is halved
} tern_glu_options;
#define TERN_GLU_DEFAULTS_ .dim = -1
#define TERN_GLU_FIELDS_   1, 1, (x, dim), (tensor)
TERN_API tern_glu_options tern_glu_defaults(void);
/// a sigmoid(b), a and b being the first and the second half of x along dim (Dauphin et al. 2017),
/// whose size is even (TERN_ERR_SHAPE).
TERN_API tern_tensor *tern_glu_with(const tern_glu_options *options);
#define tern_glu(...) TERN_WITH_(tern_glu, tern_glu, TERN_GLU, __VA_ARGS__)
/// tern_softmax of -x.
TERN_API TERN_NODISCARD tern_tensor *tern_softmin(tern_tensor *x, int dim);

TERN_END_DECLS

#endif
