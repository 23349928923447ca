// SPDX-License-Identifier: Apache-2.0
// Copies of modules with all that is below: memory of its own for each storage once, so that what
// was tied, shared or overlapping is so among the copies.
#include "nn/module/tree.h"
#include "tensor/capture.h"
#include "tensor/header.h"

// The originals' tensors and storages, and their copies, a reference to each.
typedef struct copying {
    tern_copied_map tensors, storages;
} copying;

static tern_storage *new_storage(tern_storage *from)
{
    tern_storage *to = from->pinned ? tern_storage_new_pinned(from->nbytes)
                                    : tern_storage_new(from->device, from->nbytes);
    if (to && from->nbytes > 0 && tern_storage_copy(to, 0, from, 0, from->nbytes, true)) {
        tern_storage_release(to);
        return NULL;
    }
    return to;
}

static tern_storage *copy_storage(copying *c, tern_storage *from)
{
    tern_storage *to = tern_copied_map_find(&c->storages, from);
    if (to)
        return to;
    to = new_storage(from);
    if (to && tern_copied_map_add(&c->storages, from, to)) {
        tern_storage_release(to);
        return NULL;
    }
    return to;
}

static tern_tensor *new_tensor(copying *c, const tern_tensor *from)
{
    tern_storage *storage = copy_storage(c, from->storage);
    tern_tensor *to = storage ? tern_header_over("module_copy", from, storage) : NULL;
    if (!to)
        return NULL;
    to->requires_grad = from->requires_grad;
    to->grad_state = from->grad_state;
    return to;
}

static tern_tensor *copy_tensor(copying *c, const tern_tensor *from)
{
    tern_tensor *to = tern_copied_map_find(&c->tensors, from);
    if (to)
        return to;
    to = new_tensor(c, from);
    if (to && tern_copied_map_add(&c->tensors, from, to)) {
        tern_tensor_release(to);
        return NULL;
    }
    if (!to || !from->grad || from->grad_state != TERN_GRAD_PRESENT)
        return to;
    tern_tensor *grad = copy_tensor(c, from->grad);
    to->grad = tern_tensor_retain(grad);
    return grad ? to : NULL;
}

static tern_tensor *copy_entry(const tern_module *owner, const tern_module_tensor *from, void *user)
{
    TERN_CHECK_PTR(!from->tensor->node, TERN_ERR_STATE,
                   "module_copy: \"%s\" of %s has a history, and copies have none; detach it",
                   from->name, owner->klass->name);
    return copy_tensor(user, from->tensor);
}

static void free_copying(copying *c)
{
    for (int64_t i = 0; i < c->tensors.map.count; i++)
        tern_tensor_release_as(c->tensors.to[i], TERN_STAMP_HOLDER);
    for (int64_t i = 0; i < c->storages.map.count; i++)
        tern_storage_release(c->storages.to[i]);
    tern_copied_map_free(&c->tensors);
    tern_copied_map_free(&c->storages);
}

static tern_status carry_out(tern_tree_copy *copy, const tern_module *module)
{
    TERN_TRY(tern_tree_copy_modules(copy, module));
    for (int64_t i = 0; i < copy->modules.map.count; i++)
        TERN_TRY(tern_tree_complete(copy->function, copy->modules.to[i], copy->modules.from[i]));
    return TERN_OK;
}

tern_module *tern_module_copy(const tern_module *module)
{
    if (tern_check_module("module_copy", module) ||
        tern_capture_refuse("module_copy", "replays would not copy"))
        return NULL;
    TERN_CHECK_PTR(module->private_->done, TERN_ERR_STATE,
                   "module_copy: the constructor of %s did not end with tern_module_done",
                   module->klass->name);
    copying c = {0};
    tern_tree_copy tree = {.function = "module_copy", .tensor = copy_entry, .user = &c};
    tern_status status = carry_out(&tree, module);
    tern_module *copy =
        status ? NULL : tern_module_retain(tern_copied_map_find(&tree.modules, module));
    tern_tree_copy_free(&tree);
    free_copying(&c);
    return copy;
}
