// SPDX-License-Identifier: Apache-2.0
// State tensors: made where they are missing, and brought to where their parameters are.
#include "device/capture.h"
#include "optim/optim.h"
#include "tensor/header.h"

static bool fits(const tern_tensor *state, const tern_tensor *param)
{
    return state->dtype == param->dtype && tern_same_device(tern_dev(state), tern_dev(param));
}

tern_shape tern_optim_state_shape(const tern_optim_class *klass, int slot, const tern_tensor *param)
{
    tern_shape shape = tern_shape_get(param);
    const tern_optim_shape kind = klass->slots[slot].shape;
    if (kind != TERN_SHAPE_PARAM && shape.rank >= 2)
        shape.dim[shape.rank - (kind == TERN_SHAPE_ROW_MEAN ? 1 : 2)] = 1;
    return shape;
}

static int64_t slot_bytes(const tern_optim *optim, const tern_optim_entry *entry)
{
    const unsigned slots = tern_optim_update_of(optim, entry).slots;
    int64_t numel = 0;
    for (int i = 0; i < optim->klass->slot_count; i++)
        if ((slots & 1u << i) || entry->state[i])
            numel += tern_shape_numel(tern_optim_state_shape(optim->klass, i, entry->param));
    return numel * (int64_t)tern_dtype_size(entry->param->dtype);
}

int64_t tern_optim_state_bytes(const tern_optim *optim)
{
    int64_t total = 0, history = 0;
    if (optim->klass->step_closure) // two vectors for each step of the history, and the last ones
        history = 2 * (int64_t)tern_optim_get(optim, 0, "history_size") + 2;
    for (int64_t i = 0; i < optim->entry_count; i++) {
        const tern_optim_entry *entry = &optim->entries[i];
        const tern_tensor *p = entry->param;
        if (!p->requires_grad)
            continue;
        total += history ? history * p->numel * (int64_t)tern_dtype_size(p->dtype)
                         : slot_bytes(optim, entry);
    }
    return total;
}

// What takes the place of a state tensor that is missing, or that its parameter left behind.
static tern_tensor *make_state(const tern_optim *optim, const tern_optim_entry *entry, int slot)
{
    tern_tensor *old = entry->state[slot];
    const tern_optim_slot *kind = &optim->klass->slots[slot];
    if (!old && kind->start == TERN_START_NUMBER)
        return tern_full_like(entry->param, optim->groups[entry->group].number[kind->fill]);
    if (!old && kind->start == TERN_START_PARAM)
        return tern_clone(tern_detach(entry->param));
    if (!old)
        return tern_zeros(tern_optim_state_shape(optim->klass, slot, entry->param),
                          .dtype = entry->param->dtype, .device = tern_dev(entry->param));
    tern_tensor *there = tern_to(old, tern_dev(entry->param));
    return there ? tern_to_dtype(there, entry->param->dtype) : NULL;
}

// The slots that are needed and have no state where and as the parameter is, one bit each.
static unsigned missing_states(const tern_optim *optim, const tern_optim_entry *entry)
{
    unsigned missing = tern_optim_update_of(optim, entry).slots;
    for (int i = 0; i < optim->klass->slot_count; i++)
        if (entry->state[i] && fits(entry->state[i], entry->param))
            missing &= ~(1u << i);
    return missing;
}

static tern_status prepare_entry(const tern_optim *optim, tern_optim_entry *entry)
{
    const unsigned missing = missing_states(optim, entry);
    for (int i = 0; i < optim->klass->slot_count; i++) {
        tern_tensor *made = missing & 1u << i ? make_state(optim, entry, i) : NULL;
        if ((missing & 1u << i) && !made)
            return tern_error_code();
        entry->next[i] = tern_tensor_retain(made);
    }
    return TERN_OK;
}

bool tern_optim_has_states(const tern_optim *optim)
{
    for (int64_t i = 0; i < optim->entry_count; i++)
        if (optim->entries[i].active && missing_states(optim, &optim->entries[i]))
            return false;
    return true;
}

// Puts the new tensors in place, or drops them.
static void finalize_states(tern_optim *optim, bool keep)
{
    for (int64_t i = 0; i < optim->entry_count; i++) {
        tern_optim_entry *entry = &optim->entries[i];
        for (int k = 0; k < optim->klass->slot_count; k++) {
            if (!entry->next[k])
                continue;
            tern_tensor *unused = keep ? entry->state[k] : entry->next[k];
            if (keep && !entry->state[k])
                entry->fresh |= 1u << k;
            if (keep)
                entry->state[k] = entry->next[k];
            entry->next[k] = NULL;
            tern_tensor_release(unused);
        }
    }
}

tern_status tern_optim_make_states(tern_optim *optim)
{
    tern_status status = TERN_OK;
    for (int64_t i = 0; !status && i < optim->entry_count; i++)
        if (optim->entries[i].active)
            status = prepare_entry(optim, &optim->entries[i]);
    finalize_states(optim, !status);
    return status;
}

void tern_optim_release_fresh_states(tern_optim *optim)
{
    for (int64_t i = 0; i < optim->entry_count; i++) {
        tern_optim_entry *entry = &optim->entries[i];
        for (int k = 0; k < optim->klass->slot_count; k++)
            if (entry->fresh & 1u << k) {
                tern_tensor_release(entry->state[k]);
                entry->state[k] = NULL;
            }
        entry->fresh = 0;
    }
}

// ---- at construction ----------------------------------------------------------------------------

static tern_status begin_entry(tern_optim *optim, tern_optim_entry *entry)
{
    for (int i = 0; i < optim->klass->slot_count; i++) {
        if (!optim->klass->slots[i].at_construction)
            continue;
        tern_tensor *made = make_state(optim, entry, i);
        if (!made)
            return tern_error_code();
        entry->state[i] = tern_tensor_retain(made);
    }
    return TERN_OK;
}

static bool begins_with_state(const tern_optim_class *klass)
{
    for (int i = 0; i < klass->slot_count; i++)
        if (klass->slots[i].at_construction)
            return true;
    return false;
}

tern_status tern_optim_begin_states(const char *function, tern_optim *optim, int64_t first)
{
    tern_status status = TERN_OK;
    if (!begins_with_state(optim->klass))
        return TERN_OK;
    TERN_TRY(tern_capture_refuse(function, "replays would fill the state again"));
    tern_scope scope = tern_scope_open();
    if (!scope)
        return TERN_ERR_NOMEM;
    for (int64_t i = first; !status && i < optim->entry_count; i++)
        status = begin_entry(optim, &optim->entries[i]);
    tern_scope_close(scope);
    return status;
}
