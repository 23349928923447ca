// SPDX-License-Identifier: Apache-2.0
// Two devices: one model on both, a replica of it on each, and one piece of work on each.
#include <math.h>
#include "tour.h"

// ---- one model on both --------------------------------------------------------------------------

typedef struct split {
    tern_module *front, *back; // borrowed
    tern_module *both;
    tern_optim *optim;
    tern_device middle; // where the back is
} split;

static double train_step(const split *s, tern_tensor *x, tern_tensor *y)
{
    tern_tensor *hidden = tern_to(tern_forward(s->front, x), s->middle);
    tern_tensor *loss = tern_mse_loss(tern_forward(s->back, hidden), y, TERN_REDUCTION_MEAN);
    tern_optim_zero_grad(s->optim);
    if (tern_backward(loss) || tern_optim_step(s->optim))
        return 0;
    return tern_item(loss);
}

void show_split(const tour *t)
{
    if (!has_two(t))
        return;
    tern_manual_seed(2);
    tern_module *front = tern_nn_sequential(tern_nn_linear(2, 16), tern_nn_tanh());
    tern_module *back = tern_nn_linear(16, 1);
    split s = {front, back, tern_nn_module_list(front, back), NULL, t->other};
    s.optim = tern_optim_adam(s.both, .lr = 0.05);
    tern_module_to(front, t->device);
    tern_module_to(back, t->other);
    tern_tensor *x = tern_to(tern_rand(tern_dims(64, 2), .device = t->host), t->device);
    tern_tensor *y = tern_to(tern_sum(x, tern_axes(1), true), t->other);
    double first = train_step(&s, x, y), last = first;
    for (int step = 1; step < 60 && !tern_error_pending(); step++)
        last = train_step(&s, x, y);
    say("the front is on %s, the back on %s", place(tern_module_parameter(front, "0.weight")),
        place(tern_module_parameter(back, "weight")));
    say("60 steps: the loss falls below a tenth: %s (%.4f to %.4f)", yes_or_no(last < first / 10),
        first, last);
    tern_optim_free(s.optim);
    tern_module_free(s.both);
}

// ---- a replica on each --------------------------------------------------------------------------

#define STEPS 4

// The losses of the same net and batch, run on the first `count` devices.
static void train(const tour *t, int count, double *losses)
{
    const tern_device devices[] = {t->device, t->other};
    tern_manual_seed(3);
    tern_module *net =
        tern_nn_sequential(tern_nn_linear(2, 16), tern_nn_tanh(), tern_nn_linear(16, 1));
    tern_tensor *x = tern_to(tern_rand(tern_dims(64, 2), .device = t->host), t->device);
    tern_tensor *y = tern_sum(x, tern_axes(1), true);
    tern_module_to(net, t->device);
    net = tern_nn_data_parallel(net, .devices = devices, .count = count);
    tern_optim *optim = tern_optim_sgd(net, .lr = 0.1);
    for (int step = 0; step < STEPS && !tern_error_pending(); step++) {
        tern_tensor *loss = tern_mse_loss(tern_forward(net, x), y, TERN_REDUCTION_MEAN);
        tern_optim_zero_grad(optim);
        if (!tern_backward(loss) && !tern_optim_step(optim))
            losses[step] = tern_item(loss);
    }
    tern_optim_free(optim);
    tern_module_free(net);
}

void show_data_parallel(const tour *t)
{
    double one[STEPS] = {0}, both[STEPS] = {0};
    bool same = true;
    if (!has_two(t))
        return;
    if (t->device.type != t->other.type) {
        say("left out: %s and %s are not of one type", tern_device_string(t->device),
            tern_device_string(t->other));
        return;
    }
    train(t, 1, one);
    train(t, 2, both);
    say("each batch is cut in two; both halves run at once, gradients are summed on %s",
        tern_device_string(t->device));
    for (int step = 0; step < STEPS; step++) {
        say("step %d: loss %.6f on %s, %.6f on both", step + 1, one[step],
            tern_device_string(t->device), both[step]);
        same = same && fabs(one[step] - both[step]) <= 1e-5 * one[step];
    }
    say("the same losses but for rounding: %s", yes_or_no(same));
}

// ---- a piece of work on each --------------------------------------------------------------------

static void queue(tern_tensor *x, int products)
{
    for (int i = 0; i < products; i++) {
        tern_scope scope = tern_scope_open();
        (void)!tern_matmul(x, x);
        tern_scope_close(scope);
    }
}

static double time_of(const tour *t, tern_tensor *a, tern_tensor *b, int products)
{
    double started = now_ms();
    if (a)
        queue(a, products);
    if (b)
        queue(b, products);
    if (tern_synchronize(t->device) || tern_synchronize(t->other))
        return 0;
    return now_ms() - started;
}

void show_two_at_once(const tour *t)
{
    if (!has_two(t))
        return;
    int64_t size = t->quick ? 32 : 1024;
    int products = t->quick ? 2 : 20;
    tern_tensor *a = tern_rand(tern_dims(size, size), .device = t->device);
    tern_tensor *b = tern_rand(tern_dims(size, size), .device = t->other);
    (void)time_of(t, a, b, 1);
    double one = time_of(t, a, NULL, products), two = time_of(t, NULL, b, products);
    double both = time_of(t, a, b, products);
    say("%d products of (%lld, %lld): %.2f ms on %s, %.2f ms on %s, their sum %.2f ms", products,
        (long long)size, (long long)size, one, place(a), two, place(b), one + two);
    say("queued on both before waiting for either: %.2f ms, %.2f of the sum", both,
        both / (one + two));
    say("side by side they take what the slower one takes alone: 0.5 of the sum if they are alike");
    if (t->device.type == TERN_CPU)
        say("near 1 here: CPU devices compute within the call, and all of them on the same cores");
    else
        say("near 1 they share something, or the host waits in between");
}
