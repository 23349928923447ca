// SPDX-License-Identifier: Apache-2.0
// The update of all parameters with a gradient, in a kernel for each formula, device and dtype.
#include <errno.h>
#include <string.h>
#include "device/backend.h"
#include "optim/optim.h"

// All but the numbers. The state of an update with a direction is averaged by itself.
static void describe(const tern_optim *optim, const tern_optim_entry *entry,
                     const tern_optim_update *update, tern_step_tensor *t)
{
    *t = (tern_step_tensor){
        .param = tern_optim_data(entry->param),
        .grad = tern_optim_data(update->code == TERN_STEP_DIRECTED ? entry->made.direction
                                                                   : entry->param->grad),
        .numel = entry->param->numel,
        .dtype = entry->param->dtype,
    };
    for (int i = 0, next = 0; update->code != TERN_STEP_DIRECTED && i < optim->klass->slot_count;
         i++)
        if (update->slots & 1u << i)
            t->state[next++] = tern_optim_data(entry->state[i]);
}

// Whether the numbers of two entries of one dtype are the same.
static bool derives_as(const tern_optim_entry *entry, const tern_optim_entry *before)
{
    return entry->group == before->group && entry->step == before->step &&
           entry->fresh == before->fresh &&
           memcmp(entry->scalar, before->scalar, sizeof entry->scalar) == 0;
}

// What the numbers of groups change is derived for each parameter: a launch takes several groups.
static bool has_formula_of(const tern_optim *optim, const tern_optim_entry *entry,
                           const tern_optim_entry *first)
{
    return (entry->group == first->group && !optim->klass->direction) ||
           tern_optim_update_of(optim, entry).code == tern_optim_update_of(optim, first).code;
}

static bool goes_with(const tern_optim *optim, const tern_optim_entry *entry,
                      const tern_optim_entry *first)
{
    return entry->active && has_formula_of(optim, entry, first) &&
           entry->param->dtype == first->param->dtype &&
           tern_same_device(tern_dev(entry->param), tern_dev(first->param));
}

static int64_t list_like(tern_optim *optim, int64_t first)
{
    const tern_optim_update update = tern_optim_update_of(optim, &optim->entries[first]);
    const tern_optim_entry *before = NULL;
    int64_t count = 0;
    for (int64_t i = first; i < optim->entry_count; i++) {
        const tern_optim_entry *entry = &optim->entries[i];
        if (!goes_with(optim, entry, &optim->entries[first]))
            continue;
        tern_step_tensor *t = &optim->tensors[count++];
        describe(optim, entry, &update, t);
        if (before && update.code != TERN_STEP_DIRECTED && derives_as(entry, before))
            memcpy(t->number, t[-1].number, sizeof t->number);
        else
            tern_optim_derive(optim, entry, update.code, t->number);
        before = entry;
    }
    return count;
}

// Updates the parameters that are like entry `first` (formula, device, dtype) in one launch.
static tern_status launch_with(tern_optim *optim, int64_t first, tern_optim_pass pass,
                               tern_optim_device *on)
{
    const tern_optim_entry like = optim->entries[first];
    const int64_t count = list_like(optim, first);
    const tern_optim_update update = tern_optim_update_of(optim, &like);
    TERN_TRY(tern_optim_run(on, pass, update.code, optim->tensors, count));
    for (int64_t i = first; i < optim->entry_count; i++) {
        tern_optim_entry *entry = &optim->entries[i];
        if (!goes_with(optim, entry, &like))
            continue;
        if (pass != TERN_OPTIM_CAPTURE) // directions of one formula have other slots
            tern_optim_advance(optim, entry,
                               optim->klass->direction ? tern_optim_update_of(optim, entry)
                                                       : update);
        entry->active = false;
        if (pass != TERN_OPTIM_REPLAY)
            tern_tensor_touched(entry->param);
    }
    return TERN_OK;
}

// What earlier launches of the step have used cannot be undone: it must not be used again.
static void refuse_used_gradients(tern_optim *optim)
{
    for (int64_t i = 0; i < optim->entry_count; i++) {
        tern_tensor *param = optim->entries[i].param;
        const bool used = !optim->entries[i].active || optim->klass->direction;
        if (used && param->grad_state == TERN_GRAD_PRESENT)
            param->grad_state = TERN_GRAD_UNUSABLE;
    }
}

// The update has read the fault record and changed nothing where it is set. The host learns of it
// without waiting: from here the record is on its way to where the next step, or a loader, looks.
static void publish_faults(const tern_optim_device *devices, int64_t device_count)
{
    for (int64_t i = 0; i < device_count; i++) {
        tern_device device = devices[i].device;
        tern_backend_of(device.type)->device->fault_publish(device.index);
    }
}

// A direction may come with new averages, which are state.
static tern_status average_states(tern_optim *optim, tern_optim_pass pass,
                                  tern_optim_device *devices, int64_t device_count)
{
    for (int64_t i = 0; optim->klass->direction && i < optim->entry_count; i++) {
        const tern_optim_entry *entry = &optim->entries[i];
        if (!entry->active || !tern_optim_direction_of(optim, entry))
            continue;
        tern_device device = tern_dev(entry->param);
        TERN_TRY(tern_optim_average(optim, entry, entry->state, pass,
                                    tern_optim_device_of(devices, device_count, device)));
    }
    return TERN_OK;
}

static void advance_groups(tern_optim *optim)
{
    for (int64_t i = 0; optim->klass->advance_group && i < optim->group_count; i++)
        optim->klass->advance_group(optim->groups[i].number);
}

static tern_status update_all(tern_optim *optim, tern_optim_pass pass, tern_optim_device *devices,
                              int64_t device_count)
{
    TERN_TRY(average_states(optim, pass, devices, device_count));
    for (int64_t i = 0; i < optim->entry_count; i++) {
        if (!optim->entries[i].active)
            continue;
        tern_device device = tern_dev(optim->entries[i].param);
        TERN_TRY(launch_with(optim, i, pass, tern_optim_device_of(devices, device_count, device)));
    }
    if (pass != TERN_OPTIM_CAPTURE) // replays are counted
        advance_groups(optim);
    return TERN_OK;
}

static tern_status launch(tern_optim *optim, tern_optim_pass pass, tern_optim_device *devices,
                          int64_t device_count)
{
    if (optim->klass->direction)
        TERN_TRY(tern_optim_make_directions(optim, pass, devices, device_count));
    tern_status status = update_all(optim, pass, devices, device_count);
    if (status && pass != TERN_OPTIM_REPLAY)
        refuse_used_gradients(optim);
    TERN_TRY(status);
    if (pass != TERN_OPTIM_REPLAY)
        publish_faults(devices, device_count);
    return TERN_OK;
}

tern_status tern_optim_launch(tern_optim *optim, tern_optim_pass pass, tern_optim_device *devices,
                              int64_t device_count)
{
    const int saved = errno; // pow sets it
    for (int64_t i = 0; i < device_count; i++)
        devices[i].plan_used = 0;
    tern_status status = launch(optim, pass, devices, device_count);
    errno = saved;
    return status;
}
