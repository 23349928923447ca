// SPDX-License-Identifier: Apache-2.0
/// @file
/// Parametrizations of weights, as torch.nn.utils.parametrizations has them.
///
///     tern_module *net = tern_nn_sequential(tern_nn_conv2d(3, 64, 3), tern_nn_relu());
///     if (!tern_nn_weight_norm(net, .name = "0.weight") || !tern_nn_spectral_norm(critic))
///         return tern_error_print(stderr);
///     tern_optim *adam = tern_optim_adam(net); // made after it
///
/// They register a parametrization (parametrize.h) and return the module, which its owner still
/// owns; on failure NULL, and the module is as before. Threads: those of what changes a module.
#ifndef TERN_NN_PARAMETRIZATIONS_H
#define TERN_NN_PARAMETRIZATIONS_H

#include <tern/module.h>

TERN_BEGIN_DECLS

/// The .dim of tern_nn_weight_norm for one norm over all elements, PyTorch's dim=None.
#define TERN_ALL_DIMS (-128)
/// The .dim of tern_nn_spectral_norm that counts outputs: 1 for ConvTranspose, 0 for others.
#define TERN_OUTPUT_DIM (-128)

/// `tern_nn_weight_norm(linear, .dim = 1)`.
typedef struct tern_nn_weight_norm_options {
    const char *name; ///< full, of the parameter; NULL: "weight"
    int dim;          ///< one norm for each index of it, 0 or more; TERN_ALL_DIMS: one for all
    char reserved_;
    tern_module *module; ///< that has the parameter, or above it
} tern_nn_weight_norm_options;
#define TERN_NN_WEIGHT_NORM_DEFAULTS_ .name = NULL, .dim = 0
#define TERN_NN_WEIGHT_NORM_FIELDS_   1, 0, (module), (module)
TERN_API tern_nn_weight_norm_options tern_nn_weight_norm_defaults(void);
/// w = g v / |v| (Salimans and Kingma 2016): length and direction are parameters of their own, g
/// "parametrizations.weight.original0", of size 1 in all dimensions but dim, or 0-dim for
/// TERN_ALL_DIMS, and v "parametrizations.weight.original1". A state with the names of PyTorch's
/// older function, "weight_g" and "weight_v", is loaded as well.
TERN_API tern_module *tern_nn_weight_norm_with(const tern_nn_weight_norm_options *options);
#define tern_nn_weight_norm(...)                                                                   \
    TERN_WITH_(tern_nn_weight_norm, tern_nn_weight_norm, TERN_NN_WEIGHT_NORM, __VA_ARGS__)

/// `tern_nn_spectral_norm(critic, .name = "0.weight")`.
typedef struct tern_nn_spectral_norm_options {
    const char *name;           ///< full, of the parameter; NULL: "weight"
    int64_t n_power_iterations; ///< at each forward in training, 1 or more
    double eps;                 ///< the least that a vector is divided by
    int dim; ///< the rows of the matrix, from -n to n - 1 of n; TERN_OUTPUT_DIM unless said
    char reserved_;
    tern_module *module; ///< that has the parameter, or above it
} tern_nn_spectral_norm_options;
#define TERN_NN_SPECTRAL_NORM_DEFAULTS_                                                            \
    .name = NULL, .n_power_iterations = 1, .eps = 1e-12, .dim = TERN_OUTPUT_DIM
#define TERN_NN_SPECTRAL_NORM_FIELDS_ 1, 0, (module), (module)
TERN_API tern_nn_spectral_norm_options tern_nn_spectral_norm_defaults(void);
/// w = W / sigma(W), sigma being the largest singular value (Miyato et al. 2018) of W as a matrix
/// with the indices of dim as rows: u^T W v, whose vectors are the buffers
/// "parametrizations.weight.0._u" and "_v". They are drawn from the CPU's default generator, then
/// 15 power iterations follow, and n_power_iterations at each forward in training, not recorded.
/// tern_module_reset_parameters draws them anew, from its generator, where it draws the weight, and
/// 15 iterations follow. A tensor of one dimension is divided by its norm, without buffers.
TERN_API tern_module *tern_nn_spectral_norm_with(const tern_nn_spectral_norm_options *options);
#define tern_nn_spectral_norm(...)                                                                 \
    TERN_WITH_(tern_nn_spectral_norm, tern_nn_spectral_norm, TERN_NN_SPECTRAL_NORM, __VA_ARGS__)

TERN_END_DECLS

#endif
