// SPDX-License-Identifier: Apache-2.0
// The matrix product beside OpenBLAS, which is opened at run time: same operands, same threads, in
// turns, the best time of each. A ratio over 1 says that tern was faster.
//
//     gemm_bench [threads=1] [isa=avx512] [type=f32] [rounds=30] [only=NAME] [batch=N]
//
// The shapes are those of one training step of an MLP 784-512-512-10.
#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cpu/product/gemm.h"
#include <tern/error.h>
#include <tern/threads.h>

typedef void sgemm_fn(int order, int turn_a, int turn_b, int m, int n, int k, float alpha,
                      const float *a, int lda, const float *b, int ldb, float beta, float *c,
                      int ldc);
typedef void dgemm_fn(int order, int turn_a, int turn_b, int m, int n, int k, double alpha,
                      const double *a, int lda, const double *b, int ldb, double beta, double *c,
                      int ldc);

typedef struct shape {
    const char *name;
    int m, n, k; // 0 stands for the batch
    bool a_turned, b_turned;
} shape;

static const shape layers[] = {
    {"forward1", 0, 512, 784, false, true}, {"forward2", 0, 512, 512, false, true},
    {"forward3", 0, 10, 512, false, true},  {"dx3", 0, 512, 10, false, false},
    {"dx2", 0, 512, 512, false, false},     {"dx1", 0, 784, 512, false, false},
    {"dw1", 512, 784, 0, true, false},      {"dw2", 512, 512, 0, true, false},
    {"dw3", 10, 512, 0, true, false},
};
static const shape others[] = {
    {"tiny1", 4, 16, 2, false, true},
    {"tiny2", 4, 16, 16, false, true},
    {"tiny3", 4, 1, 16, false, true},
    {"tiny_dw", 16, 16, 4, true, false},
    {"square1k", 1024, 1024, 1024, false, false},
    {"square2k", 2048, 2048, 2048, false, true},
};
static const int batches[] = {1, 64, 128, 500, 1024};

typedef struct run {
    tern_gemm_f32_fn *f32;
    tern_gemm_f64_fn *f64; // one of the two is NULL
    sgemm_fn *sgemm;
    dgemm_fn *dgemm;
    void *a, *b, *ours, *theirs;
    int rounds, batch;
    const char *only;
} run;

// With one thread the time that other programs take is left out.
static double seconds(void)
{
    struct timespec now;
    clock_gettime(tern_num_threads() == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void call_theirs(const run *r, const shape *s)
{
    const int lda = s->a_turned ? s->m : s->k, ldb = s->b_turned ? s->k : s->n;
    const int turn_a = s->a_turned ? 112 : 111, turn_b = s->b_turned ? 112 : 111;
    if (r->f32)
        r->sgemm(101, turn_a, turn_b, s->m, s->n, s->k, 1, r->a, lda, r->b, ldb, 0, r->theirs,
                 s->n);
    else
        r->dgemm(101, turn_a, turn_b, s->m, s->n, s->k, 1, r->a, lda, r->b, ldb, 0, r->theirs,
                 s->n);
}

static tern_status call_ours(const run *r, const shape *s)
{
    const int64_t a_row = s->a_turned ? 1 : s->k, a_col = s->a_turned ? s->m : 1;
    const int64_t b_row = s->b_turned ? 1 : s->n, b_col = s->b_turned ? s->k : 1;
    if (r->f32)
        return r->f32(&(tern_gemm_f32_args){.m = s->m,
                                            .n = s->n,
                                            .k = s->k,
                                            .a = r->a,
                                            .a_row = a_row,
                                            .a_col = a_col,
                                            .b = r->b,
                                            .b_row = b_row,
                                            .b_col = b_col,
                                            .c = r->ours,
                                            .c_row = s->n});
    return r->f64(&(tern_gemm_f64_args){.m = s->m,
                                        .n = s->n,
                                        .k = s->k,
                                        .a = r->a,
                                        .a_row = a_row,
                                        .a_col = a_col,
                                        .b = r->b,
                                        .b_row = b_row,
                                        .b_col = b_col,
                                        .c = r->ours,
                                        .c_row = s->n});
}

// Calls in a row are timed together until that is long against the clock.
static int calls_per_round(const shape *s)
{
    const double calls = 3e7 / ((double)s->m * s->n * s->k + 1e4);
    return calls < 1 ? 1 : calls > 2000 ? 2000 : (int)calls;
}

// OpenBLAS's idle threads keep a CPU busy for 2^26 ticks after a call: wait until they sleep.
static int settle(const run *r, const shape *s)
{
    if (tern_num_threads() == 1)
        return 0;
    nanosleep(&(struct timespec){.tv_nsec = 40000000}, NULL);
    for (int i = 0; i < 3; i++)
        if (call_ours(r, s))
            return 1;
    return 0;
}

static int compare(const run *r, const shape *s)
{
    const int calls = calls_per_round(s);
    double theirs = 1e9, ours = 1e9;
    for (int round = 0; round < r->rounds; round++) {
        call_theirs(r, s);
        double start = seconds();
        for (int i = 0; i < calls; i++)
            call_theirs(r, s);
        double time = (seconds() - start) / calls;
        theirs = time < theirs ? time : theirs;
        if (settle(r, s))
            return 1;
        start = seconds();
        for (int i = 0; i < calls; i++)
            if (call_ours(r, s))
                return 1;
        time = (seconds() - start) / calls;
        ours = time < ours ? time : ours;
    }
    printf("%-10s %5d %5d %5d  openblas %10.2f us  tern %10.2f us  %7.1f GFLOP/s  ratio %.3f\n",
           s->name, s->m, s->n, s->k, theirs * 1e6, ours * 1e6, 2e-9 * s->m * s->n * s->k / ours,
           theirs / ours);
    fflush(stdout);
    return 0;
}

static int compare_all(const run *r)
{
    int failed = 0;
    for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
        for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
            shape s = layers[i];
            s.m = s.m ? s.m : batches[b];
            s.k = s.k ? s.k : batches[b];
            if ((!r->batch || r->batch == batches[b]) && (!r->only || !strcmp(r->only, s.name)))
                failed |= compare(r, &s);
        }
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!r->batch && (!r->only || !strcmp(r->only, others[i].name)))
            failed |= compare(r, &others[i]);
    return failed;
}

static bool fill(run *r)
{
    const size_t count = (size_t)1 << 22, unit = r->f32 ? sizeof(float) : sizeof(double);
    void **operands[] = {&r->a, &r->b, &r->ours, &r->theirs};
    for (int i = 0; i < 4; i++) {
        *operands[i] = aligned_alloc(64, count * unit);
        if (!*operands[i])
            return false;
        for (size_t j = 0; j < count; j++) {
            const double value = (double)rand() / RAND_MAX - 0.5;
            if (r->f32)
                ((float *)*operands[i])[j] = (float)value;
            else
                ((double *)*operands[i])[j] = value;
        }
    }
    return true;
}

static bool choose(run *r, const char *isa, bool is_float)
{
    static tern_gemm_f32_fn *const f32[] = {tern_gemm_f32_portable, tern_gemm_f32_avx2,
                                            tern_gemm_f32_avx512};
    static tern_gemm_f64_fn *const f64[] = {tern_gemm_f64_portable, tern_gemm_f64_avx2,
                                            tern_gemm_f64_avx512};
    static const char *const names[] = {"portable", "avx2", "avx512"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(isa, names[i]) == 0) {
            r->f32 = is_float ? f32[i] : NULL;
            r->f64 = is_float ? NULL : f64[i];
            return true;
        }
    }
    return false;
}

// The functions of a library come as data pointers.
static bool open_openblas(run *r)
{
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    char *(*core)(void) = NULL;
    *(void **)&core = dlsym(library, "openblas_get_corename");
    *(void **)&r->sgemm = dlsym(library, "cblas_sgemm");
    *(void **)&r->dgemm = dlsym(library, "cblas_dgemm");
    printf("openblas core: %s\n", core ? core() : "unknown");
    return r->sgemm && r->dgemm;
}

int main(int argc, char **argv)
{
    run r = {.rounds = 30};
    const char *isa = "avx512", *threads = "1";
    bool is_float = true;
    for (int i = 1; i < argc; i++) {
        const char *value = strchr(argv[i], '=');
        value = value ? value + 1 : "";
        if (strncmp(argv[i], "threads=", 8) == 0)
            threads = value;
        else if (strncmp(argv[i], "isa=", 4) == 0)
            isa = value;
        else if (strncmp(argv[i], "type=", 5) == 0)
            is_float = strcmp(value, "f64") != 0;
        else if (strncmp(argv[i], "rounds=", 7) == 0)
            r.rounds = atoi(value);
        else if (strncmp(argv[i], "only=", 5) == 0)
            r.only = value;
        else if (strncmp(argv[i], "batch=", 6) == 0)
            r.batch = atoi(value);
    }
    setenv("OPENBLAS_NUM_THREADS", threads, 1);
    unsetenv("OPENBLAS_CORETYPE"); // the core it finds is the one to beat
    unsetenv("OPENBLAS_L2_SIZE");
    if (tern_set_num_threads(atoi(threads)))
        return tern_error_print(stderr);
    if (!choose(&r, isa, is_float) || !open_openblas(&r) || !fill(&r)) {
        fprintf(stderr, "gemm_bench: no such instruction set, no OpenBLAS, or no memory\n");
        return 1;
    }
    return compare_all(&r);
}
