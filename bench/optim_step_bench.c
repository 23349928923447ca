// SPDX-License-Identifier: Apache-2.0
// The step of optimizers alone, in float32, beside a copy by as many threads, from one half
// of as much memory to the other, by memcpy or by stores that do not read first: the faster.
//
//     optim_step_bench [ELEMENTS [ROUNDS]]             one tensor of 10000000 elements, 11 rounds
//     optim_step_bench many NAME TENSORS ELEMENTS STEPS  the seconds of a step, the least of STEPS
//     optim_step_bench names                           those that there are
//
// Bytes are those that an update cannot do without: the parameter and each state read and written,
// the gradient read. Step and copy take turns; a line has the least time of a step, and the middle,
// the least and the most of how many times the copy's bytes a second, read and written, it has.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tern/tern.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/thread_pool.h"

enum { MOST_ROUNDS = 99 };

// Name, states of a parameter's size, and what makes it.
#define KINDS(KIND)                                                                                \
    KIND(sgd, 0, tern_optim_sgd, .maximize = false)                                                \
    KIND(sgd_momentum, 1, tern_optim_sgd, .momentum = 0.9)                                         \
    KIND(adam, 2, tern_optim_adam, .maximize = false)                                              \
    KIND(adamw, 2, tern_optim_adamw, .maximize = false)                                            \
    KIND(amsgrad, 3, tern_optim_adam, .amsgrad = true)                                             \
    KIND(rmsprop, 1, tern_optim_rmsprop, .maximize = false)                                        \
    KIND(rmsprop_momentum, 2, tern_optim_rmsprop, .momentum = 0.9)                                 \
    KIND(rmsprop_centered, 2, tern_optim_rmsprop, .centered = true)                                \
    KIND(rmsprop_both, 3, tern_optim_rmsprop, .momentum = 0.9, .centered = true)                   \
    KIND(adagrad, 1, tern_optim_adagrad, .maximize = false)                                        \
    KIND(adadelta, 2, tern_optim_adadelta, .maximize = false)                                      \
    KIND(adamax, 2, tern_optim_adamax, .maximize = false)                                          \
    KIND(nadam, 2, tern_optim_nadam, .maximize = false)                                            \
    KIND(radam, 2, tern_optim_radam, .maximize = false)                                            \
    KIND(asgd, 1, tern_optim_asgd, .maximize = false)                                              \
    KIND(rprop, 2, tern_optim_rprop, .maximize = false)                                            \
    KIND(lion, 1, tern_optim_lion, .maximize = false)                                              \
    KIND(schedule_free_adamw, 2, tern_optim_schedule_free_adamw, .r = 0)

typedef tern_optim *make_fn(tern_tensor *const *params, int64_t count);

#define KIND(name, states, call, ...)                                                              \
    static tern_optim *make_##name(tern_tensor *const *params, int64_t count)                      \
    {                                                                                              \
        return call(NULL, .params = params, .param_count = count, .lr = 1e-6, __VA_ARGS__);        \
    }
KINDS(KIND)
#undef KIND

typedef struct kind {
    const char *name;
    int states;
    make_fn *make;
} kind;

static const kind kinds[] = {
#define KIND(name, states, call, ...) {#name, states, make_##name},
    KINDS(KIND)
#undef KIND
};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void check(void)
{
    if (tern_error_pending())
        exit(tern_error_print(stderr));
}

// ---- parameters ---------------------------------------------------------------------------------

typedef struct run {
    tern_tensor **params;
    int64_t count;
    tern_optim *optim;
} run;

static run begin(const kind *of, int64_t count, int64_t numel)
{
    run r = {.params = calloc((size_t)count, sizeof(tern_tensor *)), .count = count};
    if (!r.params)
        exit(2);
    tern_manual_seed(1);
    for (int64_t i = 0; i < count; i++) {
        tern_scope scope = tern_scope_open();
        r.params[i] = tern_retain(tern_randn(tern_dims(numel)));
        tern_set_requires_grad(r.params[i], true);
        tern_tensor *gradient = tern_randn(tern_dims(numel));
        if (tern_backward(tern_mul_scalar(r.params[i], 1), .gradient = gradient))
            check();
        tern_scope_close(scope);
    }
    r.optim = of->make(r.params, count);
    check();
    return r;
}

static double step(const run *r)
{
    const double begun = now();
    if (tern_optim_step(r->optim))
        check();
    return now() - begun;
}

static void end(run *r)
{
    tern_optim_free(r->optim);
    for (int64_t i = 0; i < r->count; i++)
        tern_release(r->params[i]);
    free(r->params);
    tern_memory_trim();
}

// ---- one large tensor, and a copy ---------------------------------------------------------------

typedef struct copy {
    char *to;
    const char *from;
    size_t part; // of a thread
} copy;

static void copy_part(void *context, int64_t index)
{
    const copy *c = context;
    const size_t at = c->part * (size_t)index;
    memcpy(c->to + at, c->from + at, c->part);
}

// Without reading what is written, which a C library does for copies of some sizes alone.
static void stream_part(void *context, int64_t index)
{
#ifdef __SSE2__
    const copy *c = context;
    const size_t at = c->part * (size_t)index;
    for (size_t i = at; i < at + c->part; i += 64)
        for (size_t k = i; k < i + 64; k += 16)
            _mm_stream_si128((__m128i *)(c->to + k),
                             _mm_load_si128((const __m128i *)(c->from + k)));
    _mm_sfence();
#else
    copy_part(context, index);
#endif
}

static double time_copy(copy *c, tern_pool_fn *part)
{
    const double begun = now();
    tern_pool_run(tern_num_threads(), part, c);
    return now() - begun;
}

// The faster way.
static double copy_bytes(tern_tensor *to, tern_tensor *from)
{
    const size_t nbytes = (size_t)tern_numel(from) * sizeof(float);
    copy c = {tern_data(to), tern_data(from), nbytes / (size_t)tern_num_threads() / 64 * 64};
    const double plain = time_copy(&c, copy_part), streamed = time_copy(&c, stream_part);
    return plain < streamed ? plain : streamed;
}

static int compare(const void *a, const void *b)
{
    const double *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

static void measure(const kind *of, int64_t numel, int rounds)
{
    double ratio[MOST_ROUNDS], least = 1e9, least_copy = 1e9;
    const double bytes = (double)(3 + 2 * of->states) * sizeof(float) * (double)numel;
    run r = begin(of, 1, numel);
    tern_tensor *from = tern_retain(tern_ones(tern_dims((2 + of->states) * numel / 2)));
    tern_tensor *to = tern_retain(tern_zeros(tern_shape_of(from)));
    const double copy_size = 2 * sizeof(float) * (double)tern_numel(from);
    for (int round = -2; round < rounds; round++) { // the first ones are for caches and states
        const double copied = copy_bytes(to, from), stepped = step(&r);
        if (round < 0)
            continue;
        ratio[round] = (bytes / stepped) / (copy_size / copied);
        least = stepped < least ? stepped : least;
        least_copy = copied < least_copy ? copied : least_copy;
    }
    qsort(ratio, (size_t)rounds, sizeof *ratio, compare);
    printf("%-18s %3.0f bytes  %7.2f ms  %6.1f GB/s, a copy %6.1f: %.2f [%.2f, %.2f]\n", of->name,
           bytes / (double)numel, 1e3 * least, 1e-9 * bytes / least, 1e-9 * copy_size / least_copy,
           ratio[rounds / 2], ratio[0], ratio[rounds - 1]);
    tern_release(from);
    tern_release(to);
    end(&r);
}

static int measure_all(int64_t numel, int64_t rounds)
{
    if (numel < 1 || rounds < 1 || rounds > MOST_ROUNDS)
        return 2;
    printf("%lld elements, %d thread(s)\n", (long long)numel, tern_num_threads());
    for (int i = 0; i < KIND_COUNT; i++) {
        tern_scope scope = tern_scope_open();
        measure(&kinds[i], numel, (int)rounds);
        tern_scope_close(scope);
        check();
    }
    return 0;
}

// ---- many small tensors -------------------------------------------------------------------------

static int measure_many(const char *name, const char *const *sizes)
{
    const long tensors = strtol(sizes[0], NULL, 10), elements = strtol(sizes[1], NULL, 10);
    double least = 1e9;
    for (int i = 0; i < KIND_COUNT; i++) {
        if (strcmp(kinds[i].name, name) != 0)
            continue;
        run r = begin(&kinds[i], tensors, elements);
        for (long n = -3; n < strtol(sizes[2], NULL, 10); n++) {
            const double stepped = step(&r);
            least = n >= 0 && stepped < least ? stepped : least;
        }
        end(&r);
        printf("%.9f\n", least);
        return 0;
    }
    fprintf(stderr, "there is no %s\n", name);
    return 2;
}

int main(int argc, char **argv)
{
    int status = 0;
    if (argc == 2 && strcmp(argv[1], "names") == 0) {
        for (int i = 0; i < KIND_COUNT; i++)
            printf("%s\n", kinds[i].name);
    } else if (argc == 6 && strcmp(argv[1], "many") == 0) {
        status = measure_many(argv[2], (const char *const *)argv + 3);
    } else {
        status = measure_all(argc > 1 ? strtol(argv[1], NULL, 10) : 10000000,
                             argc > 2 ? strtol(argv[2], NULL, 10) : 11);
    }
    tern_shutdown();
    return status;
}
