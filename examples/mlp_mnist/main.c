// SPDX-License-Identifier: Apache-2.0
// Trains a multi-layer perceptron on MNIST or Fashion-MNIST: the whole of a training script, from
// the data files to the test accuracy.
#include <signal.h>

#include "evaluate.h"
#include "options.h"
#include "progress.h"

typedef struct training {
    options options;
    tern_device device;
    tern_dataset *train_data, *test_data;
    tern_loader *train_loader, *test_loader;
    tern_module *net, *criterion;
    tern_optim *optim;
    evaluation evaluation;
    int64_t epochs_done;
} training;

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

// The first Ctrl-C is looked at between two steps, a second one ends the program. Where the signal
// is ignored, as for a job in the background, it stays so.
static void catch_interrupt(void)
{
    struct sigaction now;
    if (sigaction(SIGINT, NULL, &now) || now.sa_handler == SIG_IGN)
        return;
    now = (struct sigaction){.sa_handler = on_interrupt, .sa_flags = SA_RESETHAND | SA_RESTART};
    (void)sigaction(SIGINT, &now, NULL);
}

static tern_module *make_net(const options *o)
{
    tern_module *layers[2 * MAX_HIDDEN + 2];
    int64_t width = 28 * 28, count = 0;
    layers[count++] = tern_nn_flatten();
    for (int i = 0; i < o->hidden_count; i++) {
        layers[count++] = tern_nn_linear(width, o->hidden[i]);
        layers[count++] = tern_nn_relu();
        width = o->hidden[i];
    }
    layers[count++] = tern_nn_linear(width, CLASSES);
    return tern_nn_sequential_new(count, layers);
}

static tern_optim *make_optim(const options *o, tern_module *net)
{
    double decay = o->weight_decay < 0 ? 0 : o->weight_decay;
    switch (o->optimizer) {
    case OPTIMIZER_SGD:
        return tern_optim_sgd(net, .lr = o->lr, .momentum = 0.9, .weight_decay = decay);
    case OPTIMIZER_ADAM:
        return tern_optim_adam(net, .lr = o->lr, .weight_decay = decay);
    case OPTIMIZER_ADAMW:
        return tern_optim_adamw(net, .lr = o->lr,
                                .weight_decay = o->weight_decay < 0 ? 0.01 : o->weight_decay);
    }
    return NULL;
}

// What can be wrong with options and files comes first: its exit status is another one.
static tern_status open_data(training *t)
{
    const options *o = &t->options;
    t->device = tern_device_best();
    if (o->device && tern_device_parse(o->device, &t->device))
        return tern_error_code();
    if (o->threads && tern_set_num_threads(o->threads))
        return tern_error_code();
    t->train_data = tern_data_mnist(o->data, TERN_TRAIN);
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

static tern_status build(training *t)
{
    const options *o = &t->options;
    tern_manual_seed(o->seed);
    t->net = tern_module_to(make_net(o), t->device);
    t->criterion = tern_module_to(tern_nn_cross_entropy_loss(), t->device);
    t->optim = make_optim(o, t->net);
    if (tern_error_pending() || keep_on_device(t->train_data, t) || keep_on_device(t->test_data, t))
        return tern_error_code();
    t->train_loader = tern_loader_new(t->train_data, .batch_size = o->batch_size, .shuffle = true,
                                      .device = t->device);
    t->test_loader = tern_loader_new(t->test_data, .batch_size = 1000, .device = t->device);
    if (!o->quiet && !tern_error_pending() &&
        tern_module_summary_print(t->net, tern_dims(o->batch_size, 1, 28, 28), stderr))
        return tern_error_code();
    return tern_error_code();
}

// Sums that stay on the device until somebody wants to see them.
typedef struct sums {
    tern_tensor *loss, *correct;
    int64_t samples;
} sums;

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

// The learning rate falls in a line to 0: the last steps settle what the first ones found.
static tern_status set_lr(training *t, int64_t epoch, int64_t samples)
{
    double size = (double)tern_dataset_count(t->train_data);
    double done = ((double)(epoch - 1) + (double)samples / size) / (double)t->options.epochs;
    return tern_optim_set_lr(t->optim, TERN_ALL_GROUPS, t->options.lr * (1 - done));
}

static tern_status train_epoch(training *t, progress *p, sums *s)
{
    tern_each_batch (b, t->train_loader) {
        tern_tensor *logits = tern_forward(t->net, b.x);
        tern_tensor *loss = tern_loss(t->criterion, logits, b.y);
        tern_optim_zero_grad(t->optim);
        if (set_lr(t, p->epoch, s->samples) || tern_backward(loss) || tern_optim_step(t->optim))
            break;
        add_batch(s, loss, logits, &b);
        if (interrupted)
            break;
        if (progress_due(p))
            progress_draw(p, s->samples, mean(s, s->loss), mean(s, s->correct));
    }
    return tern_error_code();
}

static tern_status run_epoch(training *t, int64_t epoch)
{
    progress p;
    tern_scope scope = tern_scope_open();
    sums s = {tern_zeros(tern_dims(), .dtype = TERN_FLOAT64, .device = t->device),
              tern_zeros(tern_dims(), .dtype = TERN_INT64, .device = t->device), 0};
    progress_begin(&p, epoch, t->options.epochs, tern_dataset_count(t->train_data),
                   t->options.quiet);
    tern_status status = train_epoch(t, &p, &s);
    const bool whole = s.samples == p.total;
    t->epochs_done += whole;
    if (!status && !whole)
        progress_interrupt(&p, s.samples);
    if (!status && !evaluate(t->net, t->criterion, t->test_loader, t->device, &t->evaluation) &&
        whole)
        progress_end(&p, s.samples, mean(&s, s.loss), mean(&s, s.correct), t->evaluation.accuracy);
    tern_scope_close(scope);
    return tern_error_code();
}

static tern_status train(training *t)
{
    double started = progress_now();
    catch_interrupt();
    for (int64_t epoch = 1; epoch <= t->options.epochs && !interrupted; epoch++)
        if (run_epoch(t, epoch))
            return tern_error_code();
    if (!t->options.quiet)
        evaluation_confusions_print(&t->evaluation, stdout);
    printf("test_accuracy=%.4f test_loss=%.4f epochs=%lld seconds=%.1f\n", t->evaluation.accuracy,
           t->evaluation.loss, (long long)t->epochs_done, progress_now() - started);
    return TERN_OK;
}

static void release(training *t)
{
    tern_loader_free(t->train_loader);
    tern_loader_free(t->test_loader);
    tern_optim_free(t->optim);
    tern_module_free(t->criterion);
    tern_module_free(t->net);
    tern_dataset_free(t->train_data);
    tern_dataset_free(t->test_data);
    tern_shutdown();
}

static int finish(training *t, int status_on_error)
{
    int status = tern_error_pending() ? status_on_error : interrupted ? EXIT_INTERRUPTED : 0;
    tern_error_print(stderr);
    release(t);
    return status;
}

int main(int argc, char **argv)
{
    training t = {0};
    if (!options_read(&t.options, argc, argv))
        return EXIT_USAGE;
    if (t.options.help) {
        options_help();
        return 0;
    }
    if (open_data(&t))
        return finish(&t, EXIT_USAGE);
    if (!build(&t) && !train(&t) && (fflush(stdout) || ferror(stdout)))
        tern_error_raise(TERN_ERR_IO, "cannot write to stdout");
    return finish(&t, EXIT_FAILED);
}
