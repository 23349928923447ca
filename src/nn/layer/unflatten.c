// SPDX-License-Identifier: Apache-2.0
// One dimension as several.
#include "nn/layer/layer.h"

typedef struct unflatten {
    tern_module base;
    int dim;
    tern_shape sizes;
} unflatten;

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const unflatten *self = (const unflatten *)module;
    TERN_TRY(tern_layer_inputs(module, in, 1));
    return tern_layer_output(out, tern_unflatten(in->at[0], self->dim, self->sizes));
}

static void describe(const tern_module *module, tern_text *out)
{
    const unflatten *self = (const unflatten *)module;
    tern_text_add(out, "dim=%d, unflattened_size=%s", self->dim, tern_shape_string(self->sizes));
}

static const tern_module_class unflatten_class = {
    .name = "Unflatten", .size = sizeof(unflatten), .call = call, .describe = describe};

tern_module *tern_nn_unflatten(int dim, tern_shape sizes)
{
    int open = 0;
    TERN_CHECK_PTR(sizes.rank > 0 && sizes.rank <= TERN_MAX_RANK, TERN_ERR_SHAPE,
                   "nn_unflatten: %d sizes, but there must be 1 to %d", sizes.rank, TERN_MAX_RANK);
    for (int i = 0; i < sizes.rank; i++)
        open += sizes.dim[i] == -1;
    for (int i = 0; i < sizes.rank; i++)
        TERN_CHECK_PTR(
            sizes.dim[i] >= -1 && open <= 1, TERN_ERR_SHAPE,
            "nn_unflatten: %s cannot be sizes: one may be -1, the others not be negative",
            tern_shape_string(sizes));
    unflatten *self = (unflatten *)tern_module_new(&unflatten_class);
    if (!self)
        return NULL;
    self->dim = dim;
    self->sizes = sizes;
    return tern_module_done(&self->base);
}
