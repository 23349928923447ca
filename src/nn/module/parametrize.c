// SPDX-License-Identifier: Apache-2.0
// Parametrizations put into a finished module and taken out of it.
#include "nn/module/parametrize.h"

#include <tern/autograd.h>
#include <tern/ops/copy.h>
#include <tern/ops/inplace.h>
#include <tern/ops/view.h>
#include "base/mem.h"
#include "tensor/capture.h"
#include "tensor/header.h"
#include "tensor/liveness.h"

#define REGISTER "module_register_parametrization"
#define REMOVE   "module_remove_parametrizations"

// ---- looking them up ----------------------------------------------------------------------------

tern_parametrization_list *tern_parametrization_find(const tern_module *module, const char *name,
                                                     tern_module **owner)
{
    const char *last;
    *owner = tern_module_find_owner(module, name, &last);
    const tern_module *dict = *owner ? tern_parametrizations_of(*owner) : NULL;
    for (int64_t i = 0; dict && i < dict->private_->child_count; i++)
        if (strcmp(dict->private_->children[i].name, last) == 0)
            return tern_parametrization_at(dict, i);
    return NULL;
}

static tern_parametrization_list *find(const char *function, const tern_module *module,
                                       const char *name, tern_module **owner)
{
    if (tern_check_module(function, module))
        return NULL;
    if (!name)
        return (void)tern_null_error(function, "name"), NULL;
    tern_parametrization_list *list = tern_parametrization_find(module, name, owner);
    TERN_CHECK_PTR(list, TERN_ERR_ARG, "%s: \"%.64s\" of %s is not parametrized", function, name,
                   module->klass->name);
    return list;
}

bool tern_module_is_parametrized(const tern_module *module, const char *name)
{
    tern_module *owner;
    if (tern_check_module("module_is_parametrized", module))
        return false;
    return name ? tern_parametrization_find(module, name, &owner) != NULL
                : module->private_->computed != NULL;
}

tern_tensor *tern_module_parametrized(const tern_module *module, const char *name)
{
    tern_module *owner;
    tern_parametrization_list *list = find("module_parametrized", module, name, &owner);
    return list ? tern_parametrization_compute(list) : NULL;
}

// ---- registering --------------------------------------------------------------------------------

static tern_status check_same(const char *what, const tern_tensor *y, const tern_tensor *x)
{
    TERN_CHECK(tern_shape_equal(y->shape, x->shape), TERN_ERR_SHAPE,
               REGISTER ": %s is %s, but the parameter %s: its shape may not change", what,
               tern_tensor_string(y), tern_tensor_string(x));
    TERN_CHECK(y->dtype == x->dtype, TERN_ERR_DTYPE,
               REGISTER ": %s is %s, but the parameter %s: its dtype may not change", what,
               tern_tensor_string(y), tern_tensor_string(x));
    return TERN_OK;
}

// A single original becomes the parameter itself, which optimizers have.
static tern_status keep_parameter(tern_parametrization_list *list, tern_tensor *value)
{
    tern_module_tensors *originals = &list->base.private_->parameters;
    tern_tensor *original = originals->at[0].tensor;
    if (originals->count > 1 || original == value ||
        !tern_shape_equal(original->shape, value->shape))
        return TERN_OK;
    tern_no_grad {
        if (!tern_copy_(value, original))
            return tern_error_code();
    }
    originals->at[0].tensor = tern_tensor_retain(value);
    tern_tensor_release_as(original, TERN_STAMP_HOLDER);
    return TERN_OK;
}

static tern_status check_list(const tern_module_register_parametrization_options *o,
                              tern_parametrization_list *list, const tern_tensor *value)
{
    const tern_module_tensors *originals = &list->base.private_->parameters;
    const tern_tensor *original = originals->at[0].tensor;
    tern_status status = TERN_OK;
    if (originals->count == 1) {
        TERN_CHECK(original->dtype == value->dtype, TERN_ERR_DTYPE,
                   REGISTER ": the right inverse gave %s for %s: its dtype may not change",
                   tern_tensor_string(original), tern_tensor_string(value));
        TERN_CHECK(tern_device_equal(tern_dev(original), tern_dev(value)), TERN_ERR_DEVICE,
                   REGISTER ": the right inverse gave %s for %s: its device may not change",
                   tern_tensor_string(original), tern_tensor_string(value));
    }
    if (o->unsafe)
        return TERN_OK;
    tern_no_grad {
        const tern_tensor *y = tern_parametrization_compute(list);
        status = y ? check_same("what the parametrization gives", y, value) : tern_error_code();
    }
    return status;
}

// The dict of the module, with the list in it; NULL raises.
static tern_module *put_into_dict(tern_module *owner, const char *name,
                                  tern_parametrization_list *list)
{
    tern_module *dict = tern_parametrizations_of(owner);
    dict = dict ? tern_module_retain(dict) : tern_module_new(&tern_parametrizations_class);
    if (dict && !dict->private_->done)
        dict = tern_module_done(dict);
    if (!dict)
        return NULL;
    tern_module *taken = tern_module_retain(&list->base);
    tern_status status = tern_module_check_child(REGISTER, dict, name, taken);
    if (!status)
        status = tern_module_put_child(dict, name, 0, taken);
    if (!status)
        return dict;
    tern_module_release(taken);
    tern_module_release(dict);
    return NULL;
}

// Gives the dict, of which it takes over a reference, to the module that has none yet.
static tern_status put_dict(tern_module *owner, tern_module *dict)
{
    tern_status status = TERN_OK;
    if (tern_parametrizations_of(owner)) {
        tern_module_release(dict);
        return TERN_OK;
    }
    status = tern_module_check_child(REGISTER, owner, "parametrizations", dict);
    if (!status)
        status = tern_module_put_child(owner, "parametrizations", 0, dict);
    if (status)
        tern_module_release(dict);
    return status;
}

static void take_out(tern_module *owner, const tern_parametrization_list *list)
{
    tern_module *dict = tern_parametrizations_of(owner);
    tern_module_take_child(dict, &list->base);
    if (dict->private_->child_count > 0)
        return;
    tern_module_take_child(owner, dict);
    owner->private_->computed = NULL;
}

// From the list of its own parameters into the originals.
static tern_status exchange(tern_module *owner, tern_module_tensor *entry,
                            tern_parametrization_list *list)
{
    tern_module *dict = put_into_dict(owner, entry->name, list);
    if (!dict)
        return tern_error_code();
    TERN_TRY(put_dict(owner, dict));
    owner->private_->computed = &tern_parametrized;
    tern_status status = keep_parameter(list, entry->tensor);
    if (status) {
        take_out(owner, list);
        return status;
    }
    tern_module_take_tensor(&owner->private_->parameters, entry);
    tern_parametrized_rest(owner);
    return TERN_OK;
}

// What a program's functions may have done meanwhile.
static tern_status check_still_there(const char *name, const tern_module_tensor *entry,
                                     const tern_tensor *value)
{
    TERN_CHECK(entry->tensor == value, TERN_ERR_STATE,
               REGISTER ": \"%s\" was exchanged while its parametrization ran", name);
    return TERN_OK;
}

static tern_status put_list(const tern_module_register_parametrization_options *o,
                            tern_module *owner, tern_module_tensor *entry)
{
    tern_tensor *value = tern_tensor_retain(entry->tensor);
    tern_parametrization_list *list = tern_parametrization_new(o, value, entry->member);
    tern_status status = list ? check_list(o, list, value) : tern_error_code();
    if (!status)
        status = check_still_there(o->name, entry, value);
    if (!status)
        status = exchange(owner, entry, list);
    if (list)
        tern_module_release(&list->base);
    tern_tensor_release_as(value, TERN_STAMP_HOLDER);
    return status;
}

static tern_status register_first(const tern_module_register_parametrization_options *o)
{
    tern_module *owner;
    tern_module_tensor *entry = tern_module_find_tensor(REGISTER, o->module, o->name, true, &owner);
    if (!entry)
        return tern_error_code();
    TERN_CHECK(entry->tensor, TERN_ERR_STATE,
               REGISTER ": \"%s\" is absent: there is nothing to compute", o->name);
    TERN_CHECK(entry->member, TERN_ERR_ARG,
               REGISTER ": %s has no member for \"%s\", which what is computed could be put into",
               owner->klass->name, o->name);
    TERN_TRY(tern_module_check_change(REGISTER, owner));
    const tern_module *parent = owner->private_->parent;
    TERN_CHECK(!parent || !parent->private_->adapter.call, TERN_ERR_ARG,
               REGISTER ": \"%s\" belongs to LoRA, which uses it as it is", o->name);
    TERN_CHECK(tern_parametrizations_of(owner) || !tern_module_has_name(owner, "parametrizations"),
               TERN_ERR_ARG, REGISTER ": %s already has a \"parametrizations\"",
               owner->klass->name);
    TERN_TRY(tern_module_check_no_cycle(REGISTER, owner, o->name, o->parametrization));
    TERN_TRY(tern_module_check_child(REGISTER, owner, "0", o->parametrization));
    tern_module_train(o->parametrization, owner->private_->training);
    tern_module_begin_run(owner); // a program's functions may not change it
    tern_status status = put_list(o, owner, entry);
    tern_module_end_run(owner);
    return status;
}

// What computes from values must give and take such values.
static tern_status check_next(const tern_module_register_parametrization_options *o,
                              tern_parametrization_list *list)
{
    tern_tensor *x = tern_parametrization_compute(list);
    tern_tensors in = {.count = 1, .at = {x}}, out, originals = {0};
    if (!x)
        return tern_error_code();
    TERN_TRY(tern_module_forward(o->parametrization, &in, &out));
    TERN_CHECK(out.count == 1, TERN_ERR_ARG, REGISTER ": %s gave %d tensors, not 1",
               o->parametrization->klass->name, out.count);
    TERN_TRY(check_same("what the parametrization gives", out.at[0], x));
    if (!o->right_inverse)
        return TERN_OK;
    TERN_TRY(tern_parametrization_run_inverse(o->right_inverse, o->parametrization, out.at[0],
                                              &originals));
    TERN_CHECK(originals.count == 1, TERN_ERR_ARG,
               REGISTER ": the right inverse of a second parametrization gave %d tensors, not 1",
               originals.count);
    TERN_TRY(tern_check_tensor(REGISTER, "what the right inverse gives", originals.at[0]));
    return check_same("what the right inverse gives", originals.at[0], x);
}

static tern_status put_next(const tern_module_register_parametrization_options *o,
                            tern_parametrization_list *list, const char *name)
{
    const int64_t count = list->base.private_->child_count;
    tern_status status = TERN_OK;
    tern_no_grad {
        if (!o->unsafe)
            status = check_next(o, list);
    }
    TERN_TRY(status);
    tern_module *taken = tern_module_retain(o->parametrization);
    status = tern_module_put_child(&list->base, name, 0, taken);
    if (status)
        tern_module_release(taken);
    else
        list->right_inverse[count] = o->right_inverse;
    return status;
}

static tern_status register_next(const tern_module_register_parametrization_options *o,
                                 tern_module *owner, tern_parametrization_list *list)
{
    const int64_t count = list->base.private_->child_count;
    char name[16];
    snprintf(name, sizeof name, "%lld", (long long)count);
    TERN_CHECK(count < TERN_MAX_PARAMETRIZATIONS, TERN_ERR_ARG,
               REGISTER ": \"%s\" has %lld parametrizations already, and no more are possible",
               o->name, (long long)count);
    TERN_TRY(tern_module_check_change(REGISTER, owner));
    TERN_TRY(tern_module_check_change(REGISTER, &list->base));
    TERN_TRY(tern_module_check_no_cycle(REGISTER, owner, o->name, o->parametrization));
    TERN_TRY(tern_module_check_child(REGISTER, &list->base, name, o->parametrization));
    tern_module_train(o->parametrization, owner->private_->training);
    tern_module_begin_run(owner);
    tern_status status = put_next(o, list, name);
    tern_module_end_run(owner);
    return status;
}

static tern_status register_in_scope(const tern_module_register_parametrization_options *o)
{
    tern_module *owner;
    TERN_TRY(tern_check_module(REGISTER, o->module));
    if (!o->name || !o->parametrization)
        return tern_null_error(REGISTER, o->name ? "parametrization" : "name");
    TERN_TRY(tern_check_module(REGISTER, o->parametrization));
    TERN_TRY(tern_capture_refuse(REGISTER, "its work uses what the module has now"));
    tern_scope scope = tern_scope_open();
    if (!scope)
        return tern_error_code();
    tern_parametrization_list *list = tern_parametrization_find(o->module, o->name, &owner);
    tern_status status = list ? register_next(o, owner, list) : register_first(o);
    tern_scope_close(scope);
    return status;
}

tern_status tern_module_register_parametrization_with(
    const tern_module_register_parametrization_options *options)
{
    if (!options)
        return tern_null_error(REGISTER, "options");
    tern_status status = register_in_scope(options);
    tern_module *given = options->parametrization;
    if (given && given->private_ && tern_module_is_callers(given))
        tern_module_release(given);
    return status;
}

// ---- removing -----------------------------------------------------------------------------------

static bool any_requires_grad(const tern_module_tensors *originals)
{
    bool any = false;
    for (int64_t i = 0; i < originals->count; i++)
        any = any || originals->at[i].tensor->requires_grad;
    return any;
}

// What is computed now, without recording; NULL raises.
static tern_tensor *compute_value(tern_parametrization_list *list)
{
    tern_tensor *value = NULL;
    tern_no_grad {
        value = tern_parametrization_compute(list);
    }
    return value;
}

// A new parameter of that value; NULL raises.
static tern_tensor *new_parameter(const tern_parametrization_list *list, tern_tensor *value)
{
    tern_tensor *parameter = NULL;
    tern_no_grad {
        parameter = tern_clone(tern_detach(value));
    }
    if (parameter)
        parameter->requires_grad = any_requires_grad(&list->base.private_->parameters);
    return parameter;
}

// The values of the original that is the parameter again; what fails takes that back.
static tern_status set_values(tern_module *owner, tern_tensor *original, tern_tensor *value)
{
    tern_module_tensors *parameters = &owner->private_->parameters;
    tern_status status = TERN_OK;
    tern_no_grad {
        if (value != original && !tern_copy_(original, value))
            status = tern_error_code();
    }
    if (status) {
        tern_module_take_tensor(parameters, &parameters->at[parameters->count - 1]);
        tern_parametrized_rest(owner);
    }
    return status;
}

static tern_status put_back(tern_module *owner, const char *name, tern_parametrization_list *list,
                            bool leave_parametrized)
{
    const tern_module_tensors *originals = &list->base.private_->parameters;
    tern_tensor *value = leave_parametrized ? compute_value(list) : originals->at[0].tensor;
    if (!value)
        return tern_error_code();
    tern_tensor *original = originals->at[0].tensor; // what computes may have exchanged it
    const bool same = originals->count == 1 && value->dtype == original->dtype &&
                      tern_shape_equal(value->shape, original->shape);
    tern_tensor *parameter = same ? original : new_parameter(list, value);
    if (!parameter)
        return tern_error_code();
    TERN_TRY(tern_module_put_tensor(
        owner, &owner->private_->parameters, name,
        (tern_module_tensor){.tensor = parameter, .member = list->member, .persistent = true}));
    return same ? set_values(owner, original, value) : TERN_OK;
}

static tern_status remove_list(tern_module *owner, const char *name,
                               tern_parametrization_list *list, bool leave_parametrized)
{
    const int64_t count = list->base.private_->parameters.count;
    const char *last = strrchr(name, '.');
    TERN_CHECK(leave_parametrized || count == 1, TERN_ERR_ARG,
               REMOVE ": \"%s\" is computed from %lld tensors, none of which can take its place; "
                      "leave it parametrized",
               name, (long long)count);
    TERN_TRY(tern_module_check_change(REMOVE, owner));
    TERN_TRY(tern_module_check_change(REMOVE, &list->base));
    tern_module_begin_run(owner);
    tern_status status = put_back(owner, last ? last + 1 : name, list, leave_parametrized);
    if (!status)
        take_out(owner, list);
    tern_module_end_run(owner);
    return status;
}

tern_status tern_module_remove_parametrizations_with(
    const tern_module_remove_parametrizations_options *options)
{
    tern_module *owner;
    if (!options)
        return tern_null_error(REMOVE, "options");
    tern_parametrization_list *list = find(REMOVE, options->module, options->name, &owner);
    if (!list)
        return tern_error_code();
    TERN_TRY(tern_capture_refuse(REMOVE, "its work uses what the module has now"));
    tern_scope scope = tern_scope_open();
    if (!scope)
        return tern_error_code();
    tern_status status = remove_list(owner, options->name, list, options->leave_parametrized);
    tern_scope_close(scope);
    return status;
}
