// SPDX-License-Identifier: Apache-2.0
// One update: check everything, make what is missing, then launch.
#include "device/backend.h"
#include "device/draws.h"
#include "optim/optim.h"
#include "tensor/capture.h"

static tern_optim_home *home_of(tern_optim_home *homes, int64_t count, tern_device device)
{
    for (int64_t i = 0; i < count; i++)
        if (tern_device_equal(homes[i].device, device))
            return &homes[i];
    return NULL;
}

// There is room for as many as there are entries. A plan stays for the next step.
static void find_homes(tern_optim *optim)
{
    optim->home_count = 0;
    for (int64_t i = 0; i < optim->entry_count; i++) {
        tern_device device = tern_dev(optim->entries[i].param);
        if (!home_of(optim->homes, optim->home_count, device))
            optim->homes[optim->home_count++].device = device;
    }
}

// What a launch takes of a plan for each of its tensors at most: tern_step_plan_size(1), aligned.
#define PLAN_ALIGNMENT 256
#define PLAN_PER_ENTRY (2 * PLAN_ALIGNMENT)

static bool has_plan(const tern_optim *optim, const tern_optim_home *home)
{
    return home->device.type == TERN_CPU ||
           (home->plan && tern_device_equal(home->plan->device, home->device) &&
            home->plan->nbytes >= optim->entry_count * PLAN_PER_ENTRY);
}

tern_status tern_optim_make_plan(const tern_optim *optim, tern_optim_home *home)
{
    tern_storage *plan =
        tern_storage_new_outside(home->device, optim->entry_count * PLAN_PER_ENTRY);
    if (!plan)
        return TERN_ERR_NOMEM;
    tern_storage_drop(home->plan);
    home->plan = plan;
    return TERN_OK;
}

static tern_status prepare_plans(tern_optim *optim)
{
    for (int64_t i = 0; i < optim->home_count; i++)
        if (!has_plan(optim, &optim->homes[i]))
            TERN_TRY(tern_optim_make_plan(optim, &optim->homes[i]));
    return TERN_OK;
}

void tern_optim_zero_grad(tern_optim *optim)
{
    if (tern_check_optim("optim_zero_grad", optim))
        return;
    for (int64_t i = 0; i < optim->entry_count; i++)
        tern_zero_grad(optim->entries[i].param);
}

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
    TERN_CHECK(tern_device_equal(tern_dev(p), tern_dev(g)), TERN_ERR_DEVICE,
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
        TERN_TRY(tern_capture_leaf(entry->param, TERN_LEAF_GRAD_ASKED));
        entry->active = entry->param->grad && entry->param->grad_state == TERN_GRAD_PRESENT;
        TERN_TRY(check_gradient(entry));
    }
    return TERN_OK;
}

tern_status tern_optim_poll(const tern_optim_home *homes, int64_t home_count)
{
    for (int64_t i = 0; i < home_count; i++)
        TERN_TRY(tern_fault_poll(homes[i].device));
    return TERN_OK;
}

// ---- state --------------------------------------------------------------------------------------

static bool fits(const tern_tensor *state, const tern_tensor *param)
{
    return state->dtype == param->dtype && tern_device_equal(tern_dev(state), tern_dev(param));
}

// What takes the place of a state tensor that is missing, or that its parameter left behind.
static tern_tensor *make_state(const tern_tensor *param, tern_tensor *old)
{
    if (!old)
        return tern_zeros_like(param);
    tern_tensor *there = tern_to(old, tern_dev(param));
    return there ? tern_to_dtype(there, param->dtype) : NULL;
}

static tern_status prepare_entry(const tern_optim *optim, tern_optim_entry *entry)
{
    unsigned needs = optim->klass->needs(optim, &optim->groups[entry->group]);
    for (int i = 0; i < TERN_OPTIM_STATES; i++) {
        tern_tensor *old = entry->state[i];
        if (!(needs & 1u << i) || (old && fits(old, entry->param)))
            continue;
        tern_tensor *made = make_state(entry->param, old);
        if (!made)
            return tern_error_code();
        entry->next[i] = tern_hold(made);
    }
    return TERN_OK;
}

static bool state_is_ready(const tern_optim *optim, const tern_optim_entry *entry)
{
    unsigned needs = optim->klass->needs(optim, &optim->groups[entry->group]);
    for (int i = 0; i < TERN_OPTIM_STATES; i++)
        if ((needs & 1u << i) && (!entry->state[i] || !fits(entry->state[i], entry->param)))
            return false;
    return true;
}

static bool all_states_are_ready(const tern_optim *optim)
{
    for (int64_t i = 0; i < optim->entry_count; i++)
        if (optim->entries[i].active && !state_is_ready(optim, &optim->entries[i]))
            return false;
    return true;
}

// Puts the new tensors in place, or drops them.
static void settle_states(tern_optim *optim, bool keep)
{
    for (int64_t i = 0; i < optim->entry_count; i++) {
        tern_optim_entry *entry = &optim->entries[i];
        for (int k = 0; k < TERN_OPTIM_STATES; k++) {
            if (!entry->next[k])
                continue;
            tern_tensor *unused = keep ? entry->state[k] : entry->next[k];
            if (keep && optim->klass->is_sgd && !entry->state[k])
                entry->step = 0; // the first update fills the momentum buffer
            if (keep)
                entry->state[k] = entry->next[k];
            entry->next[k] = NULL;
            tern_drop(unused);
        }
    }
}

static tern_status make_states(tern_optim *optim)
{
    tern_status status = prepare_plans(optim);
    for (int64_t i = 0; !status && i < optim->entry_count; i++)
        if (optim->entries[i].active)
            status = prepare_entry(optim, &optim->entries[i]);
    settle_states(optim, !status);
    return status;
}

static bool all_plans_are_ready(const tern_optim *optim)
{
    for (int64_t i = 0; i < optim->home_count; i++)
        if (!has_plan(optim, &optim->homes[i]))
            return false;
    return true;
}

// In a frame of its own: what is made is held.
static tern_status prepare_states(tern_optim *optim)
{
    if (all_states_are_ready(optim) && all_plans_are_ready(optim))
        return TERN_OK;
    tern_scope scope = tern_scope_open();
    if (!scope)
        return TERN_ERR_NOMEM;
    tern_status status = make_states(optim);
    tern_scope_close(scope);
    return status;
}

// ---- launching ----------------------------------------------------------------------------------

static void *data_of(const tern_tensor *t)
{
    return t ? tern_view_of(t).data : NULL;
}

static tern_step_tensor step_tensor(const tern_optim *optim, const tern_optim_entry *entry)
{
    unsigned needs = optim->klass->needs(optim, &optim->groups[entry->group]);
    tern_step_tensor t = {
        .param = data_of(entry->param),
        .grad = data_of(entry->param->grad),
        .numel = entry->param->numel,
        .dtype = entry->param->dtype,
        .step = entry->step + 1,
    };
    for (int i = 0; i < TERN_OPTIM_STATES; i++)
        t.state[i] = needs & 1u << i ? data_of(entry->state[i]) : NULL;
    return t;
}

static bool goes_with(const tern_optim_entry *entry, const tern_optim_entry *first)
{
    return entry->active && entry->group == first->group &&
           entry->param->dtype == first->param->dtype &&
           tern_device_equal(tern_dev(entry->param), tern_dev(first->param));
}

// The part of the home's plan for a launch over `count` tensors.
static tern_step_plan next_plan(tern_optim_home *home, tern_optim_pass pass, int64_t count)
{
    tern_storage_use(home->plan, "");
    tern_step_plan plan = {
        .memory = (char *)home->plan->data + home->planned,
        .write = pass != TERN_OPTIM_CAPTURE,
        .run = pass != TERN_OPTIM_REPLAY,
    };
    int64_t nbytes = tern_step_plan_size(count);
    home->planned += (nbytes + PLAN_ALIGNMENT - 1) / PLAN_ALIGNMENT * PLAN_ALIGNMENT;
    return plan;
}

static int64_t list_like(tern_optim *optim, int64_t first)
{
    int64_t count = 0;
    for (int64_t i = first; i < optim->entry_count; i++)
        if (goes_with(&optim->entries[i], &optim->entries[first]))
            optim->tensors[count++] = step_tensor(optim, &optim->entries[i]);
    return count;
}

// Updates the parameters that are like entry `first` (group, device, dtype) in one launch.
static tern_status launch_with(tern_optim *optim, int64_t first, tern_optim_pass pass,
                               tern_optim_home *home)
{
    const tern_optim_entry like = optim->entries[first];
    int64_t count = list_like(optim, first);
    tern_exec exec = tern_exec_of(home->device);
    tern_step_plan plan;
    if (home->device.type != TERN_CPU) {
        plan = next_plan(home, pass, count);
        exec.plan = &plan;
    }
    TERN_TRY(optim->klass->launch(optim, &optim->groups[like.group], &exec, count));
    for (int64_t i = first; i < optim->entry_count; i++) {
        tern_optim_entry *entry = &optim->entries[i];
        if (!goes_with(entry, &like))
            continue;
        entry->step += pass != TERN_OPTIM_CAPTURE;
        entry->active = false;
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

tern_status tern_optim_launch(tern_optim *optim, tern_optim_pass pass, tern_optim_home *homes,
                              int64_t home_count)
{
    for (int64_t i = 0; i < home_count; i++)
        homes[i].planned = 0;
    for (int64_t i = 0; i < optim->entry_count; i++) {
        if (!optim->entries[i].active)
            continue;
        tern_device device = tern_dev(optim->entries[i].param);
        tern_status status = launch_with(optim, i, pass, home_of(homes, home_count, device));
        if (status) {
            refuse_used_gradients(optim);
            return status;
        }
    }
    return TERN_OK;
}

static tern_status check_step(tern_optim *optim)
{
    TERN_TRY(tern_check_optim("optim_step", optim));
    if (tern_error_pending())
        return tern_error_code();
    find_homes(optim);
    for (int64_t i = 0; i < optim->home_count; i++)
        TERN_TRY(tern_capture_check_training("optim_step", optim->homes[i].device));
    TERN_TRY(tern_optim_poll(optim->homes, optim->home_count));
    return check_entries(optim);
}

// All homes are the captured device: any other was refused.
static bool is_captured(const tern_optim *optim)
{
    return optim->home_count > 0 && tern_capturing(optim->homes[0].device);
}

static tern_status run_step(tern_optim *optim)
{
    if (!is_captured(optim)) {
        TERN_TRY(prepare_states(optim));
        return tern_optim_launch(optim, TERN_OPTIM_STEP, optim->homes, optim->home_count);
    }
    TERN_CHECK(
        all_states_are_ready(optim), TERN_ERR_STATE,
        "optim_step: the optimizer's state is not there yet: run a step before capturing one");
    return tern_optim_capture(optim);
}

tern_status tern_optim_step(tern_optim *optim)
{
    TERN_TRY(check_step(optim));
    TERN_TRY(run_step(optim));
    for (int64_t i = 0; i < optim->home_count; i++) {
        tern_device device = optim->homes[i].device;
        tern_draw_advance(device);
        tern_backend_of(device.type)->device->fault_publish(device.index);
    }
    return TERN_OK;
}
