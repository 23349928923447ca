// SPDX-License-Identifier: Apache-2.0
// A layer's forward and backward on request, as bench/layers.py asks for them; layers_peer.py does
// the same work in PyTorch.
//
//     layers_bench conv2d 64,32,14,14 32,64,3,1,1,1    layer, input, numbers of the layer
//
// One request a line on stdin, one answer a line on stdout:
//     forward N    the least seconds of N forwards without history
//     backward N   likewise of N backwards: gradients of the input and of all parameters
//     flops        of a forward
//     memory       by how many bytes the process has grown at most since before its first forward
//     peak         this core's multiply-adds at their fastest, in GFLOP/s
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fma_peak.h"
#include <sys/resource.h>
#include <tern/tern.h>

enum { MOST = 8 };

typedef struct layer {
    tern_module *module;
    tern_tensor *x, *dy; // dy: what comes in backward
    double flops;
    long before; // KiB of memory before the first forward
} layer;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// The most memory so far, in KiB.
static long most_memory(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : usage.ru_maxrss;
}

static int read_numbers(const char *text, int64_t *to)
{
    int count = 0;
    char *end = NULL;
    for (; *text && count < MOST; text = *end ? end + 1 : end)
        to[count++] = strtol(text, &end, 10);
    return count;
}

// n: in, out, kernel, stride, padding, groups
static tern_module *conv2d(const int64_t *n)
{
    return tern_nn_conv2d(n[0], n[1], n[2], .stride = n[3], .padding = n[4], .groups = n[5]);
}

static double conv2d_flops(const int64_t *n, tern_tensor *y)
{
    return 2.0 * (double)tern_numel(y) * (double)(n[0] / n[5] * n[2] * n[2]);
}

// n: features
static tern_module *batch_norm2d(const int64_t *n)
{
    return tern_nn_batch_norm2d(n[0]);
}

static tern_module *layer_norm(const int64_t *n)
{
    return tern_nn_layer_norm(tern_dims(n[0]));
}

// n: groups, channels
static tern_module *group_norm(const int64_t *n)
{
    return tern_nn_group_norm(n[0], n[1]);
}

// n: kernel, stride, padding
static tern_module *max_pool2d(const int64_t *n)
{
    return tern_nn_max_pool2d(n[0], .stride = n[1], .padding = n[2]);
}

static tern_module *avg_pool2d(const int64_t *n)
{
    return tern_nn_avg_pool2d(n[0], .stride = n[1], .padding = n[2]);
}

// n: height and width
static tern_module *adaptive_avg_pool2d(const int64_t *n)
{
    return tern_nn_adaptive_avg_pool2d(n[0]);
}

static const struct {
    const char *name;
    tern_module *(*make)(const int64_t *numbers);
    double (*flops)(const int64_t *numbers, tern_tensor *y); // NULL: memory binds it
} kinds[] = {{"conv2d", conv2d, conv2d_flops},
             {"batch_norm2d", batch_norm2d, NULL},
             {"layer_norm", layer_norm, NULL},
             {"group_norm", group_norm, NULL},
             {"max_pool2d", max_pool2d, NULL},
             {"avg_pool2d", avg_pool2d, NULL},
             {"adaptive_avg_pool2d", adaptive_avg_pool2d, NULL}};

static bool make_layer(layer *l, char **words)
{
    int64_t numbers[MOST] = {0}, sizes[MOST];
    const int rank = read_numbers(words[1], sizes);
    read_numbers(words[2], numbers);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, words[0]) != 0)
            continue;
        l->module = kinds[i].make(numbers);
        l->x = tern_randn(tern_shape_make(rank, sizes));
        l->before = most_memory();
        tern_tensor *y = l->module ? tern_forward(l->module, l->x) : NULL;
        l->dy = y ? tern_randn(tern_shape_of(y)) : NULL;
        l->flops = y && kinds[i].flops ? kinds[i].flops(numbers, y) : 0;
        tern_set_requires_grad(l->x, true);
    }
    return l->dy != NULL;
}

static double run(const layer *l, bool backward)
{
    tern_scope scope = tern_scope_open();
    const bool before = tern_set_grad_enabled(backward);
    double begun = seconds();
    tern_tensor *y = tern_forward(l->module, l->x);
    if (backward) {
        begun = seconds();
        if (tern_backward(y, .gradient = l->dy))
            tern_error_print(stderr);
    }
    const double taken = seconds() - begun;
    tern_set_grad_enabled(before);
    tern_zero_grad(l->x);
    tern_module_zero_grad(l->module);
    tern_scope_close(scope);
    return taken;
}

static double least(const layer *l, bool backward, int times)
{
    double best = 1e9;
    for (int i = 0; i < times; i++) {
        const double taken = run(l, backward);
        best = taken < best ? taken : best;
    }
    return best;
}

static void answer(const layer *l, const char *request)
{
    const char *number = strchr(request, ' ');
    const int times = number ? atoi(number) : 1;
    if (strncmp(request, "forward", 7) == 0)
        printf("%.9f\n", least(l, false, times));
    else if (strncmp(request, "backward", 8) == 0)
        printf("%.9f\n", least(l, true, times));
    else if (strncmp(request, "flops", 5) == 0)
        printf("%.0f\n", l->flops);
    else if (strncmp(request, "memory", 6) == 0)
        printf("%ld\n", (most_memory() - l->before) * 1024);
    else
        printf("%.3f\n", fma_peak(0.01) * 1e-9);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    char request[64];
    layer l = {0};
    if (argc < 4 || !make_layer(&l, argv + 1)) {
        tern_error_print(stderr);
        fputs("usage: layers_bench LAYER SIZE,SIZE,.. NUMBER,NUMBER,..\n", stderr);
        return 1;
    }
    while (fgets(request, sizeof request, stdin))
        answer(&l, request);
    tern_module_free(l.module);
    return 0;
}
