// SPDX-License-Identifier: Apache-2.0
/// @file
/// Layers of a matrix product.
///
/// Constructors make modules that the caller frees or hands to a container, NULL on failure, on any
/// thread: nn.h.
#ifndef TERN_NN_LINEAR_H
#define TERN_NN_LINEAR_H

#include <tern/module.h>

TERN_BEGIN_DECLS

/// `tern_nn_linear(784, 512, .bias = false)`.
typedef struct tern_nn_linear_options {
    bool bias;          ///< whether there is one
    tern_dtype dtype;   ///< floating; the default dtype unless said
    tern_device device; ///< the default device unless said
    char reserved_;
    int64_t in_features;  ///< In > 0
    int64_t out_features; ///< Out > 0
} tern_nn_linear_options;

#define TERN_NN_LINEAR_DEFAULTS_ .bias = true, TERN_DTYPE_DEVICE_DEFAULTS_
#define TERN_NN_LINEAR_FIELDS_   2, 0, (in_features, out_features), (int64, int64)
TERN_API tern_nn_linear_options tern_nn_linear_defaults(void);
/// y = x W^T + b: x (.., In) -> (.., Out). weight (Out, In) and bias (Out) start uniform in
/// +-1 / sqrt(In).
TERN_API tern_module *tern_nn_linear_with(const tern_nn_linear_options *options);
#define tern_nn_linear(...) TERN_WITH_(tern_nn_linear, tern_nn_linear, TERN_NN_LINEAR, __VA_ARGS__)

TERN_END_DECLS

#endif
