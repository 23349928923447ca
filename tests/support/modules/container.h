// SPDX-License-Identifier: Apache-2.0
// The modules of nn/container.h: rows of tests/support/public_modules.h.
#ifndef TERN_TESTS_SUPPORT_MODULES_CONTAINER_H
#define TERN_TESTS_SUPPORT_MODULES_CONTAINER_H

// clang-format off
#define MODULES_CONTAINER(MODULE)                                                                  \
    MODULE(sequential, sequential, tern_nn_sequential(tern_nn_linear(3, 4), tern_nn_relu(),        \
           tern_nn_linear(4, 2)))                                                                  \
    MODULE(module_dict, module_dict, tern_nn_module_dict({"b", tern_nn_linear(3, 2)},              \
           {"a", tern_nn_prelu()}))                                                                \
    MODULE(parameter_list, parameter_list, tern_nn_parameter_list(tern_linspace(0.5, 2, 3),        \
           tern_ones(tern_dims(2, 1))))                                                            \
    MODULE(parameter_dict, parameter_dict, tern_nn_parameter_dict({"a",                            \
           tern_ones(tern_dims(2, 1))}, {"b", tern_zeros(tern_dims(3))}))                          \
    MODULE(module_list, module_list, tern_nn_module_list(tern_nn_linear(3, 2), tern_nn_tanh()))
// clang-format on

#endif
