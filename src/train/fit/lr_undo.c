// SPDX-License-Identifier: Apache-2.0
#include "train/fit/lr_undo.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/saved_error.h"
#include "data/loader/loader.h"
#include "nn/module/module.h"
#include "optim/optim.h"

// ---- values -------------------------------------------------------------------------------------

typedef struct buffers {
    tern_state_visitor *visitor;
    int64_t count;
} buffers;

// Those that a state dict leaves out; the module visits the others.
static tern_status visit_buffer(const tern_module_entry *entry, void *user)
{
    buffers *b = user;
    char name[32];
    tern_tensor *buffer = entry->tensor;
    if (entry->persistent)
        return TERN_OK;
    snprintf(name, sizeof name, "%lld", (long long)b->count++);
    return tern_visit_tensor(b->visitor, name, &buffer);
}

static tern_status visit_buffers(void *module, tern_state_visitor *visitor)
{
    return tern_module_each_buffer(module, visit_buffer, &(buffers){visitor, 0});
}

static tern_status visit_module(tern_state_visitor *v, const char *name, const char *buffers_name,
                                tern_module *module)
{
    TERN_TRY(tern_visit_module(v, name, module));
    return tern_visit_part(v, buffers_name, visit_buffers, module);
}

static tern_status visit(void *object, tern_state_visitor *v)
{
    const tern_lr_find_options *o = object;
    TERN_TRY(visit_module(v, "net", "net_buffers", o->net));
    TERN_TRY(visit_module(v, "criterion", "criterion_buffers", o->criterion));
    TERN_TRY(tern_visit_optim(v, "optim", o->optim));
    TERN_TRY(tern_visit_loader(v, "loader", o->loader));
    return o->loader->own ? tern_visit_generator(v, "generator", o->loader->own) : TERN_OK;
}

static tern_status keep_values(tern_lr_undo *undo)
{
    tern_state *now = tern_state_of(visit, (void *)(uintptr_t)undo->o);
    undo->state = now ? tern_state_copy(now) : NULL;
    tern_state_free(now);
    undo->random = undo->state ? tern_random_state_dict() : NULL;
    return undo->random ? TERN_OK : tern_error_code();
}

// ---- modes --------------------------------------------------------------------------------------

static tern_status keep_mode(const char *name, tern_module *module, void *user)
{
    tern_lr_undo *undo = user;
    (void)name;
    TERN_TRY(tern_mem_grow((void **)&undo->modes, &undo->mode_capacity, undo->mode_count + 1,
                           sizeof *undo->modes));
    undo->modes[undo->mode_count++] =
        (tern_lr_mode){tern_module_retain(module), module->private_->training};
    return TERN_OK;
}

tern_status tern_lr_undo_keep(tern_lr_undo *undo, const tern_lr_find_options *options)
{
    undo->o = options;
    undo->has_stepped = options->optim->has_stepped;
    TERN_TRY(tern_module_each_module(options->net, keep_mode, undo));
    TERN_TRY(tern_module_each_module(options->criterion, keep_mode, undo));
    return keep_values(undo);
}

// ---- back ---------------------------------------------------------------------------------------

static tern_status load(const tern_lr_undo *undo)
{
    TERN_TRY(tern_state_load(undo->state, visit, (void *)(uintptr_t)undo->o));
    return tern_random_load_state_dict(undo->random, .strict = false);
}

// Also those of an accumulation that has not acted, and of parameters that the optimizer has not.
static void drop_gradients(const tern_lr_find_options *o)
{
    (void)!tern_optim_accumulate(o->optim, o->optim->accumulate_every);
    tern_optim_zero_grad(o->optim);
    tern_module_zero_grad(o->net);
    tern_module_zero_grad(o->criterion);
}

tern_status tern_lr_undo_run(tern_lr_undo *undo)
{
    tern_saved_error first;
    tern_error_save(&first);
    drop_gradients(undo->o);
    undo->o->optim->has_stepped = undo->has_stepped;
    for (int64_t i = 0; i < undo->mode_count; i++)
        undo->modes[i].module->private_->training = undo->modes[i].training;
    tern_status status = load(undo);
    if (first.code) { // it is why; that this failed too went to the log
        tern_error_clear();
        tern_error_restore(&first);
    }
    return first.code ? first.code : status;
}

void tern_lr_undo_free(tern_lr_undo *undo)
{
    for (int64_t i = 0; i < undo->mode_count; i++)
        tern_module_free(undo->modes[i].module);
    tern_mem_free(undo->modes, (size_t)undo->mode_capacity * sizeof *undo->modes);
    tern_state_free(undo->random);
    tern_state_free(undo->state);
}
