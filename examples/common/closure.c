// SPDX-License-Identifier: Apache-2.0
// Steps of an optimizer that evaluates the loss of a batch as often as it likes: L-BFGS.
#include "training.h"

typedef struct batch_step {
    const training *training;
    const tern_batch *batch;
    tern_tensor *logits; // of the first evaluation; retained
} batch_step;

static tern_tensor *closure(void *user)
{
    batch_step *s = user;
    const training *t = s->training;
    tern_tensor *logits = tern_forward(t->model, s->batch->x);
    tern_tensor *loss = tern_loss(t->criterion, logits, s->batch->y);
    if (!s->logits)
        s->logits = tern_retain(tern_detach(logits));
    tern_optim_zero_grad(t->optim);
    return tern_backward(loss) ? NULL : loss;
}

static bool step(training *t, const tern_batch *b)
{
    batch_step s = {t, b, NULL};
    tern_tensor *loss = tern_optim_step_closure(t->optim, closure, &s);
    bool goes_on = loss && (!t->average || !tern_averaged_model_update(t->average, t->net));
    goes_on = goes_on && training_goes_on(t, b, s.logits, loss);
    tern_release(s.logits);
    return goes_on;
}

tern_status training_epoch_by_closure(training *t)
{
    t->failed_option = t->options.clip > 0;
    if (t->failed_option)
        return tern_error_raise(TERN_ERR_ARG, "--clip: %s searches along whole gradients",
                                t->options.optimizer);
    tern_each_batch (b, t->train_loader)
        if (!step(t, &b))
            break;
    return tern_error_code();
}
