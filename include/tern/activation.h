// SPDX-License-Identifier: Apache-2.0
/// @file
/// Activations that an operation applies on its way, for `tern_linear` and convolutions.
///
///     tern_tensor *h = tern_linear(x, weight, bias, TERN_ACT_RELU);
///
/// Nothing here owns memory. Threads: any.
#ifndef TERN_ACTIVATION_H
#define TERN_ACTIVATION_H

#include <tern/base.h>

TERN_BEGIN_DECLS

/// What an operation does with its result, in one pass.
typedef enum tern_activation {
    TERN_ACT_UNSPECIFIED = 0, ///< none
    TERN_ACT_NONE,            ///< the result itself
    TERN_ACT_RELU,            ///< tern_relu
    TERN_ACT_GELU,            ///< tern_gelu
    TERN_ACT_GELU_TANH,       ///< tern_gelu of TERN_APPROXIMATE_TANH
    TERN_ACT_SILU,            ///< tern_silu
    TERN_ACT_TANH,            ///< tern_tanh
    TERN_ACT_SIGMOID          ///< tern_sigmoid
} tern_activation;

TERN_END_DECLS

#endif
