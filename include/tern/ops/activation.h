// SPDX-License-Identifier: Apache-2.0
/// @file
/// Activations: functions of each element, or along a dimension. NaN stays NaN.
///
///     tern_tensor *y = tern_elu(tern_linear(x, weight, bias, TERN_ACT_NONE), 1);
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
/// x where x > 0, else negative_slope * x.
TERN_API TERN_NODISCARD tern_tensor *tern_leaky_relu(tern_tensor *x, double negative_slope);
/// x where x > 0, else slope * x (He et al. 2015). weight (1) is the slope, or (C) has one for each
/// channel of x (N, C, ..); of x's dtype, else TERN_ERR_DTYPE. TERN_ERR_SHAPE for other sizes.
TERN_API TERN_NODISCARD tern_tensor *tern_prelu(tern_tensor *x, tern_tensor *weight);
/// x where x > 0, else slope * x (Xu et al. 2015): in training a slope from lower to upper for each
/// element, drawn by Philox4x32-10 by element and call; else their mean. TERN_ERR_ARG unless lower
/// <= upper.
TERN_API TERN_NODISCARD tern_tensor *tern_rrelu(tern_tensor *x, double lower, double upper,
                                                bool training);
/// min(max(x, min_val), max_val), derivative 0 at both. TERN_ERR_ARG when min_val > max_val.
TERN_API TERN_NODISCARD tern_tensor *tern_hardtanh(tern_tensor *x, double min_val, double max_val);
/// min(max(x + 3, 0), 6) / 6, derivative 0 at -3 and 3.
TERN_API TERN_NODISCARD tern_tensor *tern_hardsigmoid(tern_tensor *x);
/// x min(max(x + 3, 0), 6) / 6; NaN at -infinity. The derivative is 0 at -3 and 1 at 3.
TERN_API TERN_NODISCARD tern_tensor *tern_hardswish(tern_tensor *x);
/// 0 from -lambd to lambd, x elsewhere; the derivative is 0 at both.
TERN_API TERN_NODISCARD tern_tensor *tern_hardshrink(tern_tensor *x, double lambd);
/// x - lambd above lambd, x + lambd below -lambd, 0 between, with derivative 0 at both.
/// TERN_ERR_ARG when lambd < 0.
TERN_API TERN_NODISCARD tern_tensor *tern_softshrink(tern_tensor *x, double lambd);
/// x where x > threshold, else value; derivative 0 at the threshold.
TERN_API TERN_NODISCARD tern_tensor *tern_threshold(tern_tensor *x, double threshold, double value);

// ---- smooth -------------------------------------------------------------------------------------

/// x * Phi(x), Phi the normal distribution function, by erf (Hendrycks and Gimpel 2016).
TERN_API TERN_NODISCARD tern_tensor *tern_gelu(tern_tensor *x);
/// Its tanh form 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
TERN_API TERN_NODISCARD tern_tensor *tern_gelu_tanh(tern_tensor *x);
TERN_API TERN_NODISCARD tern_tensor *tern_silu(tern_tensor *x); ///< x * sigmoid(x)
/// x * tanh(log(1 + exp(x))) (Misra 2019); NaN at -infinity.
TERN_API TERN_NODISCARD tern_tensor *tern_mish(tern_tensor *x);
/// log(1 + exp(beta x)) / beta, and x itself where beta x > threshold. TERN_ERR_ARG for beta 0.
TERN_API TERN_NODISCARD tern_tensor *tern_softplus(tern_tensor *x, double beta, double threshold);
/// log(sigmoid(x)), without overflow.
TERN_API TERN_NODISCARD tern_tensor *tern_logsigmoid(tern_tensor *x);
/// x where x > 0, else alpha (exp(x) - 1) (Clevert et al. 2016); derivative alpha at 0.
TERN_API TERN_NODISCARD tern_tensor *tern_elu(tern_tensor *x, double alpha);
/// 1.0507009873554805 tern_elu(x, 1.6732632423543772) (Klambauer et al. 2017).
TERN_API TERN_NODISCARD tern_tensor *tern_selu(tern_tensor *x);
/// x where x > 0, else alpha (exp(x / alpha) - 1) (Barron 2017). TERN_ERR_ARG for alpha 0.
TERN_API TERN_NODISCARD tern_tensor *tern_celu(tern_tensor *x, double alpha);
/// x - tanh(x), exact near 0.
TERN_API TERN_NODISCARD tern_tensor *tern_tanhshrink(tern_tensor *x);
/// x / (1 + |x|); NaN at the infinities.
TERN_API TERN_NODISCARD tern_tensor *tern_softsign(tern_tensor *x);

// ---- along a dimension --------------------------------------------------------------------------
// Negative dimensions count from the end; one that is not there is TERN_ERR_ARG.

/// a sigmoid(b), a and b being the first and the second half of x along dim (Dauphin et al. 2017),
/// whose size is even (TERN_ERR_SHAPE).
TERN_API TERN_NODISCARD tern_tensor *tern_glu(tern_tensor *x, int dim);
/// tern_softmax of -x.
TERN_API TERN_NODISCARD tern_tensor *tern_softmin(tern_tensor *x, int dim);

TERN_END_DECLS

#endif
