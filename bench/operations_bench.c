// SPDX-License-Identifier: Apache-2.0
// Single operations and layers on request, as bench/operations.py asks for them; operations_peer.py
// does the same work in PyTorch and JAX.
//
// One request a line on stdin, one answer a line on stdout:
//     take NAME SIZES ...    what to time: an operation and the sizes of its operands, as 64,128;
//                            "grad:NAME": forward and backward; "NAME:NUMBERS" is a layer, as
//                            max_pool2d:3,2,1. Answers the mean of |result|.
//     run N                  the seconds that N calls take
//     memory                 the most that the process had so far, in MiB
//     peak                   this core's multiply-adds at their fastest, in GFLOP/s
//     versions, info         of what computes
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "cpu/backend.h"
#include "fma_peak.h"
#include <tern/tern.h>

enum { MOST = 8, TENSORS = 10000 };

typedef struct work work;
typedef tern_module *make(const int64_t *numbers);
typedef tern_tensor *compute(work *w, tern_tensor *const *x);

typedef struct operation {
    const char *name;
    tern_tensor *(*unary)(tern_tensor *x); // or
    compute *any;
    void (*prepare)(work *w); // what it needs besides operands of normal numbers, or NULL
    make *layer;              // or this
} operation;

struct work {
    const operation *op;
    bool backward;
    int count;
    tern_tensor *x[MOST];
    tern_tensor *dy;
    tern_tensor **list; // of many parameters
    tern_optim *optim;
    tern_module *layer;
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// ---- operands -----------------------------------------------------------------------------------

static void replace(work *w, int i, tern_tensor *x)
{
    tern_release(w->x[i]);
    w->x[i] = tern_retain(x);
}

static void positive(work *w)
{
    replace(w, 0, tern_add_scalar(tern_abs(w->x[0]), 0.1));
}

static void bytes(work *w)
{
    replace(w, 0, tern_to_dtype(tern_mul_scalar(tern_abs(w->x[0]), 50), TERN_UINT8));
}

// The second operand becomes columns of the first.
static void columns(work *w)
{
    const int64_t size = tern_size(w->x[0], 1);
    tern_manual_seed(1);
    replace(w, 1, tern_randint(0, size, tern_shape_of(w->x[1])));
}

// The second operand becomes rows of the first.
static void rows(work *w)
{
    const int64_t size = tern_size(w->x[0], 0);
    tern_manual_seed(1);
    replace(w, 1, tern_randint(0, size, tern_shape_of(w->x[1])));
}

static void make_optim(work *w, int64_t count)
{
    w->list = calloc((size_t)count, sizeof *w->list);
    for (int64_t i = 0; i < count; i++) {
        w->list[i] = tern_retain(tern_clone(w->x[0]));
        tern_set_requires_grad(w->list[i], true);
        if (tern_backward(tern_mul_scalar(w->list[i], 1), .gradient = w->x[0]))
            exit(tern_error_print(stderr));
    }
    w->optim = tern_optim_sgd(NULL, .lr = 1e-9, .params = w->list, .param_count = count);
}

static void many_parameters(work *w)
{
    make_optim(w, TENSORS);
}

static void one_parameter(work *w)
{
    make_optim(w, 1);
}

// ---- operations ---------------------------------------------------------------------------------

#define COMPUTE(name, result)                                                                      \
    static tern_tensor *name(work *w, tern_tensor *const *x)                                       \
    {                                                                                              \
        (void)w;                                                                                   \
        (void)x;                                                                                   \
        return result;                                                                             \
    }
COMPUTE(add, tern_add(x[0], x[1]))
COMPUTE(mul, tern_mul(x[0], x[1]))
COMPUTE(gelu, tern_gelu(x[0]))
COMPUTE(gelu_tanh, tern_gelu(x[0], .approximate = TERN_APPROXIMATE_TANH))
COMPUTE(randn, tern_randn(tern_shape_of(x[0])))
COMPUTE(uniform, tern_rand(tern_shape_of(x[0])))
COMPUTE(dropout, tern_dropout(x[0], 0.5, true))
COMPUTE(glu, tern_glu(x[0], -1))
COMPUTE(sum_rows, tern_sum(x[0], tern_axes(1), false))
COMPUTE(sum_columns, tern_sum(x[0], tern_axes(0), false))
COMPUTE(sum_all, tern_sum(x[0], tern_axes(), false))
COMPUTE(amax_rows, tern_amax(x[0], tern_axes(1), false))
COMPUTE(argmax_rows, tern_argmax(x[0], 1, false))
COMPUTE(sort_rows, tern_sort(x[0], -1, false, NULL))
COMPUTE(topk_rows, tern_topk(x[0], 5, -1, true, NULL))
COMPUTE(cumsum_rows, tern_cumsum(x[0], 1))
COMPUTE(cumsum_columns, tern_cumsum(x[0], 0))
COMPUTE(norm, tern_norm(x[0], 2, tern_axes(), false))
COMPUTE(softmax, tern_softmax(x[0], -1))
COMPUTE(log_softmax, tern_log_softmax(x[0], -1))
COMPUTE(layer_norm, tern_layer_norm(x[0], tern_dims(tern_size(x[0], -1))))
COMPUTE(gather, tern_gather(x[0], 1, x[1]))
COMPUTE(index_select, tern_index_select(x[0], 0, x[1]))
COMPUTE(to_float, tern_to_dtype(x[0], TERN_FLOAT32))
COMPUTE(to_bfloat16, tern_to_dtype(x[0], TERN_BFLOAT16))
COMPUTE(to_float16, tern_to_dtype(x[0], TERN_FLOAT16))
COMPUTE(copy_transposed, tern_contiguous(tern_transpose(x[0], 0, 1)))
COMPUTE(matmul, tern_matmul(x[0], x[1]))
COMPUTE(matmul_transposed, tern_matmul(tern_transpose(x[0], 0, 1), x[1]))
COMPUTE(chain, tern_matmul(tern_matmul(tern_matmul(x[0], x[0]), x[0]), x[0]))

static tern_tensor *composed_layer_norm(work *w, tern_tensor *const *x)
{
    (void)w;
    tern_tensor *centred = tern_sub(x[0], tern_mean(x[0], tern_axes(1), true));
    tern_tensor *var = tern_mean(tern_mul(centred, centred), tern_axes(1), true);
    return tern_mul(centred, tern_rsqrt(tern_add_scalar(var, 1e-5)));
}

static tern_tensor *step(work *w, tern_tensor *const *x)
{
    (void)x;
    return tern_optim_step(w->optim) ? NULL : w->list[0];
}

// ---- layers -------------------------------------------------------------------------------------

// n: in, out, kernel, stride, padding, groups
static tern_module *conv2d(const int64_t *n)
{
    return tern_nn_conv2d(n[0], n[1], n[2], .stride = n[3], .padding = n[4], .groups = n[5]);
}

// n: features
static tern_module *batch_norm2d(const int64_t *n)
{
    return tern_nn_batch_norm2d(n[0]);
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

// n: kernel, stride, padding
static tern_module *avg_pool2d(const int64_t *n)
{
    return tern_nn_avg_pool2d(n[0], .stride = n[1], .padding = n[2]);
}

// n: height and width
static tern_module *adaptive_avg_pool2d(const int64_t *n)
{
    return tern_nn_adaptive_avg_pool2d(n[0]);
}

COMPUTE(run_layer, tern_forward(w->layer, x[0]))

static const operation operations[] = {
    {"exp", tern_exp, NULL, NULL, NULL},
    {"gelu", NULL, gelu, NULL, NULL},
    {"gelu_tanh", NULL, gelu_tanh, NULL, NULL},
    {"tanh", tern_tanh, NULL, NULL, NULL},
    {"sigmoid", tern_sigmoid, NULL, NULL, NULL},
    {"silu", tern_silu, NULL, NULL, NULL},
    {"relu", tern_relu, NULL, NULL, NULL},
    {"logsigmoid", tern_logsigmoid, NULL, NULL, NULL},
    {"sin", tern_sin, NULL, NULL, NULL},
    {"sqrt", tern_sqrt, NULL, positive, NULL},
    {"rsqrt", tern_rsqrt, NULL, positive, NULL},
    {"log", tern_log, NULL, positive, NULL},
    {"add", NULL, add, NULL, NULL},
    {"mul", NULL, mul, NULL, NULL},
    {"clone", tern_clone, NULL, NULL, NULL},
    {"randn", NULL, randn, NULL, NULL},
    {"uniform", NULL, uniform, NULL, NULL},
    {"dropout", NULL, dropout, NULL, NULL},
    {"glu", NULL, glu, NULL, NULL},
    {"sum_rows", NULL, sum_rows, NULL, NULL},
    {"sum_columns", NULL, sum_columns, NULL, NULL},
    {"sum_all", NULL, sum_all, NULL, NULL},
    {"amax_rows", NULL, amax_rows, NULL, NULL},
    {"argmax_rows", NULL, argmax_rows, NULL, NULL},
    {"sort_rows", NULL, sort_rows, NULL, NULL},
    {"topk_rows", NULL, topk_rows, NULL, NULL},
    {"cumsum_rows", NULL, cumsum_rows, NULL, NULL},
    {"cumsum_columns", NULL, cumsum_columns, NULL, NULL},
    {"norm", NULL, norm, NULL, NULL},
    {"softmax", NULL, softmax, NULL, NULL},
    {"log_softmax", NULL, log_softmax, NULL, NULL},
    {"layer_norm", NULL, layer_norm, NULL, NULL},
    {"composed_layer_norm", NULL, composed_layer_norm, NULL, NULL},
    {"gather", NULL, gather, columns, NULL},
    {"index_select", NULL, index_select, rows, NULL},
    {"from_uint8", NULL, to_float, bytes, NULL},
    {"to_bfloat16", NULL, to_bfloat16, NULL, NULL},
    {"to_float16", NULL, to_float16, NULL, NULL},
    {"copy_transposed", NULL, copy_transposed, NULL, NULL},
    {"matmul", NULL, matmul, NULL, NULL},
    {"matmul_transposed", NULL, matmul_transposed, NULL, NULL},
    {"chain", NULL, chain, NULL, NULL},
    {"conv2d", NULL, run_layer, NULL, conv2d},
    {"batch_norm2d", NULL, run_layer, NULL, batch_norm2d},
    {"group_norm", NULL, run_layer, NULL, group_norm},
    {"max_pool2d", NULL, run_layer, NULL, max_pool2d},
    {"avg_pool2d", NULL, run_layer, NULL, avg_pool2d},
    {"adaptive_avg_pool2d", NULL, run_layer, NULL, adaptive_avg_pool2d},
    {"sgd_many", NULL, step, many_parameters, NULL},
    {"sgd", NULL, step, one_parameter, NULL},
};

// ---- the protocol -------------------------------------------------------------------------------

static tern_tensor *forward(work *w)
{
    return w->op->unary ? w->op->unary(w->x[0]) : w->op->any(w, w->x);
}

static void forget_gradients(const work *w)
{
    for (int i = 0; i < w->count; i++)
        tern_zero_grad(w->x[i]);
    if (w->layer)
        tern_module_zero_grad(w->layer);
}

static void call(work *w)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *y = forward(w);
    if (w->backward && (tern_backward(y, .gradient = w->dy) == TERN_OK))
        forget_gradients(w);
    tern_scope_close(scope);
    if (tern_error_pending())
        exit(tern_error_print(stderr));
}

static void drop(work *w)
{
    for (int i = 0; i < w->count; i++)
        tern_release(w->x[i]);
    tern_release(w->dy);
    tern_optim_free(w->optim);
    tern_module_free(w->layer);
    for (int i = 0; w->list && w->list[i] && i < TENSORS; i++)
        tern_release(w->list[i]);
    free(w->list);
    *w = (work){0};
}

static int read_numbers(const char *text, int64_t *to)
{
    int count = 0;
    char *end = NULL;
    for (; *text && count < MOST; text = *end ? end + 1 : end)
        to[count++] = strtol(text, &end, 10);
    return count;
}

// Returns where the numbers of a layer are.
static const char *find(work *w, const char *name)
{
    w->backward = !strncmp(name, "grad:", 5);
    name += w->backward ? 5 : 0;
    const size_t length = strcspn(name, ":");
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (!strncmp(operations[i].name, name, length) && !operations[i].name[length])
            w->op = &operations[i];
    if (!w->op) {
        fprintf(stderr, "no operation %s\n", name);
        exit(2);
    }
    return name + length + (name[length] != 0);
}

static void read_operand(work *w, const char *sizes)
{
    int64_t size[MOST];
    const int rank = read_numbers(sizes, size);
    w->x[w->count++] = tern_retain(tern_randn(tern_shape_make(rank, size)));
}

static double mean_size(tern_tensor *y)
{
    return tern_item(tern_mean(tern_abs(tern_to_dtype(y, TERN_FLOAT64)), tern_axes(), false));
}

static void make_layer(work *w, const char *text)
{
    int64_t numbers[MOST] = {0};
    read_numbers(text, numbers);
    w->layer = w->op->layer ? w->op->layer(numbers) : NULL;
}

static void take(work *w, char *words)
{
    drop(w);
    tern_scope scope = tern_scope_open();
    tern_manual_seed(0);
    tern_set_grad_enabled(true);
    const char *text = find(w, strtok(words, " \n"));
    for (char *word = strtok(NULL, " \n"); word && w->count < MOST; word = strtok(NULL, " \n"))
        read_operand(w, word);
    if (w->op->prepare)
        w->op->prepare(w);
    make_layer(w, text);
    tern_set_grad_enabled(w->backward);
    tern_tensor *y = forward(w);
    w->dy = tern_retain(tern_randn(tern_shape_of(y)));
    printf("%.9g\n", mean_size(tern_detach(y)));
    for (int i = 0; i < w->count && w->backward; i++)
        if (tern_dtype_is_floating(tern_dtype_of(w->x[i])))
            tern_set_requires_grad(w->x[i], true);
    tern_scope_close(scope);
    if (tern_error_pending())
        exit(tern_error_print(stderr));
}

static double peak_mib(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : (double)usage.ru_maxrss / 1024;
}

static double run(work *w, long count)
{
    const double begun = seconds();
    for (long i = 0; i < count; i++)
        call(w);
    return seconds() - begun;
}

static void answer(work *w, char *request)
{
    if (!strncmp(request, "take ", 5))
        take(w, request + 5);
    else if (!strncmp(request, "run ", 4))
        printf("%.9f\n", run(w, strtol(request + 4, NULL, 10)));
    else if (!strncmp(request, "memory", 6))
        printf("%.1f\n", peak_mib());
    else if (!strncmp(request, "peak", 4))
        printf("%.6g\n", fma_peak(0.01) * 1e-9);
    else if (!strncmp(request, "versions", 8))
        printf("tern %s\n", tern_version());
    else
        printf("tern %s, %s, %d thread(s)\n", tern_version(), tern_cpu_backend()->kernels->name,
               tern_num_threads());
    fflush(stdout);
}

int main(void)
{
    char request[256];
    work w = {0};
    while (fgets(request, sizeof request, stdin))
        answer(&w, request);
    drop(&w);
    tern_shutdown();
    return 0;
}
