// SPDX-License-Identifier: Apache-2.0
// Training steps of an MLP on request, as bench/compare.py asks for them; torch_peer.py does the
// same work in PyTorch.
//
//     train_bench 784,512,512,10 64 cross_entropy    layer sizes, batch, cross_entropy or mse
//
// One request a line on stdin, one answer a line on stdout:
//     info        what computes
//     reset       begins anew, with the weights of the start
//     losses N    the losses of the next N steps
//     run N       the seconds that the next N steps take
//     peak        this core's multiply-adds at their fastest, in GFLOP/s
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fma_peak.h"
#include "cpu/backend.h"
#include <tern/tern.h>

enum { MAX_LAYERS = 8, POOL = 8 }; // batches that take turns

typedef struct task {
    int64_t size[MAX_LAYERS + 1];
    int layers;
    int64_t batch;
    bool classes;
    tern_module *net, *criterion;
    tern_optim *opt;
    tern_tensor *x[POOL], *y[POOL];
    int64_t step;
} task;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void read_sizes(task *t, const char *text)
{
    char *end = NULL;
    for (int i = 0; i <= MAX_LAYERS && *text; i++, text = *end ? end + 1 : end) {
        t->size[i] = strtol(text, &end, 10);
        t->layers = i;
    }
}

// The same seed and the same draws as in torch_peer.py: the same data and weights.
static void make_data(task *t)
{
    int64_t rows = POOL * t->batch, out = t->size[t->layers];
    tern_tensor *x = tern_rand(tern_dims(rows, t->size[0]), .dtype = TERN_FLOAT32);
    tern_tensor *y = t->classes ? tern_randint(0, out, tern_dims(rows))
                                : tern_rand(tern_dims(rows, out), .dtype = TERN_FLOAT32);
    for (int i = 0; i < POOL; i++) {
        t->x[i] = tern_retain(tern_narrow(x, 0, i * t->batch, t->batch));
        t->y[i] = tern_retain(tern_narrow(y, 0, i * t->batch, t->batch));
    }
}

static void free_net(task *t)
{
    tern_optim_free(t->opt);
    tern_module_free(t->criterion);
    tern_module_free(t->net);
}

static void make_net(task *t)
{
    tern_module *layer[2 * MAX_LAYERS];
    int count = 0;
    tern_manual_seed(1);
    for (int i = 0; i < t->layers; i++) {
        if (i > 0)
            layer[count++] = tern_nn_relu();
        layer[count++] = tern_nn_linear(t->size[i], t->size[i + 1]);
    }
    t->net = tern_nn_sequential_new(count, layer);
    t->step = 0;
    t->criterion = t->classes ? tern_nn_cross_entropy_loss() : tern_nn_mse_loss();
    t->opt = tern_optim_adam(t->net, .lr = 1e-3);
}

static double train_step(task *t, bool wants_loss)
{
    tern_scope scope = tern_scope_open();
    int at = (int)(t->step++ % POOL);
    tern_tensor *loss = tern_loss(t->criterion, tern_forward(t->net, t->x[at]), t->y[at]);
    double value = wants_loss ? tern_item(loss) : 0;
    tern_optim_zero_grad(t->opt);
    if (tern_backward(loss) || tern_optim_step(t->opt))
        exit(tern_error_print(stderr));
    tern_scope_close(scope);
    return value;
}

static double run_steps(task *t, long count)
{
    double start = seconds();
    for (long i = 0; i < count; i++)
        train_step(t, false);
    return seconds() - start;
}

static void answer(task *t, const char *request)
{
    long count = strchr(request, ' ') ? strtol(strchr(request, ' '), NULL, 10) : 0;
    if (!strncmp(request, "info", 4))
        printf("tern %s, %s, %d thread(s)\n", tern_version(), tern_cpu_backend()->kernels->name,
               tern_num_threads());
    else if (!strncmp(request, "losses", 6)) {
        for (long i = 0; i < count; i++)
            printf("%.9g ", train_step(t, true));
        printf("\n");
    } else if (!strncmp(request, "run", 3))
        printf("%.9f\n", run_steps(t, count));
    else if (!strncmp(request, "peak", 4))
        printf("%.6g\n", fma_peak(0.02) * 1e-9);
    else {
        free_net(t);
        make_net(t);
        printf("done\n");
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return fprintf(stderr, "usage: train_bench SIZES BATCH cross_entropy|mse\n"), 2;
    task t = {.batch = strtol(argv[2], NULL, 10)};
    char request[64];
    t.classes = !strcmp(argv[3], "cross_entropy");
    read_sizes(&t, argv[1]);
    tern_manual_seed(0);
    make_data(&t);
    make_net(&t);
    while (!tern_error_pending() && fgets(request, sizeof request, stdin))
        answer(&t, request);
    for (int i = 0; i < POOL; i++) {
        tern_release(t.x[i]);
        tern_release(t.y[i]);
    }
    free_net(&t);
    return tern_error_print(stderr);
}
