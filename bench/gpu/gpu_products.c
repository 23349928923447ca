// SPDX-License-Identifier: Apache-2.0
// How fast this GPU multiplies, and what cublasLt offers for the products of a training step.
//
//     gpu_products peak          square products, by precision
//     gpu_products BATCH...      the products of an MLP 784-512-512-10 with batches of so many
//
// Of each product: cublasGemmEx as it comes, cublasLt's first algorithm and the best of the 32 that
// it names, and for a hidden layer's forward product the best with bias and ReLU (whose mask is
// written, too). All within a graph, so that no launch is timed; the median of 5 trials.
#include <cublas_v2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "product.h"
#include "timing.h"

enum { TRIALS = 5, CALLS = 20, LAUNCHES = 5 };

static timer t;
static lt library;
static cublasHandle_t handle;

static void queue_gemm(cudaStream_t stream, void *work)
{
    const product *p = work;
    const shape s = p->shape;
    const cudaDataType type = p->precision->type;
    const float one = 1, zero = 0;
    (void)stream; // the handle's
    MUST_BLAS(cublasGemmEx(handle, s.transa, s.transb, s.m, s.n, s.k, &one, p->a, type,
                           s.transa == CUBLAS_OP_T ? s.k : s.m, p->b, type,
                           s.transb == CUBLAS_OP_T ? s.n : s.k, &zero, p->d, type, s.m,
                           p->precision->compute, CUBLAS_GEMM_DEFAULT));
}

static void queue_product(cudaStream_t stream, void *work)
{
    MUST_BLAS(product_queue(&library, work, stream));
}

static double seconds_of(queue_function *queue, product *p)
{
    const double flops = 2.0 * p->shape.m * p->shape.n * p->shape.k;
    const int calls = flops > 1e10 ? 2 : CALLS;
    return seconds_in_graph(&t, calls, LAUNCHES, queue, p);
}

// Over all that cublasLt names; what one of them refuses when it comes to it is left out.
static double best_seconds(product *p, int *tried)
{
    double best = 0;
    *tried = 0;
    for (int i = 0; i < p->found_count; i++) {
        p->algorithm = &p->found[i].algo;
        if (p->found[i].state != CUBLAS_STATUS_SUCCESS ||
            product_queue(&library, p, t.stream) != CUBLAS_STATUS_SUCCESS)
            continue;
        const double seconds = seconds_of(queue_product, p);
        best = best == 0 || seconds < best ? seconds : best;
        ++*tried;
    }
    return best;
}

static product product_new(shape s, const precision *kind)
{
    const size_t nbytes = type_nbytes(kind->type);
    product p = {.shape = s, .precision = kind, .epilogue = CUBLASLT_EPILOGUE_DEFAULT};
    p.a = new_eighths(t.stream, kind->type, (int64_t)s.m * s.k, 1);
    p.b = new_eighths(t.stream, kind->type, (int64_t)s.k * s.n, 2);
    p.d = device_zeros((size_t)s.m * (size_t)s.n * nbytes);
    return p;
}

static void product_end(product *p)
{
    MUST(cudaFree(p->a));
    MUST(cudaFree(p->b));
    MUST(cudaFree(p->d));
}

static void print_with_relu(product p)
{
    int tried = 0;
    p.epilogue = CUBLASLT_EPILOGUE_RELU_AUX_BIAS;
    p.aux_leading = (p.shape.m + 127) / 128 * 128;
    p.bias = new_eighths(t.stream, p.precision->type, p.shape.m, 3);
    p.aux = device_zeros((size_t)p.aux_leading / 8 * (size_t)p.shape.n);
    product_plan(&library, &p);
    const double seconds = best_seconds(&p, &tried);
    product_free(&p);
    MUST(cudaFree(p.bias));
    MUST(cudaFree(p.aux));
    if (tried)
        printf("; with bias and ReLU %.2f us of %d", seconds * 1e6, tried);
    else
        printf("; none with bias and ReLU");
}

static void measure(const char *name, shape s, const precision *kind, bool hidden)
{
    int tried = 0;
    product p = product_new(s, kind);
    const double gemm = seconds_of(queue_gemm, &p);
    product_plan(&library, &p);
    const double first = p.found_count ? seconds_of(queue_product, &p) : 0;
    const double best = best_seconds(&p, &tried);
    product_free(&p);
    printf("%s (%d x %d x %d), %s: GemmEx %.2f us, %.2f TFLOP/s; Lt first %.2f, best of %d %.2f us",
           name, s.m, s.n, s.k, kind->name, gemm * 1e6, 2e-12 * s.m * s.n * s.k / gemm, first * 1e6,
           tried, best * 1e6);
    if (hidden)
        print_with_relu(p);
    puts("");
    fflush(stdout);
    product_end(&p);
}

static void measure_peak(const precision *kind)
{
    const int sizes[] = {4096, 8192};
    for (int i = 0; i < 2; i++) {
        const int n = sizes[i];
        measure("square", (shape){n, n, n, CUBLAS_OP_T, CUBLAS_OP_N}, kind, false);
    }
}

// The three products of a layer as row-major matrices: y = x w^T, dx = dy w, dw = dy^T x.
static void measure_layer(int layer, int batch, int in, int out, const precision *kind)
{
    char name[64];
    snprintf(name, sizeof name, "batch %d, fc%d forward", batch, layer);
    measure(name, (shape){out, batch, in, CUBLAS_OP_T, CUBLAS_OP_N}, kind, layer < 3);
    snprintf(name, sizeof name, "batch %d, fc%d weight", batch, layer);
    measure(name, (shape){in, out, batch, CUBLAS_OP_N, CUBLAS_OP_T}, kind, false);
    snprintf(name, sizeof name, "batch %d, fc%d input", batch, layer);
    if (layer > 1) // nobody asks for the gradient of the data
        measure(name, (shape){in, batch, out, CUBLAS_OP_N, CUBLAS_OP_N}, kind, false);
}

static void measure_batch(int batch, const precision *kind)
{
    const int sizes[] = {784, 512, 512, 10};
    if (batch < 1) {
        printf("gpu_products: write peak or the size of a batch\n");
        exit(2);
    }
    for (int layer = 1; layer <= 3; layer++)
        measure_layer(layer, batch, sizes[layer - 1], sizes[layer], kind);
}

int main(int argc, char **argv)
{
    t = timer_new(TRIALS);
    library = lt_new();
    MUST_BLAS(cublasCreate(&handle));
    MUST_BLAS(cublasSetStream(handle, t.stream));
    MUST_BLAS(cublasSetWorkspace(handle, library.workspace, (size_t)32 << 20));
    for (int i = 1; i < argc; i++)
        for (int kind = 0; kind < PRECISIONS; kind++) {
            if (!strcmp(argv[i], "peak"))
                measure_peak(&precisions[kind]);
            else
                measure_batch(atoi(argv[i]), &precisions[kind]);
        }
    MUST_BLAS(cublasDestroy(handle));
    lt_free(&library);
    timer_free(&t);
    return 0;
}
