// SPDX-License-Identifier: Apache-2.0
// Making, counting and freeing modules.
#include "nn/module/module.h"

#include "base/callback.h"
#include "base/mem.h"
#include "tensor/header.h"

static tern_status check_class(const tern_module_class *module_class)
{
    if (!module_class || !module_class->name || !module_class->call)
        return tern_null_error("module_new",
                               module_class ? "a field of the class" : "module_class");
    TERN_CHECK(module_class->size >= sizeof(tern_module), TERN_ERR_ARG,
               "module_new: the size of %s is %zu, less than a tern_module's", module_class->name,
               module_class->size);
    return TERN_OK;
}

tern_module *tern_module_alloc(const tern_module_class *module_class)
{
    tern_module *module = tern_mem_alloc(module_class->size);
    if (!module)
        return NULL;
    tern_module_private *private_ = tern_mem_alloc(sizeof *private_);
    if (!private_) {
        tern_mem_free(module, module_class->size);
        return NULL;
    }
    atomic_init(&private_->refs, 1);
    private_->self = module;
    private_->training = true;
    private_->members = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    module->klass = module_class;
    module->private_ = private_;
    return module;
}

tern_module *tern_module_new(const tern_module_class *module_class)
{
    tern_module *module = check_class(module_class) ? NULL : tern_module_alloc(module_class);
    if (!module)
        return NULL;
    module->private_->scope = tern_scope_open();
    if (module->private_->scope)
        return module;
    tern_mem_free(module->private_, sizeof *module->private_);
    tern_mem_free(module, module_class->size);
    return NULL;
}

tern_status tern_module_reset(tern_module *module, tern_generator *generator)
{
    const tern_module_computed *computed = module->private_->computed;
    tern_status status = TERN_OK;
    if (!module->klass->reset)
        return TERN_OK;
    tern_callback_begin();
    tern_no_grad {
        status = (computed ? computed->reset : module->klass->reset)(module, generator);
    }
    tern_callback_end();
    if (status && !tern_error_pending())
        return tern_error_raise(status, "the reset of %s failed without saying why",
                                module->klass->name);
    return status;
}

tern_module *tern_module_done(tern_module *module)
{
    if (tern_check_module("module_done", module))
        return NULL;
    tern_module_private *private_ = module->private_;
    if (!private_->failed && tern_module_reset(module, NULL))
        private_->failed = true;
    tern_scope_close(private_->scope);
    private_->scope = 0;
    private_->done = true;
    if (!private_->failed)
        return module;
    tern_module_free(module);
    return NULL;
}

// ---- freeing ------------------------------------------------------------------------------------

static void free_tensors(tern_module_tensors *list)
{
    for (int64_t i = list->count - 1; i >= 0; i--) {
        tern_tensor_release_as(list->at[i].tensor, TERN_STAMP_HOLDER);
        tern_mem_free_string(list->at[i].name);
    }
    tern_mem_free(list->at, (size_t)list->capacity * sizeof *list->at);
}

static void free_children(tern_module_private *private_)
{
    for (int64_t i = private_->child_count - 1; i >= 0; i--) {
        tern_module *child = private_->children[i].module;
        if (child->private_->parent == private_->self)
            child->private_->parent = NULL;
        atomic_fetch_sub_explicit(&child->private_->parent_refs, 1, memory_order_relaxed);
        tern_module_release(child);
        tern_mem_free_string(private_->children[i].name);
    }
    tern_mem_free(private_->children,
                  (size_t)private_->child_capacity * sizeof *private_->children);
}

tern_module *tern_module_retain(tern_module *module)
{
    if (!module || tern_check_not_freed("module_retain", module))
        return NULL;
    tern_refs_retain(&module->private_->refs);
    return module;
}

// All that is registered is still there.
void tern_module_free_own(tern_module *module)
{
    if (!module->klass->free || module->private_->incomplete)
        return;
    tern_callback_begin();
    module->klass->free(module);
    tern_callback_end();
}

void tern_module_release(tern_module *module)
{
    if (!tern_refs_release(&module->private_->refs))
        return;
    tern_module_private *private_ = module->private_;
    tern_module_free_own(module);
    tern_scope_close(private_->scope);
    free_children(private_);
    if (private_->holds_original) {
        atomic_fetch_sub_explicit(&private_->original->private_->parent_refs, 1,
                                  memory_order_relaxed);
        tern_module_release(private_->original);
    }
    free_tensors(&private_->buffers);
    free_tensors(&private_->parameters);
    for (int64_t i = 0; i < private_->hook_count; i++)
        tern_free_user(private_->hooks[i].free, private_->hooks[i].user);
    tern_free_user(private_->user_free, private_->user);
    tern_mem_free(private_->hooks, (size_t)private_->hook_capacity * sizeof *private_->hooks);
    tern_mem_free(private_, sizeof *private_);
    module->private_ = NULL;
    tern_mem_free_deferred(module, module->klass->size, sizeof *module);
}

tern_status tern_module_set_user(tern_module *module, void *user, tern_free_fn *free)
{
    tern_status status = tern_check_module("module_set_user", module);
    if (status) {
        tern_free_user(free, user);
        return status;
    }
    tern_replace_user(&module->private_->user, &module->private_->user_free, user, free);
    return TERN_OK;
}

void *tern_module_user(const tern_module *module)
{
    return tern_check_module("module_user", module) ? NULL : module->private_->user;
}

void tern_module_begin_run(tern_module *module)
{
    tern_refs_retain(&module->private_->refs);
    tern_fetch_add(&module->private_->running, 1, memory_order_relaxed);
    tern_callback_begin();
}

void tern_module_end_run(tern_module *module)
{
    tern_callback_end();
    tern_fetch_add(&module->private_->running, -1, memory_order_relaxed);
    tern_module_release(module);
}

bool tern_module_is_callers(const tern_module *module)
{
    const tern_module_private *private_ = module->private_;
    return atomic_load(&private_->refs) >
           atomic_load(&private_->parent_refs) + atomic_load(&private_->running);
}

const char *tern_module_parent_name(const tern_module *module)
{
    const tern_module *parent = module->private_->parent;
    return parent ? parent->klass->name : "a container";
}

void tern_module_free(tern_module *module)
{
    if (!module || tern_check_not_freed("module_free", module))
        return;
    if (tern_module_is_callers(module))
        tern_module_release(module);
    else if (atomic_load(&module->private_->parent_refs) == 0)
        tern_error_raise(TERN_ERR_STATE,
                         "module_free: this %s was freed already; only the call that runs it holds "
                         "it still",
                         module->klass->name);
    else
        tern_error_raise(TERN_ERR_STATE,
                         "module_free: %s belongs to %s, which frees it; tern_module_retain it for "
                         "a reference of your own",
                         module->klass->name, tern_module_parent_name(module));
}
