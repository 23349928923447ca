// SPDX-License-Identifier: Apache-2.0
// The cross-entropy of a linear layer's logits as one operation, beside tern_linear and
// tern_cross_entropy: forward and backward, with gradients of the input and the weight.
//
//     linear_cross_entropy_bench [CLASSES [WIDTH [SAMPLES [ROUNDS]]]]     50000 256 4096 5
//
// The two take turns. Prints the least time of each and the middle of the ratios of a round; then
// the memory that each takes at most besides operands and their gradients, which are there before.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <tern/tern.h>

#include "../tests/support/memory_hook.h"

enum { MOST_ROUNDS = 99 };

typedef tern_tensor *loss_fn(void);

static tern_tensor *x, *weight, *labels;

static tern_tensor *in_two(void)
{
    return tern_cross_entropy(tern_linear(x, weight, NULL, TERN_ACT_NONE), labels);
}

static tern_tensor *in_one(void)
{
    return tern_linear_cross_entropy(x, weight, labels);
}

static loss_fn *const variants[] = {in_two, in_one};
static const char *const names[] = {"tern_linear, tern_cross_entropy", "tern_linear_cross_entropy"};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// The seconds of a forward and backward.
static double run(int variant)
{
    const double begun = now();
    tern_scope scope = tern_scope_open();
    if (tern_backward(variants[variant]()))
        exit(tern_error_print(stderr));
    tern_scope_close(scope);
    return now() - begun;
}

static void make_operands(const int64_t *sizes)
{
    tern_manual_seed(1);
    x = tern_retain(tern_randn(tern_dims(sizes[2], sizes[1])));
    weight = tern_retain(tern_mul_scalar(tern_randn(tern_dims(sizes[0], sizes[1])), 0.05));
    labels = tern_retain(tern_randint(0, sizes[0], tern_dims(sizes[2])));
    tern_set_requires_grad(x, true);
    tern_set_requires_grad(weight, true);
    if (tern_error_pending())
        exit(tern_error_print(stderr));
}

static void drop_operands(void)
{
    tern_release(x);
    tern_release(weight);
    tern_release(labels);
    tern_shutdown();
}

static int compare(const void *a, const void *b)
{
    const double *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

static void print_times(const int64_t *sizes, int rounds)
{
    double ratio[MOST_ROUNDS], least[2] = {1e9, 1e9};
    make_operands(sizes);
    for (int round = -1; round < rounds; round++) { // the first is for caches
        double seconds[2];
        for (int i = 0; i < 2; i++) {
            const int variant = (round + i) & 1;
            seconds[variant] = run(variant);
            least[variant] = seconds[variant] < least[variant] ? seconds[variant] : least[variant];
        }
        if (round >= 0)
            ratio[round] = seconds[1] / seconds[0];
    }
    drop_operands();
    qsort(ratio, (size_t)rounds, sizeof *ratio, compare);
    for (int i = 0; i < 2; i++)
        printf("%-32s %8.3f s\n", names[i], least[i]);
    printf("time %.3f of both [%.3f, %.3f]\n", ratio[rounds / 2], ratio[0], ratio[rounds - 1]);
}

static double measure_memory(const int64_t *sizes, int variant)
{
    tern_scope scope = tern_scope_open();
    make_operands(sizes);
    tern_scope_close(scope);
    if (tern_backward(tern_add(tern_sum_all(x), tern_sum_all(weight)))) // gradients are there
        exit(tern_error_print(stderr));
    tern_memory_trim();
    const int64_t before = memory.bytes;
    memory.peak = before;
    run(variant);
    const double most = (double)(memory.peak - before) / (1 << 20);
    drop_operands();
    printf("%-32s %8.1f MiB\n", names[variant], most);
    return most;
}

int main(int argc, char **argv)
{
    int64_t sizes[4] = {50000, 256, 4096, 5}; // classes, width, samples, rounds
    for (int i = 1; i < argc && i <= 4; i++)
        sizes[i - 1] = strtol(argv[i], NULL, 10);
    if (sizes[3] < 1 || sizes[3] > MOST_ROUNDS)
        return 2;
    printf("%lld classes, width %lld, %lld samples, %d thread(s)\n", (long long)sizes[0],
           (long long)sizes[1], (long long)sizes[2], tern_num_threads());
    print_times(sizes, (int)sizes[3]);
    if (use_memory_hook())
        return tern_error_print(stderr);
    const double two = measure_memory(sizes, 0), one = measure_memory(sizes, 1);
    printf("memory 1 / %.1f\n", two / one);
    return 0;
}
