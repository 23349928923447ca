// SPDX-License-Identifier: Apache-2.0
// Steps of which every k-th acts, on the mean of k gradients.
#include "device/fault.h"
#include "optim/optim.h"
#include "tensor/header.h"

void tern_optim_mark_leaves(const tern_optim *optim, bool accumulates)
{
    for (int64_t i = 0; i < optim->entry_count; i++)
        optim->entries[i].param->accumulates = accumulates;
}

static void drop(tern_optim *optim)
{
    optim->accumulated = 0;
    optim->is_mean = false;
    for (int64_t i = 0; i < optim->entry_count; i++)
        tern_zero_grad(optim->entries[i].param);
}

tern_status tern_optim_accumulate(tern_optim *optim, int64_t every)
{
    const char *function = "optim_accumulate";
    TERN_TRY(tern_check_optim(function, optim));
    TERN_CHECK(every >= 1, TERN_ERR_ARG, "%s: every is %lld, but must be 1 or more", function,
               (long long)every);
    TERN_CHECK(every == 1 || !optim->klass->step_closure, TERN_ERR_ARG,
               "%s: %s evaluates the loss itself, and wants whole batches", function,
               optim->klass->name);
    if (optim->accumulated > 0)
        drop(optim);
    optim->accumulate_every = every;
    tern_optim_mark_leaves(optim, every > 1);
    return TERN_OK;
}

// A backward that failed, or computed with a bad value, has spoiled what was there.
static bool is_usable(const tern_optim *optim)
{
    for (int64_t i = 0; i < optim->entry_count; i++) {
        const tern_tensor *param = optim->entries[i].param;
        if (param->grad_state == TERN_GRAD_UNUSABLE || tern_fault_is_raised(tern_dev(param)))
            return false;
    }
    return true;
}

void tern_optim_zero_grad(tern_optim *optim)
{
    if (tern_check_optim("optim_zero_grad", optim))
        return;
    if (optim->accumulated == 0 || !is_usable(optim))
        drop(optim);
}

// A gradient that cannot be divided must not be used.
static tern_status divide(const tern_optim *optim)
{
    const double factor = 1 / (double)optim->accumulate_every;
    for (int64_t i = 0; i < optim->entry_count; i++) {
        tern_tensor *param = optim->entries[i].param;
        if (param->grad && param->grad_state == TERN_GRAD_PRESENT &&
            !tern_mul_scalar_(param->grad, factor))
            return tern_error_code();
    }
    return TERN_OK;
}

tern_status tern_optim_make_mean(tern_optim *optim)
{
    if (optim->is_mean || optim->accumulate_every == 1)
        return TERN_OK;
    tern_status status = TERN_OK;
    tern_no_grad
        status = divide(optim);
    for (int64_t i = 0; status && i < optim->entry_count; i++)
        if (optim->entries[i].param->grad_state == TERN_GRAD_PRESENT)
            optim->entries[i].param->grad_state = TERN_GRAD_UNUSABLE;
    optim->is_mean = !status;
    return status;
}
