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

static const tern_module_class softmax_class = {"Softmax", sizeof(softmax), call};

tern_module *tern_nn_softmax(int dim)
{
    softmax *self = (softmax *)tern_module_new(&softmax_class);
    if (!self)
        return NULL;
    self->dim = dim;
    return tern_module_done(&self->base);
}
