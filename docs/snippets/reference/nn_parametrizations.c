// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/nn/parametrizations.h, for the site.
#include "examples.h"

static void show_nn_weight_norm(void)
{
    // [tern_nn_weight_norm]
    tern_module *conv = tern_nn_weight_norm(tern_nn_conv2d(3, 8, 3));
    tern_tensor *g = tern_module_parameter(conv, "parametrizations.weight.original0");
    // [/tern_nn_weight_norm]
    expect_shape(g, 8, 1, 1, 1);
    tern_module_free(conv);
}

static void show_nn_spectral_norm(void)
{
    // [tern_nn_spectral_norm]
    tern_module *critic = tern_nn_spectral_norm(tern_nn_linear(20, 40), .n_power_iterations = 2);
    tern_tensor *w = tern_module_parametrized(critic, "weight"); // no singular value beyond 1
    // [/tern_nn_spectral_norm]
    expect_shape(w, 40, 20);
    tern_module_free(critic);
}

int nn_parametrizations_examples(void)
{
    show_nn_weight_norm();
    show_nn_spectral_norm();
    return failures;
}
