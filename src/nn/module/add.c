// SPDX-License-Identifier: Apache-2.0
// Filling the registry of a module: parameters, buffers and children, bound to its members.
#include <stdint.h>
#include <string.h>
#include "base/mem.h"
#include "nn/module/module.h"
#include "tensor/header.h"
#include "tensor/liveness.h"

// ---- names and members --------------------------------------------------------------------------

// The name of what a pointer in the struct is kept right for; NULL: nothing.
static const char *name_at(const tern_module_private *private_, size_t member)
{
    const tern_module_tensors *lists[] = {&private_->parameters, &private_->buffers};
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < lists[k]->count; i++)
            if (lists[k]->at[i].member == member)
                return lists[k]->at[i].name;
    for (int64_t i = 0; i < private_->child_count; i++)
        if (private_->children[i].member == member)
            return private_->children[i].name;
    return NULL;
}

static bool has_tensor(const tern_module_tensors *list, const char *name)
{
    for (int64_t i = 0; i < list->count; i++)
        if (strcmp(list->at[i].name, name) == 0)
            return true;
    return false;
}

bool tern_module_has_name(const tern_module *module, const char *name)
{
    const tern_module_private *private_ = module->private_;
    for (int64_t i = 0; i < private_->child_count; i++)
        if (strcmp(private_->children[i].name, name) == 0)
            return true;
    return has_tensor(&private_->parameters, name) || has_tensor(&private_->buffers, name);
}

static tern_status check_name(const char *function, const tern_module *module, const char *name)
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
    TERN_CHECK(!tern_module_has_name(module, name), TERN_ERR_ARG, "%s: %s already has a \"%s\"",
               function, class_name, name);
    return TERN_OK;
}

// Also says where the member lies, 0 for none.
static tern_status check_add(const char *function, const tern_module *module, const char *name,
                             const void *member, size_t *offset)
{
    *offset = 0;
    TERN_TRY(check_name(function, module, name));
    if (!member)
        return TERN_OK;
    const size_t size = module->klass->size, at = (uintptr_t)member - (uintptr_t)module;
    TERN_CHECK(at >= sizeof *module && at < size && size - at >= sizeof(void *) &&
                   at % _Alignof(void *) == 0,
               TERN_ERR_ARG, "%s: the member for \"%s\" does not lie in the struct of %s", function,
               name, module->klass->name);
    const char *there = name_at(module->private_, at);
    TERN_CHECK(!there, TERN_ERR_ARG, "%s: the member for \"%s\" holds \"%s\" already", function,
               name, there);
    *offset = at;
    return TERN_OK;
}

static void fail(tern_module *module)
{
    if (module && module->private_)
        module->private_->failed = true;
}

// ---- tensors ------------------------------------------------------------------------------------

tern_status tern_module_put_tensor(tern_module *module, tern_module_tensors *list, const char *name,
                                   tern_module_tensor entry)
{
    entry.name = tern_mem_string(name);
    if (!entry.name)
        return TERN_ERR_NOMEM;
    if (tern_mem_grow((void **)&list->at, &list->capacity, list->count + 1, sizeof *list->at)) {
        tern_mem_free_string(entry.name);
        return TERN_ERR_NOMEM;
    }
    list->at[list->count++] = entry;
    (void)tern_tensor_retain(entry.tensor);
    tern_module_bind(module, entry.member, entry.tensor);
    if (entry.tensor && !entry.tensor->label[0])
        tern_tensor_set_label(entry.tensor, name);
    return TERN_OK;
}

tern_status tern_module_check_parameter(const char *function, const char *name,
                                        const tern_tensor *tensor)
{
    if (!tensor)
        return tern_error_code();
    TERN_TRY(tern_check_tensor(function, name, tensor));
    TERN_CHECK(tern_dtype_is_floating(tensor->dtype), TERN_ERR_DTYPE,
               "%s: \"%s\" is %s; parameters are floating, add it as a buffer", function, name,
               tern_tensor_string(tensor));
    TERN_CHECK(!tensor->node, TERN_ERR_STATE,
               "%s: \"%s\" is the result of %s; parameters have no history, detach it first",
               function, name, tensor->op);
    TERN_CHECK(tensor->contiguous, TERN_ERR_STATE,
               "%s: \"%s\" is not contiguous; make a copy by tern_clone", function, name);
    return TERN_OK;
}

static tern_status add_parameter(tern_module *module, const char *name, const void *member,
                                 tern_tensor *value)
{
    const char *function = "module_add_parameter";
    size_t offset;
    TERN_TRY(check_add(function, module, name, member, &offset));
    TERN_TRY(tern_module_check_parameter(function, name, value));
    TERN_TRY(tern_module_put_tensor(
        module, &module->private_->parameters, name,
        (tern_module_tensor){.tensor = value, .member = offset, .persistent = true}));
    if (value)
        value->requires_grad = true;
    return TERN_OK;
}

tern_tensor *(tern_module_add_parameter)(tern_module *module, const char *name,
                                         tern_tensor **member, tern_tensor *value)
{
    if (!add_parameter(module, name, member, value))
        return value;
    fail(module);
    return NULL;
}

tern_status tern_module_check_buffer(const char *function, const char *name,
                                     const tern_tensor *tensor)
{
    if (!tensor)
        return tern_error_code();
    TERN_TRY(tern_check_tensor(function, name, tensor));
    TERN_CHECK(!tensor->requires_grad, TERN_ERR_STATE,
               "%s: \"%s\" requires a gradient; buffers do not, detach it first", function, name);
    return TERN_OK;
}

static tern_status add_buffer(tern_module *module, const char *name, const void *member,
                              tern_tensor *value, bool persistent)
{
    const char *function = "module_add_buffer";
    size_t offset;
    TERN_TRY(check_add(function, module, name, member, &offset));
    TERN_TRY(tern_module_check_buffer(function, name, value));
    return tern_module_put_tensor(
        module, &module->private_->buffers, name,
        (tern_module_tensor){.tensor = value, .member = offset, .persistent = persistent});
}

tern_tensor *(tern_module_add_buffer)(tern_module *module, const char *name, tern_tensor **member,
                                      tern_tensor *value, bool persistent)
{
    if (!add_buffer(module, name, member, value, persistent))
        return value;
    fail(module);
    return NULL;
}

void tern_module_buffer_since(tern_module *module, int version)
{
    tern_module_tensors *buffers = &module->private_->buffers;
    if (!module->private_->failed)
        buffers->at[buffers->count - 1].since = version;
}

// ---- children -----------------------------------------------------------------------------------

// Puts `module` that far down, and what is below it further. False when something would be too
// deep; what was put down before stays so.
static bool put_down(tern_module *module, int level)
{
    tern_module_private *private_ = module->private_;
    if (level <= private_->level)
        return true;
    if (level >= TERN_MODULE_DEPTH)
        return false;
    for (int64_t i = 0; i < private_->child_count; i++)
        if (!put_down(private_->children[i].module, level + 1))
            return false;
    private_->level = level;
    return true;
}

tern_status tern_module_check_child(const char *function, const tern_module *module,
                                    const char *name, const tern_module *child)
{
    TERN_TRY(tern_check_module(function, child));
    TERN_CHECK(child->private_->done, TERN_ERR_STATE,
               "%s: the constructor of \"%s\" (%s) did not end with tern_module_done", function,
               name, child->klass->name);
    TERN_CHECK(tern_module_is_callers(child), TERN_ERR_STATE,
               "%s: \"%s\" (%s) belongs to %s already; give the second place a tern_module_retain "
               "of it",
               function, name, child->klass->name, tern_module_parent_name(child));
    TERN_CHECK(put_down(child->private_->self, module->private_->level + 1), TERN_ERR_ARG,
               "%s: \"%s\" makes %s deeper than %d levels", function, name, module->klass->name,
               TERN_MODULE_DEPTH);
    return TERN_OK;
}

tern_status tern_module_put_child(tern_module *module, const char *name, size_t member,
                                  tern_module *child)
{
    tern_module_private *private_ = module->private_;
    char *copy = tern_mem_string(name);
    if (!copy)
        return TERN_ERR_NOMEM;
    if (tern_mem_grow((void **)&private_->children, &private_->child_capacity,
                      private_->child_count + 1, sizeof *private_->children)) {
        tern_mem_free_string(copy);
        return TERN_ERR_NOMEM;
    }
    private_->children[private_->child_count++] =
        (tern_module_link){.name = copy, .module = child, .member = member};
    atomic_fetch_add_explicit(&child->private_->parent_refs, 1, memory_order_relaxed);
    child->private_->parent = module;
    tern_module_bind(module, member, child);
    return TERN_OK;
}

static tern_status add_child(tern_module *module, const char *name, const void *member,
                             tern_module *child)
{
    const char *function = "module_add_child";
    size_t offset;
    TERN_TRY(check_add(function, module, name, member, &offset));
    if (!child)
        return tern_null_error(function, name);
    // A finished child in an unfinished parent: so there are no cycles.
    TERN_TRY(tern_module_check_child(function, module, name, child));
    return tern_module_put_child(module, name, offset, child);
}

tern_module *(tern_module_add_child)(tern_module *module, const char *name, tern_module **member,
                                     tern_module *child)
{
    if (!add_child(module, name, member, child))
        return child;
    if (child && child->private_ && tern_module_is_callers(child))
        tern_module_release(child);
    fail(module);
    return NULL;
}
