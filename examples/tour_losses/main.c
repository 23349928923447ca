// SPDX-License-Identifier: Apache-2.0
// One small problem for each kind of loss, on Fashion-MNIST, and how well it is learnt.
#include <stdio.h>
#include <stdlib.h>

#include "tour.h"

#define TRAINED 12800
#define TESTED  2000

void train(tern_module *net, batch_loss_fn *loss, const images *data, int64_t steps, double lr)
{
    tern_optim *opt = tern_optim_adam(net, .lr = lr);
    tern_sched *sched =
        tern_sched_linear_lr(opt, .start_factor = 1, .end_factor = 0, .total_iters = steps);
    tern_each_step (i, steps) {
        tern_tensor *l = loss(net, data, i * 64 % (data->count - 128), 64);
        tern_optim_zero_grad(opt);
        if (tern_backward(l) || tern_optim_step(opt) || tern_sched_step(sched))
            break;
    }
    tern_free(sched, opt);
}

static images read_images(const char *path, tern_data_split split, int64_t count)
{
    static int64_t index[TRAINED];
    images some = {.count = count};
    tern_batch b = {0};
    for (int64_t i = 0; i < count; i++)
        index[i] = i;
    tern_dataset *data = tern_data_mnist(path, split);
    if (!tern_dataset_get(data, index, count, &b)) {
        some.x = tern_reshape(b.x, tern_dims(count, PIXELS));
        some.labels = b.y;
        some.label = malloc((size_t)count * sizeof *some.label);
        if (!some.label || tern_to_host(b.y, some.label, (size_t)count * sizeof *some.label))
            tern_error_print(stderr);
    }
    tern_dataset_free(data);
    return some;
}

static bool run(const problem *p, const images *learnt, const images *tested)
{
    double figure = 0;
    tern_manual_seed(0);
    tern_with_scope
        figure = p->run(learnt, tested);
    if (tern_error_pending())
        return false;
    const bool good = p->is_least ? figure >= p->bound : figure <= p->bound;
    printf("%-10s  %-22s  %s: %.3f, %s %.2f: %s\n", p->name, p->loss, p->figure, figure,
           p->is_least ? "at least" : "at most", p->bound, good ? "yes" : "no");
    return good;
}

static const char *folder = "/usr/share/datasets/fashion-mnist";
static const tern_option options[] = {
    {"DIR", .text = &folder, .argument = true, .help = "the files of MNIST or Fashion-MNIST"},
    {0},
};
static const tern_script script = {
    .name = "tour_losses",
    .about = "One small problem for each kind of loss, and how well it is learnt.",
    .options = options,
    .epilog = "Exit status: 0, or 1 where one is not learnt.",
};

int main(int argc, char **argv)
{
    const tern_script_action action = tern_script_read(&script, argc, argv);
    if (action != TERN_SCRIPT_RUN)
        return tern_script_print(&script, action, NULL);
    const problem *const problems[] = {&regression, &binary,     &classes,
                                       &attributes, &neighbours, &sequences};
    bool good = true;
    tern_scope scope = tern_scope_open();
    images learnt = read_images(folder, TERN_TRAIN, TRAINED);
    images tested = read_images(folder, TERN_TEST, TESTED);
    for (size_t i = 0; i < sizeof problems / sizeof *problems && !tern_error_pending(); i++)
        good = run(problems[i], &learnt, &tested) && good;
    tern_scope_close(scope);
    free(learnt.label);
    free(tested.label);
    const int status = tern_error_print(stderr);
    return status ? status : !good;
}
