// SPDX-License-Identifier: Apache-2.0
// The product of gemm.h for the element type and instruction set that a source is compiled for.
#ifndef TERN_SRC_CPU_PRODUCT_GEMM_NAME_H
#define TERN_SRC_CPU_PRODUCT_GEMM_NAME_H

#include "cpu/product/gemm.h"
#include "cpu/real.h"

#if REAL_IS_FLOAT
#define GEMM_ARGS tern_gemm_f32_args
#else
#define GEMM_ARGS tern_gemm_f64_args
#endif
#ifndef GEMM_NAME // the tests compile the product under names of their own
#if REAL_IS_FLOAT
#define GEMM_NAME    TERN_ISA_SUFFIX(tern_gemm_f32)
#define GEMM_SCRATCH TERN_ISA_SUFFIX(tern_gemm_scratch_f32)
#else
#define GEMM_NAME    TERN_ISA_SUFFIX(tern_gemm_f64)
#define GEMM_SCRATCH TERN_ISA_SUFFIX(tern_gemm_scratch_f64)
#endif
#endif

#endif
