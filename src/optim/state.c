// SPDX-License-Identifier: Apache-2.0
// Looking at an optimizer's state, and putting it back.
#include <stdio.h>
#include <string.h>
#include "device/capture.h"
#include "optim/optim.h"
#include "tensor/header.h"
#include "tensor/liveness.h"

int64_t tern_optim_num_parameters(const tern_optim *optim)
{
    return tern_check_optim("optim_num_parameters", optim) ? -1 : optim->entry_count;
}

static tern_optim_entry *entry_at(const char *function, const tern_optim *optim, int64_t index)
{
    if (tern_check_optim(function, optim))
        return NULL;
    TERN_CHECK_PTR(index >= 0 && index < optim->entry_count, TERN_ERR_INDEX,
                   "%s: there is no parameter %lld; %s has %lld", function, (long long)index,
                   optim->klass->name, (long long)optim->entry_count);
    return &optim->entries[index];
}

tern_tensor *tern_optim_parameter_at(const tern_optim *optim, int64_t index, char *name,
                                     size_t size)
{
    const tern_optim_entry *entry = entry_at("optim_parameter_at", optim, index);
    if (!entry)
        return NULL;
    if (name && size > 0)
        snprintf(name, size, "%s", entry->name);
    return entry->param;
}

int64_t tern_optim_step_count(const tern_optim *optim, int64_t index)
{
    const tern_optim_entry *entry = entry_at("optim_step_count", optim, index);
    return entry ? entry->step : -1;
}

tern_status tern_optim_set_step_count(tern_optim *optim, int64_t index, int64_t count)
{
    tern_optim_entry *entry = entry_at("optim_set_step_count", optim, index);
    if (!entry)
        return tern_error_code();
    TERN_CHECK(count >= 0 && count <= TERN_OPTIM_MAX_STEPS, TERN_ERR_ARG,
               "optim_set_step_count: %lld updates", (long long)count);
    entry->step = count;
    return TERN_OK;
}

// The number of a state tensor, -1 with an error when the optimizer has none of that name.
static int slot_of(const char *function, const tern_optim *optim, const char *name)
{
    if (!name) {
        tern_null_error(function, "name");
        return -1;
    }
    for (int i = 0; i < optim->klass->slot_count; i++)
        if (strcmp(optim->klass->slots[i].name, name) == 0)
            return i;
    tern_error_raise(TERN_ERR_ARG, "%s: %s has no state \"%.64s\"", function, optim->klass->name,
                     name);
    return -1;
}

tern_tensor *tern_optim_state(const tern_optim *optim, int64_t index, const char *name)
{
    const tern_optim_entry *entry = entry_at("optim_state", optim, index);
    int slot = entry ? slot_of("optim_state", optim, name) : -1;
    return slot < 0 ? NULL : entry->state[slot];
}

// A copy of `value` where the parameter is, held.
static tern_tensor *copy_for(const tern_optim_entry *entry, tern_tensor *value)
{
    tern_scope scope = tern_scope_open();
    if (!scope)
        return NULL;
    tern_tensor *copy = tern_empty(tern_shape_get(value), .dtype = entry->param->dtype,
                                   .device = tern_dev(entry->param));
    tern_tensor *source = copy ? tern_detach(value) : NULL;
    if (!source || !tern_copy_(copy, source))
        copy = NULL;
    tern_tensor_retain(copy);
    tern_scope_close(scope);
    return copy;
}

tern_status tern_optim_set_state(tern_optim *optim, int64_t index, const char *name,
                                 tern_tensor *value)
{
    const char *function = "optim_set_state";
    tern_optim_entry *entry = entry_at(function, optim, index);
    int slot = entry ? slot_of(function, optim, name) : -1;
    if (slot < 0)
        return tern_error_code();
    TERN_TRY(tern_capture_refuse(function, "replays would copy the value again"));
    TERN_TRY(tern_check_tensor(function, "value", value));
    const tern_shape shape = tern_optim_state_shape(optim->klass, slot, entry->param);
    TERN_CHECK(tern_shape_equal(tern_shape_get(value), shape), TERN_ERR_SHAPE,
               "%s: %s of %s is %s, but the value given %s", function, name, entry->name,
               tern_shape_string(shape), tern_shape_string(tern_shape_get(value)));
    tern_tensor *copy = copy_for(entry, value);
    if (!copy)
        return tern_error_code();
    tern_tensor_release(entry->state[slot]);
    entry->state[slot] = copy;
    entry->fresh &= ~(1u << slot);
    return TERN_OK;
}
