// SPDX-License-Identifier: Apache-2.0
// Two devices: one model on both, and one piece of work on each.
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
    say("%d products of (%lld, %lld) on %s: %.2f ms, on %s: %.2f ms", products, (long long)size,
        (long long)size, place(a), one, place(b), two);
    say("queued on both before waiting for either: %.2f ms", both);
}
