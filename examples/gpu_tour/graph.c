// SPDX-License-Identifier: Apache-2.0
// A training step that is captured once and replayed on other batches.
#include "tour.h"

#define WARM    3
#define BATCHES 20

typedef struct run {
    tern_module *net, *criterion;
    tern_optim *optim;
    tern_tensor *x, *y; // the fixed inputs of the step
    tern_tensor *loss;  // what it writes
} run;

static run begin(const tour *t)
{
    tern_manual_seed(5);
    run r = {.net =
                 tern_nn_sequential(tern_nn_linear(8, 32), tern_nn_relu(), tern_nn_linear(32, 1)),
             .criterion = tern_nn_mse_loss()};
    tern_module_to(r.net, t->device);
    r.optim = tern_optim_adam(r.net, .lr = 0.01);
    r.x = tern_zeros(tern_dims(32, 8), .device = t->device);
    r.y = tern_zeros(tern_dims(32, 1), .device = t->device);
    r.loss = tern_zeros(tern_dims(), .device = t->device);
    return r;
}

static void end(run *r)
{
    tern_optim_free(r->optim);
    tern_module_free(r->criterion);
    tern_module_free(r->net);
}

static tern_status step(const run *r)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *loss = tern_loss(r->criterion, tern_forward(r->net, r->x), r->y);
    tern_optim_zero_grad(r->optim);
    if (!tern_backward(loss) && !tern_optim_step(r->optim))
        tern_copy_(r->loss, tern_detach(loss));
    tern_scope_close(scope);
    return tern_error_code();
}

// Batch number `i`, the same in every run.
static void give_batch(const run *r, int i)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *x = tern_arange(i, i + 256, 1, .dtype = TERN_FLOAT32);
    x = tern_reshape(tern_sin(x), tern_dims(32, 8));
    tern_copy_(r->x, x);
    tern_copy_(r->y, tern_sum(x, tern_axes(1), true));
    tern_scope_close(scope);
}

static tern_cuda_graph *capture(const tour *t, const run *r)
{
    for (int i = 0; i < WARM; i++) {
        give_batch(r, i);
        if (step(r))
            return NULL;
    }
    if (tern_cuda_graph_begin(t->device.index))
        return NULL;
    (void)step(r); // a failure is reported by the end
    return tern_cuda_graph_end();
}

// Trains on BATCHES batches, by replays when there is a graph; returns ms a step.
static double train(const run *r, tern_cuda_graph *graph)
{
    double started = now_ms();
    for (int i = WARM; i < WARM + BATCHES; i++) {
        give_batch(r, i);
        if (graph ? tern_cuda_graph_replay(graph) : step(r))
            break;
    }
    (void)tern_item(r->loss);
    return (now_ms() - started) / BATCHES;
}

static void compare(const tour *t, run *eager, run *replayed)
{
    tern_cuda_graph *graph = capture(t, replayed);
    for (int i = 0; i < WARM; i++) {
        give_batch(eager, i);
        if (step(eager))
            break;
    }
    double slow = train(eager, NULL), fast = train(replayed, graph);
    tern_cuda_graph_free(graph);
    if (tern_error_pending())
        return;
    say("%d steps, each on another batch: %.3f ms a step, replayed %.3f", BATCHES, slow, fast);
    say("the last losses are the same bits: %s (%g)",
        yes_or_no(same_bits(eager->loss, replayed->loss)), tern_item(replayed->loss));
    say("and so are the weights: %s",
        yes_or_no(same_bits(tern_module_parameter(eager->net, "0.weight"),
                            tern_module_parameter(replayed->net, "0.weight"))));
}

void show_graph(const tour *t)
{
    if (!has_gpu(t))
        return;
    run eager = begin(t), replayed = begin(t);
    compare(t, &eager, &replayed);
    end(&eager);
    end(&replayed);
}
