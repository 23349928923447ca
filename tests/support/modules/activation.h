// SPDX-License-Identifier: Apache-2.0
// The modules of nn/activation.h: rows of tests/support/public_modules.h.
#ifndef TERN_TESTS_SUPPORT_MODULES_ACTIVATION_H
#define TERN_TESTS_SUPPORT_MODULES_ACTIVATION_H

// clang-format off
#define MODULES_ACTIVATION(MODULE)                                                                 \
    MODULE(relu, relu, tern_nn_relu())                                                             \
    MODULE(tanh, tanh, tern_nn_tanh())                                                             \
    MODULE(sigmoid, sigmoid, tern_nn_sigmoid())                                                    \
    MODULE(silu, silu, tern_nn_silu())                                                             \
    MODULE(hardswish, hardswish, tern_nn_hardswish())                                              \
    MODULE(softmax, softmax, tern_nn_softmax(1))                                                   \
    MODULE(gelu, gelu, tern_nn_gelu())                                                             \
    MODULE(gelu_tanh, gelu, tern_nn_gelu(.approximate = TERN_APPROXIMATE_TANH))                    \
    MODULE(leaky_relu, leaky_relu, tern_nn_leaky_relu())                                           \
    MODULE(log_softmax, log_softmax, tern_nn_log_softmax(1))                                       \
    MODULE(softmin, softmin, tern_nn_softmin(0))                                                   \
    MODULE(softmax2d, softmax2d, tern_nn_softmax2d())                                              \
    MODULE(softmax2d_unbatched, softmax2d, tern_nn_softmax2d())                                    \
    MODULE(relu6, relu6, tern_nn_relu6())                                                          \
    MODULE(hardsigmoid, hardsigmoid, tern_nn_hardsigmoid())                                        \
    MODULE(selu, selu, tern_nn_selu())                                                             \
    MODULE(mish, mish, tern_nn_mish())                                                             \
    MODULE(log_sigmoid, log_sigmoid, tern_nn_log_sigmoid())                                        \
    MODULE(tanhshrink, tanhshrink, tern_nn_tanhshrink())                                           \
    MODULE(softsign, softsign, tern_nn_softsign())                                                 \
    MODULE(elu, elu, tern_nn_elu())                                                                \
    MODULE(elu_flat, elu, tern_nn_elu(0.5))                                                        \
    MODULE(celu, celu, tern_nn_celu())                                                             \
    MODULE(celu_slow, celu, tern_nn_celu(2))                                                       \
    MODULE(hardshrink, hardshrink, tern_nn_hardshrink())                                           \
    MODULE(hardshrink_wide, hardshrink, tern_nn_hardshrink(1))                                     \
    MODULE(softshrink, softshrink, tern_nn_softshrink())                                           \
    MODULE(softshrink_wide, softshrink, tern_nn_softshrink(1))                                     \
    MODULE(hardtanh, hardtanh, tern_nn_hardtanh())                                                 \
    MODULE(hardtanh_narrow, hardtanh, tern_nn_hardtanh(-0.25, 0.5))                                \
    MODULE(softplus, softplus, tern_nn_softplus())                                                 \
    MODULE(softplus_steep, softplus, tern_nn_softplus(3, 2))                                       \
    MODULE(threshold, threshold, tern_nn_threshold(0.25, 7))                                       \
    MODULE(rrelu, rrelu, tern_nn_rrelu())                                                          \
    MODULE(rrelu_of_one_slope, rrelu, tern_nn_rrelu(0.25, 0.25))                                   \
    MODULE(prelu, prelu, tern_nn_prelu())                                                          \
    MODULE(prelu_of_channels, prelu, tern_nn_prelu(3, .init = 0.5))                                \
    MODULE(prelu_of_maps, prelu, tern_nn_prelu(2, .init = -0.5))                                   \
    MODULE(glu, glu, tern_nn_glu())                                                                \
    MODULE(glu_of_rows, glu, tern_nn_glu(0))                                                       \
    MODULE(leaky_relu_steep, leaky_relu, tern_nn_leaky_relu(0.3))
// clang-format on

#endif
