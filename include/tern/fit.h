// SPDX-License-Identifier: Apache-2.0
/// @file
/// The ordinary loop of training as one call.
///
///     tern_metric *accuracy = tern_metric_accuracy(.num_classes = 10);
///     tern_fit_result r;
///     if (tern_fit(net, criterion, opt, train, .valid = valid, .epochs = 20, .patience = 3,
///                  .metrics = tern_metrics(accuracy), .checkpoint = "runs/a", .result = &r))
///         return tern_error_print(stderr);
///     printf("epoch %d was the best: %g\n", (int)r.best_epoch, r.best);
///
/// It makes nothing but public calls, in the order in which docs/training.md has them as a loop:
/// the weights get the same bits. Whoever wants another loop writes that one. A step waits for no
/// device, and steps whose shapes were seen before allocate nothing; the end of an epoch waits.
///
/// What it is given is borrowed, and stays where it is. It fails with the first error of what it
/// calls, which is pending then, and leaves the net where that step was to begin. Threads: it is
/// the thread's that trains.
#ifndef TERN_FIT_H
#define TERN_FIT_H

#include <stdio.h>
#include <tern/checkpoint.h>
#include <tern/loader.h>
#include <tern/logger.h>
#include <tern/metric.h>
#include <tern/module.h>
#include <tern/optim.h>
#include <tern/options.h>
#include <tern/progress.h>
#include <tern/sched.h>

TERN_BEGIN_DECLS

// ---- what comes of it ---------------------------------------------------------------------------

/// Why a run ended.
typedef enum tern_fit_end {
    TERN_FIT_END_UNSPECIFIED = 0, ///< it failed
    TERN_FIT_FINISHED,            ///< all epochs are done
    TERN_FIT_STOPPED_EARLY,       ///< .patience epochs were no better
    TERN_FIT_STOPPED_BY_CALLBACK, ///< a callback asked for it
    TERN_FIT_INTERRUPTED          ///< a signal did (progress.h)
} tern_fit_end;

/// How far a run is. Losses are means over an epoch's samples, each batch's loss counting as often
/// as it has samples; numbers of metrics are in the order of .metrics. NAN: there is none yet, no
/// .valid, or a metric of several numbers.
typedef struct tern_fit_result {
    int64_t epochs;                     ///< whole ones, also those before a resume
    int64_t steps;                      ///< of the optimizer, likewise
    double train_loss;                  ///< of the last whole epoch
    double valid_loss;                  ///< likewise
    double train_metrics[TERN_METRICS]; ///< likewise
    double valid_metrics[TERN_METRICS]; ///< likewise
    double best;                        ///< of the monitored values; NAN: there is none
    int64_t best_epoch;                 ///< the epoch, from 1, that has it; 0: none
    tern_fit_end end;                   ///< why it ended
} tern_fit_result;

// ---- callbacks ----------------------------------------------------------------------------------

/// What a callback sees; valid during its call.
typedef struct tern_fit_event {
    tern_module *net;              ///< what is trained
    tern_optim *optim;             ///< its optimizer
    int64_t epoch;                 ///< from 1
    const tern_fit_result *result; ///< so far
    const tern_batch *batch;       ///< of a step, else NULL
    tern_tensor *output;           ///< what the net gave; at the end of a step, else NULL
    tern_tensor *loss;             ///< of the batch, 0-dim, on the device; likewise
    bool stop;                     ///< set it: the run ends after this step, or this epoch
} tern_fit_event;

/// Called at a point of the run. A failure, a status or an error that is left pending, ends it.
typedef tern_status tern_fit_fn(tern_fit_event *event, void *user);

/// What is called; each may be NULL.
typedef struct tern_fit_callbacks {
    tern_fit_fn *epoch_begin; ///< before its first step
    tern_fit_fn *epoch_end;   ///< with its losses and metrics in `result`, before it is saved
    tern_fit_fn *step_begin;  ///< before the forward of each batch
    tern_fit_fn *step_end;    ///< after its step, before temporaries die
    void *user;               ///< handed to all of them; borrowed
} tern_fit_callbacks;

// ---- the call -----------------------------------------------------------------------------------

/// When a scheduler steps.
typedef enum tern_fit_unit {
    TERN_FIT_UNIT_UNSPECIFIED = 0, ///< each epoch
    TERN_FIT_EPOCH,                ///< after each epoch
    TERN_FIT_STEP                  ///< after each step of the optimizer
} tern_fit_unit;

/// `tern_fit(net, criterion, opt, train, .valid = valid, .epochs = 10)`.
typedef struct tern_fit_options {
    int64_t epochs;           ///< >= 1, of the whole run
    tern_loader *valid;       ///< evaluated by tern_evaluate after each epoch, or NULL
    tern_metric_list metrics; ///< of training and of validation; their states are used
    tern_sched *scheduler;    ///< that steps, or NULL; one of a metric takes the monitored value
    tern_fit_unit scheduler_unit; ///< when
    int64_t accumulate;           ///< >= 1 batches that a step takes (tern_optim_accumulate); the
                                  ///< last step of an epoch takes what is left, which of a loader
                                  ///< that cannot count its batches is dropped
    double clip_grad_norm;        ///< >= 0: tern_clip_grad_norm to this; 0: not
    tern_module *average;         ///< tern_averaged_model_update after each step, and evaluated in
                                  ///< place of the net; or NULL
    const char *monitor;          ///< "valid/loss", "valid/<metric>", "train/..": what is the best;
                                  ///< NULL: the loss of .valid, without one of training
    tern_metric_mode mode;        ///< which is better; of losses TERN_MIN unless said
    int64_t patience;         ///< epochs in a row without a better value that end the run; 0: no
    double min_delta;         ///< >= 0: by how much better counts for .patience
    bool restore_best;        ///< net, average and optimizer end as in the best epoch, but where a
                              ///< signal or a failure ends the run
    const char *checkpoint;   ///< a folder: all is saved there after each epoch, when the run is
                              ///< stopped, and as "best.safetensors"; or NULL
    int64_t keep_last;        ///< of tern_checkpoint_new
    int64_t checkpoint_every; ///< saved also every so many steps; 0: not
    bool resume;              ///< goes on where the folder has a run; else such a one is refused
    tern_logger *logger;      ///< of losses, metrics and the rate, or NULL
    int64_t log_every;        ///< >= 1: steps from one "train/loss" to the next
    tern_fit_callbacks callbacks; ///< called as it goes
    FILE *file;                   ///< where the progress is shown (progress.h)
    bool quiet;                   ///< it is not
    bool interrupts;              ///< SIGINT ends the run after its step (tern_interrupt_catch)
    tern_fit_result *result;      ///< filled, also on failure; or NULL
    char reserved_;
    tern_module *net;       ///< called with x of a batch
    tern_module *criterion; ///< called with what the net gives and y: the mean loss of a batch
    tern_optim *optim;      ///< steps
    tern_loader *train;     ///< an epoch of which is an epoch
} tern_fit_options;
#define TERN_FIT_DEFAULTS_                                                                         \
    .epochs = 1, .valid = NULL, .metrics = {0, {NULL}}, .scheduler = NULL,                         \
    .scheduler_unit = TERN_FIT_UNIT_UNSPECIFIED, .accumulate = 1, .clip_grad_norm = 0,             \
    .average = NULL, .monitor = NULL, .mode = TERN_MODE_UNSPECIFIED, .patience = 0,                \
    .min_delta = 0, .restore_best = false, .checkpoint = NULL, .keep_last = 3,                     \
    .checkpoint_every = 0, .resume = false, .logger = NULL, .log_every = 1,                        \
    .callbacks = {NULL, NULL, NULL, NULL, NULL}, .file = stderr, .quiet = false,                   \
    .interrupts = true, .result = NULL
#define TERN_FIT_FIELDS_ 4, 0, (net, criterion, optim, train), (module, module, optim, loader)
TERN_API tern_fit_options tern_fit_defaults(void);
/// Trains. Modes are left as they are, but a net in evaluation mode comes into training mode. A
/// loss that is NaN ends nothing, and is no better than any other; it is said once (tern_set_log).
/// Gradients that are not finite end the run with .clip_grad_norm, as they do in the loop.
///
/// A run that is resumed gives the bits of one that was never stopped, in the middle of an epoch
/// too, and the same result; nets, loaders and options are to be the same, but for .epochs and
/// what is shown, saved and logged. Where a signal stops it after a step, which with .accumulate is
/// one of the optimizer, the progress says how to go on; a second signal ends the process.
///
/// Curves of .logger are "train/loss" and "lr" at steps of the optimizer, "train/<metric>",
/// "valid/loss" and "valid/<metric>" at the last one of each epoch. A metric that is a matrix of
/// (C, C) is logged by tern_logger_add_confusion_matrix, others of several numbers are not.
///
/// TERN_ERR_ARG for options that make no sense (the sentence says which), metrics of one name among
/// them; TERN_ERR_STATE for a loader without batches, a folder of another run, while an error is
/// pending and while the calling thread captures; else what a call of it fails with.
TERN_API TERN_NODISCARD tern_status tern_fit_with(const tern_fit_options *options);
#define tern_fit(...) tern_status_of_(TERN_WITH_(tern_fit, tern_fit, TERN_FIT, __VA_ARGS__))

// ---- a learning rate ----------------------------------------------------------------------------

/// Which rate of a curve is suggested.
typedef enum tern_lr_rule {
    TERN_LR_RULE_UNSPECIFIED = 0, ///< none is
    TERN_LR_VALLEY,               ///< fastai's valley: of the longest falling stretch of the curve
                                  ///< without its first tenth and last 5 steps, the point in the
                                  ///< middle of its second third
    TERN_LR_STEEPEST              ///< Lightning's: where the loss falls most by the rate, without
                                  ///< the first 10 steps and the last
} tern_lr_rule;

/// Losses by rates, made by tern_lr_find; freed with tern_lr_curve_free.
typedef struct tern_lr_curve {
    int64_t count;          ///< steps that were made
    const double *lr;       ///< the rate of each
    const double *loss;     ///< that of its batch, before the step
    const double *smoothed; ///< an exponential average of the losses so far, without bias
    bool diverged;          ///< it ended before .steps
    double suggestion;      ///< a rate to begin with; NAN: the curve has too few steps for one
    int64_t capacity_;      ///< the library's own
} tern_lr_curve;
/// Frees it. NULL is fine.
TERN_API void tern_lr_curve_free(tern_lr_curve *curve);

/// `tern_lr_find(net, criterion, opt, loader, .end_lr = 1)`.
typedef struct tern_lr_find_options {
    double start_lr;   ///< > 0: the rate of the first step, of all groups
    double end_lr;     ///< > start_lr: of the last
    int64_t steps;     ///< 2 to 100000
    double smooth;     ///< 0 to below 1: what stays of the average with each step
    double divergence; ///< > 1: an average so many times the least one ends it, or, of a negative
                       ///< one, as far above; 0: none does
    tern_lr_rule rule; ///< of the suggestion
    char reserved_;
    tern_module *net;       ///< called with x of a batch
    tern_module *criterion; ///< called with what the net gives and y
    tern_optim *optim;      ///< steps
    tern_loader *loader;    ///< whose epochs are run, as many as it takes
} tern_lr_find_options;
#define TERN_LR_FIND_DEFAULTS_                                                                     \
    .start_lr = 1e-7, .end_lr = 10, .steps = 100, .smooth = 0.98, .divergence = 4,                 \
    .rule = TERN_LR_VALLEY
#define TERN_LR_FIND_FIELDS_ 4, 0, (net, criterion, optim, loader), (module, module, optim, loader)
TERN_API tern_lr_find_options tern_lr_find_defaults(void);
/// Trains with rates that grow step by step by a constant factor, and says with which the loss fell
/// (the range test of Smith 2017, as fastai's and Lightning's finders make it). Afterwards
/// parameters, buffers, optimizer, modes, loader and generators are as before, bit for bit, also on
/// failure, unless the memory for that is lacking; gradients are absent. Not inside of a loop over
/// the loader. A loss that is not finite ends the curve, without it. Waits for the device at each
/// step. NULL on failure: TERN_ERR_ARG for options that make no sense, TERN_ERR_STATE for a loader
/// without batches, while an error is pending and while the calling thread captures; else what a
/// step fails with.
TERN_API tern_lr_curve *tern_lr_find_with(const tern_lr_find_options *options);
#define tern_lr_find(...) TERN_WITH_(tern_lr_find, tern_lr_find, TERN_LR_FIND, __VA_ARGS__)

TERN_END_DECLS

#endif
