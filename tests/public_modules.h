// SPDX-License-Identifier: Apache-2.0
// The modules of nn.h, for the tests that hold for each of them: what copies and states keep
// (tests/unit), PyTorch's results (tests/golden/make_modules.py, where the inputs are), and the
// manifest (tests/conformance), which asks for every constructor.
#ifndef TERN_TESTS_PUBLIC_MODULES_H
#define TERN_TESTS_PUBLIC_MODULES_H

#include <tern/tern.h>

// A row: the name of PyTorch's case, the constructor without tern_nn_, _with and _new, and the
// call, which is the case's.
// clang-format off
#define PUBLIC_MODULES(MODULE)                                                                     \
    MODULE(linear, linear, tern_nn_linear(3, 4))                                                   \
    MODULE(linear_without_bias, linear, tern_nn_linear(3, 4, .bias = false))                       \
    MODULE(sequential, sequential,                                                                 \
           tern_nn_sequential(tern_nn_linear(3, 4), tern_nn_relu(), tern_nn_linear(4, 2)))         \
    MODULE(module_list, module_list, tern_nn_module_list(tern_nn_linear(3, 2), tern_nn_tanh()))    \
    MODULE(flatten, flatten, tern_nn_flatten())                                                    \
    MODULE(flatten_all, flatten, tern_nn_flatten(0))                                               \
    MODULE(dropout, dropout, tern_nn_dropout())                                                    \
    MODULE(identity, identity, tern_nn_identity())                                                 \
    MODULE(relu, relu, tern_nn_relu())                                                             \
    MODULE(tanh, tanh, tern_nn_tanh())                                                             \
    MODULE(sigmoid, sigmoid, tern_nn_sigmoid())                                                    \
    MODULE(silu, silu, tern_nn_silu())                                                             \
    MODULE(hardswish, hardswish, tern_nn_hardswish())                                              \
    MODULE(softmax, softmax, tern_nn_softmax(1))                                                   \
    MODULE(gelu, gelu, tern_nn_gelu())                                                             \
    MODULE(gelu_tanh, gelu, tern_nn_gelu(.approximate = TERN_APPROXIMATE_TANH))                    \
    MODULE(leaky_relu, leaky_relu, tern_nn_leaky_relu())                                           \
    MODULE(leaky_relu_steep, leaky_relu, tern_nn_leaky_relu(0.3))                                  \
    MODULE(cross_entropy_loss, cross_entropy_loss, tern_nn_cross_entropy_loss())                   \
    MODULE(cross_entropy_loss_weighted, cross_entropy_loss,                                        \
           tern_nn_cross_entropy_loss(.weight = tern_linspace(0.5, 2, 3), .label_smoothing = 0.1)) \
    MODULE(mse_loss, mse_loss, tern_nn_mse_loss())                                                 \
    MODULE(mse_loss_sum, mse_loss, tern_nn_mse_loss(.reduction = TERN_REDUCTION_SUM))              \
    MODULE(l1_loss, l1_loss, tern_nn_l1_loss())                                                    \
    MODULE(l1_loss_none, l1_loss, tern_nn_l1_loss(.reduction = TERN_REDUCTION_NONE))
// clang-format on

typedef struct public_module {
    const char *name, *constructor;
    tern_module *(*make)(void);
} public_module;

#define MODULE(name, constructor, ...)                                                             \
    static inline tern_module *make_public_##name(void)                                            \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }
PUBLIC_MODULES(MODULE)
#undef MODULE

#define MODULE(name, constructor, ...) {#name, #constructor, make_public_##name},
static const public_module public_modules[] = {PUBLIC_MODULES(MODULE)};
#undef MODULE
#define PUBLIC_MODULE_COUNT ((int)(sizeof public_modules / sizeof *public_modules))

#endif
