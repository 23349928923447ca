// SPDX-License-Identifier: Apache-2.0
// An example of each call with options of tern/parametrize.h, for the site.
#include "examples.h"

static void show_module_register_parametrization(void)
{
    tern_module *net = tern_nn_sequential(tern_nn_linear(4, 2), tern_nn_relu());
    // [tern_module_register_parametrization]
    if (tern_module_register_parametrization(net, "0.weight", tern_nn_softplus())) // no weight < 0
        tern_error_print(stderr);
    // [/tern_module_register_parametrization]
    expect(tern_item(tern_amin(tern_module_parametrized(net, "0.weight"), TERN_ALL_AXES, false)) >=
           0);
    tern_module_free(net);
}

static void show_module_remove_parametrizations(void)
{
    tern_module *net = tern_nn_sequential(tern_nn_weight_norm(tern_nn_linear(4, 2)));
    // [tern_module_remove_parametrizations]
    if (tern_module_remove_parametrizations(net, "0.weight")) // a parameter again, of that value
        tern_error_print(stderr);
    // [/tern_module_remove_parametrizations]
    expect_shape(tern_module_parameter(net, "0.weight"), 2, 4);
    tern_module_free(net);
}

int parametrize_examples(void)
{
    show_module_register_parametrization();
    show_module_remove_parametrizations();
    return failures;
}
