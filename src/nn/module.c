// SPDX-License-Identifier: Apache-2.0
// Making, filling, counting and freeing modules.
#include "nn/module.h"

#include <string.h>
#include "base/callback.h"
#include "base/mem.h"

tern_module *tern_module_new(const tern_module_class *module_class)
{
    if (!module_class || !module_class->name || !module_class->call) {
        tern_null_error("module_new", module_class ? "a field of the class" : "module_class");
        return NULL;
    }
    TERN_CHECK_PTR(module_class->size >= sizeof(tern_module), TERN_ERR_ARG,
                   "module_new: the size of %s is %zu, less than a tern_module's",
                   module_class->name, module_class->size);
    tern_module *module = tern_mem_alloc(module_class->size);
    if (!module)
        return NULL;
    tern_module_private *private_ = tern_mem_alloc(sizeof *private_);
    if (!private_)
        goto no_private;
    private_->scope = tern_scope_open();
    if (!private_->scope)
        goto no_scope;
    atomic_init(&private_->refs, 1);
    private_->self = module;
    private_->training = true;
    module->klass = module_class;
    module->private_ = private_;
    return module;
no_scope:
    tern_mem_free(private_, sizeof *private_);
no_private:
    tern_mem_free(module, module_class->size);
    return NULL;
}

tern_module *tern_module_done(tern_module *module)
{
    if (tern_check_module("module_done", module))
        return NULL;
    tern_module_private *private_ = module->private_;
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
        tern_drop_as(list->at[i].tensor, TERN_STAMP_HOLDER);
        tern_mem_free_string(list->at[i].name);
    }
    tern_mem_free(list->at, (size_t)list->capacity * sizeof *list->at);
}

static void drop_module(tern_module *module);

static void free_children(tern_module_private *private_)
{
    for (int64_t i = private_->child_count - 1; i >= 0; i--) {
        tern_module *child = private_->children[i].module;
        if (child->private_->parent == private_->self)
            child->private_->parent = NULL;
        atomic_fetch_sub_explicit(&child->private_->places, 1, memory_order_relaxed);
        drop_module(child);
        tern_mem_free_string(private_->children[i].name);
    }
    tern_mem_free(private_->children,
                  (size_t)private_->child_capacity * sizeof *private_->children);
}

tern_module *tern_module_retain(tern_module *module)
{
    if (!module || tern_check_not_freed("module_retain", module))
        return NULL;
    atomic_fetch_add_explicit(&module->private_->refs, 1, memory_order_relaxed);
    return module;
}

static void drop_module(tern_module *module)
{
    if (atomic_fetch_sub_explicit(&module->private_->refs, 1, memory_order_acq_rel) != 1)
        return;
    tern_module_private *private_ = module->private_;
    tern_scope_close(private_->scope);
    free_children(private_);
    free_tensors(&private_->buffers);
    free_tensors(&private_->parameters);
    for (int64_t i = 0; i < private_->hook_count; i++)
        tern_free_user(private_->hooks[i].free, private_->hooks[i].user);
    tern_free_user(private_->user_free, private_->user);
    tern_mem_free(private_->hooks, (size_t)private_->hook_capacity * sizeof *private_->hooks);
    tern_mem_free(private_, sizeof *private_);
    module->private_ = NULL;
    tern_mem_free_late(module, module->klass->size, sizeof *module);
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
    atomic_fetch_add_explicit(&module->private_->refs, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&module->private_->running, 1, memory_order_relaxed);
    tern_callback_begin();
}

void tern_module_end_run(tern_module *module)
{
    tern_callback_end();
    atomic_fetch_sub_explicit(&module->private_->running, 1, memory_order_relaxed);
    drop_module(module);
}

// False when all references are those of parents and of what runs: the caller has none to give.
static bool is_callers(const tern_module *module)
{
    const tern_module_private *private_ = module->private_;
    return atomic_load(&private_->refs) >
           atomic_load(&private_->places) + atomic_load(&private_->running);
}

static const char *parent_of(const tern_module *module)
{
    const tern_module *parent = module->private_->parent;
    return parent ? parent->klass->name : "a container";
}

void tern_module_free(tern_module *module)
{
    if (!module || tern_check_not_freed("module_free", module))
        return;
    if (is_callers(module))
        drop_module(module);
    else if (atomic_load(&module->private_->places) == 0)
        tern_error_raise(TERN_ERR_STATE,
                         "module_free: this %s was freed already; only the call that runs it holds "
                         "it still",
                         module->klass->name);
    else
        tern_error_raise(TERN_ERR_STATE,
                         "module_free: %s belongs to %s, which frees it; tern_module_retain it for "
                         "a reference of your own",
                         module->klass->name, parent_of(module));
}

// ---- adding -------------------------------------------------------------------------------------

static bool has_tensor(const tern_module_tensors *list, const char *name)
{
    for (int64_t i = 0; i < list->count; i++)
        if (strcmp(list->at[i].name, name) == 0)
            return true;
    return false;
}

static bool has_name(const tern_module_private *private_, const char *name)
{
    for (int64_t i = 0; i < private_->child_count; i++)
        if (strcmp(private_->children[i].name, name) == 0)
            return true;
    return has_tensor(&private_->parameters, name) || has_tensor(&private_->buffers, name);
}

static tern_status check_add(const char *function, const tern_module *module, const char *name)
{
    TERN_TRY(tern_check_module(function, module));
    if (!name)
        return tern_null_error(function, "name");
    const char *class_name = module->klass->name;
    TERN_CHECK(!module->private_->done, TERN_ERR_STATE,
               "%s: %s is finished; \"%s\" can only be added in its constructor", function,
               class_name, name);
    TERN_CHECK(name[0] && !strchr(name, '.') && strlen(name) < TERN_NAME_SIZE / 2, TERN_ERR_ARG,
               "%s: \"%.64s\" cannot be a name in %s: names are short, not empty, and have no dot",
               function, name, class_name);
    TERN_CHECK(!has_name(module->private_, name), TERN_ERR_ARG, "%s: %s already has a \"%s\"",
               function, class_name, name);
    return TERN_OK;
}

static tern_status add_tensor(tern_module_tensors *list, const char *name, tern_tensor *tensor,
                              bool persistent)
{
    TERN_TRY(tern_mem_grow((void **)&list->at, &list->capacity, list->count + 1, sizeof *list->at));
    char *copy = tern_mem_string(name);
    if (!copy)
        return TERN_ERR_NOMEM;
    list->at[list->count++] = (tern_module_tensor){copy, tern_hold(tensor), persistent};
    if (!tensor->label[0])
        tern_tensor_set_label(tensor, name);
    return TERN_OK;
}

static tern_status add_parameter(tern_module *module, const char *name, tern_tensor *tensor)
{
    const char *function = "module_add_parameter";
    TERN_TRY(check_add(function, module, name));
    TERN_TRY(tern_check_tensor(function, name, tensor));
    TERN_CHECK(tern_dtype_is_floating(tensor->dtype), TERN_ERR_DTYPE,
               "%s: \"%s\" is %s; parameters are floating, add it as a buffer", function, name,
               tern_tensor_string(tensor));
    TERN_CHECK(!tensor->node, TERN_ERR_STATE,
               "%s: \"%s\" is the result of %s; parameters have no history, detach it first",
               function, name, tensor->op);
    TERN_CHECK(tensor->contiguous, TERN_ERR_STATE,
               "%s: \"%s\" is not contiguous; make a copy by tern_clone", function, name);
    TERN_TRY(add_tensor(&module->private_->parameters, name, tensor, true));
    tensor->requires_grad = true;
    return TERN_OK;
}

tern_tensor *tern_module_add_parameter(tern_module *module, const char *name, tern_tensor *tensor)
{
    if (!add_parameter(module, name, tensor))
        return tensor;
    if (module && module->private_)
        module->private_->failed = true;
    return NULL;
}

static tern_status add_buffer(tern_module *module, const char *name, tern_tensor *tensor,
                              bool persistent)
{
    const char *function = "module_add_buffer";
    TERN_TRY(check_add(function, module, name));
    TERN_TRY(tern_check_tensor(function, name, tensor));
    TERN_CHECK(!tensor->requires_grad, TERN_ERR_STATE,
               "%s: \"%s\" requires a gradient; buffers do not, detach it first", function, name);
    return add_tensor(&module->private_->buffers, name, tensor, persistent);
}

tern_tensor *tern_module_add_buffer(tern_module *module, const char *name, tern_tensor *tensor,
                                    bool persistent)
{
    if (!add_buffer(module, name, tensor, persistent))
        return tensor;
    if (module && module->private_)
        module->private_->failed = true;
    return NULL;
}

static tern_status add_child(tern_module *module, const char *name, tern_module *child)
{
    const char *function = "module_add_child";
    TERN_TRY(check_add(function, module, name));
    if (!child)
        return tern_null_error(function, name);
    TERN_TRY(tern_check_module(function, child));
    tern_module_private *private_ = module->private_;
    // A finished child in an unfinished parent: so there are no cycles.
    TERN_CHECK(child->private_->done, TERN_ERR_STATE,
               "%s: the constructor of \"%s\" (%s) did not end with tern_module_done", function,
               name, child->klass->name);
    TERN_CHECK(is_callers(child), TERN_ERR_STATE,
               "%s: \"%s\" (%s) belongs to %s already; give the second place a tern_module_retain "
               "of it",
               function, name, child->klass->name, parent_of(child));
    TERN_CHECK(child->private_->depth + 1 < TERN_MODULE_DEPTH, TERN_ERR_ARG,
               "%s: \"%s\" makes %s deeper than %d levels", function, name, module->klass->name,
               TERN_MODULE_DEPTH);
    TERN_TRY(tern_mem_grow((void **)&private_->children, &private_->child_capacity,
                           private_->child_count + 1, sizeof *private_->children));
    char *copy = tern_mem_string(name);
    if (!copy)
        return TERN_ERR_NOMEM;
    private_->children[private_->child_count++] = (tern_module_link){.name = copy, .module = child};
    atomic_fetch_add_explicit(&child->private_->places, 1, memory_order_relaxed);
    child->private_->parent = module;
    if (private_->depth <= child->private_->depth)
        private_->depth = child->private_->depth + 1;
    return TERN_OK;
}

tern_module *tern_module_add_child(tern_module *module, const char *name, tern_module *child)
{
    if (!add_child(module, name, child))
        return child;
    if (child && child->private_ && is_callers(child))
        drop_module(child);
    if (module && module->private_)
        module->private_->failed = true;
    return NULL;
}
