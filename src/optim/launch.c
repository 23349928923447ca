// SPDX-License-Identifier: Apache-2.0
// The kernels of a step, once for each formula, device and dtype; and what they read on devices.
#include <errno.h>
#include <string.h>
#include "device/backend.h"
#include "device/fault.h"
#include "optim/optim.h"

tern_optim_device *tern_optim_device_of(tern_optim_device *devices, int64_t count,
                                        tern_device device)
{
    for (int64_t i = 0; i < count; i++)
        if (tern_same_device(devices[i].device, device))
            return &devices[i];
    return NULL;
}

// What a launch takes of a plan for each of its tensors at most: tern_step_plan_size(1), aligned.
#define PLAN_ALIGNMENT 256
#define PLAN_PER_ENTRY (2 * PLAN_ALIGNMENT)

bool tern_optim_has_plan(const tern_optim *optim, const tern_optim_device *on)
{
    return on->device.type == TERN_CPU ||
           (on->plan && tern_device_equal(on->plan->device, on->device) &&
            on->plan->nbytes >= optim->entry_count * PLAN_PER_ENTRY);
}

tern_status tern_optim_make_plan(const tern_optim *optim, tern_optim_device *on)
{
    tern_storage *plan = tern_storage_new_outside(on->device, optim->entry_count * PLAN_PER_ENTRY);
    if (!plan)
        return TERN_ERR_NOMEM;
    tern_storage_release(on->plan);
    on->plan = plan;
    return TERN_OK;
}

tern_status tern_optim_poll(const tern_optim_device *devices, int64_t device_count)
{
    for (int64_t i = 0; i < device_count; i++)
        TERN_TRY(tern_fault_poll(devices[i].device));
    return TERN_OK;
}

static void *data_of(const tern_tensor *t)
{
    return t ? tern_view_data(t) : NULL;
}

tern_optim_update tern_optim_update_of(const tern_optim *optim, const tern_optim_entry *entry)
{
    return optim->klass->update(optim->groups[entry->group].number);
}

// All but the numbers.
static void describe(const tern_optim *optim, const tern_optim_entry *entry, unsigned slots,
                     tern_step_tensor *t)
{
    *t = (tern_step_tensor){
        .param = data_of(entry->param),
        .grad = data_of(entry->param->grad),
        .numel = entry->param->numel,
        .dtype = entry->param->dtype,
    };
    for (int i = 0, next = 0; i < optim->klass->slot_count; i++)
        if (slots & 1u << i)
            t->state[next++] = data_of(entry->state[i]);
}

// The scalars before the entry's next step.
static void scalars_of(const tern_optim *optim, const tern_optim_entry *entry, float *scalar)
{
    const tern_optim_class *klass = optim->klass;
    klass->begin(optim->groups[entry->group].number, scalar);
    for (int i = 0; i < klass->scalar_count; i++)
        if (!isnan(entry->scalar[i]))
            scalar[i] = entry->scalar[i];
}

static tern_optim_step_info next_step(const tern_optim_entry *entry, const float *scalar)
{
    const bool wide = entry->param->dtype == TERN_FLOAT64;
    return (tern_optim_step_info){entry->step + 1, entry->fresh, wide, scalar};
}

static void derive(const tern_optim *optim, const tern_optim_entry *entry, double *number)
{
    float scalar[TERN_OPTIM_SCALARS];
    if (optim->klass->scalar_count > 0)
        scalars_of(optim, entry, scalar);
    const tern_optim_step_info at = next_step(entry, scalar);
    optim->klass->derive(optim->groups[entry->group].number, &at, number);
}

static void advance(const tern_optim *optim, tern_optim_entry *entry, unsigned slots)
{
    if (optim->klass->advance) {
        float scalar[TERN_OPTIM_SCALARS];
        scalars_of(optim, entry, scalar);
        const tern_optim_step_info at = next_step(entry, scalar);
        optim->klass->advance(optim->groups[entry->group].number, &at, entry->scalar);
    }
    entry->step++;
    entry->fresh &= ~slots;
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
    return entry->group == first->group ||
           tern_optim_update_of(optim, entry).code == tern_optim_update_of(optim, first).code;
}

static bool goes_with(const tern_optim *optim, const tern_optim_entry *entry,
                      const tern_optim_entry *first)
{
    return entry->active && has_formula_of(optim, entry, first) &&
           entry->param->dtype == first->param->dtype &&
           tern_same_device(tern_dev(entry->param), tern_dev(first->param));
}

// The part of the device's plan for a launch over `count` tensors.
static tern_step_plan next_plan(tern_optim_device *on, tern_optim_pass pass, int64_t count)
{
    tern_storage_use(on->plan, "");
    tern_step_plan plan = {
        .memory = (char *)on->plan->data + on->plan_used,
        .write = pass != TERN_OPTIM_CAPTURE,
        .run = pass != TERN_OPTIM_REPLAY,
    };
    int64_t nbytes = tern_step_plan_size(count);
    on->plan_used += (nbytes + PLAN_ALIGNMENT - 1) / PLAN_ALIGNMENT * PLAN_ALIGNMENT;
    return plan;
}

static int64_t list_like(tern_optim *optim, int64_t first)
{
    const int saved = errno; // pow sets it
    const unsigned slots = tern_optim_update_of(optim, &optim->entries[first]).slots;
    const tern_optim_entry *before = NULL;
    int64_t count = 0;
    for (int64_t i = first; i < optim->entry_count; i++) {
        const tern_optim_entry *entry = &optim->entries[i];
        if (!goes_with(optim, entry, &optim->entries[first]))
            continue;
        tern_step_tensor *t = &optim->tensors[count++];
        describe(optim, entry, slots, t);
        if (before && derives_as(entry, before))
            memcpy(t->number, t[-1].number, sizeof t->number);
        else
            derive(optim, entry, t->number);
        before = entry;
    }
    errno = saved;
    return count;
}

// Updates the parameters that are like entry `first` (formula, device, dtype) in one launch.
static tern_status launch_with(tern_optim *optim, int64_t first, tern_optim_pass pass,
                               tern_optim_device *on)
{
    const tern_optim_entry like = optim->entries[first];
    int64_t count = list_like(optim, first);
    tern_exec exec = tern_exec_of(on->device);
    tern_step_plan plan;
    if (on->device.type != TERN_CPU) {
        plan = next_plan(on, pass, count);
        exec.plan = &plan;
    }
    const tern_optim_update update = tern_optim_update_of(optim, &like);
    TERN_TRY(tern_kernels_of(on->device)->step(&exec, update.code, optim->tensors, count));
    for (int64_t i = first; i < optim->entry_count; i++) {
        tern_optim_entry *entry = &optim->entries[i];
        if (!goes_with(optim, entry, &like))
            continue;
        if (pass != TERN_OPTIM_CAPTURE)
            advance(optim, entry, update.slots);
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
        if (!optim->entries[i].active && param->grad_state == TERN_GRAD_PRESENT)
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

tern_status tern_optim_launch(tern_optim *optim, tern_optim_pass pass, tern_optim_device *devices,
                              int64_t device_count)
{
    for (int64_t i = 0; i < device_count; i++)
        devices[i].plan_used = 0;
    for (int64_t i = 0; i < optim->entry_count; i++) {
        if (!optim->entries[i].active)
            continue;
        tern_device device = tern_dev(optim->entries[i].param);
        tern_status status =
            launch_with(optim, i, pass, tern_optim_device_of(devices, device_count, device));
        if (status && pass != TERN_OPTIM_REPLAY)
            refuse_used_gradients(optim);
        TERN_TRY(status);
    }
    if (pass != TERN_OPTIM_REPLAY)
        publish_faults(devices, device_count);
    return TERN_OK;
}
