// SPDX-License-Identifier: Apache-2.0
// The ordinary loop of training, made of public calls.
#include "train/fit/fit_check.h"

#include <math.h>

#include <tern/autograd.h>
#include <tern/averaged_model.h>
#include <tern/ops.h>
#include <tern/scope.h>
#include "train/fit/fit_state.h"

// ---- steps --------------------------------------------------------------------------------------

// Whether the batch is the last one of its step. The last step of an epoch takes what is left.
static bool begin_batch(const tern_fit_run *f)
{
    const int64_t k = f->o->accumulate, at = tern_loader_position(f->o->train) - 1;
    const int64_t left = f->batches - (at - at % k), size = left > 0 && left < k ? left : k;
    if (k > 1 && at % k == 0 && tern_optim_accumulate(f->o->optim, size))
        return false;
    return at % k == size - 1;
}

static tern_status step(tern_fit_run *f, const tern_batch *b)
{
    const tern_fit_options *o = f->o;
    tern_tensor *output = f->event.output = tern_forward(o->net, b->x);
    tern_tensor *loss = f->event.loss = tern_loss(o->criterion, output, b->y);
    tern_optim_zero_grad(o->optim);
    if (tern_backward(loss))
        return tern_error_code();
    if (o->clip_grad_norm > 0 && !tern_clip_grad_norm(NULL, o->clip_grad_norm, .optim = o->optim))
        return tern_error_code();
    return tern_optim_step(o->optim);
}

// After the optimizer has stepped.
static tern_status count_step(tern_fit_run *f)
{
    const tern_fit_options *o = f->o;
    f->result.steps++;
    if (tern_fit_log_step(f))
        return tern_error_code();
    if (o->average && tern_averaged_model_update(o->average, o->net))
        return tern_error_code();
    return o->scheduler && o->scheduler_unit == TERN_FIT_STEP ? tern_sched_step(o->scheduler)
                                                              : TERN_OK;
}

// Sums stay on the device until the end of the epoch.
static tern_status add_batch(tern_fit_run *f, const tern_batch *b)
{
    tern_no_grad
        tern_add_(f->loss_sum, tern_to(f->event.loss, tern_device_of(f->loss_sum)),
                  (double)b->size);
    for (int i = 0; i < f->o->metrics.count; i++)
        if (tern_metric_update(f->o->metrics.at[i], f->event.output, b->y))
            return tern_error_code();
    f->samples += b->size;
    if (tern_progress_due(f->progress))
        tern_fit_show_metrics(f);
    return tern_progress_step(f->progress, b->size, f->event.loss);
}

// False: the loop is to be left.
static bool train_batch(tern_fit_run *f, const tern_batch *b)
{
    const tern_fit_callbacks *c = &f->o->callbacks;
    f->event.batch = b;
    const bool acts = begin_batch(f);
    const bool failed = tern_fit_call(f, c->step_begin, "step_begin") || step(f, b) ||
                        (acts && count_step(f)) || add_batch(f, b) ||
                        tern_fit_call(f, c->step_end, "step_end");
    f->event.batch = NULL;
    f->event.output = f->event.loss = NULL;
    if (failed || !acts)
        return !failed;
    f->left = f->event.stop || (f->o->interrupts && tern_interrupted());
    const int64_t every = f->o->checkpoint_every;
    const bool is_last = tern_loader_position(f->o->train) == f->batches; // saved with the epoch
    const bool saves = f->left || (every && f->result.steps % every == 0 && !is_last);
    return !(saves && tern_fit_save(f, (double)NAN)) && !f->left;
}

// ---- epochs -------------------------------------------------------------------------------------

// The next one, or the rest of the one that was resumed.
static tern_status begin_epoch(tern_fit_run *f)
{
    if (f->epoch == f->result.epochs) {
        f->epoch++;
        f->samples = 0;
        tern_zero_(f->loss_sum);
        for (int i = 0; i < f->o->metrics.count; i++)
            tern_metric_reset(f->o->metrics.at[i]);
    }
    tern_progress_begin(f->progress, f->epoch, .done = f->samples);
    return tern_fit_call(f, f->o->callbacks.epoch_begin, "epoch_begin");
}

static tern_status evaluate(tern_fit_run *f)
{
    const tern_fit_options *o = f->o;
    if (!o->valid)
        return TERN_OK;
    if (tern_optim_eval(o->optim) || // of those that average by themselves
        tern_evaluate(o->average ? o->average : o->net, o->valid, .criterion = o->criterion,
                      .metrics = o->metrics, .loss = &f->result.valid_loss))
        return tern_error_code();
    tern_logger_add_scalar(o->logger, "valid/loss", f->result.valid_loss, f->result.steps);
    tern_fit_read_metrics(f, "valid/", f->result.valid_metrics);
    return tern_optim_train(o->optim);
}

static tern_status step_scheduler(tern_fit_run *f)
{
    tern_sched *s = f->o->scheduler;
    if (!s || f->o->scheduler_unit == TERN_FIT_STEP)
        return TERN_OK;
    return f->monitor.scheduler ? tern_sched_step_metric(s, *f->monitor.value) : tern_sched_step(s);
}

static tern_status end_epoch(tern_fit_run *f)
{
    tern_fit_result *r = &f->result;
    if (f->o->accumulate > 1 && tern_optim_accumulate(f->o->optim, f->o->accumulate))
        return tern_error_code(); // what a stream has left over
    r->train_loss = tern_item(f->loss_sum) / (double)f->samples;
    tern_fit_read_metrics(f, "train/", r->train_metrics);
    if (evaluate(f) || tern_error_pending())
        return tern_error_code();
    r->epochs++;
    tern_fit_compare(f);
    if (step_scheduler(f) || tern_fit_call(f, f->o->callbacks.epoch_end, "epoch_end"))
        return tern_error_code();
    tern_fit_show_epoch(f);
    return tern_fit_save(f, *f->monitor.value) ? tern_error_code() : tern_fit_keep_best(f);
}

static tern_status run_epoch(tern_fit_run *f)
{
    if (begin_epoch(f) || f->event.stop) // before the first step
        return tern_error_code();
    f->left = false;
    tern_each_batch (b, f->o->train)
        if (!train_batch(f, &b))
            break;
    if (tern_error_pending())
        return tern_error_code();
    if (f->samples == 0)
        return tern_error_raise(TERN_ERR_STATE, "fit: the loader of .train gave no batch");
    if (f->left)
        tern_progress_stop(f->progress);
    return f->left ? TERN_OK : end_epoch(f);
}

static tern_fit_end end_of(const tern_fit_run *f)
{
    const int64_t patience = f->o->patience;
    if (f->event.stop)
        return TERN_FIT_STOPPED_BY_CALLBACK;
    if (f->result.epochs >= f->o->epochs)
        return TERN_FIT_FINISHED;
    if (patience > 0 && f->waited >= patience)
        return TERN_FIT_STOPPED_EARLY;
    return f->o->interrupts && tern_interrupted() ? TERN_FIT_INTERRUPTED : TERN_FIT_END_UNSPECIFIED;
}

static tern_status train(tern_fit_run *f)
{
    if (tern_fit_open(f))
        return tern_error_code();
    tern_status status = TERN_OK;
    while (!status && (f->result.end = end_of(f)) == TERN_FIT_END_UNSPECIFIED) {
        tern_scope scope = tern_scope_open();
        status = scope ? run_epoch(f) : tern_error_code();
        tern_scope_close(scope);
    }
    if (!status && (f->left || f->result.end == TERN_FIT_INTERRUPTED))
        tern_fit_show_saved(f);
    return status || f->result.end == TERN_FIT_INTERRUPTED ? status : tern_fit_restore_best(f);
}

tern_status tern_fit_with(const tern_fit_options *options)
{
    tern_fit_run f = {.o = options};
    tern_fit_clear(&f.result);
    tern_status status = tern_fit_check(options, &f.result, &f.monitor);
    if (!status) {
        if (options->interrupts)
            tern_interrupt_catch();
        status = train(&f);
        if (options->interrupts)
            tern_interrupt_release();
        tern_fit_close(&f);
    }
    if (options && options->result)
        *options->result = f.result;
    return status;
}
