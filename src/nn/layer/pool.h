// SPDX-License-Identifier: Apache-2.0
// What layers with windows share.
#ifndef TERN_SRC_NN_LAYER_POOL_H
#define TERN_SRC_NN_LAYER_POOL_H

#include "nn/layer/layer.h"
#include "ops/pool.h"

// The name of the layer is "nn_" and that of its operation.
#define TERN_NN_PREFIX 3

// "kernel_size=2" or "kernel_size=(2, 3)", as PyTorch prints it.
void tern_layer_add_sizes(tern_text *out, const char *name, const tern_shape *sizes, int dims);

#endif
