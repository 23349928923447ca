// SPDX-License-Identifier: Apache-2.0
#include "train/summary/table.h"
#include <string.h>
#include "base/mem.h"

static int64_t bytes_of(const tern_tensor *tensor)
{
    return tensor->numel * (int64_t)tern_dtype_size(tensor->dtype);
}

static tern_status count_tensor(summary_table *t, const tern_tensor *tensor, bool is_parameter,
                                summary_row *r)
{
    int64_t known = t->tensors.count, number;
    if (!tensor)
        return TERN_OK;
    TERN_TRY(tern_pointer_map_add(&t->tensors, tensor, &number));
    if (number < known)
        return TERN_OK;
    t->memory.weights += bytes_of(tensor);
    if (!is_parameter)
        return TERN_OK;
    r->own += tensor->numel;
    t->elements += tensor->numel;
    if (tensor->requires_grad) {
        t->trainable += tensor->numel;
        t->memory.gradients += bytes_of(tensor);
    }
    return TERN_OK;
}

static int count_dots(const char *name)
{
    int dots = 0;
    for (; *name; name++)
        dots += *name == '.';
    return dots;
}

static tern_status add_row(const char *name, tern_module *module, void *user)
{
    summary_table *t = user;
    const tern_module_private *private_ = module->private_;
    const char *dot = strrchr(name, '.');
    int64_t index;
    TERN_TRY(tern_mem_grow((void **)&t->rows, &t->capacity, t->count + 1, sizeof *t->rows));
    TERN_TRY(tern_pointer_map_add(&t->map, module, &index));
    summary_row *r = &t->rows[t->count++];
    *r = (summary_row){.module = module, .training = private_->training};
    r->indent = name[0] ? 2 * (1 + count_dots(name)) : 0;
    snprintf(r->name, sizeof r->name, "%s", dot ? dot + 1 : name);
    for (int64_t i = 0; i < private_->parameters.count; i++)
        TERN_TRY(count_tensor(t, private_->parameters.at[i].tensor, true, r));
    for (int64_t i = 0; i < private_->buffers.count; i++)
        TERN_TRY(count_tensor(t, private_->buffers.at[i].tensor, false, r));
    return TERN_OK;
}

tern_status tern_summary_make(summary_table *table, tern_module *module)
{
    table->memory.optim = table->memory.activations = -1;
    return tern_module_each_module(module, add_row, table);
}

void tern_summary_free(summary_table *t)
{
    tern_mem_free(t->rows, (size_t)t->capacity * sizeof *t->rows);
    tern_pointer_map_free(&t->map);
    tern_pointer_map_free(&t->tensors);
}

void tern_summary_set_training(const summary_table *t, bool training)
{
    for (int64_t i = 0; i < t->count; i++)
        t->rows[i].module->private_->training = training;
}

void tern_summary_restore_modes(const summary_table *t)
{
    for (int64_t i = 0; i < t->count; i++)
        t->rows[i].module->private_->training = t->rows[i].training;
}
