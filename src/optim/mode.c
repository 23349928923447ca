// SPDX-License-Identifier: Apache-2.0
// Where an optimizer that averages has its parameters: where gradients are taken, or at the mean.
#include <errno.h>
#include "device/capture.h"
#include "device/fault.h"
#include "optim/optim.h"

// Groups that were loaded from others may differ.
static bool is_in_mode(const tern_optim *optim, bool training)
{
    const tern_optim_mode *mode = optim->klass->mode;
    for (int64_t i = 0; mode && i < optim->group_count; i++)
        if ((optim->groups[i].number[mode->number] != 0) != training)
            return false;
    return true;
}

tern_status tern_optim_check_training(const char *function, const tern_optim *optim)
{
    TERN_CHECK(is_in_mode(optim, true), TERN_ERR_STATE,
               "%s: the parameters of %s are at their average, for evaluation; call "
               "tern_optim_train first",
               function, optim->klass->name);
    return TERN_OK;
}

// Kernels change nothing while the fault record is set, which nobody else would notice here.
static tern_status prepare(tern_optim *optim, const tern_optim_mode *mode, bool training)
{
    tern_optim_find_devices(optim);
    for (int64_t i = 0; i < optim->device_count; i++) {
        TERN_TRY(tern_fault_wait(optim->devices[i].device));
        optim->devices[i].plan_used = 0;
    }
    for (int64_t i = 0; i < optim->entry_count; i++) {
        tern_optim_entry *entry = &optim->entries[i];
        const bool there = optim->groups[entry->group].number[mode->number] == training;
        entry->active = entry->state[mode->slot] && !there;
    }
    return tern_optim_prepare(optim);
}

static tern_status move_entry(tern_optim *optim, tern_optim_entry *entry, int slot)
{
    tern_tensor *into[TERN_STEP_STATES] = {NULL};
    tern_optim_device *on =
        tern_optim_device_of(optim->devices, optim->device_count, tern_dev(entry->param));
    into[slot] = entry->param;
    entry->made.next[slot] = entry->state[slot];
    tern_status status = tern_optim_average(optim, entry, into, TERN_OPTIM_STEP, on);
    entry->made.next[slot] = NULL;
    if (!status)
        tern_tensor_touched(entry->param);
    return status;
}

static tern_status move_all(tern_optim *optim, const tern_optim_mode *mode, bool training)
{
    TERN_TRY(prepare(optim, mode, training));
    for (int64_t i = 0; i < optim->entry_count; i++)
        if (optim->entries[i].active)
            TERN_TRY(move_entry(optim, &optim->entries[i], mode->slot));
    return TERN_OK;
}

static tern_status set_mode(const char *function, tern_optim *optim, bool training)
{
    TERN_TRY(tern_check_optim(function, optim));
    const tern_optim_mode *mode = optim->klass->mode;
    TERN_TRY(tern_error_code());
    if (!mode || is_in_mode(optim, training))
        return TERN_OK;
    TERN_TRY(tern_capture_refuse(function, "replays would move the parameters again"));
    const int saved = errno; // pow sets it
    tern_status status = move_all(optim, mode, training);
    errno = saved;
    TERN_TRY(status);
    for (int64_t i = 0; i < optim->group_count; i++)
        optim->groups[i].number[mode->number] = training;
    return TERN_OK;
}

tern_status tern_optim_train(tern_optim *optim)
{
    return set_mode("optim_train", optim, true);
}

tern_status tern_optim_eval(tern_optim *optim)
{
    return set_mode("optim_eval", optim, false);
}
