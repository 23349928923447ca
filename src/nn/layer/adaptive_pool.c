// SPDX-License-Identifier: Apache-2.0
// Pooling into a number of windows.
#include "nn/layer/pool.h"

typedef struct adaptive_pool {
    tern_module base;
    tern_pool pool;
    bool return_indices; // of the largest
} adaptive_pool;

static tern_status call_avg(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const adaptive_pool *self = (const adaptive_pool *)module;
    TERN_TRY(tern_layer_inputs(module, in, 1));
    return tern_layer_output(out, tern_adaptive_avg_pool_run(&self->pool, in->at[0]));
}

static tern_status call_max(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const adaptive_pool *self = (const adaptive_pool *)module;
    tern_tensor *indices = NULL;
    TERN_TRY(tern_layer_inputs(module, in, 1));
    TERN_TRY(
        tern_layer_output(out, tern_adaptive_max_pool_run(&self->pool, in->at[0],
                                                          self->return_indices ? &indices : NULL)));
    if (self->return_indices)
        out->at[out->count++] = indices;
    return TERN_OK;
}

static void describe(const tern_module *module, tern_text *out)
{
    const tern_pool *pool = &((const adaptive_pool *)module)->pool;
    tern_layer_add_sizes(out, "output_size", &pool->out, pool->dims);
}

#define CLASS(name_, call_)                                                                        \
    {                                                                                              \
        .name = name_, .size = sizeof(adaptive_pool), .call = call_, .describe = describe          \
    }
static const tern_module_class avg_classes[] = {CLASS("AdaptiveAvgPool1d", call_avg),
                                                CLASS("AdaptiveAvgPool2d", call_avg)};
static const tern_module_class max_classes[] = {CLASS("AdaptiveMaxPool1d", call_max),
                                                CLASS("AdaptiveMaxPool2d", call_max)};

static tern_module *make(const char *name, int dims, bool largest,
                         const tern_nn_adaptive_pool_options *o)
{
    tern_pool pool = {.name = name, .dims = dims};
    if (!o)
        return (void)tern_null_error(name, "options"), NULL;
    TERN_CHECK_PTR(largest || !o->return_indices, TERN_ERR_ARG, "%s: only the largest have indices",
                   name);
    if (tern_pool_finalize_adaptive(&pool, o->out, o->size))
        return NULL;
    adaptive_pool *self =
        (adaptive_pool *)tern_module_new(largest ? &max_classes[dims - 1] : &avg_classes[dims - 1]);
    if (!self)
        return NULL;
    pool.name += TERN_NN_PREFIX;
    self->pool = pool;
    self->return_indices = o->return_indices;
    return tern_module_done(&self->base);
}

tern_module *tern_nn_adaptive_avg_pool1d_with(const tern_nn_adaptive_pool_options *options)
{
    return make("nn_adaptive_avg_pool1d", 1, false, options);
}

tern_module *tern_nn_adaptive_avg_pool2d_with(const tern_nn_adaptive_pool_options *options)
{
    return make("nn_adaptive_avg_pool2d", 2, false, options);
}

tern_module *tern_nn_adaptive_max_pool1d_with(const tern_nn_adaptive_pool_options *options)
{
    return make("nn_adaptive_max_pool1d", 1, true, options);
}

tern_module *tern_nn_adaptive_max_pool2d_with(const tern_nn_adaptive_pool_options *options)
{
    return make("nn_adaptive_max_pool2d", 2, true, options);
}
