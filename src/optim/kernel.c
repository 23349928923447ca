// SPDX-License-Identifier: Apache-2.0
// One kernel of a step: which formula an entry has, its numbers, and what it reads on devices.
#include "device/backend.h"
#include "device/fault.h"
#include "optim/optim.h"

tern_optim_update tern_optim_update_of(const tern_optim *optim, const tern_optim_entry *entry)
{
    return optim->klass->update(optim->groups[entry->group].number, entry->param);
}

bool tern_optim_counts_step(const tern_optim *optim, const tern_optim_entry *entry)
{
    return optim->klass->torch.step ||
           (optim->klass->direction && tern_optim_update_of(optim, entry).code == TERN_STEP_ADAM);
}

const tern_optim_direction *tern_optim_direction_of(const tern_optim *optim,
                                                    const tern_optim_entry *entry)
{
    const bool has_one =
        optim->klass->direction && tern_optim_update_of(optim, entry).code == TERN_STEP_DIRECTED;
    return has_one ? optim->klass->direction : NULL;
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

static tern_optim_step_info next_step(const tern_optim_entry *entry, tern_step_code code,
                                      const float *scalar)
{
    const bool wide = entry->param->dtype == TERN_FLOAT64;
    return (tern_optim_step_info){code, entry->param, entry->step + 1, entry->fresh, wide, scalar};
}

void tern_optim_derive(const tern_optim *optim, const tern_optim_entry *entry, tern_step_code code,
                       double *number)
{
    float scalar[TERN_OPTIM_SCALARS];
    if (optim->klass->scalar_count > 0)
        scalars_of(optim, entry, scalar);
    const tern_optim_step_info at = next_step(entry, code, scalar);
    optim->klass->derive(optim->groups[entry->group].number, &at, number);
}

void tern_optim_advance(const tern_optim *optim, tern_optim_entry *entry, tern_optim_update update)
{
    if (optim->klass->advance) {
        float scalar[TERN_OPTIM_SCALARS];
        scalars_of(optim, entry, scalar);
        const tern_optim_step_info at = next_step(entry, update.code, scalar);
        optim->klass->advance(optim->groups[entry->group].number, &at, entry->scalar);
    }
    entry->step++;
    entry->fresh &= ~update.slots;
}

// ---- on devices ---------------------------------------------------------------------------------

tern_optim_device *tern_optim_device_of(tern_optim_device *devices, int64_t count,
                                        tern_device device)
{
    for (int64_t i = 0; i < count; i++)
        if (tern_same_device(devices[i].device, device))
            return &devices[i];
    return NULL;
}

tern_status tern_optim_poll(const tern_optim_device *devices, int64_t device_count)
{
    for (int64_t i = 0; i < device_count; i++)
        TERN_TRY(tern_fault_poll(devices[i].device));
    return TERN_OK;
}

// What a launch takes of a plan for each of its tensors at most: tern_step_plan_size(1), aligned.
#define PLAN_ALIGNMENT 256
#define PLAN_PER_ENTRY (2 * PLAN_ALIGNMENT)

// What the launches of a step take of a plan at most: where directions are made, averages of up to
// two tensors go before, twice, which take as much as the update itself.
static int64_t plan_size(const tern_optim *optim)
{
    return optim->entry_count * PLAN_PER_ENTRY * (optim->klass->direction ? 3 : 1);
}

bool tern_optim_has_plan(const tern_optim *optim, const tern_optim_device *on)
{
    return on->device.type == TERN_CPU ||
           (on->plan && tern_device_equal(on->plan->device, on->device) &&
            on->plan->nbytes >= plan_size(optim));
}

tern_status tern_optim_make_plan(const tern_optim *optim, tern_optim_device *on)
{
    tern_storage *plan = tern_storage_new_outside(on->device, plan_size(optim));
    if (!plan)
        return TERN_ERR_NOMEM;
    tern_storage_release(on->plan);
    on->plan = plan;
    return TERN_OK;
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

tern_status tern_optim_run(tern_optim_device *on, tern_optim_pass pass, tern_step_code code,
                           const tern_step_tensor *tensors, int64_t count)
{
    tern_exec exec = tern_exec_of(on->device);
    tern_step_plan plan;
    if (on->device.type != TERN_CPU) {
        plan = next_plan(on, pass, count);
        exec.plan = &plan;
    } else if (pass == TERN_OPTIM_REPLAY) {
        return TERN_OK;
    }
    return tern_kernels_of(on->device)->step(&exec, code, tensors, count);
}

// ---- averages -----------------------------------------------------------------------------------

void *tern_optim_data(const tern_tensor *t)
{
    return t ? tern_view_data(t) : NULL;
}

tern_status tern_optim_average(const tern_optim *optim, const tern_optim_entry *entry,
                               tern_tensor *const *into, tern_optim_pass pass,
                               tern_optim_device *on)
{
    tern_step_tensor list[TERN_STEP_STATES];
    int64_t count = 0;
    for (int i = 0; i < optim->klass->slot_count; i++) {
        if (!into[i] || !entry->made.next[i])
            continue;
        tern_step_tensor *t = &list[count++];
        *t = (tern_step_tensor){.param = tern_optim_data(into[i]),
                                .grad = tern_optim_data(entry->made.next[i]),
                                .numel = into[i]->numel,
                                .dtype = into[i]->dtype};
        tern_optim_derive(optim, entry, TERN_STEP_AVERAGE, t->number);
    }
    return count == 0 ? TERN_OK : tern_optim_run(on, pass, TERN_STEP_AVERAGE, list, count);
}
