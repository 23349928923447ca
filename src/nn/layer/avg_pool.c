// SPDX-License-Identifier: Apache-2.0
// The mean of windows.
#include "nn/layer/pool.h"

typedef struct avg_pool {
    tern_module base;
    tern_pool pool;
} avg_pool;

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const avg_pool *self = (const avg_pool *)module;
    TERN_TRY(tern_layer_inputs(module, in, 1));
    return tern_layer_output(out, tern_avg_pool_run(&self->pool, in->at[0]));
}

// PyTorch keeps tuples of one number here.
static void describe_line(const tern_module *module, tern_text *out)
{
    const tern_pool *pool = &((const avg_pool *)module)->pool;
    tern_text_add(out, "kernel_size=(%lld,), stride=(%lld,), padding=(%lld,)",
                  (long long)pool->kernel.dim[0], (long long)pool->stride.dim[0],
                  (long long)pool->padding.dim[0]);
}

static void describe(const tern_module *module, tern_text *out)
{
    const tern_pool *pool = &((const avg_pool *)module)->pool;
    tern_layer_add_sizes(out, "kernel_size", &pool->kernel, pool->dims);
    tern_layer_add_sizes(out, ", stride", &pool->stride, pool->dims);
    tern_layer_add_sizes(out, ", padding", &pool->padding, pool->dims);
}

static const tern_module_class classes[] = {
    {.name = "AvgPool1d", .size = sizeof(avg_pool), .call = call, .describe = describe_line},
    {.name = "AvgPool2d", .size = sizeof(avg_pool), .call = call, .describe = describe},
    {.name = "AvgPool3d", .size = sizeof(avg_pool), .call = call, .describe = describe}};

static tern_module *make(const char *name, int dims, const tern_nn_avg_pool_options *o)
{
    tern_pool pool = {.name = name, .dims = dims};
    if (!o)
        return (void)tern_null_error(name, "options"), NULL;
    pool.ceil_mode = o->ceil_mode;
    pool.count_include_pad = o->count_include_pad;
    pool.divisor_override = o->divisor_override;
    if (tern_pool_finalize(&pool, o->kernel, o->kernel_size, o->stride, o->padding,
                           (tern_sizes)TERN_EACH_(1)))
        return NULL;
    avg_pool *self = (avg_pool *)tern_module_new(&classes[dims - 1]);
    if (!self)
        return NULL;
    pool.name += TERN_NN_PREFIX;
    self->pool = pool;
    return tern_module_done(&self->base);
}

tern_module *tern_nn_avg_pool1d_with(const tern_nn_avg_pool_options *options)
{
    return make("nn_avg_pool1d", 1, options);
}

tern_module *tern_nn_avg_pool2d_with(const tern_nn_avg_pool_options *options)
{
    return make("nn_avg_pool2d", 2, options);
}

tern_module *tern_nn_avg_pool3d_with(const tern_nn_avg_pool_options *options)
{
    return make("nn_avg_pool3d", 3, options);
}
