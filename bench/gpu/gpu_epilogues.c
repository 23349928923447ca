// SPDX-License-Identifier: Apache-2.0
// What cublasLt's epilogues compute on this GPU, beside plain loops in double.
//
//     gpu_epilogues NAME...      of: none BIAS RELU_AUX_BIAS GELU_AUX_BIAS DRELU DRELU_BGRAD
//                                DGELU_BGRAD BGRADA BGRADB
//
// For each precision, at a layer's sizes, at N = 10, at odd sizes, with a vector that is aligned to
// 4 bytes only, and with k = 1. Operands are multiples of 1/8: products and sums are exact, so that
// but for GELU a result is right to the rounding of its type, or wrong. One line a case.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "product.h"
#include "timing.h"

typedef struct epilogue {
    const char *name;
    cublasLtEpilogue_t code;
    bool adds_bias, writes_sums, relu, gelu, backward;
} epilogue;

static const epilogue epilogues[] = {
    {"none", CUBLASLT_EPILOGUE_DEFAULT, 0, 0, 0, 0, 0},
    {"BIAS", CUBLASLT_EPILOGUE_BIAS, 1, 0, 0, 0, 0},
    {"RELU_AUX_BIAS", CUBLASLT_EPILOGUE_RELU_AUX_BIAS, 1, 0, 1, 0, 0},
    {"GELU_AUX_BIAS", CUBLASLT_EPILOGUE_GELU_AUX_BIAS, 1, 0, 0, 1, 0},
    {"DRELU", CUBLASLT_EPILOGUE_DRELU, 0, 0, 1, 0, 1},
    {"DRELU_BGRAD", CUBLASLT_EPILOGUE_DRELU_BGRAD, 0, 1, 1, 0, 1},
    {"DGELU_BGRAD", CUBLASLT_EPILOGUE_DGELU_BGRAD, 0, 1, 0, 1, 1},
    {"BGRADA", CUBLASLT_EPILOGUE_BGRADA, 0, 1, 0, 0, 0},
    {"BGRADB", CUBLASLT_EPILOGUE_BGRADB, 0, 1, 0, 0, 0},
};

static const struct size {
    shape shape;
    int vector_offset; // bytes between the vector and a multiple of 256
} sizes[] = {
    {{512, 64, 784, CUBLAS_OP_T, CUBLAS_OP_N}, 0}, // forward
    {{512, 64, 512, CUBLAS_OP_N, CUBLAS_OP_N}, 0}, // input gradient
    {{784, 512, 64, CUBLAS_OP_N, CUBLAS_OP_T}, 0}, // weight gradient
    {{10, 64, 512, CUBLAS_OP_T, CUBLAS_OP_N}, 0},  // the head
    {{33, 17, 65, CUBLAS_OP_T, CUBLAS_OP_N}, 0},   {{64, 32, 48, CUBLAS_OP_T, CUBLAS_OP_N}, 4},
    {{64, 32, 1, CUBLAS_OP_N, CUBLAS_OP_N}, 0},
};

// One case: operands and results as floats on the host, by columns.
typedef struct trial {
    const epilogue *epilogue;
    product p;
    void *vector_memory; // that p.bias lies in
    int vector_length;
    float *a, *b, *vector, *aux, *d; // aux: GELU's input
    unsigned char *mask;             // aux_leading / 8 bytes a column
} trial;

static cudaStream_t stream;
static lt library;

static float *on_host(cudaDataType type, const void *data, size_t count)
{
    float *wide = device_zeros(count * sizeof *wide), *host = malloc(count * sizeof *host);
    if (!host)
        exit(1);
    queue_to_floats(stream, type, wide, data, (int64_t)count);
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaMemcpy(host, wide, count * sizeof *host, cudaMemcpyDeviceToHost));
    MUST(cudaFree(wide));
    return host;
}

static size_t aux_count(const trial *t)
{
    return (size_t)t->p.aux_leading * (size_t)t->p.shape.n;
}

static void make_vector(trial *t, int offset)
{
    const cudaDataType type = t->p.precision->type;
    const int count = t->vector_length, skipped = offset / (int)type_nbytes(type);
    t->vector_memory = new_eighths(stream, type, count + skipped, 3);
    t->p.bias = (char *)t->vector_memory + offset;
    t->vector = on_host(type, t->p.bias, (size_t)count);
}

static void make_aux(trial *t)
{
    const int unit = t->epilogue->relu ? 128 : 8;
    t->p.aux_leading = (t->p.shape.m + unit - 1) / unit * unit;
    if (t->epilogue->gelu) {
        t->p.aux = new_eighths(stream, t->p.precision->type, (int64_t)aux_count(t), 4);
        t->aux = on_host(t->p.precision->type, t->p.aux, aux_count(t));
        return;
    }
    t->mask = malloc(aux_count(t) / 8);
    if (!t->mask)
        exit(1);
    for (size_t i = 0; i < aux_count(t) / 8; i++)
        t->mask[i] = (unsigned char)(i * 167 + i / 7);
    t->p.aux = device_zeros(aux_count(t) / 8);
    MUST(cudaMemcpy(t->p.aux, t->mask, aux_count(t) / 8, cudaMemcpyHostToDevice));
}

static trial trial_new(const epilogue *e, const precision *kind, const struct size *size)
{
    const shape s = size->shape;
    const size_t a_count = (size_t)s.m * (size_t)s.k, b_count = (size_t)s.k * (size_t)s.n;
    trial t = {.epilogue = e, .p = {.shape = s, .precision = kind, .epilogue = e->code}};
    t.p.a = new_eighths(stream, kind->type, (int64_t)a_count, 1);
    t.p.b = new_eighths(stream, kind->type, (int64_t)b_count, 2);
    t.p.d = device_zeros((size_t)s.m * (size_t)s.n * type_nbytes(kind->type));
    t.a = on_host(kind->type, t.p.a, a_count);
    t.b = on_host(kind->type, t.p.b, b_count);
    t.vector_length = e->code == CUBLASLT_EPILOGUE_BGRADB ? s.n : s.m;
    if (e->adds_bias || e->writes_sums)
        make_vector(&t, size->vector_offset);
    if (e->relu || e->gelu)
        make_aux(&t);
    return t;
}

static void trial_free(trial *t)
{
    MUST(cudaFree(t->p.a));
    MUST(cudaFree(t->p.b));
    MUST(cudaFree(t->p.d));
    MUST(cudaFree(t->p.aux));
    MUST(cudaFree(t->vector_memory));
    free(t->a);
    free(t->b);
    free(t->vector);
    free(t->aux);
    free(t->d);
    free(t->mask);
}

// ---- what is right ------------------------------------------------------------------------------

static double a_at(const trial *t, int i, int q)
{
    const shape s = t->p.shape;
    return t->a[s.transa == CUBLAS_OP_T ? (size_t)i * (size_t)s.k + (size_t)q
                                        : (size_t)q * (size_t)s.m + (size_t)i];
}

static double b_at(const trial *t, int q, int j)
{
    const shape s = t->p.shape;
    return t->b[s.transb == CUBLAS_OP_T ? (size_t)q * (size_t)s.n + (size_t)j
                                        : (size_t)j * (size_t)s.k + (size_t)q];
}

static double raw_at(const trial *t, int i, int j)
{
    double sum = 0;
    for (int q = 0; q < t->p.shape.k; q++)
        sum += a_at(t, i, q) * b_at(t, q, j);
    return sum;
}

static double gelu(double x)
{
    return 0.5 * x * (1 + erf(x * sqrt(0.5)));
}

static double gelu_slope(double x)
{
    return 0.5 * (1 + erf(x * sqrt(0.5))) + x * exp(-0.5 * x * x) * 0.3989422804014327;
}

static bool masked(const unsigned char *mask, const trial *t, int i, int j)
{
    const size_t bit = (size_t)j * (size_t)t->p.aux_leading + (size_t)i;
    return mask[bit / 8] >> bit % 8 & 1;
}

static double want_at(const trial *t, int i, int j, double raw)
{
    const epilogue *e = t->epilogue;
    const double x = raw + (e->adds_bias ? (double)t->vector[i] : 0);
    if (e->gelu)
        return e->backward
                   ? raw * gelu_slope(t->aux[(size_t)j * (size_t)t->p.aux_leading + (size_t)i])
                   : gelu(x);
    if (e->relu)
        return e->backward ? (masked(t->mask, t, i, j) ? raw : 0) : fmax(x, 0);
    return x;
}

// ---- how far off it is --------------------------------------------------------------------------

typedef struct tally {
    long count, wrong;
    double worst; // relative
} tally;

static double rounding(const precision *kind)
{
    return kind->type == CUDA_R_16F ? 0x1p-11 : kind->type == CUDA_R_16BF ? 0x1p-8 : 0x1p-24;
}

static void compare(tally *all, const trial *t, double got, double want)
{
    const double off = fabs(got - want) / fmax(fabs(want), 0x1p-10);
    all->count++;
    all->worst = fmax(all->worst, isfinite(off) ? off : INFINITY);
    all->wrong += !(off <= rounding(t->p.precision));
}

static void print_tally(const char *what, const tally *all)
{
    if (all->wrong)
        printf(", %s: %ld of %ld past rounding, worst %.2g", what, all->wrong, all->count,
               all->worst);
    else
        printf(", %s right", what);
}

// The mask or GELU's input that a forward product leaves for its backward.
static void check_left(const trial *t, const double *raw)
{
    const shape s = t->p.shape;
    tally left = {0};
    float *aux = NULL;
    unsigned char *mask = malloc(aux_count(t));
    if (!mask)
        exit(1);
    if (t->epilogue->gelu)
        aux = on_host(t->p.precision->type, t->p.aux, aux_count(t));
    else
        MUST(cudaMemcpy(mask, t->p.aux, aux_count(t) / 8, cudaMemcpyDeviceToHost));
    for (int j = 0; j < s.n; j++)
        for (int i = 0; i < s.m; i++) {
            const double x = raw[(size_t)j * (size_t)s.m + (size_t)i] + (double)t->vector[i];
            const size_t at = (size_t)j * (size_t)t->p.aux_leading + (size_t)i;
            if (aux)
                compare(&left, t, aux[at], x);
            else if (x != 0) // either will do there
                compare(&left, t, masked(mask, t, i, j), x > 0);
        }
    print_tally(aux ? "GELU's input" : "mask", &left);
    free(mask);
    free(aux);
}

// What a sum may be of: the operand's rows or columns, or D's rows after or before the activation.
static double sum_at(const trial *t, const double *raw, int at, bool after)
{
    const shape s = t->p.shape;
    double sum = 0;
    if (t->epilogue->code == CUBLASLT_EPILOGUE_BGRADA)
        for (int q = 0; q < s.k; q++)
            sum += a_at(t, at, q);
    else if (t->epilogue->code == CUBLASLT_EPILOGUE_BGRADB)
        for (int q = 0; q < s.k; q++)
            sum += b_at(t, q, at);
    else
        for (int j = 0; j < s.n; j++) {
            const double x = raw[(size_t)j * (size_t)s.m + (size_t)at];
            sum += after ? want_at(t, at, j, x) : x;
        }
    return sum;
}

static void check_sums(const trial *t, const double *raw)
{
    tally after = {0}, before = {0};
    float *got = on_host(t->p.precision->type, t->p.bias, (size_t)t->vector_length);
    for (int i = 0; i < t->vector_length; i++) {
        compare(&after, t, got[i], sum_at(t, raw, i, true));
        compare(&before, t, got[i], sum_at(t, raw, i, false));
    }
    print_tally("sums", &after);
    if (after.wrong && !before.wrong)
        printf(" (they are those before the activation)");
    free(got);
}

static void check(trial *t)
{
    const shape s = t->p.shape;
    const size_t count = (size_t)s.m * (size_t)s.n;
    double *raw = malloc(count * sizeof *raw);
    tally all = {0};
    if (!raw)
        exit(1);
    t->d = on_host(t->p.precision->type, t->p.d, count);
    for (int j = 0; j < s.n; j++)
        for (int i = 0; i < s.m; i++) {
            const size_t at = (size_t)j * (size_t)s.m + (size_t)i;
            raw[at] = raw_at(t, i, j);
            compare(&all, t, t->d[at], want_at(t, i, j, raw[at]));
        }
    print_tally("D", &all);
    if (t->p.aux && !t->epilogue->backward)
        check_left(t, raw);
    if (t->epilogue->writes_sums)
        check_sums(t, raw);
    free(raw);
}

static void run(const epilogue *e, const precision *kind, const struct size *size)
{
    const shape s = size->shape;
    trial t = trial_new(e, kind, size);
    printf("%s, %s, %d x %d x %d%s", e->name, kind->name, s.m, s.n, s.k,
           size->vector_offset ? ", vector at 4 bytes" : "");
    fflush(stdout);
    const bool accepted = product_plan(&library, &t.p);
    if (!accepted || !t.p.found_count)
        printf(": %s", accepted ? "no algorithm" : "refused");
    else {
        printf(": %d algorithms", t.p.found_count);
        const cublasStatus_t status = product_queue(&library, &t.p, stream);
        if (status != CUBLAS_STATUS_SUCCESS)
            printf(", %s", cublasLtGetStatusName(status));
        else
            check(&t);
    }
    puts("");
    fflush(stdout);
    product_free(&t.p);
    trial_free(&t);
}

static const epilogue *find(const char *name)
{
    for (size_t i = 0; i < sizeof epilogues / sizeof *epilogues; i++)
        if (!strcmp(epilogues[i].name, name))
            return &epilogues[i];
    printf("gpu_epilogues: unknown epilogue: %s\n", name);
    exit(2);
}

static void run_all(const epilogue *e)
{
    for (int kind = 0; kind < PRECISIONS; kind++)
        for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++)
            run(e, &precisions[kind], &sizes[size]);
}

int main(int argc, char **argv)
{
    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    library = lt_new();
    for (int i = 1; i < argc; i++)
        run_all(find(argv[i]));
    lt_free(&library);
    MUST(cudaStreamDestroy(stream));
    return 0;
}
