// SPDX-License-Identifier: Apache-2.0
// A step that is given the loss as a function.
#include "optim/optim.h"
#include "tensor/liveness.h"

static tern_tensor *call(tern_closure_fn *closure, void *user)
{
    const bool recording = tern_set_grad_enabled(true);
    tern_tensor *loss = closure(user);
    (void)tern_set_grad_enabled(recording);
    return loss;
}

static tern_status check_loss(const tern_tensor *loss)
{
    const char *op = "optim_step_closure";
    if (tern_error_pending())
        return tern_error_code();
    if (!loss)
        return tern_null_error(op, "what the closure returned");
    TERN_TRY(tern_check_tensor(op, "what the closure returned", loss));
    TERN_CHECK(loss->numel == 1 && tern_dtype_is_floating(loss->dtype), TERN_ERR_SHAPE,
               "%s: the closure returned %s, not a loss of one floating element", op,
               tern_tensor_string(loss));
    return TERN_OK;
}

tern_tensor *tern_optim_evaluate(tern_closure_fn *closure, void *user)
{
    tern_scope scope = tern_scope_open();
    if (!scope)
        return NULL;
    tern_tensor *loss = call(closure, user);
    if (check_loss(loss))
        loss = NULL;
    return loss ? tern_scope_close_keep(scope, loss) : (tern_scope_close(scope), NULL);
}

static tern_tensor *step(tern_optim *optim, tern_closure_fn *closure, void *user)
{
    if (optim->klass->step_closure)
        return optim->klass->step_closure(optim, closure, user);
    if (tern_optim_check_training("optim_step_closure", optim))
        return NULL;
    tern_tensor *loss = tern_optim_evaluate(closure, user);
    return loss && !tern_optim_step(optim) ? loss : NULL;
}

tern_tensor *tern_optim_step_closure(tern_optim *optim, tern_closure_fn *closure, void *user)
{
    if (tern_check_optim("optim_step_closure", optim) || tern_error_pending())
        return NULL;
    if (!closure) {
        (void)tern_null_error("optim_step_closure", "closure");
        return NULL;
    }
    tern_optim_retain(optim); // a closure may give it back
    tern_tensor *loss = step(optim, closure, user);
    tern_optim_free(optim);
    return loss;
}
