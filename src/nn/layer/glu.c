// SPDX-License-Identifier: Apache-2.0
// One half of the input times the sigmoid of the other.
#include "nn/layer/layer.h"

typedef struct glu {
    tern_module base;
    int dim;
} glu;

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const glu *self = (const glu *)module;
    TERN_TRY(tern_layer_inputs(module, in, 1));
    return tern_layer_output(out, tern_glu(in->at[0], self->dim));
}

static void describe(const tern_module *module, tern_text *out)
{
    const glu *self = (const glu *)module;
    tern_text_add(out, "dim=%d", self->dim);
}

static const tern_module_class glu_class = {
    .name = "GLU", .size = sizeof(glu), .call = call, .describe = describe};

tern_module *tern_nn_glu_with(const tern_nn_glu_options *options)
{
    if (!options) {
        tern_null_error("nn_glu", "options");
        return NULL;
    }
    glu *self = (glu *)tern_module_new(&glu_class);
    if (!self)
        return NULL;
    self->dim = options->dim;
    return tern_module_done(&self->base);
}
