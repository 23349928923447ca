// SPDX-License-Identifier: Apache-2.0
// The pieces of docs/training.md and docs/getting-started.md about whole runs.
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

static tern_loader *train, *valid;

static tern_loader *make_loader(int64_t count, bool shuffle)
{
    tern_tensor *x = tern_randn(tern_dims(count, 4)), *labels = NULL;
    tern_no_grad
        labels = tern_argmax(tern_slice(x, 1, 0, 3, 1), 1, false);
    tern_dataset *data = tern_data_tensors(x, labels);
    tern_loader *loader = tern_loader_new(data, .batch_size = 16, .shuffle = shuffle);
    tern_dataset_free(data);
    return loader;
}

static tern_module *make_net(void)
{
    return tern_nn_sequential(tern_nn_linear(4, 32), tern_nn_relu(), tern_nn_linear(32, 3));
}

static void as_one_call(tern_fit_result *result)
{
    tern_manual_seed(1);
    tern_module *net = make_net(), *criterion = tern_nn_cross_entropy_loss();
    tern_optim *opt = tern_optim_adamw(net, .lr = 1e-2);
    tern_sched *sched = tern_sched_exponential_lr(opt, 0.9);
    // [fit]
    tern_metric *accuracy = tern_metric_accuracy(.num_classes = 3);
    tern_fit_result r;
    if (tern_fit(net, criterion, opt, train, .epochs = 10, .valid = valid, .scheduler = sched,
                 .clip_grad_norm = 1.0, .metrics = tern_metrics(accuracy), .result = &r))
        tern_error_print(stderr);
    printf("loss %.4f, accuracy %.4f\n", r.valid_loss, r.valid_metrics[0]);
    // [/fit]
    *result = r;
    tern_free(accuracy, sched, opt, criterion, net);
}

static void by_hand(const tern_fit_result *fitted)
{
    tern_manual_seed(1);
    tern_module *net = make_net(), *criterion = tern_nn_cross_entropy_loss();
    tern_optim *opt = tern_optim_adamw(net, .lr = 1e-2);
    tern_sched *sched = tern_sched_exponential_lr(opt, 0.9);
    // [by_hand]
    tern_metric *accuracy = tern_metric_accuracy(.num_classes = 3);
    tern_progress *p = tern_progress_new(stderr, .epochs = 10, .loader = train);
    double loss_of_valid = NAN;
    tern_interrupt_catch(); // Ctrl-C ends the loop after its step
    for (int epoch = 1; epoch <= 10 && !tern_interrupted(); epoch++) {
        tern_progress_begin(p, epoch);
        tern_each_batch (b, train) {
            tern_tensor *loss = tern_loss(criterion, tern_forward(net, b.x), b.y);
            tern_optim_zero_grad(opt);
            if (tern_backward(loss) || !tern_clip_grad_norm(net, 1.0) || tern_optim_step(opt) ||
                tern_progress_step(p, b.size, loss) || tern_interrupted())
                break;
        }
        if (tern_evaluate(net, valid, .criterion = criterion, .loss = &loss_of_valid,
                          .metrics = tern_metrics(accuracy)) ||
            tern_sched_step(sched))
            break; // an error is pending
        tern_progress_show(p, "valid loss", loss_of_valid, .bold = true);
        tern_progress_end(p);
    }
    tern_interrupt_release();
    // [/by_hand]
    expect(loss_of_valid == fitted->valid_loss);
    expect(tern_metric_value(accuracy) == fitted->valid_metrics[0]);
    tern_free(p, accuracy, sched, opt, criterion, net);
}

// [callback]
static tern_status look(tern_fit_event *event, void *user)
{
    const double *enough = user;
    event->stop = event->result->valid_loss < *enough; // after this epoch
    return TERN_OK;
}
// [/callback]

static void with_callbacks(void)
{
    tern_module *net = make_net(), *criterion = tern_nn_cross_entropy_loss();
    tern_optim *opt = tern_optim_adamw(net, .lr = 1e-2);
    tern_fit_result r;
    // [stop]
    double enough = 0.3;
    if (tern_fit(net, criterion, opt, train, .epochs = 100, .valid = valid, .result = &r,
                 .callbacks = {.epoch_end = look, .user = &enough}))
        tern_error_print(stderr);
    // [/stop]
    expect(r.end == TERN_FIT_STOPPED_BY_CALLBACK && r.valid_loss < 0.3 && r.epochs < 100);
    tern_free(opt, criterion, net);
}

static void with_a_folder(void)
{
    tern_module *net = make_net(), *criterion = tern_nn_cross_entropy_loss();
    tern_optim *opt = tern_optim_adamw(net, .lr = 1e-2);
    tern_fit_result r;
    // [folder]
    if (tern_fit(net, criterion, opt, train, .valid = valid, .epochs = 50, .patience = 3,
                 .restore_best = true, .checkpoint = "runs/b", .resume = true, .result = &r))
        tern_error_print(stderr);
    // [/folder]
    expect(r.best_epoch > 0 && access("runs/b/best.safetensors", F_OK) == 0);
    tern_free(opt, criterion, net);
}

static void a_rate(void)
{
    tern_module *net = make_net(), *criterion = tern_nn_cross_entropy_loss();
    // [find]
    tern_optim *opt = tern_optim_adamw(net);
    tern_lr_curve *curve = tern_lr_find(net, criterion, opt, train);
    if (!curve || tern_optim_set_lr(opt, TERN_ALL_GROUPS, curve->suggestion))
        tern_error_print(stderr);
    tern_lr_curve_free(curve); // ->lr, ->loss and ->smoothed are the curve
    // [/find]
    expect(tern_optim_lr(opt, 0) > 1e-5 && tern_optim_lr(opt, 0) < 1);
    tern_free(opt, criterion, net);
}

int main(void)
{
    char folder[] = "/tmp/tern-docs-XXXXXX", command[64];
    tern_fit_result fitted;
    tern_scope scope = tern_scope_open();
    if (!mkdtemp(folder) || chdir(folder))
        return 1;
    tern_manual_seed(2);
    train = make_loader(256, true);
    valid = make_loader(64, false);
    as_one_call(&fitted);
    by_hand(&fitted);
    with_callbacks();
    with_a_folder();
    a_rate();
    tern_free(train, valid);
    tern_scope_close(scope);
    snprintf(command, sizeof command, "rm -r %s", folder);
    expect(!chdir("/") && !system(command));
    return finished();
}
