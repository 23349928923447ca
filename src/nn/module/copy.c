// SPDX-License-Identifier: Apache-2.0
// Copies of modules with all that is below: memory of its own for each storage once, so that what
// was tied, shared or overlapping is so among the copies.
#include "base/callback.h"
#include "base/mem.h"
#include "base/pointer_map.h"
#include "nn/module/module.h"
#include "tensor/capture.h"
#include "tensor/header.h"

// Originals and their copies, by the number of the original in the map.
typedef struct memo {
    tern_pointer_map map;
    const void **from;
    void **to; // a reference to each
    int64_t from_capacity, to_capacity;
} memo;

typedef struct copying {
    memo modules, tensors, storages; // modules: children before parents
} copying;

static void *find(const memo *m, const void *original)
{
    int64_t index = tern_pointer_map_find(&m->map, original);
    return index < 0 ? NULL : m->to[index];
}

static tern_status note(memo *m, const void *original, void *copy)
{
    int64_t index, count = m->map.count + 1;
    TERN_TRY(tern_mem_grow((void **)&m->from, &m->from_capacity, count, sizeof *m->from));
    TERN_TRY(tern_mem_grow((void **)&m->to, &m->to_capacity, count, sizeof *m->to));
    TERN_TRY(tern_pointer_map_add(&m->map, original, &index));
    m->from[index] = original;
    m->to[index] = copy;
    return TERN_OK;
}

static void free_memo(memo *m)
{
    tern_mem_free((void *)m->from, (size_t)m->from_capacity * sizeof *m->from);
    tern_mem_free(m->to, (size_t)m->to_capacity * sizeof *m->to);
    tern_pointer_map_free(&m->map);
}

// ---- tensors ------------------------------------------------------------------------------------

static tern_storage *new_storage(tern_storage *from)
{
    tern_storage *to = from->pinned ? tern_storage_new_pinned(from->nbytes)
                                    : tern_storage_new(from->device, from->nbytes);
    if (to && from->nbytes > 0 && tern_storage_copy(to, 0, from, 0, from->nbytes, true)) {
        tern_storage_drop(to);
        return NULL;
    }
    return to;
}

static tern_storage *copy_storage(copying *c, tern_storage *from)
{
    tern_storage *to = find(&c->storages, from);
    if (to)
        return to;
    to = new_storage(from);
    if (to && note(&c->storages, from, to)) {
        tern_storage_drop(to);
        return NULL;
    }
    return to;
}

static tern_tensor *new_tensor(copying *c, const tern_tensor *from)
{
    tern_storage *storage = copy_storage(c, from->storage);
    tern_tensor *to = storage ? tern_header_alias("module_copy", from, tern_shape_get(from),
                                                  from->stride, from->offset)
                              : NULL;
    if (!to)
        return NULL;
    tern_storage_drop(to->storage);
    tern_storage_hold(storage);
    to->storage = storage;
    to->history_version = 0;
    to->is_view = to->detached = false; // of no tensor that is left
    to->requires_grad = from->requires_grad;
    to->grad_state = from->grad_state;
    tern_tensor_set_label(to, from->label);
    return to;
}

static tern_tensor *copy_tensor(copying *c, const tern_tensor *from)
{
    tern_tensor *to = find(&c->tensors, from);
    if (to)
        return to;
    to = new_tensor(c, from);
    if (to && note(&c->tensors, from, to)) {
        tern_drop(to);
        return NULL;
    }
    if (!to || !from->grad || from->grad_state != TERN_GRAD_PRESENT)
        return to;
    tern_tensor *grad = copy_tensor(c, from->grad);
    to->grad = tern_hold(grad);
    return grad ? to : NULL;
}

// ---- modules ------------------------------------------------------------------------------------

static tern_status put_tensors(copying *c, tern_module *to, tern_module_tensors *list,
                               const tern_module_tensors *from)
{
    for (int64_t i = 0; i < from->count; i++) {
        const tern_module_tensor *t = &from->at[i];
        if (t->tensor)
            TERN_CHECK(!t->tensor->node, TERN_ERR_STATE,
                       "module_copy: \"%s\" of %s has a history, and copies have none; detach it",
                       t->name, to->klass->name);
        tern_tensor *copy = t->tensor ? copy_tensor(c, t->tensor) : NULL;
        if (t->tensor && !copy)
            return tern_error_code();
        TERN_TRY(tern_module_put_tensor(to, list, t->name,
                                        (tern_module_tensor){.tensor = copy,
                                                             .member = t->member,
                                                             .persistent = t->persistent,
                                                             .since = t->since}));
    }
    return TERN_OK;
}

static tern_status put_children(const copying *c, tern_module *to, const tern_module_private *from)
{
    for (int64_t i = 0; i < from->child_count; i++) {
        const tern_module_link *link = &from->children[i];
        tern_module *child = tern_module_retain(find(&c->modules, link->module));
        tern_status status = tern_module_put_child(to, link->name, link->member, child);
        if (status) {
            tern_module_drop(child);
            return status;
        }
    }
    return TERN_OK;
}

static tern_status fill(copying *c, tern_module *to, const tern_module *from)
{
    const tern_module_private *original = from->private_;
    tern_module_private *private_ = to->private_;
    const size_t own = sizeof *to;
    memcpy((char *)to + own, (const char *)from + own, from->klass->size - own);
    private_->training = original->training;
    private_->done = private_->incomplete = true;
    private_->level = original->level;
    private_->user = original->user;
    TERN_TRY(put_tensors(c, to, &private_->parameters, &original->parameters));
    TERN_TRY(put_tensors(c, to, &private_->buffers, &original->buffers));
    return put_children(c, to, original);
}

static tern_status check_copied(const char *name, const tern_module *from)
{
    const char *called = name[0] ? name : "the module";
    TERN_CHECK(!from->klass->free || from->klass->copy, TERN_ERR_UNSUPPORTED,
               "module_copy: %s (%s) cannot be copied: its class has a free and no copy", called,
               from->klass->name);
    TERN_CHECK(!from->private_->user_free, TERN_ERR_UNSUPPORTED,
               "module_copy: %s (%s) cannot be copied: it has a user that is freed with it", called,
               from->klass->name);
    return TERN_OK;
}

static tern_status copy_one(const char *name, tern_module *from, void *user)
{
    copying *c = user;
    TERN_TRY(check_copied(name, from));
    tern_module *to = tern_module_alloc(from->klass);
    if (!to)
        return tern_error_code();
    tern_status status = fill(c, to, from);
    if (!status)
        status = note(&c->modules, from, to);
    if (status)
        tern_module_drop(to);
    return status;
}

// The class's own part, when everything that is registered is there.
static tern_status complete(tern_module *to, const tern_module *from)
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
                   : tern_error_raise(status, "the copy of %s failed without saying why",
                                      to->klass->name);
    to->private_->incomplete = false;
    return TERN_OK;
}

static tern_status carry_out(copying *c, const tern_module *module)
{
    TERN_TRY(tern_module_apply(module->private_->self, copy_one, c));
    for (int64_t i = 0; i < c->modules.map.count; i++)
        TERN_TRY(complete(c->modules.to[i], c->modules.from[i]));
    return TERN_OK;
}

static void free_copying(copying *c)
{
    for (int64_t i = c->modules.map.count - 1; i >= 0; i--)
        tern_module_drop(c->modules.to[i]);
    for (int64_t i = 0; i < c->tensors.map.count; i++)
        tern_drop_as(c->tensors.to[i], TERN_STAMP_HOLDER);
    for (int64_t i = 0; i < c->storages.map.count; i++)
        tern_storage_drop(c->storages.to[i]);
    free_memo(&c->modules);
    free_memo(&c->tensors);
    free_memo(&c->storages);
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
    tern_status status = carry_out(&c, module);
    tern_module *copy = status ? NULL : tern_module_retain(find(&c.modules, module));
    free_copying(&c);
    return copy;
}
