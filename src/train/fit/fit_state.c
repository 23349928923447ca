// SPDX-License-Identifier: Apache-2.0
#include "train/fit/fit_state.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

#include <tern/io.h>

// ---- what is saved ------------------------------------------------------------------------------

static tern_status visit_values(tern_fit_run *f, tern_state_visitor *v)
{
    tern_fit_result *r = &f->result;
    for (int i = 0; i < f->o->metrics.count; i++) {
        char name[32];
        snprintf(name, sizeof name, "train_metrics.%d", i);
        if (tern_visit_double(v, name, &r->train_metrics[i]))
            return tern_error_code();
        snprintf(name, sizeof name, "valid_metrics.%d", i);
        if (tern_visit_double(v, name, &r->valid_metrics[i]))
            return tern_error_code();
    }
    if (tern_visit_double(v, "train_loss", &r->train_loss) ||
        tern_visit_double(v, "valid_loss", &r->valid_loss) ||
        tern_visit_double(v, "best", &r->best))
        return tern_error_code();
    return tern_visit_int(v, "best_epoch", &r->best_epoch);
}

static tern_status visit(void *object, tern_state_visitor *v)
{
    tern_fit_run *f = object;
    if (visit_values(f, v) || tern_visit_int(v, "epochs", &f->result.epochs) ||
        tern_visit_int(v, "epoch", &f->epoch) || tern_visit_int(v, "samples", &f->samples) ||
        tern_visit_int(v, "waited", &f->waited) || tern_visit_double(v, "target", &f->target))
        return tern_error_code();
    return tern_visit_tensor(v, "loss_sum", &f->loss_sum);
}

static tern_status add_metrics(tern_fit_run *f)
{
    for (int i = 0; i < f->o->metrics.count; i++) {
        char name[32];
        snprintf(name, sizeof name, "metric.%d", i);
        if (tern_checkpoint_metric(f->checkpoint, name, f->o->metrics.at[i]))
            return tern_error_code();
    }
    return TERN_OK;
}

// A loader's own state has no generator.
static tern_status add_generators(tern_fit_run *f)
{
    tern_generator *train = tern_fit_generator(f->o->train);
    tern_generator *valid = tern_fit_generator(f->o->valid);
    if (train && tern_checkpoint_generator(f->checkpoint, "train_generator", train))
        return tern_error_code();
    return valid ? tern_checkpoint_generator(f->checkpoint, "valid_generator", valid) : TERN_OK;
}

// All that the rest of the run depends on.
static tern_status add_parts(tern_fit_run *f)
{
    const tern_fit_options *o = f->o;
    tern_checkpoint *c = f->checkpoint;
    if (tern_checkpoint_module(c, "model", o->net) || tern_checkpoint_optim(c, "optim", o->optim) ||
        tern_checkpoint_module(c, "criterion", o->criterion) ||
        tern_checkpoint_loader(c, "train", o->train) ||
        (o->valid && tern_checkpoint_loader(c, "valid", o->valid)) ||
        (o->scheduler && tern_checkpoint_sched(c, "scheduler", o->scheduler)) ||
        (o->average && tern_checkpoint_module(c, "average", o->average)) || add_metrics(f) ||
        add_generators(f))
        return tern_error_code();
    return tern_checkpoint_add(c, "fit", visit, f);
}

static tern_status open_checkpoint(tern_fit_run *f)
{
    const tern_fit_options *o = f->o;
    if (!o->checkpoint)
        return TERN_OK;
    f->checkpoint = tern_checkpoint_new(o->checkpoint, .keep_last = o->keep_last,
                                        .keep_best = f->monitor.name, .mode = f->monitor.mode);
    if (!f->checkpoint || add_parts(f))
        return tern_error_code();
    if (o->resume && tern_checkpoint_resume(f->checkpoint, &f->result.steps) > 0)
        tern_progress_note(f->progress, "goes on after step %lld of %s", (long long)f->result.steps,
                           o->checkpoint);
    return tern_error_code();
}

// The log first: a run that goes on from the checkpoint lacks nothing of it.
tern_status tern_fit_save(tern_fit_run *f, double metric)
{
    if (!f->checkpoint || tern_logger_flush(f->o->logger))
        return tern_error_code();
    return tern_checkpoint_save(f->checkpoint, f->result.steps, .metric = metric);
}

// ---- begin and end ------------------------------------------------------------------------------

void tern_fit_clear(tern_fit_result *r)
{
    *r = (tern_fit_result){
        .train_loss = (double)NAN, .valid_loss = (double)NAN, .best = (double)NAN};
    for (int i = 0; i < TERN_METRICS; i++)
        r->train_metrics[i] = r->valid_metrics[i] = (double)NAN;
}

static tern_tensor *make_sum(const tern_fit_run *f)
{
    tern_tensor *first = tern_optim_parameter_at(f->o->optim, 0, NULL, 0);
    return first ? tern_retain(tern_zeros(tern_dims(), .dtype = TERN_FLOAT64,
                                          .device = tern_device_of(first)))
                 : NULL;
}

static tern_status count_batches(tern_fit_run *f)
{
    if (f->o->accumulate > 1 || f->o->checkpoint_every > 0)
        f->batches = tern_loader_batches(f->o->train);
    if (f->batches < 0 && tern_error_code() == TERN_ERR_UNSUPPORTED)
        tern_error_clear(); // a stream
    return tern_error_code();
}

tern_status tern_fit_open(tern_fit_run *f)
{
    const tern_fit_options *o = f->o;
    f->event = (tern_fit_event){.net = o->net, .optim = o->optim, .result = &f->result};
    f->target = (double)NAN;
    f->progress =
        tern_progress_new(o->file, .quiet = o->quiet, .epochs = o->epochs, .loader = o->train);
    f->loss_sum = make_sum(f);
    if (count_batches(f) || !f->progress || !f->loss_sum || open_checkpoint(f))
        return tern_error_code();
    if (!tern_module_is_training(o->net) && !tern_module_train(o->net, true))
        return tern_error_code();
    return TERN_OK;
}

// One that asked for an end has asked for good.
tern_status tern_fit_call(tern_fit_run *f, tern_fit_fn *function, const char *name)
{
    const bool stops = f->event.stop;
    f->event.epoch = f->epoch;
    const tern_status status = function ? function(&f->event, f->o->callbacks.user) : TERN_OK;
    f->event.stop = f->event.stop || stops;
    return tern_fit_called(name, status);
}

void tern_fit_close(tern_fit_run *f)
{
    if (f->o->accumulate > 1)
        (void)!tern_optim_accumulate(f->o->optim, 1);
    tern_checkpoint_free(f->checkpoint);
    tern_progress_free(f->progress);
    tern_state_free(f->best);
    tern_release(f->loss_sum);
}

// ---- the best epoch -----------------------------------------------------------------------------

static bool is_better(const tern_fit_run *f, double value, double than, double by)
{
    if (isnan(value) || isnan(than))
        return !isnan(value);
    return f->monitor.mode == TERN_MAX ? value > than + by : value < than - by;
}

static void warn_of_nan(tern_fit_run *f)
{
    const tern_fit_result *r = &f->result;
    const bool train = isnan(r->train_loss), valid = f->o->valid && isnan(r->valid_loss),
               monitored = isnan(*f->monitor.value);
    if (f->warned || !(train || valid || monitored))
        return;
    f->warned = true;
    tern_fit_warn_of_nan(train ? "train/loss" : valid ? "valid/loss" : f->monitor.name, r->epochs);
}

void tern_fit_compare(tern_fit_run *f)
{
    tern_fit_result *r = &f->result;
    const double value = *f->monitor.value;
    warn_of_nan(f);
    f->improved = is_better(f, value, r->best, 0);
    if (f->improved) {
        r->best = value;
        r->best_epoch = r->epochs;
    }
    f->waited++;
    if (is_better(f, value, f->target, f->o->min_delta)) {
        f->target = value;
        f->waited = 0;
    }
}

static tern_status visit_best(void *object, tern_state_visitor *v)
{
    const tern_fit_options *o = ((tern_fit_run *)object)->o;
    if (tern_visit_module(v, "model", o->net) || tern_visit_optim(v, "optim", o->optim))
        return tern_error_code();
    return o->average ? tern_visit_module(v, "average", o->average) : TERN_OK;
}

tern_status tern_fit_keep_best(tern_fit_run *f)
{
    if (!f->o->restore_best || f->checkpoint || !f->improved)
        return TERN_OK;
    tern_state *now = tern_state_of(visit_best, f);
    tern_state_free(f->best);
    f->best = now ? tern_state_copy(now) : NULL;
    tern_state_free(now);
    return tern_error_code();
}

tern_status tern_fit_restore_best(tern_fit_run *f)
{
    char path[PATH_MAX];
    if (!f->o->restore_best || f->result.best_epoch == 0)
        return TERN_OK;
    if (f->checkpoint) {
        snprintf(path, sizeof path, "%s/best.safetensors", f->o->checkpoint);
        f->best = tern_state_read(path, .map_location = "cpu");
    }
    return f->best ? tern_state_load(f->best, visit_best, f, .strict = false) : tern_error_code();
}

// ---- what is shown ------------------------------------------------------------------------------

static void log_metric(const tern_fit_run *f, const char *prefix, const char *name,
                       tern_tensor *value)
{
    char tag[128];
    const tern_shape shape = tern_shape_of(value);
    snprintf(tag, sizeof tag, "%s%s", prefix, name);
    if (tern_numel(value) == 1)
        tern_logger_add_scalar(f->o->logger, tag, tern_item(value), f->result.steps);
    else if (shape.rank == 2 && shape.dim[0] == shape.dim[1])
        tern_logger_add_confusion_matrix(f->o->logger, tag, value, NULL, f->result.steps);
}

void tern_fit_read_metrics(const tern_fit_run *f, const char *prefix, double *values)
{
    for (int i = 0; i < f->o->metrics.count; i++) {
        tern_tensor *value = tern_metric_compute(f->o->metrics.at[i]);
        values[i] = value && tern_numel(value) == 1 ? tern_item(value) : (double)NAN;
        if (value && prefix && f->o->logger)
            log_metric(f, prefix, tern_metric_name(f->o->metrics.at[i]), value);
    }
}

tern_status tern_fit_log_step(const tern_fit_run *f)
{
    const tern_fit_options *o = f->o;
    if (!o->logger || f->result.steps % o->log_every != 0)
        return TERN_OK;
    tern_logger_add_tensor_scalar(o->logger, "train/loss", f->event.loss, f->result.steps);
    tern_logger_add_scalar(o->logger, "lr", tern_optim_lr(o->optim, 0), f->result.steps);
    return tern_error_code();
}

static void show(const tern_fit_run *f, const char *prefix, const double *values)
{
    for (int i = 0; i < f->o->metrics.count; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s%s", prefix, tern_metric_name(f->o->metrics.at[i]));
        if (!isnan(values[i]))
            tern_progress_show(f->progress, name, values[i],
                               .bold = &values[i] == f->monitor.value);
    }
}

void tern_fit_show_metrics(const tern_fit_run *f)
{
    double values[TERN_METRICS];
    tern_fit_read_metrics(f, NULL, values);
    show(f, "", values);
}

void tern_fit_show_epoch(const tern_fit_run *f)
{
    const tern_fit_result *r = &f->result;
    tern_progress_show(f->progress, "loss", r->train_loss);
    show(f, "", r->train_metrics);
    if (f->o->valid) {
        tern_progress_show(f->progress, "valid loss", r->valid_loss,
                           .bold = f->monitor.value == &r->valid_loss);
        show(f, "valid ", r->valid_metrics);
    }
    tern_progress_end(f->progress);
}

void tern_fit_show_saved(const tern_fit_run *f)
{
    if (f->checkpoint && f->result.steps > 0)
        tern_progress_note(f->progress,
                           "saved after step %lld in %s: .resume = true goes on from there",
                           (long long)f->result.steps, f->o->checkpoint);
}
