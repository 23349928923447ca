// SPDX-License-Identifier: Apache-2.0
// fit.h and progress.h
#include "errors.h"

#include <stdlib.h>

// ---- fitting ------------------------------------------------------------------------------------

#define FIT(...) tern_fit(f->net, f->criterion, f->optim, f->loader, .quiet = true, __VA_ARGS__)

REFUSES(tern_fit_with, "options that are NULL", TERN_ERR_NULL, "fit: options is NULL",
        tern_fit_with(NULL))
REFUSES(tern_fit_with, "a net that is NULL", TERN_ERR_NULL, "fit: net is NULL",
        tern_fit(NULL, f->criterion, f->optim, f->loader))
REFUSES(tern_fit_with, "a criterion that is NULL", TERN_ERR_NULL, "fit: criterion is NULL",
        tern_fit(f->net, NULL, f->optim, f->loader))
REFUSES(tern_fit_with, "an optimizer that is NULL", TERN_ERR_NULL, "fit: optim is NULL",
        tern_fit(f->net, f->criterion, NULL, f->loader))
REFUSES(tern_fit_with, "a loader that is NULL", TERN_ERR_NULL, "fit: train is NULL",
        tern_fit(f->net, f->criterion, f->optim, NULL))
REFUSES(tern_fit_with, "a file that is NULL", TERN_ERR_NULL, "fit: file is NULL", FIT(.file = NULL))
REFUSES(tern_fit_with, "no epoch", TERN_ERR_ARG, "fit: epochs is 0, not 1 or more",
        FIT(.epochs = 0))
REFUSES(tern_fit_with, "an accumulation of nothing", TERN_ERR_ARG,
        "fit: accumulate is 0, not 1 or more", FIT(.accumulate = 0))
REFUSES(tern_fit_with, "a negative patience", TERN_ERR_ARG, "fit: patience is -1, not 0 or more",
        FIT(.patience = -1))
REFUSES(tern_fit_with, "a negative keep_last", TERN_ERR_ARG, "fit: keep_last is -1, not 0 or more",
        FIT(.keep_last = -1))
REFUSES(tern_fit_with, "a negative checkpoint_every", TERN_ERR_ARG,
        "fit: checkpoint_every is -1, not 0 or more", FIT(.checkpoint_every = -1))
REFUSES(tern_fit_with, "a log_every of 0", TERN_ERR_ARG, "fit: log_every is 0, not 1 or more",
        FIT(.log_every = 0))
REFUSES(tern_fit_with, "a norm that is NaN", TERN_ERR_ARG,
        "fit: clip_grad_norm is nan, not 0 or more", FIT(.clip_grad_norm = (double)NAN))
REFUSES(tern_fit_with, "a negative min_delta", TERN_ERR_ARG, "fit: min_delta is -1, not 0 or more",
        FIT(.min_delta = -1))
REFUSES(tern_fit_with, "a resume without a folder", TERN_ERR_ARG,
        "fit: resume without a folder: .checkpoint = \"runs/a\"", FIT(.resume = true))
REFUSES(tern_fit_with, "checkpoints without a folder", TERN_ERR_ARG,
        "fit: checkpoint_every without a folder", FIT(.checkpoint_every = 5))
REFUSES(tern_fit_with, "a folder that cannot be made", TERN_ERR_IO,
        "fit: cannot make the folder /proc/a", FIT(.checkpoint = "/proc/a"))
REFUSES(tern_fit_with, "patience without .valid", TERN_ERR_ARG,
        "fit: patience is 2, but there is no .valid", FIT(.patience = 2))
REFUSES(tern_fit_with, "a monitor that is nothing", TERN_ERR_ARG,
        "fit: monitor is \"accuracy\", but values are \"train/loss\", \"valid/loss\"",
        FIT(.monitor = "accuracy"))
REFUSES(tern_fit_with, "a monitor of a metric that is not there", TERN_ERR_ARG,
        "fit: monitor is \"train/f1\", but values are", FIT(.monitor = "train/f1"))
REFUSES(tern_fit_with, "a monitor of no .valid", TERN_ERR_ARG,
        "fit: monitor is \"valid/loss\", but there is no .valid", FIT(.monitor = "valid/loss"))
REFUSES(tern_fit_with, "a mode that is none", TERN_ERR_ARG,
        "fit: say which \"train/loss\" is better", FIT(.mode = (tern_metric_mode)3))
REFUSES(tern_fit_with, "a unit that is none", TERN_ERR_ARG, "fit: there is no scheduler_unit 3",
        FIT(.scheduler_unit = (tern_fit_unit)3))
REFUSES(tern_fit_with, "a list of -1 metrics", TERN_ERR_ARG,
        "fit: there are -1 metrics, not 0 to 16", FIT(.metrics = {-1, {NULL}}))
REFUSES(tern_fit_with, "a metric that is NULL", TERN_ERR_NULL, "metric_name: metric is NULL",
        FIT(.metrics = {1, {NULL}}))

static tern_status fit_with_metrics(fixture *f, const char *monitor, bool twice)
{
    tern_metric *a = tern_metric_accuracy(.num_classes = 4),
                *b = tern_metric_accuracy(.num_classes = 4);
    tern_metric_list list = {twice ? 2 : 1, {a, b}};
    tern_status status = FIT(.metrics = list, .monitor = monitor);
    tern_metric_free(a);
    tern_metric_free(b);
    return status;
}

REFUSES(tern_fit_with, "two metrics of one name", TERN_ERR_ARG,
        "fit: two metrics are called \"accuracy\"; .name gives one another name",
        fit_with_metrics(f, NULL, true))
REFUSES(tern_fit_with, "a metric to monitor without a mode", TERN_ERR_ARG,
        "fit: say which \"train/accuracy\" is better: .mode = TERN_MAX or TERN_MIN",
        fit_with_metrics(f, "train/accuracy", false))

static tern_status fit_with_plateau(fixture *f)
{
    tern_sched *plateau = tern_sched_reduce_lr_on_plateau(f->adam);
    tern_status status = FIT(.scheduler = plateau, .scheduler_unit = TERN_FIT_STEP);
    tern_sched_free(plateau);
    return status;
}

REFUSES(tern_fit_with, "a scheduler of a metric at each step", TERN_ERR_ARG,
        "fit: ReduceLROnPlateau takes a metric, which there is once an epoch", fit_with_plateau(f))

static tern_status fit_accumulating(fixture *f)
{
    tern_status status = tern_optim_accumulate(f->optim, 4);
    status = status ? status : FIT(.accumulate = 1);
    (void)!tern_optim_accumulate(f->optim, 1);
    return status;
}

REFUSES(tern_fit_with, "an optimizer that accumulates otherwise", TERN_ERR_ARG,
        "fit: the SGD accumulates 4 gradients already: say .accumulate = 4", fit_accumulating(f))

static tern_status fit_without_batches(fixture *f)
{
    tern_loader *none = tern_loader_new(f->dataset, .batch_size = 100, .drop_last = true);
    tern_status status = tern_fit(f->net, f->criterion, f->optim, none, .quiet = true);
    tern_loader_free(none);
    return status;
}

REFUSES(tern_fit_with, "a loader without batches", TERN_ERR_STATE,
        "fit: the loader of .train gave no batch", fit_without_batches(f))

// ---- learning rates -----------------------------------------------------------------------------

#define FIND(...) tern_lr_find(f->net, f->criterion, f->optim, f->loader, __VA_ARGS__)

REFUSES(tern_lr_find_with, "options that are NULL", TERN_ERR_NULL, "lr_find: options is NULL",
        tern_lr_find_with(NULL))
REFUSES(tern_lr_find_with, "a net that is NULL", TERN_ERR_NULL, "lr_find: net is NULL",
        tern_lr_find(NULL, f->criterion, f->optim, f->loader))
REFUSES(tern_lr_find_with, "a criterion that is NULL", TERN_ERR_NULL, "lr_find: criterion is NULL",
        tern_lr_find(f->net, NULL, f->optim, f->loader))
REFUSES(tern_lr_find_with, "an optimizer that is NULL", TERN_ERR_NULL, "lr_find: optim is NULL",
        tern_lr_find(f->net, f->criterion, NULL, f->loader))
REFUSES(tern_lr_find_with, "a loader that is NULL", TERN_ERR_NULL, "lr_find: loader is NULL",
        tern_lr_find(f->net, f->criterion, f->optim, NULL))
REFUSES(tern_lr_find_with, "a first rate of 0", TERN_ERR_ARG, "lr_find: start_lr is 0, not above 0",
        FIND(.start_lr = 0))
REFUSES(tern_lr_find_with, "rates that fall", TERN_ERR_ARG,
        "lr_find: end_lr is 1e-08, not above start_lr, 1e-07", FIND(.end_lr = 1e-8))
REFUSES(tern_lr_find_with, "an infinite rate", TERN_ERR_ARG, "lr_find: end_lr is inf",
        FIND(.end_lr = (double)INFINITY))
REFUSES(tern_lr_find_with, "a curve of one step", TERN_ERR_ARG, "lr_find: steps is 1, not 2 to",
        FIND(.steps = 1))
REFUSES(tern_lr_find_with, "an average that never changes", TERN_ERR_ARG,
        "lr_find: smooth is 1, not 0 to below 1", FIND(.smooth = 1))
REFUSES(tern_lr_find_with, "a divergence of 1", TERN_ERR_ARG,
        "lr_find: divergence is 1, neither 0 nor above 1", FIND(.divergence = 1))
REFUSES(tern_lr_find_with, "a rule that is none", TERN_ERR_ARG, "lr_find: there is no rule 0",
        FIND(.rule = TERN_LR_RULE_UNSPECIFIED))

static tern_lr_curve *find_without_batches(const fixture *f)
{
    tern_loader *none = tern_loader_new(f->dataset, .batch_size = 100, .drop_last = true);
    tern_lr_curve *curve = tern_lr_find(f->net, f->criterion, f->optim, none);
    tern_loader_free(none);
    return curve;
}

REFUSES(tern_lr_find_with, "a loader without batches", TERN_ERR_STATE,
        "lr_find: the loader gave no batch", find_without_batches(f))
CANNOT_FAIL(tern_lr_curve_free, "NULL is fine", (tern_lr_curve_free(NULL), 1))

// ---- progress -----------------------------------------------------------------------------------

REFUSES(tern_progress_new_with, "options that are NULL", TERN_ERR_NULL,
        "progress_new: options is NULL", tern_progress_new_with(NULL))
REFUSES(tern_progress_new_with, "a file that is NULL", TERN_ERR_NULL, "progress_new: file is NULL",
        tern_progress_new(NULL))
REFUSES(tern_progress_new_with, "a negative number of epochs", TERN_ERR_ARG,
        "progress_new: epochs is -1, not 0 or more", tern_progress_new(stderr, .epochs = -1))
REFUSES(tern_progress_new_with, "a negative number of samples", TERN_ERR_ARG,
        "progress_new: samples is -1, not 0 or more", tern_progress_new(stderr, .samples = -1))
CANNOT_FAIL(tern_progress_free, "NULL is fine", (tern_progress_free(NULL), 1))

#define NO_PROGRESS(function, op, ...)                                                             \
    REFUSES(function, "a progress that is NULL", TERN_ERR_NULL, op ": progress is NULL",           \
            ((void)(__VA_ARGS__), tern_error_pending() ? 1 : 0))

NO_PROGRESS(tern_progress_begin_with, "progress_begin", tern_progress_begin(NULL, 1))
NO_PROGRESS(tern_progress_show_with, "progress_show", tern_progress_show(NULL, "a", 1))
NO_PROGRESS(tern_progress_end, "progress_end", tern_progress_end(NULL))
NO_PROGRESS(tern_progress_stop, "progress_stop", tern_progress_stop(NULL))
NO_PROGRESS(tern_progress_note, "progress_note", tern_progress_note(NULL, "a"))
NO_PROGRESS(tern_progress_due, "progress_due", tern_progress_due(NULL))
REFUSES(tern_progress_begin_with, "options that are NULL", TERN_ERR_NULL,
        "progress_begin: options is NULL", (tern_progress_begin_with(NULL), 1))
REFUSES(tern_progress_show_with, "options that are NULL", TERN_ERR_NULL,
        "progress_show: options is NULL", (tern_progress_show_with(NULL), 1))
REFUSES(tern_progress_step, "a progress that is NULL", TERN_ERR_NULL,
        "progress_step: progress is NULL", tern_progress_step(NULL, 1, NULL))

static tern_status step_with(tern_tensor *loss)
{
    tern_progress *p = tern_progress_new(stderr, .quiet = true);
    tern_status status = tern_progress_step(p, 1, loss);
    tern_progress_free(p);
    return status;
}

REFUSES(tern_progress_step, "a loss that died", TERN_ERR_STATE,
        "progress_step: loss (float32 (2, 3), made by neg) died when its scope closed",
        step_with(f->dead))
TAKES(tern_progress_step, "a loss that is NULL: nothing is read", step_with(NULL) == TERN_OK)

static int use_freed(void)
{
    tern_progress *p = tern_progress_new(stderr, .quiet = true);
    tern_progress_free(p);
    tern_progress_end(p);
    return 1;
}

REFUSES(tern_progress_end, "one that was freed", TERN_ERR_STATE,
        "progress_end: this progress was freed already", use_freed())

// ---- interrupts ---------------------------------------------------------------------------------

REFUSES(tern_interrupt_catch_with, "options that are NULL", TERN_ERR_NULL,
        "interrupt_catch: options is NULL", (tern_interrupt_catch_with(NULL), 1))
CANNOT_FAIL(tern_interrupted, "it says what is", (tern_interrupted(), 1))
CANNOT_FAIL(tern_interrupt_release, "without a catch it does nothing",
            (tern_interrupt_release(), 1))
