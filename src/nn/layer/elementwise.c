// SPDX-License-Identifier: Apache-2.0
// Activations without options.
#include "nn/layer/layer.h"

// A class and its constructor: tern_nn_NAME, PyTorch's name, the operation.
#define LAYER(layer, title, operation)                                                             \
    static tern_status call_##layer(tern_module *module, const tern_tensors *in,                   \
                                    tern_tensors *out)                                             \
    {                                                                                              \
        TERN_TRY(tern_layer_inputs(module, in, 1));                                                \
        return tern_layer_output(out, operation(in->at[0]));                                       \
    }                                                                                              \
    tern_module *tern_nn_##layer(void)                                                             \
    {                                                                                              \
        static const tern_module_class layer##_class = {                                           \
            .name = title, .size = sizeof(tern_module), .call = call_##layer};                     \
        return tern_layer_plain(&layer##_class);                                                   \
    }

// clang-format off
LAYER(relu6, "ReLU6", tern_relu6)
LAYER(hardsigmoid, "Hardsigmoid", tern_hardsigmoid)
LAYER(selu, "SELU", tern_selu)
LAYER(mish, "Mish", tern_mish)
LAYER(log_sigmoid, "LogSigmoid", tern_logsigmoid)
LAYER(tanhshrink, "Tanhshrink", tern_tanhshrink)
LAYER(softsign, "Softsign", tern_softsign)
// clang-format on
