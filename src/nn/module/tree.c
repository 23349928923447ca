// SPDX-License-Identifier: Apache-2.0
#include "nn/module/tree.h"

#include "base/callback.h"
#include "base/mem.h"
#include "tensor/header.h"

static tern_status put_tensors(const tern_tree_copy *copy, tern_module *to,
                               tern_module_tensors *list, const tern_module *owner,
                               const tern_module_tensors *from)
{
    for (int64_t i = 0; i < from->count; i++) {
        tern_module_tensor entry = from->at[i];
        const bool wanted = entry.tensor && copy->tensor;
        entry.tensor = wanted ? copy->tensor(owner, &from->at[i], copy->user) : NULL;
        if (wanted && !entry.tensor)
            return tern_error_code();
        TERN_TRY(tern_module_put_tensor(to, list, from->at[i].name, entry));
    }
    return TERN_OK;
}

static tern_status put_children(const tern_tree_copy *copy, tern_module *to,
                                const tern_module_private *from)
{
    for (int64_t i = 0; i < from->child_count; i++) {
        const tern_module_link *link = &from->children[i];
        tern_module *child = tern_module_retain(tern_copied_map_find(&copy->modules, link->module));
        tern_status status = tern_module_put_child(to, link->name, link->member, child);
        if (status) {
            tern_module_release(child);
            return status;
        }
    }
    return TERN_OK;
}

// But for the pointers that every struct begins with; bound members have to be bound anew.
static void copy_struct(tern_module *to, const tern_module *from)
{
    const size_t own = sizeof *to;
    memcpy((char *)to + own, (const char *)from + own, from->klass->size - own);
    to->private_->training = from->private_->training;
    to->private_->print_style = from->private_->print_style;
    to->private_->computed = from->private_->computed;
    to->private_->adapter = from->private_->adapter;
    tern_replace_user(&to->private_->user, &to->private_->user_free, from->private_->user, NULL);
}

static tern_status fill(const tern_tree_copy *copy, tern_module *to, const tern_module *from)
{
    const tern_module_private *original = from->private_;
    tern_module_private *private_ = to->private_;
    copy_struct(to, from);
    private_->done = private_->incomplete = true;
    private_->level = original->level;
    TERN_TRY(put_tensors(copy, to, &private_->parameters, from, &original->parameters));
    TERN_TRY(put_tensors(copy, to, &private_->buffers, from, &original->buffers));
    return put_children(copy, to, original);
}

static tern_status check_copied(const tern_tree_copy *copy, const char *name,
                                const tern_module *from)
{
    const char *called = name[0] ? name : "the module";
    TERN_CHECK(!from->klass->free || from->klass->copy, TERN_ERR_UNSUPPORTED,
               "%s: %s (%s) cannot be copied: its class has a free and no copy", copy->function,
               called, from->klass->name);
    TERN_CHECK(!from->private_->user_free || copy->shares_user, TERN_ERR_UNSUPPORTED,
               "%s: %s (%s) cannot be copied: it has a user that is freed with it", copy->function,
               called, from->klass->name);
    return TERN_OK;
}

static tern_status copy_one(const char *name, tern_module *from, void *user)
{
    tern_tree_copy *copy = user;
    TERN_TRY(check_copied(copy, name, from));
    tern_module *to = tern_module_alloc(from->klass);
    if (!to)
        return tern_error_code();
    tern_status status = fill(copy, to, from);
    if (!status)
        status = tern_copied_map_add(&copy->modules, from, to);
    if (status)
        tern_module_release(to);
    return status;
}

tern_status tern_tree_copy_modules(tern_tree_copy *copy, const tern_module *module)
{
    return tern_module_apply(module->private_->self, copy_one, copy);
}

tern_status tern_tree_complete(const char *function, tern_module *to, const tern_module *from)
{
    tern_status status = TERN_OK;
    if (to->klass->copy) {
        tern_callback_begin();
        status = to->klass->copy(to, from);
        tern_callback_end();
    }
    if (status)
        return tern_error_pending()
                   ? status
                   : tern_error_raise(status, "%s: the copy of %s failed without saying why",
                                      function, to->klass->name);
    to->private_->incomplete = false;
    if (to->private_->computed)
        to->private_->computed->rest(to);
    return TERN_OK;
}

void tern_tree_copy_free(tern_tree_copy *copy)
{
    for (int64_t i = copy->modules.map.count - 1; i >= 0; i--)
        tern_module_release(copy->modules.to[i]);
    tern_copied_map_free(&copy->modules);
}

// ---- shadows ------------------------------------------------------------------------------------

void tern_module_replica(tern_module *module, tern_module *original)
{
    module->private_->original = original;
}

// NULL: none of them.
static void bind_tensors(tern_module *replica, tern_module_tensors *list,
                         tern_tensor *const *tensors)
{
    for (int64_t i = 0; i < list->count; i++) {
        tern_module_tensor *entry = &list->at[i];
        tern_tensor *before = entry->tensor;
        entry->tensor = tensors ? tern_tensor_retain(tensors[i]) : NULL;
        tern_module_bind(replica, entry->member, entry->tensor);
        tern_tensor_release_as(before, TERN_STAMP_HOLDER);
    }
}

void tern_module_replica_release(tern_module *replica)
{
    tern_module_free_own(replica);
    replica->private_->incomplete = true;
    bind_tensors(replica, &replica->private_->parameters, NULL);
    bind_tensors(replica, &replica->private_->buffers, NULL);
}

void tern_module_replica_retain(tern_module *replica)
{
    tern_module *original = tern_module_retain(replica->private_->original);
    atomic_fetch_add_explicit(&original->private_->parent_refs, 1, memory_order_relaxed);
    replica->private_->holds_original = true;
}

// They stay the original's: `user` is not freed with the replica, unless a forward added the hook
// to that.
static tern_status copy_hooks(tern_module_private *to, const tern_module_private *from)
{
    for (int64_t i = 0; i < to->hook_count; i++)
        tern_free_user(to->hooks[i].free, to->hooks[i].user);
    to->hook_count = 0;
    if (from->hook_count > 0)
        TERN_TRY(tern_mem_grow((void **)&to->hooks, &to->hook_capacity, from->hook_count,
                               sizeof *to->hooks));
    for (int64_t i = 0; i < from->hook_count; i++) {
        to->hooks[i] = from->hooks[i];
        to->hooks[i].free = NULL;
    }
    to->hook_count = from->hook_count;
    return TERN_OK;
}

tern_status tern_module_replica_update(const char *function, tern_module *replica,
                                       const tern_module *original, tern_tensor *const *tensors)
{
    tern_module_private *private_ = replica->private_;
    tern_module_replica_release(replica);
    copy_struct(replica, original);
    bind_tensors(replica, &private_->parameters, tensors);
    bind_tensors(replica, &private_->buffers, tensors + private_->parameters.count);
    for (int64_t i = 0; i < private_->child_count; i++)
        tern_module_bind(replica, private_->children[i].member, private_->children[i].module);
    TERN_TRY(copy_hooks(private_, original->private_));
    return tern_tree_complete(function, replica, original);
}
