// SPDX-License-Identifier: Apache-2.0
// Training steps of a fixed MLP with Adam, for instructions.py, which counts what counted_steps
// takes. A step before it takes the memory that later ones use again.
//
//     steps W1|tiny COUNT    784-512-512-10, cross-entropy, batch 64; 2-16-16-1, mse, batch 32
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/backend.h"
#include <tern/tern.h>

typedef struct task {
    tern_module *net, *criterion;
    tern_optim *opt;
    tern_tensor *x, *y;
} task;

static tern_module *mlp(int64_t in, int64_t hidden, int64_t out)
{
    return tern_nn_sequential(tern_nn_linear(in, hidden), tern_nn_relu(),
                              tern_nn_linear(hidden, hidden), tern_nn_relu(),
                              tern_nn_linear(hidden, out));
}

static void make(task *t, bool tiny)
{
    tern_manual_seed(1);
    t->net = tiny ? mlp(2, 16, 1) : mlp(784, 512, 10);
    t->criterion = tiny ? tern_nn_mse_loss() : tern_nn_cross_entropy_loss();
    t->opt = tern_optim_adam(t->net, .lr = 1e-3);
    t->x = tiny ? tern_rand(tern_dims(32, 2)) : tern_rand(tern_dims(64, 784));
    t->y = tiny ? tern_rand(tern_dims(32, 1)) : tern_randint(0, 10, tern_dims(64));
}

static tern_status step(const task *t)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *loss = tern_loss(t->criterion, tern_forward(t->net, t->x), t->y);
    tern_optim_zero_grad(t->opt);
    tern_status status = tern_backward(loss);
    if (!status)
        status = tern_optim_step(t->opt);
    tern_scope_close(scope);
    return status;
}

__attribute__((noinline)) static void counted_steps(const task *t, long count)
{
    for (long i = 0; i < count && !step(t); i++)
        ;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return fprintf(stderr, "usage: steps W1|tiny COUNT\n"), 2;
    tern_scope scope = tern_scope_open();
    task t;
    make(&t, !strcmp(argv[1], "tiny"));
    if (!step(&t))
        counted_steps(&t, strtol(argv[2], NULL, 10));
    printf("%s\n", tern_cpu_backend()->kernels->name);
    tern_optim_free(t.opt);
    tern_module_free(t.criterion);
    tern_module_free(t.net);
    tern_scope_close(scope);
    const int status = tern_error_print(stderr);
    tern_shutdown();
    return status;
}
