// SPDX-License-Identifier: Apache-2.0
// x * sigmoid(x).
#include "nn/layer/layer.h"

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    TERN_TRY(tern_layer_inputs(module, in, 1));
    return tern_layer_output(out, tern_silu(in->at[0]));
}

static const tern_module_class silu_class = {
    .name = "SiLU", .size = sizeof(tern_module), .call = call};

tern_module *tern_nn_silu(void)
{
    return tern_layer_plain(&silu_class);
}
