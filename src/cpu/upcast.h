// SPDX-License-Identifier: Apache-2.0
// float32 copies of float16 and bfloat16 tensors, for kernels that compute on whole tensors: they
// run on the copies, and the result is rounded once.
#ifndef TERN_SRC_CPU_UPCAST_H
#define TERN_SRC_CPU_UPCAST_H

#include "cpu/isa.h"

static inline bool upcast_needed(tern_dtype dtype)
{
    return dtype == TERN_FLOAT16 || dtype == TERN_BFLOAT16;
}

// Makes a contiguous float32 view of x's sizes. upcast_free takes one that is zeroed or failed.
tern_status TERN_ISA_NAME(upcast_new)(tern_strided *upcast, const tern_strided *x);
void TERN_ISA_NAME(upcast_free)(tern_strided *upcast);

// Copies the values, any strides on the 16-bit side.
void TERN_ISA_NAME(upcast_load)(const tern_strided *upcast, const tern_strided *x);
void TERN_ISA_NAME(downcast_store)(const tern_strided *y, const tern_strided *upcast);

// Copies take the places of views[0 .. count - 1], where these are not NULL; that of views[0], the
// result, has no values. upcast_end rounds it back into `result`, if there is one and status is
// TERN_OK, frees the copies, which may be zeroed or failed, and returns the status.
tern_status TERN_ISA_NAME(upcast_begin)(tern_strided *copies, const tern_strided **views,
                                        int count);
tern_status TERN_ISA_NAME(upcast_end)(tern_strided *copies, int count, const tern_strided *result,
                                      tern_status status);

#define upcast_begin   TERN_ISA_NAME(upcast_begin)
#define upcast_end     TERN_ISA_NAME(upcast_end)
#define upcast_new     TERN_ISA_NAME(upcast_new)
#define upcast_free    TERN_ISA_NAME(upcast_free)
#define upcast_load    TERN_ISA_NAME(upcast_load)
#define downcast_store TERN_ISA_NAME(downcast_store)

// New, with x's values.
static inline tern_status upcast_copy(tern_strided *upcast, const tern_strided *x)
{
    const tern_status status = upcast_new(upcast, x);
    if (status == TERN_OK)
        upcast_load(upcast, x);
    return status;
}

#endif
