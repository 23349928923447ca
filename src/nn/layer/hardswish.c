// SPDX-License-Identifier: Apache-2.0
// x min(max(x + 3, 0), 6) / 6.
#include "nn/layer/layer.h"

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    TERN_TRY(tern_layer_inputs(module, in, 1));
    return tern_layer_output(out, tern_hardswish(in->at[0]));
}

static const tern_module_class hardswish_class = {
    .name = "Hardswish", .size = sizeof(tern_module), .call = call};

tern_module *tern_nn_hardswish(void)
{
    return tern_layer_plain(&hardswish_class);
}
