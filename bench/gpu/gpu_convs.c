// SPDX-License-Identifier: Apache-2.0
// How fast this GPU convolves: the forward, and the gradients in the input and in the weight, in
// float32, TF32 and bfloat16. torch_convs.py does the same work.
//
//     gpu_convs N,C,SIDE,K,KERNEL,STRIDE,PADDING,GROUPS...      images of SIDE x SIDE
//
// Captured calls of the kernel, so that no launch is timed; the median of 5 trials.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/backend.h"
#include "tensor/view.h"
#include <tern/tern.h>

enum { TRIALS = 5, CALLS = 5, LAUNCHES = 4 };

typedef struct shape {
    long n, c, side, k, kernel, stride, padding, groups, out;
} shape;

typedef struct precision {
    const char *name;
    tern_dtype dtype;
    bool tf32;
} precision;

static void must(tern_status status)
{
    if (status)
        exit(tern_error_print(stdout));
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// (first, second, 1, side, side)
static tern_strided view_of(tern_tensor *t, long first, long second, long side)
{
    const int64_t row = side, plane = side * side;
    return (tern_strided){tern_view_of(t).data,
                          tern_dtype_of(t),
                          5,
                          {first, second, 1, side, side},
                          {second * plane, plane, plane, row, 1}};
}

static tern_tensor *random_values(long first, long second, long side, tern_dtype dtype)
{
    tern_tensor *t =
        tern_randn(tern_dims(first, second, side, side), .dtype = dtype, .device = tern_cuda(0));
    must(tern_error_code());
    return t;
}

static tern_cuda_graph *capture(tern_kernel_conv *kernel, const tern_conv_args *args)
{
    const tern_exec warm_up = tern_exec_of(tern_cuda(0));
    must(kernel(&warm_up, args));
    must(tern_cuda_graph_begin(0));
    const tern_exec exec = tern_exec_of(tern_cuda(0));
    for (int i = 0; i < CALLS; i++)
        must(kernel(&exec, args));
    tern_cuda_graph *graph = tern_cuda_graph_end();
    must(tern_error_code());
    return graph;
}

// Of one call.
static double seconds_of(tern_kernel_conv *kernel, const tern_conv_args *args)
{
    tern_cuda_graph *graph = capture(kernel, args);
    double trials[TRIALS];
    must(tern_cuda_graph_replay(graph));
    for (int trial = 0; trial < TRIALS; trial++) {
        must(tern_synchronize(tern_cuda(0)));
        const double begin = seconds();
        for (int i = 0; i < LAUNCHES; i++)
            must(tern_cuda_graph_replay(graph));
        must(tern_synchronize(tern_cuda(0)));
        trials[trial] = (seconds() - begin) / (CALLS * LAUNCHES);
    }
    tern_cuda_graph_free(graph);
    qsort(trials, TRIALS, sizeof *trials, compare);
    return trials[TRIALS / 2];
}

static void measure(const shape *s, const precision *p)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *x = random_values(s->n, s->c, s->side, p->dtype);
    tern_tensor *weight = random_values(s->k, s->c / s->groups, s->kernel, p->dtype);
    tern_tensor *y = random_values(s->n, s->k, s->out, p->dtype);
    const tern_conv_args args = {.x = view_of(x, s->n, s->c, s->side),
                                 .weight = view_of(weight, s->k, s->c / s->groups, s->kernel),
                                 .y = view_of(y, s->n, s->k, s->out),
                                 .stride = {1, s->stride, s->stride},
                                 .dilation = {1, 1, 1},
                                 .groups = s->groups,
                                 .padding = {0, s->padding, s->padding}};
    const tern_kernels *kernels = tern_kernels_of(tern_cuda(0));
    const double flops = 2.0 * (double)(s->n * s->k * s->out * s->out) *
                         (double)(s->c / s->groups * s->kernel * s->kernel);
    tern_cuda_allow_tf32(p->tf32);
    const double forward = seconds_of(kernels->conv, &args);
    const double weights = seconds_of(kernels->conv_grad_weight, &args);
    const double input = seconds_of(kernels->conv_grad_input, &args);
    printf("%s: forward %.1f us, %.2f TFLOP/s; input %.1f, %.2f; weight %.1f, %.2f\n", p->name,
           forward * 1e6, flops / forward * 1e-12, input * 1e6, flops / input * 1e-12,
           weights * 1e6, flops / weights * 1e-12);
    fflush(stdout);
    tern_scope_close(scope);
}

static shape shape_of(const char *words)
{
    shape s = {0};
    if (sscanf(words, "%ld,%ld,%ld,%ld,%ld,%ld,%ld,%ld", &s.n, &s.c, &s.side, &s.k, &s.kernel,
               &s.stride, &s.padding, &s.groups) != 8 ||
        s.stride < 1) {
        printf("gpu_convs: N,C,SIDE,K,KERNEL,STRIDE,PADDING,GROUPS instead of %s\n", words);
        exit(2);
    }
    s.out = (s.side + 2 * s.padding - s.kernel) / s.stride + 1;
    return s;
}

int main(int count, char **words)
{
    static const precision precisions[] = {{"float32", TERN_FLOAT32, false},
                                           {"TF32", TERN_FLOAT32, true},
                                           {"bfloat16", TERN_BFLOAT16, false}};
    for (int i = 1; i < count; i++) {
        const shape s = shape_of(words[i]);
        for (int p = 0; p < 3; p++) {
            printf("tern %s ", words[i]);
            measure(&s, &precisions[p]);
        }
    }
    return 0;
}
