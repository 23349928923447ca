// SPDX-License-Identifier: Apache-2.0
// Exchanging what a finished module holds: parameters, buffers and children.
#include "nn/module/module.h"
#include "nn/module/parametrized.h"
#include "tensor/capture.h"
#include "tensor/header.h"

#define USED_AS_THEY_ARE "its work uses what the module has now"

static void forget_in(tern_module *module, void *owner)
{
    tern_module_private *private_ = module->private_;
    for (int64_t i = 0; i < private_->child_count; i++)
        if (private_->children[i].module == owner)
            atomic_store(&private_->children[i].path, 0);
}

// Errors of the next forward show `owner` as it is then, wherever below `root` it is.
static void forget_title(tern_module *root, tern_module *owner)
{
    tern_module *parent = owner->private_->parent;
    atomic_store(&owner->private_->path, 0);
    tern_module_visit(root, forget_in, owner);
    if (parent)
        forget_in(parent, owner);
}

// ---- tensors ------------------------------------------------------------------------------------

static void put_tensor(tern_module *root, tern_module *owner, tern_module_tensor *entry,
                       tern_tensor *value)
{
    tern_tensor *old = entry->tensor;
    entry->tensor = tern_tensor_retain(value);
    tern_module_bind(owner, entry->member, value);
    if (value && !value->label[0])
        tern_tensor_set_label(value, entry->name);
    forget_title(root, owner);
    tern_tensor_release_as(old, TERN_STAMP_HOLDER);
}

tern_status tern_module_set_parameter(tern_module *module, const char *name, tern_tensor *value)
{
    const char *function = "module_set_parameter";
    tern_module *owner;
    tern_module_tensor *entry = tern_module_find_tensor(function, module, name, true, &owner);
    if (!entry)
        return tern_error_code();
    TERN_TRY(tern_capture_refuse(function, USED_AS_THEY_ARE));
    TERN_TRY(tern_module_check_parameter(function, name, value));
    TERN_CHECK(value || owner->klass != &tern_parametrization_list_class, TERN_ERR_ARG,
               "%s: \"%s\" is the original of a parametrization, which cannot be absent", function,
               name);
    if (value)
        value->requires_grad = true;
    put_tensor(module->private_->self, owner, entry, value);
    return TERN_OK;
}

tern_status tern_module_set_buffer(tern_module *module, const char *name, tern_tensor *value)
{
    const char *function = "module_set_buffer";
    tern_module *owner;
    tern_module_tensor *entry = tern_module_find_tensor(function, module, name, false, &owner);
    if (!entry)
        return tern_error_code();
    TERN_TRY(tern_capture_refuse(function, USED_AS_THEY_ARE));
    TERN_TRY(tern_module_check_buffer(function, name, value));
    put_tensor(module->private_->self, owner, entry, value);
    return TERN_OK;
}

// What an absent one becomes may be anything.
static tern_status check_alike(const char *function, const char *name, const tern_tensor *old,
                               const char *other_name, const tern_tensor *shared)
{
    TERN_CHECK(shared, TERN_ERR_STATE, "%s: \"%s\" is absent: there is nothing to share", function,
               other_name);
    if (!old)
        return TERN_OK;
    const char *what = tern_tensor_string(old), *other = tern_tensor_string(shared);
    TERN_CHECK(tern_shape_equal(tern_shape_get(old), tern_shape_get(shared)), TERN_ERR_SHAPE,
               "%s: \"%s\" is %s and \"%s\" %s: their shapes must agree", function, name, what,
               other_name, other);
    TERN_CHECK(old->dtype == shared->dtype, TERN_ERR_DTYPE,
               "%s: \"%s\" is %s and \"%s\" %s: their dtypes must agree", function, name, what,
               other_name, other);
    TERN_CHECK(tern_device_equal(tern_dev(old), tern_dev(shared)), TERN_ERR_DEVICE,
               "%s: \"%s\" is %s and \"%s\" %s: move one with tern_module_to", function, name, what,
               other_name, other);
    return TERN_OK;
}

tern_status tern_module_tie(tern_module *module, const char *name, const tern_module *other,
                            const char *other_name)
{
    const char *function = "module_tie";
    tern_module *owner, *other_owner;
    tern_module_tensor *entry = tern_module_find_tensor(function, module, name, true, &owner);
    if (!entry)
        return tern_error_code();
    if (!other || !other_name)
        return tern_null_error(function, other ? "other_name" : "other");
    const tern_module_tensor *from =
        tern_module_find_tensor(function, other, other_name, true, &other_owner);
    if (!from)
        return tern_error_code();
    TERN_TRY(tern_capture_refuse(function, USED_AS_THEY_ARE));
    TERN_TRY(check_alike(function, name, entry->tensor, other_name, from->tensor));
    put_tensor(module->private_->self, owner, entry, from->tensor);
    return TERN_OK;
}

// ---- children -----------------------------------------------------------------------------------

typedef struct search {
    const tern_module *wanted;
    bool found;
} search;

static tern_status look_for(const char *name, tern_module *module, void *user)
{
    search *s = user;
    (void)name;
    s->found = s->found || module == s->wanted;
    return TERN_OK;
}

tern_status tern_module_check_no_cycle(const char *function, const tern_module *owner,
                                       const char *name, tern_module *child)
{
    search s = {.wanted = owner};
    TERN_TRY(tern_module_each_module(child, look_for, &s));
    TERN_CHECK(!s.found, TERN_ERR_ARG, "%s: \"%s\" cannot be a %s that has this %s below itself",
               function, name, child->klass->name, owner->klass->name);
    return TERN_OK;
}

static tern_status check_not_parametrization(const char *function, const tern_module *owner,
                                             const char *name, const tern_module *child)
{
    const tern_module_class *above = owner->klass, *own = child->klass;
    TERN_CHECK(above != &tern_parametrizations_class && above != &tern_parametrization_list_class &&
                   own != &tern_parametrizations_class,
               TERN_ERR_ARG,
               "%s: \"%s\" belongs to a parametrization; tern_module_remove_parametrizations takes "
               "it out",
               function, name);
    return TERN_OK;
}

// The old child is given back last: what its class frees may look at the module.
static void put_child(tern_module *owner, tern_module_link *link, tern_module *child)
{
    tern_module *old = link->module;
    bool still_there = false;
    link->module = child;
    atomic_store(&link->path, 0);
    atomic_fetch_add(&child->private_->parent_refs, 1);
    child->private_->parent = owner;
    tern_module_bind(owner, link->member, child);
    for (int64_t i = 0; i < owner->private_->child_count; i++)
        still_there = still_there || owner->private_->children[i].module == old;
    if (old->private_->parent == owner && !still_there)
        old->private_->parent = NULL;
    atomic_fetch_sub(&old->private_->parent_refs, 1);
    tern_module_release(old);
}

static tern_status set_child(tern_module *module, const char *name, tern_module *child)
{
    const char *function = "module_set_child";
    tern_module *owner;
    tern_module_link *link = tern_module_find_link(function, module, name, &owner);
    if (!link)
        return tern_error_code();
    if (!child)
        return tern_null_error(function, "child");
    TERN_TRY(tern_capture_refuse(function, USED_AS_THEY_ARE));
    TERN_CHECK(atomic_load(&owner->private_->running) == 0, TERN_ERR_STATE,
               "%s: \"%s\" belongs to a %s that runs or is traversed; wait for its end", function,
               name, owner->klass->name);
    TERN_TRY(tern_check_module(function, child));
    TERN_TRY(check_not_parametrization(function, owner, name, link->module));
    TERN_TRY(tern_module_check_no_cycle(function, owner, name, child));
    TERN_TRY(tern_module_check_child(function, owner, name, child));
    put_child(owner, link, child);
    return TERN_OK;
}

tern_status tern_module_set_child(tern_module *module, const char *name, tern_module *child)
{
    tern_status status = set_child(module, name, child);
    if (status && child && child->private_ && tern_module_is_callers(child))
        tern_module_release(child);
    return status;
}
