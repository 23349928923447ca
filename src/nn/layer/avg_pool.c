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
                  (long long)pool->kernel.at[0], (long long)pool->stride.at[0],
                  (long long)pool->padding.at[0]);
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

static tern_module *make(tern_pool pool, int64_t kernel)
{
    pool.dilation = (tern_pool_sizes){{1, 1, 1}};
    if (tern_pool_finalize(&pool, kernel))
        return NULL;
    avg_pool *self = (avg_pool *)tern_module_new(&classes[pool.dims - 1]);
    if (!self)
        return NULL;
    pool.name += TERN_NN_PREFIX;
    self->pool = pool;
    return tern_module_done(&self->base);
}

tern_module *tern_nn_avg_pool1d_with(const tern_nn_avg_pool1d_options *options)
{
    if (!options)
        return (void)tern_null_error("nn_avg_pool1d", "options"), NULL;
    return make((tern_pool){.name = "nn_avg_pool1d",
                            .dims = 1,
                            .stride = tern_pool_line(options->stride),
                            .padding = tern_pool_line(options->padding),
                            .ceil_mode = options->ceil_mode,
                            .count_include_pad = options->count_include_pad},
                options->kernel);
}

tern_module *tern_nn_avg_pool2d_with(const tern_nn_avg_pool2d_options *options)
{
    if (!options)
        return (void)tern_null_error("nn_avg_pool2d", "options"), NULL;
    return make((tern_pool){.name = "nn_avg_pool2d",
                            .dims = 2,
                            .kernel = tern_pool_pair(options->kernel_size),
                            .stride = tern_pool_pair(options->stride),
                            .padding = tern_pool_pair(options->padding),
                            .ceil_mode = options->ceil_mode,
                            .count_include_pad = options->count_include_pad,
                            .divisor_override = options->divisor_override},
                options->kernel);
}

tern_module *tern_nn_avg_pool3d_with(const tern_nn_avg_pool3d_options *options)
{
    if (!options)
        return (void)tern_null_error("nn_avg_pool3d", "options"), NULL;
    return make((tern_pool){.name = "nn_avg_pool3d",
                            .dims = 3,
                            .kernel = tern_pool_triple(options->kernel_size),
                            .stride = tern_pool_triple(options->stride),
                            .padding = tern_pool_triple(options->padding),
                            .ceil_mode = options->ceil_mode,
                            .count_include_pad = options->count_include_pad,
                            .divisor_override = options->divisor_override},
                options->kernel);
}
