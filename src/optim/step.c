// SPDX-License-Identifier: Apache-2.0
// One update: check everything, make what is missing, then launch.
#include "device/backend.h"
#include "device/draws.h"
#include "optim/optim.h"
#include "tensor/capture.h"

// ---- checks -------------------------------------------------------------------------------------

static tern_status check_gradient(const tern_optim_entry *entry)
{
    const tern_tensor *p = entry->param, *g = p->grad;
    TERN_CHECK(
        p->grad_state != TERN_GRAD_UNUSABLE, TERN_ERR_STATE,
        "optim_step: the gradient of %s was left unusable by a failed backward or step; call "
        "tern_optim_zero_grad and backward again",
        entry->name);
    if (!entry->active)
        return TERN_OK;
    TERN_CHECK(tern_same_device(tern_dev(p), tern_dev(g)), TERN_ERR_DEVICE,
               "optim_step: %s is %s, but its gradient is %s", entry->name, tern_tensor_string(p),
               tern_tensor_string(g));
    TERN_CHECK(p->dtype == g->dtype && p->numel == g->numel && g->contiguous, TERN_ERR_STATE,
               "optim_step: %s is %s, but its gradient is %s", entry->name, tern_tensor_string(p),
               tern_tensor_string(g));
    return TERN_OK;
}

static tern_status check_entries(tern_optim *optim)
{
    for (int64_t i = 0; i < optim->entry_count; i++) {
        tern_optim_entry *entry = &optim->entries[i];
        TERN_TRY(tern_capture_leaf(entry->param, TERN_LEAF_GRAD_QUERIED));
        entry->active = entry->param->grad && entry->param->grad_state == TERN_GRAD_PRESENT;
        TERN_TRY(check_gradient(entry));
    }
    return TERN_OK;
}

tern_status tern_optim_check_gradients(tern_optim *optim)
{
    tern_optim_find_devices(optim);
    for (int64_t i = 0; i < optim->device_count; i++)
        TERN_TRY(tern_capture_check_training("optim_step", optim->devices[i].device));
    TERN_TRY(tern_optim_poll(optim->devices, optim->device_count));
    return check_entries(optim);
}

static tern_status check_step(tern_optim *optim)
{
    TERN_TRY(tern_check_optim("optim_step", optim));
    if (tern_error_pending())
        return tern_error_code();
    TERN_CHECK(!optim->klass->step_closure, TERN_ERR_STATE,
               "optim_step: %s evaluates the loss itself: call tern_optim_step_closure",
               optim->klass->name);
    TERN_TRY(tern_optim_check_training("optim_step", optim));
    return tern_optim_check_gradients(optim);
}

// The list then holds the captured device alone: any other was refused.
static bool is_captured(const tern_optim *optim)
{
    return optim->device_count > 0 && tern_capturing(optim->devices[0].device);
}

static tern_status run_now(tern_optim *optim)
{
    TERN_TRY(tern_optim_prepare(optim));
    tern_status status =
        tern_optim_launch(optim, TERN_OPTIM_STEP, optim->devices, optim->device_count);
    if (!optim->klass->direction)
        return status;
    for (int64_t i = 0; i < optim->entry_count; i++)
        tern_optim_release_made(&optim->entries[i].made);
    if (status)
        tern_optim_release_fresh_states(optim);
    return status;
}

static tern_status run_step(tern_optim *optim)
{
    if (!is_captured(optim))
        return run_now(optim);
    TERN_CHECK(
        tern_optim_has_states(optim), TERN_ERR_STATE,
        "optim_step: the optimizer's state is not there yet: run a step before capturing one");
    return tern_optim_capture(optim);
}

// Probably 1 / 10, which is 0 in C.
static void warn_of_lr_0(tern_optim *optim)
{
    optim->made_with_lr_0 = false;
    for (int64_t g = 0; g < optim->group_count; g++)
        if (optim->groups[g].number[0] != 0)
            return;
    tern_log_send(TERN_LOG_WARN,
                  "optim_step: the %s was made with lr = 0, so steps change no parameter; in C "
                  "1 / 10 is 0 and 1.0 / 10 is 0.1",
                  optim->klass->name);
}

// Before the update, so that nothing fails after it. Where the update fails, the draws go on from
// the same number.
static tern_status advance_draws(const tern_optim *optim)
{
    for (int64_t i = 0; i < optim->device_count; i++)
        TERN_TRY(tern_draw_advance(optim->devices[i].device));
    return TERN_OK;
}

// A step that waits for more gradients.
static tern_status wait(tern_optim *optim)
{
    TERN_CHECK(!is_captured(optim), TERN_ERR_STATE,
               "optim_step: not while a device is captured: replays would not count the gradients "
               "that are accumulated");
    optim->accumulated++;
    return TERN_OK;
}

tern_status tern_optim_step(tern_optim *optim)
{
    TERN_TRY(check_step(optim));
    if (!tern_optim_is_last(optim))
        return wait(optim);
    if (optim->made_with_lr_0)
        warn_of_lr_0(optim);
    TERN_TRY(advance_draws(optim));
    if (optim->accumulate_every > 1)
        TERN_TRY(tern_optim_make_mean(optim));
    TERN_TRY(run_step(optim));
    optim->has_stepped = true;
    optim->accumulated = 0;
    optim->is_mean = false;
    optim->acted++;
    return TERN_OK;
}
