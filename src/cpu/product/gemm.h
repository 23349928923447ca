// SPDX-License-Identifier: Apache-2.0
// Matrix products on the CPU: c = act(a b + bias), or with `accumulate` c = act(c + a b + bias).
//
// Operands are read where they lie, in any of the four row/column-major combinations, and packed
// only where that is faster. How the work is cut and in which order a sum is formed depends on
// shape and strides alone, so the bits are the same for any number of threads. No operand may
// overlap c.
//
// Scratch is taken before c is first written: TERN_ERR_NOMEM, the only failure, leaves c as it was.
// The result must be looked at. Who multiplies several times and may not fail midway brings scratch
// along, as much as tern_gemm_scratch_... says. Runs on the pool, except small products.
#ifndef TERN_SRC_CPU_PRODUCT_GEMM_H
#define TERN_SRC_CPU_PRODUCT_GEMM_H

#include <stdbool.h>
#include <stdint.h>
#include <tern/error.h>

// Strides are in elements and not negative. Of a's two strides at least one is 1, or belongs to a
// dimension of size 1; the same holds for b. k == 0 is an empty sum.
#define TERN_GEMM_ARGS_(real)                                                                      \
    int64_t m, n, k;                                                                               \
    const real *a; /* (m, k) */                                                                    \
    int64_t a_row, a_col;                                                                          \
    const real *b; /* (k, n) */                                                                    \
    int64_t b_row, b_col;                                                                          \
    real *c;          /* (m, n), unit column stride */                                             \
    int64_t c_row;    /* at least n */                                                             \
    const real *bias; /* (n), added to each row, or NULL */                                        \
    bool relu;        /* max(., 0), NaN stays NaN */                                               \
    bool accumulate;  /* add to what c holds */                                                    \
    int64_t batch;    /* that many products; 0 stands for 1 */                                     \
    int64_t a_batch;  /* from one product's operand to the next's, 0 to share it */                \
    int64_t b_batch;                                                                               \
    int64_t c_batch; /* results may not overlap */                                                 \
    real *scratch;   /* of the caller, or NULL */                                                  \
    int64_t threads  /* at most so many work on one product, 0 for all there are */

typedef struct tern_gemm_f32_args {
    TERN_GEMM_ARGS_(float);
} tern_gemm_f32_args;

typedef struct tern_gemm_f64_args {
    TERN_GEMM_ARGS_(double);
} tern_gemm_f64_args;

typedef tern_status tern_gemm_f32_fn(const tern_gemm_f32_args *args);
typedef tern_status tern_gemm_f64_fn(const tern_gemm_f64_args *args);

// Elements of scratch, for these shapes, strides and threads; with threads = 0 only until the
// number of threads changes.
typedef int64_t tern_gemm_scratch_f32_fn(const tern_gemm_f32_args *args);
typedef int64_t tern_gemm_scratch_f64_fn(const tern_gemm_f64_args *args);

// One of each per instruction set; calling one that the machine lacks is the caller's mistake.
tern_gemm_f32_fn tern_gemm_f32_portable, tern_gemm_f32_avx2, tern_gemm_f32_avx512;
tern_gemm_f64_fn tern_gemm_f64_portable, tern_gemm_f64_avx2, tern_gemm_f64_avx512;
tern_gemm_scratch_f32_fn tern_gemm_scratch_f32_portable, tern_gemm_scratch_f32_avx2,
    tern_gemm_scratch_f32_avx512;
tern_gemm_scratch_f64_fn tern_gemm_scratch_f64_portable, tern_gemm_scratch_f64_avx2,
    tern_gemm_scratch_f64_avx512;

#endif
