// SPDX-License-Identifier: Apache-2.0
// What is worth a GPU, and what keeps it waiting.
#include <math.h>
#include "tour.h"

// ---- products -----------------------------------------------------------------------------------

// Milliseconds per product; the first ones, which take memory, are not counted.
static double time_product(tern_device device, int64_t size, int count)
{
    tern_tensor *x = tern_rand(tern_dims(size, size), .device = device);
    double started = 0;
    for (int i = -2; i < count; i++) {
        if (i == 0 && !tern_synchronize(device))
            started = now_ms();
        tern_scope scope = tern_scope_open();
        (void)!tern_matmul(x, x);
        tern_scope_close(scope);
    }
    return tern_synchronize(device) ? NAN : (now_ms() - started) / count;
}

static void say_product(const tour *t, int64_t size)
{
    const int count = t->quick ? 2 : size < 512 ? 100 : 5;
    const double flops = 2e-6 * pow((double)size, 3); // per product, in millions per ms
    const double host = time_product(t->host, size, count);
    if (t->device.type != TERN_CUDA) { // its CPU devices are the same processor
        say("(%lld, %lld): %s %.3f ms, %.0f GFLOP/s", (long long)size, (long long)size,
            tern_device_string(t->host), host, flops / host);
        return;
    }
    const double device = time_product(t->device, size, count);
    say("(%lld, %lld): %s %.3f ms, %.0f GFLOP/s; %s %.3f ms, %.0f GFLOP/s: %.2f times as fast",
        (long long)size, (long long)size, tern_device_string(t->host), host, flops / host,
        tern_device_string(t->device), device, flops / device, host / device);
}

void show_products(const tour *t)
{
    static const int64_t sizes[] = {64, 256, 1024, 2048};
    for (int i = 0; i < (t->quick ? 1 : 4) && !tern_error_pending(); i++) {
        tern_scope scope = tern_scope_open();
        say_product(t, sizes[i]);
        tern_scope_close(scope);
    }
    if (t->device.type != TERN_CUDA)
        say("there is no GPU to compare it with");
    else
        say("small products are faster on the CPU: a kernel's start costs some microseconds");
}

// ---- reading ------------------------------------------------------------------------------------

typedef struct work {
    tern_module *net, *criterion;
    tern_optim *optim;
    tern_tensor *x, *y;
} work;

static work begin_work(const tour *t)
{
    int64_t width = t->quick ? 16 : 256;
    work w = {.net = tern_nn_sequential(tern_nn_linear(64, width), tern_nn_relu(),
                                        tern_nn_linear(width, 10)),
              .criterion = tern_nn_cross_entropy_loss()};
    tern_module_to(w.net, t->device);
    w.optim = tern_optim_adam(w.net);
    w.x = tern_rand(tern_dims(64, 64), .device = t->device);
    w.y = tern_zeros(tern_dims(64), .dtype = TERN_INT64, .device = t->device);
    return w;
}

static void end_work(work *w)
{
    tern_optim_free(w->optim);
    tern_module_free(w->criterion);
    tern_module_free(w->net);
}

// The sum of the losses: read each step, or added up on the device and read once.
static double run_steps(const work *w, int steps, bool read_each)
{
    double read = 0;
    tern_tensor *sum = tern_new_zeros(w->x, tern_dims());
    for (int i = 0; i < steps && !tern_error_pending(); i++) {
        tern_scope scope = tern_scope_open();
        tern_tensor *loss = tern_loss(w->criterion, tern_forward(w->net, w->x), w->y);
        tern_optim_zero_grad(w->optim);
        if (!tern_backward(loss) && !tern_optim_step(w->optim)) {
            if (read_each)
                read += tern_item(loss);
            else
                tern_add_(sum, tern_detach(loss), 1);
        }
        tern_scope_close(scope);
    }
    return read_each ? read : tern_item(sum);
}

void show_reading(const tour *t)
{
    work w = begin_work(t);
    int steps = t->quick ? 5 : 500;
    (void)run_steps(&w, 3, true);
    double started = now_ms();
    (void)run_steps(&w, steps, true);
    double each = (now_ms() - started) / steps;
    started = now_ms();
    (void)run_steps(&w, steps, false);
    double once = (now_ms() - started) / steps;
    say("%d steps that read their loss: %.3f ms a step", steps, each);
    say("%d steps that add it up on %s, read once: %.3f ms a step", steps,
        tern_device_string(t->device), once);
    end_work(&w);
}
