// SPDX-License-Identifier: Apache-2.0
// The largest of windows.
#include "nn/layer/pool.h"

typedef struct max_pool {
    tern_module base;
    tern_pool pool;
    bool return_indices;
} max_pool;

void tern_layer_add_sizes(tern_text *out, const char *name, const tern_shape *sizes, int dims)
{
    bool same = true;
    for (int i = 1; i < dims; i++)
        same &= sizes->dim[i] == sizes->dim[0];
    tern_text_add(out, "%s=%s", name, same ? "" : "(");
    for (int i = 0; i < (same ? 1 : dims); i++) {
        if (sizes->dim[i] == TERN_KEEP_SIZE)
            tern_text_add(out, "%sNone", i ? ", " : "");
        else
            tern_text_add(out, "%s%lld", i ? ", " : "", (long long)sizes->dim[i]);
    }
    tern_text_add(out, "%s", same ? "" : ")");
}

static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const max_pool *self = (const max_pool *)module;
    tern_tensor *indices = NULL;
    TERN_TRY(tern_layer_inputs(module, in, 1));
    TERN_TRY(tern_layer_output(
        out, tern_max_pool_run(&self->pool, in->at[0], self->return_indices ? &indices : NULL)));
    if (self->return_indices)
        out->at[out->count++] = indices;
    return TERN_OK;
}

static void describe(const tern_module *module, tern_text *out)
{
    const max_pool *self = (const max_pool *)module;
    const tern_pool *pool = &self->pool;
    tern_layer_add_sizes(out, "kernel_size", &pool->kernel, pool->dims);
    tern_layer_add_sizes(out, ", stride", &pool->stride, pool->dims);
    tern_layer_add_sizes(out, ", padding", &pool->padding, pool->dims);
    tern_layer_add_sizes(out, ", dilation", &pool->dilation, pool->dims);
    tern_text_add(out, ", ceil_mode=%s", tern_text_bool(pool->ceil_mode));
}

static const tern_module_class classes[] = {
    {.name = "MaxPool1d", .size = sizeof(max_pool), .call = call, .describe = describe},
    {.name = "MaxPool2d", .size = sizeof(max_pool), .call = call, .describe = describe},
    {.name = "MaxPool3d", .size = sizeof(max_pool), .call = call, .describe = describe}};

static tern_module *make(const char *name, int dims, const tern_nn_max_pool_options *o)
{
    tern_pool pool = {.name = name, .dims = dims};
    if (!o)
        return (void)tern_null_error(name, "options"), NULL;
    pool.ceil_mode = o->ceil_mode;
    if (tern_pool_finalize(&pool, o->kernel, o->kernel_size, o->stride, o->padding, o->dilation))
        return NULL;
    max_pool *self = (max_pool *)tern_module_new(&classes[dims - 1]);
    if (!self)
        return NULL;
    pool.name += TERN_NN_PREFIX;
    self->pool = pool;
    self->return_indices = o->return_indices;
    return tern_module_done(&self->base);
}

tern_module *tern_nn_max_pool1d_with(const tern_nn_max_pool_options *options)
{
    return make("nn_max_pool1d", 1, options);
}

tern_module *tern_nn_max_pool2d_with(const tern_nn_max_pool_options *options)
{
    return make("nn_max_pool2d", 2, options);
}

tern_module *tern_nn_max_pool3d_with(const tern_nn_max_pool_options *options)
{
    return make("nn_max_pool3d", 3, options);
}
