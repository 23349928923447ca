// SPDX-License-Identifier: Apache-2.0
// What data parallel costs: training steps of an MLP 784-512-512-10, plain, plain again, wrapped
// for one device and wrapped for two, in blocks that take turns.
//
//     TERN_CPU_DEVICES=2 parallel_bench [BATCH] [cuda]      64 samples, CPU devices
//
// Prints the median time of a step, and the median of the ratios to the plain block of the same
// round with their middle half. Virtual CPU devices share the cores.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tern/tern.h>

enum { VARIANTS = 4, ROUNDS = 31, POOL = 8 };
static const char *const names[VARIANTS] = {"plain", "plain again", "one device", "two devices"};

typedef struct variant {
    tern_module *module; // the net, or its wrapper
    tern_optim *optim;
    double seconds[ROUNDS], ratio[ROUNDS];
} variant;

static tern_device_type type = TERN_CPU;
static tern_tensor *x[POOL], *y[POOL];
static tern_module *criterion;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void make_variant(variant *v, int devices)
{
    const tern_device list[] = {{type, 0}, {type, 1}};
    tern_manual_seed(1);
    v->module =
        tern_nn_sequential(tern_nn_linear(784, 512), tern_nn_relu(), tern_nn_linear(512, 512),
                           tern_nn_relu(), tern_nn_linear(512, 10));
    tern_module_to(v->module, list[0]);
    if (devices > 0)
        v->module = tern_nn_data_parallel(v->module, .devices = list, .count = devices);
    v->optim = tern_optim_adam(v->module, .lr = 1e-3);
}

static void make_data(int64_t batch)
{
    for (int i = 0; i < POOL; i++) {
        x[i] = tern_to(tern_rand(tern_dims(batch, 784)), (tern_device){type, 0});
        y[i] = tern_to(tern_randint(0, 10, tern_dims(batch)), (tern_device){type, 0});
    }
    criterion = tern_nn_cross_entropy_loss();
}

static double run(variant *v, long steps)
{
    const double begin = now();
    for (long i = 0; i < steps && !tern_error_pending(); i++) {
        tern_scope scope = tern_scope_open();
        tern_tensor *loss = tern_loss(criterion, tern_forward(v->module, x[i % POOL]), y[i % POOL]);
        tern_optim_zero_grad(v->optim);
        if (!tern_backward(loss) && tern_optim_step(v->optim))
            break;
        tern_scope_close(scope);
    }
    for (int i = 0; i < tern_device_count(type) && i < 2; i++)
        if (tern_synchronize((tern_device){type, i}))
            break;
    return (now() - begin) / (double)steps;
}

static int by_size(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

static void measure(variant *v, int count, long steps)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < count; i++) {
            const int k = (i + round) % count; // each comes first in turn
            v[k].seconds[round] = run(&v[k], steps);
        }
    for (int k = 0; k < count; k++) {
        for (int round = 0; round < ROUNDS; round++)
            v[k].ratio[round] = v[k].seconds[round] / v[0].seconds[round];
    }
    for (int k = 0; k < count; k++) {
        qsort(v[k].seconds, ROUNDS, sizeof(double), by_size);
        qsort(v[k].ratio, ROUNDS, sizeof(double), by_size);
        printf("%-12s %9.1f us a step, %.3f of plain (%.3f to %.3f)\n", names[k],
               v[k].seconds[ROUNDS / 2] * 1e6, v[k].ratio[ROUNDS / 2], v[k].ratio[ROUNDS / 4],
               v[k].ratio[ROUNDS * 3 / 4]);
    }
}

int main(int argc, char **argv)
{
    const int64_t batch = argc > 1 ? strtol(argv[1], NULL, 10) : 64;
    variant v[VARIANTS];
    if (argc > 2 && !strcmp(argv[2], "cuda"))
        type = TERN_CUDA;
    const int count = tern_device_count(type) > 1 ? VARIANTS : VARIANTS - 1;
    const tern_scope scope = tern_scope_open();
    make_data(batch);
    for (int k = 0; k < count; k++)
        make_variant(&v[k], k < 2 ? 0 : k - 1);
    const double step = run(&v[0], 20);
    printf("batch %lld, %d threads\n", (long long)batch, tern_num_threads());
    if (!tern_error_pending())
        measure(v, count, step < 0.02 ? (long)(0.1 / step) + 1 : 5);
    for (int k = 0; k < count; k++) {
        tern_optim_free(v[k].optim);
        tern_module_free(v[k].module);
    }
    tern_module_free(criterion);
    tern_scope_close(scope);
    const int status = tern_error_print(stderr);
    tern_shutdown();
    return status;
}
