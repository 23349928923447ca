// SPDX-License-Identifier: Apache-2.0
#include "product.h"

#include "timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKSPACE ((size_t)32 << 20)

const precision precisions[PRECISIONS] = {
    {"float32", CUDA_R_32F, CUBLAS_COMPUTE_32F},
    {"TF32", CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
    {"float16", CUDA_R_16F, CUBLAS_COMPUTE_32F},
    {"bfloat16", CUDA_R_16BF, CUBLAS_COMPUTE_32F},
};

size_t type_nbytes(cudaDataType type)
{
    return type == CUDA_R_32F ? 4 : 2;
}

void *new_eighths(cudaStream_t stream, cudaDataType type, int64_t count, uint32_t seed)
{
    float *wide = device_zeros((size_t)count * sizeof *wide);
    void *made = device_zeros((size_t)count * type_nbytes(type));
    queue_eighths(stream, wide, count, seed);
    queue_from_floats(stream, type, made, wide, count);
    MUST(cudaGetLastError());
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaFree(wide));
    return made;
}

void must_blas(cublasStatus_t status, const char *call)
{
    if (status == CUBLAS_STATUS_SUCCESS)
        return;
    printf("%s: %s\n", call, cublasLtGetStatusString(status));
    exit(1);
}

lt lt_new(void)
{
    lt l = {.workspace = device_zeros(WORKSPACE)};
    MUST_BLAS(cublasLtCreate(&l.handle));
    return l;
}

void lt_free(lt *l)
{
    MUST_BLAS(cublasLtDestroy(l->handle));
    MUST(cudaFree(l->workspace));
}

static void set(product *p, cublasLtMatmulDescAttributes_t attribute, const void *value,
                size_t nbytes)
{
    MUST_BLAS(cublasLtMatmulDescSetAttribute(p->description, attribute, value, nbytes));
}

// Pointers before heuristics: those look at their alignment.
static void describe(product *p)
{
    const shape s = p->shape;
    const cudaDataType type = p->precision->type;
    MUST_BLAS(cublasLtMatmulDescCreate(&p->description, p->precision->compute, CUDA_R_32F));
    set(p, CUBLASLT_MATMUL_DESC_TRANSA, &s.transa, sizeof s.transa);
    set(p, CUBLASLT_MATMUL_DESC_TRANSB, &s.transb, sizeof s.transb);
    set(p, CUBLASLT_MATMUL_DESC_EPILOGUE, &p->epilogue, sizeof p->epilogue);
    if (p->bias)
        set(p, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p->bias, sizeof p->bias);
    if (p->aux) {
        set(p, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &p->aux, sizeof p->aux);
        set(p, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &p->aux_leading, sizeof p->aux_leading);
    }
    const bool ta = s.transa == CUBLAS_OP_T, tb = s.transb == CUBLAS_OP_T;
    const int a_rows = ta ? s.k : s.m, b_rows = tb ? s.n : s.k;
    MUST_BLAS(cublasLtMatrixLayoutCreate(&p->a_layout, type, (uint64_t)a_rows,
                                         (uint64_t)(ta ? s.m : s.k), a_rows));
    MUST_BLAS(cublasLtMatrixLayoutCreate(&p->b_layout, type, (uint64_t)b_rows,
                                         (uint64_t)(tb ? s.k : s.n), b_rows));
    MUST_BLAS(cublasLtMatrixLayoutCreate(&p->d_layout, type, (uint64_t)s.m, (uint64_t)s.n, s.m));
}

// What an address is a multiple of, up to 256.
static uint32_t alignment_of(const void *data)
{
    const uintptr_t address = (uintptr_t)data | 256;
    return (uint32_t)(address & -address);
}

static void prefer(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t what,
                   const void *value, size_t nbytes)
{
    MUST_BLAS(cublasLtMatmulPreferenceSetAttribute(preference, what, value, nbytes));
}

bool product_plan(const lt *l, product *p)
{
    const size_t workspace = WORKSPACE;
    const uint32_t a = alignment_of(p->a), b = alignment_of(p->b), d = alignment_of(p->d);
    cublasLtMatmulPreference_t preference;
    describe(p);
    MUST_BLAS(cublasLtMatmulPreferenceCreate(&preference));
    prefer(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace);
    prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &a, sizeof a);
    prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &b, sizeof b);
    prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &d, sizeof d);
    prefer(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &d, sizeof d);
    p->found_count = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        l->handle, p->description, p->a_layout, p->b_layout, p->d_layout, p->d_layout, preference,
        MOST_ALGORITHMS, p->found, &p->found_count);
    MUST_BLAS(cublasLtMatmulPreferenceDestroy(preference));
    p->algorithm = p->found_count ? &p->found[0].algo : NULL;
    return status == CUBLAS_STATUS_SUCCESS || status == CUBLAS_STATUS_NOT_SUPPORTED;
}

void product_free(product *p)
{
    MUST_BLAS(cublasLtMatrixLayoutDestroy(p->a_layout));
    MUST_BLAS(cublasLtMatrixLayoutDestroy(p->b_layout));
    MUST_BLAS(cublasLtMatrixLayoutDestroy(p->d_layout));
    MUST_BLAS(cublasLtMatmulDescDestroy(p->description));
}

cublasStatus_t product_queue(const lt *l, const product *p, cudaStream_t stream)
{
    const float one = 1, zero = 0;
    return cublasLtMatmul(l->handle, p->description, &one, p->a, p->a_layout, p->b, p->b_layout,
                          &zero, p->d, p->d_layout, p->d, p->d_layout, p->algorithm, l->workspace,
                          WORKSPACE, stream);
}
