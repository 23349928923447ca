// SPDX-License-Identifier: Apache-2.0
// What the tests of graphs share: a small net with dropout that trains on batches of fixed tensors,
// its steps in pieces that are run at once or captured.
#ifndef TERN_TESTS_CUDA_GRAPH_CHECK_H
#define TERN_TESTS_CUDA_GRAPH_CHECK_H

#include "device/device_check.h"

enum { ROWS = 8, WARM = 3 };

typedef struct run {
    tern_module *net;
    tern_optim *optim;
    tern_tensor *x, *y, *loss, *norm; // fixed: each step reads and writes them
} run;

static inline run run_of(tern_module *net, tern_optim *optim)
{
    run r = {
        .net = net,
        .optim = optim,
        .x = tern_zeros(tern_dims(ROWS, 6), .device = here),
        .y = tern_zeros(tern_dims(ROWS), .dtype = TERN_INT64, .device = here),
        .loss = tern_zeros(tern_dims(), .device = here),
        .norm = tern_zeros(tern_dims(), .device = here),
    };
    assert_non_null(tern_module_to(r.net, here));
    return r;
}

// The same numbers in every call.
static inline tern_module *net_with_dropout(void)
{
    tern_manual_seed(3);
    return tern_nn_sequential(tern_nn_linear(6, 16), tern_nn_relu(), tern_nn_dropout(0.25),
                              tern_nn_linear(16, 3));
}

static inline run run_new(void)
{
    tern_module *net = net_with_dropout();
    return run_of(net, tern_optim_adam(net, .lr = 0.02, .weight_decay = 0.01));
}

static inline void run_free(run *r)
{
    tern_optim_free(r->optim);
    tern_module_free(r->net);
}

static inline void fill_batch(run *r, int batch)
{
    float x[ROWS * 6];
    int64_t y[ROWS];
    for (int i = 0; i < ROWS * 6; i++)
        x[i] = (float)sin(0.3 * i + 1.7 * batch);
    for (int i = 0; i < ROWS; i++)
        y[i] = (i + 2 * batch) % 3;
    assert_int_equal(tern_from_host(r->x, x, sizeof x), TERN_OK);
    assert_int_equal(tern_from_host(r->y, y, sizeof y), TERN_OK);
    const double lr = 0.02 / (1 + 0.3 * batch); // a schedule
    assert_int_equal(tern_optim_set(r->optim, TERN_ALL_GROUPS, "lr", lr), TERN_OK);
}

// Forward and backward.
static inline tern_status learn(run *r)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *loss =
        tern_cross_entropy(tern_forward(r->net, r->x), r->y, .label_smoothing = 0.1);
    tern_status status = tern_backward(loss);
    tern_no_grad {
        if (!status && !tern_copy_(r->loss, loss))
            status = tern_error_code();
    }
    tern_scope_close(scope);
    return status;
}

static inline tern_status zero_and_learn(run *r)
{
    tern_optim_zero_grad(r->optim);
    return learn(r);
}

static inline tern_status update(run *r)
{
    return tern_optim_step(r->optim);
}

static inline tern_status plain_step(run *r)
{
    tern_status status = zero_and_learn(r);
    return status ? status : update(r);
}

static inline float loss_of(const run *r)
{
    float loss;
    assert_int_equal(tern_to_host(r->loss, &loss, sizeof loss), TERN_OK);
    return loss;
}

// The graph of a piece of a step.
static inline tern_cuda_graph *capture(run *r, tern_status (*piece)(run *))
{
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_int_equal(piece(r), TERN_OK);
    tern_cuda_graph *graph = tern_cuda_graph_end();
    assert_no_error();
    assert_non_null(graph);
    return graph;
}

static inline void replay(tern_cuda_graph *graph)
{
    assert_int_equal(tern_cuda_graph_replay(graph), TERN_OK);
}

static inline void warm_up(run *r)
{
    for (int i = 0; i < WARM; i++) {
        fill_batch(r, i);
        assert_int_equal(plain_step(r), TERN_OK);
    }
}

// The weights, their gradients and the optimizer's state are the same bits.
static inline void check_same_runs(run *a, run *b)
{
    for (int i = 0; i < 4; i++) {
        static const char *const names[] = {"0.weight", "0.bias", "3.weight", "3.bias"};
        tern_tensor *p = tern_module_parameter(a->net, names[i]),
                    *q = tern_module_parameter(b->net, names[i]);
        check_same(p, q, 0);
        assert_int_equal(!tern_grad(p), !tern_grad(q));
        if (tern_grad(p))
            check_same(tern_grad(p), tern_grad(q), 0);
        assert_int_equal(tern_optim_step_count(a->optim, i), tern_optim_step_count(b->optim, i));
    }
    check_same(a->loss, b->loss, 0);
}

// ---- pairs --------------------------------------------------------------------------------------

// Two runs that begin alike: one does its steps at once, one replays them.
typedef struct pair {
    run eager, graph;
} pair;

static inline pair pair_of(tern_module *(*net)(void), tern_optim *(*optim)(tern_module *))
{
    pair p;
    tern_module *eager = net(), *graph = net();
    p.eager = run_of(eager, optim(eager));
    p.graph = run_of(graph, optim(graph));
    return p;
}

static inline tern_module *plain_net(void)
{
    tern_manual_seed(3);
    return tern_nn_sequential(tern_nn_linear(6, 16), tern_nn_relu(), tern_nn_flatten(),
                              tern_nn_linear(16, 3));
}

static inline tern_optim *adam(tern_module *net)
{
    return tern_optim_adam(net, .lr = 0.02);
}

static inline pair pair_new(void)
{
    return pair_of(plain_net, adam);
}

static inline void pair_warm_up(pair *p)
{
    warm_up(&p->eager);
    warm_up(&p->graph);
}

static inline void pair_fill(pair *p, int batch)
{
    fill_batch(&p->eager, batch);
    fill_batch(&p->graph, batch);
}

static inline void pair_free(pair *p, tern_cuda_graph *graph)
{
    tern_cuda_graph_free(graph);
    run_free(&p->eager);
    run_free(&p->graph);
}

#endif
