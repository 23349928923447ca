// SPDX-License-Identifier: Apache-2.0
// x * Phi(x), by erf or by the tanh form (Hendrycks and Gimpel 2016).
#include "nn/layer/layer.h"

typedef struct gelu {
    tern_module base;
    bool by_tanh;
} gelu;

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const gelu *self = (const gelu *)module;
    TERN_TRY(tern_layer_inputs(module, in, 1));
    return tern_layer_output(out, self->by_tanh ? tern_gelu_tanh(in->at[0]) : tern_gelu(in->at[0]));
}

static void describe(const tern_module *module, tern_text *out)
{
    const gelu *self = (const gelu *)module;
    tern_text_add(out, "approximate='%s'", self->by_tanh ? "tanh" : "none");
}

static const tern_module_class gelu_class = {
    .name = "GELU", .size = sizeof(gelu), .call = call, .describe = describe};

tern_module *tern_nn_gelu_with(const tern_nn_gelu_options *options)
{
    if (!options) {
        tern_null_error("nn_gelu", "options");
        return NULL;
    }
    TERN_CHECK_PTR(options->approximate >= TERN_APPROXIMATE_UNSPECIFIED &&
                       options->approximate <= TERN_APPROXIMATE_TANH,
                   TERN_ERR_ARG, "nn_gelu: %d is no way to approximate", (int)options->approximate);
    gelu *self = (gelu *)tern_module_new(&gelu_class);
    if (!self)
        return NULL;
    self->by_tanh = options->approximate == TERN_APPROXIMATE_TANH;
    return tern_module_done(&self->base);
}
