// SPDX-License-Identifier: Apache-2.0
// Products by cublasLt, with what it can do to them on the way out (an epilogue), and their
// operands.
#ifndef TERN_BENCH_GPU_PRODUCT_H
#define TERN_BENCH_GPU_PRODUCT_H

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Kernels of convert.cu.
void queue_from_floats(cudaStream_t stream, cudaDataType type, void *to, const float *from,
                       int64_t count);
void queue_to_floats(cudaStream_t stream, cudaDataType type, float *to, const void *from,
                     int64_t count);
// Multiples of 1/8 from -1 to 1: products and sums of some thousand are exact in any precision.
void queue_eighths(cudaStream_t stream, float *to, int64_t count, uint32_t seed);

// Ends the program with a sentence when a call of cuBLAS's fails.
#define MUST_BLAS(call) must_blas((call), #call)
void must_blas(cublasStatus_t status, const char *call);

typedef struct precision {
    const char *name;
    cudaDataType type; // of all matrices
    cublasComputeType_t compute;
} precision;

enum { PRECISIONS = 4 };
extern const precision precisions[PRECISIONS];

size_t type_nbytes(cudaDataType type);
// `count` of queue_eighths in this type; free with cudaFree.
void *new_eighths(cudaStream_t stream, cudaDataType type, int64_t count, uint32_t seed);

// D (m, n) = op(A) (m, k) op(B) (k, n), all column after column without gaps.
typedef struct shape {
    int m, n, k;
    cublasOperation_t transa, transb;
} shape;

enum { MOST_ALGORITHMS = 32 };

typedef struct product {
    shape shape;
    const precision *precision;
    cublasLtEpilogue_t epilogue;
    void *a, *b, *d;
    void *bias; // in or out, or NULL; by rows of D, of BGRADB by columns
    void *aux;  // in or out, or NULL
    int64_t aux_leading;
    // filled by product_plan
    cublasLtMatmulDesc_t description;
    cublasLtMatrixLayout_t a_layout, b_layout, d_layout;
    cublasLtMatmulHeuristicResult_t found[MOST_ALGORITHMS];
    int found_count; // 0: cublasLt has nothing for it
    const cublasLtMatmulAlgo_t *algorithm;
} product;

typedef struct lt {
    cublasLtHandle_t handle;
    void *workspace; // 32 MiB
} lt;

lt lt_new(void);
void lt_free(lt *l);

// Asks for algorithms; the first is chosen. False when a call itself is refused.
bool product_plan(const lt *l, product *p);
void product_free(product *p); // the plan; operands are the caller's
cublasStatus_t product_queue(const lt *l, const product *p, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
