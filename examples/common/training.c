// SPDX-License-Identifier: Apache-2.0
#include "training.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "message.h"

static tern_optim *make_optim(const options *o, tern_module *net)
{
    tern_optim *optim = optimizer_find(o->optimizer)->make(net);
    if (optim && !tern_optim_set_lr(optim, TERN_ALL_GROUPS, o->lr) && o->weight_decay >= 0)
        (void)!tern_optim_set(optim, TERN_ALL_GROUPS, "weight_decay", o->weight_decay);
    return optim;
}

static int64_t steps_per_epoch(const training *t)
{
    const int64_t batch_size = t->options.batch_size;
    return (tern_dataset_count(t->train_data) + batch_size - 1) / batch_size;
}

// That of --schedule, or what the rate does without one, after --warmup.
static tern_status make_sched(training *t)
{
    const options *o = &t->options;
    const schedule_run run = {o->epochs, steps_per_epoch(t), o->lr};
    const int64_t rest = run.epochs * run.steps_per_epoch - o->warmup;
    if (o->schedule.kind) {
        t->sched = schedule_make(&o->schedule, t->optim, &run);
        t->unit = schedule_unit_of(&o->schedule);
    } else if (o->warmup) {
        t->sched = tern_sched_linear_lr(t->optim, .start_factor = 1, .total_iters = rest,
                                        .end_factor = t->program->command.last_lr);
    }
    if (o->warmup)
        t->sched = tern_sched_warmup(t->sched, o->warmup);
    return tern_error_code();
}

// The first samples as a data set of their own, in place of the whole.
static tern_dataset *first_samples(tern_dataset *whole, int64_t count)
{
    tern_batch b = {0};
    tern_dataset *first = NULL;
    tern_scope scope = tern_scope_open();
    int64_t *index =
        whole && count <= tern_dataset_count(whole) ? malloc((size_t)count * sizeof *index) : NULL;
    for (int64_t i = 0; index && i < count; i++)
        index[i] = i;
    if (!tern_error_pending() && !index)
        tern_error_raise(TERN_ERR_ARG, "--limit %lld: there are %lld training images",
                         (long long)count, (long long)tern_dataset_count(whole));
    else if (index && !tern_dataset_get(whole, index, count, &b))
        first = tern_data_tensors(b.x, b.y);
    free(index);
    tern_scope_close(scope);
    tern_dataset_free(whole);
    return first;
}

// The training images, moved and mirrored at random, in place of the plain ones.
static tern_dataset *augmented(tern_dataset *plain)
{
    tern_transform *crop = tern_transform_random_crop(28, .padding = 2);
    tern_transform *flip = tern_transform_random_horizontal_flip(0.5);
    tern_transform *both = tern_transform_compose(crop, flip);
    tern_dataset *data = tern_data_transform(plain, both);
    tern_transform_free(both);
    tern_dataset_free(plain);
    return data;
}

static tern_status add_device(training *t, const char *name)
{
    tern_device device;
    const tern_device *first = &t->devices[0];
    if (tern_device_parse(name, &device))
        return tern_error_code();
    for (int i = 0; i < t->device_count; i++)
        if (tern_device_equal(t->devices[i], device))
            return tern_error_raise(TERN_ERR_ARG, "--devices %s: %s is listed twice",
                                    t->options.devices, tern_device_string(device));
    if (t->device_count > 0 && first->type != device.type)
        return tern_error_raise(TERN_ERR_ARG, "--devices %s: %s and %s are of two types",
                                t->options.devices, tern_device_string(*first),
                                tern_device_string(device));
    if (t->device_count == MAX_DEVICES)
        return tern_error_raise(TERN_ERR_ARG, "--devices %s: more than %d", t->options.devices,
                                MAX_DEVICES);
    t->devices[t->device_count++] = device;
    return TERN_OK;
}

static tern_status read_devices(training *t)
{
    char name[32];
    for (const char *at = t->options.devices;; at++) {
        const int length = (int)strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", length, at);
        if (add_device(t, name))
            return tern_error_code();
        at += length;
        if (*at == 0)
            break;
    }
    t->device = t->devices[0];
    return TERN_OK;
}

// What can be wrong with options and files comes first: its exit status is another one.
static tern_status open_data(training *t)
{
    const options *o = &t->options;
    t->device = tern_device_best();
    if (o->device && tern_device_parse(o->device, &t->device))
        return tern_error_code();
    if (o->devices && read_devices(t))
        return tern_error_code();
    if (o->threads && tern_set_num_threads((int)o->threads))
        return tern_error_code();
    t->train_data = tern_data_mnist(o->data, TERN_TRAIN);
    if (o->limit)
        t->train_data = first_samples(t->train_data, o->limit);
    if (o->augment)
        t->train_data = augmented(t->train_data);
    t->test_data = tern_data_mnist(o->data, TERN_TEST);
    return tern_error_code();
}

// A data set that fits on the device stays there, and a step copies nothing; of one that does not,
// the loaders copy batch by batch.
static tern_status keep_on_device(tern_dataset *data, const training *t)
{
    if (tern_dataset_to(data, t->device) || tern_error_code() != TERN_ERR_NOMEM)
        return tern_error_code();
    tern_error_clear();
    if (!t->options.quiet)
        fprintf(stderr, "%lld images do not fit on %s: batches are copied there\n",
                (long long)tern_dataset_count(data), tern_device_string(t->device));
    return TERN_OK;
}

static tern_status load(training *t)
{
    const char *path = t->options.load;
    if (!path || tern_error_pending())
        return tern_error_code();
    t->failed_option =
        t->program->load ? t->program->load(t->net, path) : tern_module_load(t->net, path);
    return tern_error_code();
}

static void say_devices(const training *t)
{
    fputs("data parallel on", stderr);
    for (int i = 0; i < t->device_count; i++)
        fprintf(stderr, "%s %s", i ? "," : "", tern_device_string(t->devices[i]));
    fputc('\n', stderr);
}

// Files and the optimizer have the net itself: what is saved is the same with a wrapper or without.
static tern_module *make_model(const training *t)
{
    tern_module *net = tern_module_retain(t->net);
    if (!t->options.devices)
        return net;
    if (!t->options.quiet)
        say_devices(t);
    return tern_nn_data_parallel(net, .devices = t->devices, .count = t->device_count);
}

static void make_sums(training *t)
{
    tern_scope scope = tern_scope_open();
    t->sums.loss = tern_retain(tern_zeros(tern_dims(), .dtype = TERN_FLOAT64, .device = t->device));
    t->sums.correct =
        tern_retain(tern_zeros(tern_dims(), .dtype = TERN_INT64, .device = t->device));
    tern_scope_close(scope);
}

static tern_status build(training *t)
{
    const options *o = &t->options;
    tern_manual_seed((uint64_t)o->seed);
    make_sums(t);
    t->net = t->program->make_net();
    if (load(t) || !tern_module_to(t->net, t->device))
        return tern_error_code();
    t->model = make_model(t);
    if (o->ema > 0)
        t->average = tern_averaged_model_ema(t->net, .decay = o->ema, .use_buffers = true);
    t->criterion = tern_module_to(tern_nn_cross_entropy_loss(), t->device);
    t->optim = make_optim(o, t->net);
    t->failed_option = tern_error_pending() || make_sched(t);
    if (t->failed_option || keep_on_device(t->train_data, t) || keep_on_device(t->test_data, t))
        return tern_error_code();
    t->train_loader = tern_loader_new(t->train_data, .batch_size = o->batch_size, .shuffle = true,
                                      .device = t->device, .workers = (int)o->workers);
    t->test_loader = tern_loader_new(t->test_data, .batch_size = 1000, .device = t->device);
    t->progress =
        tern_progress_new(stderr, .epochs = o->epochs, .quiet = o->quiet,
                          .samples = tern_dataset_count(t->train_data), .loader = t->train_loader);
    const int64_t channels = t->program->channels ? t->program->channels : 1;
    if (!o->quiet && !tern_error_pending() &&
        tern_module_summary_print(t->net, tern_dims(o->batch_size, channels, 28, 28), stderr,
                                  .optim = t->optim))
        return tern_error_code();
    return tern_error_code();
}

// ---- checkpoints --------------------------------------------------------------------------------

// All that the rest of the run depends on, and what it has shown.
static tern_status name_parts(training *t)
{
    tern_checkpoint *c = t->checkpoint;
    if (tern_checkpoint_module(c, "model", t->net) || tern_checkpoint_optim(c, "optim", t->optim) ||
        tern_checkpoint_loader(c, "train", t->train_loader) ||
        tern_checkpoint_loader(c, "test", t->test_loader) ||
        tern_checkpoint_int(c, "epoch", &t->epoch) ||
        tern_checkpoint_int(c, "epochs_done", &t->epochs_done) ||
        tern_checkpoint_int(c, "samples", &t->sums.samples) ||
        tern_checkpoint_tensor(c, "loss_sum", t->sums.loss) ||
        tern_checkpoint_tensor(c, "correct_sum", t->sums.correct) ||
        tern_checkpoint_number(c, "test_loss", &t->evaluation.loss) ||
        (t->sched && tern_checkpoint_sched(c, "sched", t->sched)) ||
        (t->average && tern_checkpoint_module(c, "average", t->average)))
        return tern_error_code();
    return tern_checkpoint_number(c, "test_accuracy", &t->evaluation.accuracy);
}

static tern_status resume(training *t)
{
    const options *o = &t->options;
    if (!o->checkpoint_dir)
        return TERN_OK;
    t->checkpoint = tern_checkpoint_new(o->checkpoint_dir, .keep_last = 3);
    if (!t->checkpoint || name_parts(t))
        return tern_error_code();
    const int resumed = o->resume ? tern_checkpoint_resume(t->checkpoint, &t->steps) : 0;
    t->failed_option = resumed < 0;
    if (resumed > 0 && !o->quiet)
        fprintf(stderr, "goes on after step %lld\n", (long long)t->steps);
    return tern_error_code();
}

// What a log has is on its way to the disk first: a run that goes on from here lacks nothing of it.
static tern_status save_checkpoint(training *t)
{
    if (!t->checkpoint || tern_logger_flush(t->logs.logger))
        return tern_error_code();
    return tern_checkpoint_save(t->checkpoint, t->steps);
}

static bool is_whole(const training *t)
{
    return t->sums.samples == tern_dataset_count(t->train_data);
}

// In the loop over the batches: one that is left gives up its epoch. A whole one is saved with its
// end: what is logged there would come again after a checkpoint of the same step.
static tern_status save_sometimes(training *t, bool stops)
{
    const int64_t every = t->options.checkpoint_every;
    const bool due = stops || (every && t->steps % every == 0);
    return due && !is_whole(t) ? save_checkpoint(t) : TERN_OK;
}

// ---- training -----------------------------------------------------------------------------------

static void add_batch(sums *s, tern_tensor *loss, tern_tensor *logits, const tern_batch *b)
{
    tern_no_grad {
        tern_tensor *right = tern_eq(tern_argmax(logits, 1, false), b->y);
        tern_add_(s->loss, loss, (double)b->size);
        tern_add_(s->correct, tern_sum_all(right), 1);
    }
    s->samples += b->size;
}

static double mean(const sums *s, const tern_tensor *sum)
{
    return s->samples ? tern_item(sum) / (double)s->samples : 0;
}

static void show_sums(const training *t)
{
    const sums *s = &t->sums;
    tern_progress_show(t->progress, "loss", mean(s, s->loss));
    tern_progress_show(t->progress, "accuracy", mean(s, s->correct));
}

// That of the next step, unless a scheduler sets it. It falls linearly: the last steps are small.
static tern_status set_lr(const training *t)
{
    const options *o = &t->options;
    const int64_t steps = o->epochs * steps_per_epoch(t);
    if (t->sched)
        return TERN_OK;
    const double done = (double)t->steps / (double)steps;
    const double share = 1 - done * (1 - t->program->command.last_lr);
    return tern_optim_set_lr(t->optim, TERN_ALL_GROUPS, o->lr * share);
}

static tern_status count_step(const training *t)
{
    return t->sched && t->unit == SCHEDULE_STEPS ? tern_sched_step(t->sched) : set_lr(t);
}

static tern_status count_epoch(const training *t)
{
    if (!t->sched || t->unit == SCHEDULE_STEPS)
        return TERN_OK;
    return t->unit == SCHEDULE_EPOCHS ? tern_sched_step(t->sched)
                                      : tern_sched_step_metric(t->sched, t->evaluation.loss);
}

tern_status training_step(const training *t)
{
    const double clip = t->options.clip;
    if (clip > 0 && !tern_clip_grad_norm(t->net, clip))
        return tern_error_code();
    if (tern_optim_step(t->optim))
        return tern_error_code();
    return t->average ? tern_averaged_model_update(t->average, t->net) : TERN_OK;
}

bool training_goes_on(training *t, const tern_batch *b, tern_tensor *logits, tern_tensor *loss)
{
    sums *s = &t->sums;
    add_batch(s, loss, logits, b);
    t->steps++;
    const bool stops = tern_interrupted();
    if (logs_step(t, loss) || count_step(t) || save_sometimes(t, stops) || stops)
        return false;
    if (tern_progress_due(t->progress))
        show_sums(t);
    return !tern_progress_step(t->progress, b->size, NULL);
}

// An optimizer that averages by itself has the model at the average for it.
static tern_status test(training *t)
{
    if (tern_optim_eval(t->optim) || evaluate(t->average ? t->average : t->model, t->criterion,
                                              t->test_loader, t->logs.worst, &t->evaluation))
        return tern_error_code();
    return tern_optim_train(t->optim);
}

// The next one, or the rest of the one that was resumed.
static void begin_epoch(training *t)
{
    if (t->epoch > t->epochs_done)
        return;
    t->epoch++;
    t->sums.samples = 0;
    tern_zero_(t->sums.loss);
    tern_zero_(t->sums.correct);
}

static void show_stop(const training *t)
{
    tern_progress_stop(t->progress);
    if (t->checkpoint)
        tern_progress_note(t->progress, "saved after step %lld in %s: --resume goes on from there",
                           (long long)t->steps, t->options.checkpoint_dir);
}

static tern_status run_epoch(training *t)
{
    tern_progress *p = t->progress;
    begin_epoch(t);
    tern_progress_begin(p, t->epoch, .done = t->sums.samples);
    const bool by_closure = optimizer_find(t->options.optimizer)->by_closure;
    if (set_lr(t) || logs_begin_epoch(t) ||
        (by_closure ? training_epoch_by_closure : t->program->train_epoch)(t))
        return tern_error_code();
    const bool whole = is_whole(t);
    if (!whole)
        show_stop(t);
    if (logs_end_steps(t) || test(t) || !whole)
        return tern_error_code();
    t->epochs_done++;
    if (logs_end_epoch(t) || count_epoch(t))
        return tern_error_code();
    show_sums(t);
    tern_progress_show(p, "test accuracy", t->evaluation.accuracy, .bold = true);
    tern_progress_end(p);
    return save_checkpoint(t);
}

static tern_status train(training *t)
{
    struct timespec started, now;
    clock_gettime(CLOCK_MONOTONIC, &started);
    tern_interrupt_catch();
    const bool all_done = t->epochs_done >= t->options.epochs; // by the run that is resumed
    if (all_done && test(t))
        return tern_error_code();
    while (t->epochs_done < t->options.epochs && !tern_interrupted())
        if (run_epoch(t))
            return tern_error_code();
    tern_module *net = t->average ? tern_module_child(t->average, "module") : t->net;
    if (t->options.save && (tern_optim_eval(t->optim) || tern_module_save(net, t->options.save)))
        return tern_error_code();
    if (!t->options.quiet)
        evaluation_confusions_print(&t->evaluation, stdout);
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double seconds =
        difftime(now.tv_sec, started.tv_sec) + 1e-9 * (double)(now.tv_nsec - started.tv_nsec);
    printf("test_accuracy=%.4f test_loss=%.4f epochs=%lld seconds=%.1f\n", t->evaluation.accuracy,
           t->evaluation.loss, (long long)t->epochs_done, seconds);
    return TERN_OK;
}

static void release(training *t)
{
    logs_close(t);
    tern_interrupt_release();
    tern_checkpoint_free(t->checkpoint);
    tern_release(t->sums.loss);
    tern_release(t->sums.correct);
    tern_loader_free(t->train_loader);
    tern_loader_free(t->test_loader);
    tern_sched_free(t->sched);
    tern_optim_free(t->optim);
    tern_module_free(t->criterion);
    tern_module_free(t->average);
    tern_module_free(t->model);
    tern_module_free(t->net);
    tern_dataset_free(t->train_data);
    tern_dataset_free(t->test_data);
    tern_shutdown();
}

static int finish(training *t, int status_on_error)
{
    int status = tern_error_pending() ? status_on_error : tern_interrupted() ? EXIT_INTERRUPTED : 0;
    tern_progress_free(t->progress); // ends its line
    message_print(t->program->command.name, t->failed_option || status_on_error == EXIT_USAGE);
    release(t);
    return status;
}

int train_images(const program *p, int argc, char **argv)
{
    int status;
    training t = {.program = p};
    if (!options_read(&t.options, &p->command, argc, argv, &status))
        return status;
    if (open_data(&t))
        return finish(&t, EXIT_USAGE);
    if (!build(&t) && !resume(&t) && !logs_open(&t) && !train(&t) &&
        (fflush(stdout) || ferror(stdout)))
        tern_error_raise(TERN_ERR_IO, "cannot write to stdout");
    return finish(&t, EXIT_FAILED);
}
