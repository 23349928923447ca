// SPDX-License-Identifier: Apache-2.0
// exp(x) / sum exp(x) over one dimension.
#include "nn/layer.h"

typedef struct softmax {
    tern_module base;
    int dim;
} softmax;

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const softmax *self = (const softmax *)module;
    TERN_TRY(tern_layer_inputs(module, in, 1));
    return tern_layer_output(out, tern_softmax(in->at[0], self->dim));
}

static void describe(const tern_module *module, tern_text *out)
{
    const softmax *self = (const softmax *)module;
    tern_text_add(out, "dim=%d", self->dim);
}

static const tern_module_class softmax_class = {
    .name = "Softmax", .size = sizeof(softmax), .call = call, .describe = describe};

tern_module *tern_nn_softmax(int dim)
{
    softmax *self = (softmax *)tern_module_new(&softmax_class);
    if (!self)
        return NULL;
    self->dim = dim;
    return tern_module_done(&self->base);
}
