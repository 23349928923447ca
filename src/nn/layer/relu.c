// SPDX-License-Identifier: Apache-2.0
// max(x, 0).
#include "nn/layer/layer.h"

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    TERN_TRY(tern_layer_inputs(module, in, 1));
    return tern_layer_output(out, tern_relu(in->at[0]));
}

const tern_module_class tern_nn_relu_class = {
    .name = "ReLU", .size = sizeof(tern_module), .call = call};

tern_module *tern_nn_relu(void)
{
    return tern_layer_plain(&tern_nn_relu_class);
}
