// SPDX-License-Identifier: Apache-2.0
#include "net.h"

tern_module *cnn(int64_t classes, double dropout)
{
    return tern_nn_sequential(
        tern_nn_conv2d(1, 32, 3, .padding = 1), tern_nn_batch_norm2d(32), tern_nn_relu(),
        tern_nn_max_pool2d(2), // (N, 32, 14, 14)
        tern_nn_conv2d(32, 64, 3, .padding = 1), tern_nn_batch_norm2d(64), tern_nn_relu(),
        tern_nn_max_pool2d(2), // (N, 64, 7, 7)
        tern_nn_flatten(), tern_nn_linear(64 * 7 * 7, 128), tern_nn_relu(),
        tern_nn_dropout(dropout), tern_nn_linear(128, classes));
}
