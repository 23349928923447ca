// SPDX-License-Identifier: Apache-2.0
// float32 copies of float16 and bfloat16 tensors, for kernels that compute on whole tensors: they
// run on the copies, and the result is rounded once.
#ifndef TERN_SRC_CPU_WIDE_H
#define TERN_SRC_CPU_WIDE_H

#include "cpu/isa.h"

static inline bool wide_needed(tern_dtype dtype)
{
    return dtype == TERN_FLOAT16 || dtype == TERN_BFLOAT16;
}

// Makes a contiguous float32 view of x's sizes. wide_free takes one that is zeroed or failed.
tern_status TERN_ISA_NAME(wide_new)(tern_strided *wide, const tern_strided *x);
void TERN_ISA_NAME(wide_free)(tern_strided *wide);

// Copies the values, any strides on the 16-bit side.
void TERN_ISA_NAME(wide_load)(const tern_strided *wide, const tern_strided *x);
void TERN_ISA_NAME(wide_store)(const tern_strided *y, const tern_strided *wide);

#define wide_new   TERN_ISA_NAME(wide_new)
#define wide_free  TERN_ISA_NAME(wide_free)
#define wide_load  TERN_ISA_NAME(wide_load)
#define wide_store TERN_ISA_NAME(wide_store)

// New, with x's values.
static inline tern_status wide_copy(tern_strided *wide, const tern_strided *x)
{
    const tern_status status = wide_new(wide, x);
    if (status == TERN_OK)
        wide_load(wide, x);
    return status;
}

#endif
