// SPDX-License-Identifier: Apache-2.0
// Division by the squares of neighbouring channels.
#include "nn/layer/layer.h"

typedef struct local_response_norm {
    tern_module base;
    int64_t size;
    double alpha, beta, k;
} local_response_norm;

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const local_response_norm *self = (const local_response_norm *)module;
    TERN_TRY(tern_layer_inputs(module, in, 1));
    return tern_layer_output(
        out, tern_local_response_norm(in->at[0], self->size, self->alpha, self->beta, self->k));
}

static void describe(const tern_module *module, tern_text *out)
{
    const local_response_norm *self = (const local_response_norm *)module;
    tern_text_add(out, "%lld, alpha=", (long long)self->size);
    tern_text_add_double(out, self->alpha);
    tern_text_add(out, ", beta=");
    tern_text_add_double(out, self->beta);
    tern_text_add(out, ", k=");
    tern_text_add_double(out, self->k);
}

static const tern_module_class norm_class = {.name = "LocalResponseNorm",
                                             .size = sizeof(local_response_norm),
                                             .call = call,
                                             .describe = describe};

tern_module *tern_nn_local_response_norm_with(const tern_nn_local_response_norm_options *options)
{
    if (!options)
        return (void)tern_null_error("nn_local_response_norm", "options"), NULL;
    TERN_CHECK_PTR(options->size >= 1 && options->size <= INT32_MAX, TERN_ERR_ARG,
                   "nn_local_response_norm: size is %lld, but must be at least 1 and below 2^31",
                   (long long)options->size);
    local_response_norm *self = (local_response_norm *)tern_module_new(&norm_class);
    if (!self)
        return NULL;
    self->size = options->size;
    self->alpha = options->alpha;
    self->beta = options->beta;
    self->k = options->k;
    return tern_module_done(&self->base);
}
