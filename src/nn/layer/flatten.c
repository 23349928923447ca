// SPDX-License-Identifier: Apache-2.0
// Dimensions start_dim ... end_dim as one.
#include "nn/layer/layer.h"

typedef struct flatten {
    tern_module base;
    int start_dim, end_dim;
} flatten;

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const flatten *self = (const flatten *)module;
    TERN_TRY(tern_layer_inputs(module, in, 1));
    return tern_layer_output(out, tern_flatten(in->at[0], self->start_dim, self->end_dim));
}

static void describe(const tern_module *module, tern_text *out)
{
    const flatten *self = (const flatten *)module;
    tern_text_add(out, "start_dim=%d, end_dim=%d", self->start_dim, self->end_dim);
}

static const tern_module_class flatten_class = {
    .name = "Flatten", .size = sizeof(flatten), .call = call, .describe = describe};

tern_module *tern_nn_flatten_with(const tern_nn_flatten_options *options)
{
    if (!options)
        return (void)tern_null_error("nn_flatten", "options"), NULL;
    flatten *self = (flatten *)tern_module_new(&flatten_class);
    if (!self)
        return NULL;
    self->start_dim = options->start_dim;
    self->end_dim = options->end_dim;
    return tern_module_done(&self->base);
}
