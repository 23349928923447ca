// SPDX-License-Identifier: Apache-2.0
// Reporting a value that only a kernel can see to be wrong.
#ifndef TERN_SRC_CUDA_FAULT_CUH
#define TERN_SRC_CUDA_FAULT_CUH

#include "cuda/tern_cu.h"

// The value of `set` while a thread writes the record: a spin lock. Work that follows in stream
// order never sees it.
#define FAULT_WRITING 2u

typedef unsigned long long fault_word; // of 64 bits, as atomics take them

// Whether the record stays as it is: it has another location, or an element that is no larger. All
// of it is read by atomics, because other threads write it.
__device__ __forceinline__ bool fault_is_final(tern_fault *fault, uint32_t location,
                                               int64_t element)
{
    if (atomicAdd(&fault->set, 0u) != 1)
        return false;
    __threadfence(); // acquire: what is read below is not older than `set`
    return atomicAdd(&fault->location, 0u) != location ||
           (int64_t)atomicAdd((fault_word *)&fault->element, (fault_word)0) <= element;
}

__device__ __forceinline__ void fault_write(tern_fault *fault, uint32_t before, uint32_t location,
                                            int64_t element, int64_t value)
{
    const bool better =
        before == 0 || (atomicAdd(&fault->location, 0u) == location &&
                        element < (int64_t)atomicAdd((fault_word *)&fault->element, (fault_word)0));
    if (better) {
        atomicExch(&fault->location, location);
        atomicExch((fault_word *)&fault->element, (fault_word)element);
        atomicExch((fault_word *)&fault->value, (fault_word)value);
    }
    __threadfence();
    atomicExch(&fault->set, 1u);
}

// Writes the device's fault record, from any thread. The first location stays; within it the
// smallest element.
__device__ __forceinline__ void fault_report(tern_fault *fault, uint32_t location, int64_t element,
                                             int64_t value)
{
    while (!fault_is_final(fault, location, element)) {
        const uint32_t before = atomicAdd(&fault->set, 0u);
        if (before != FAULT_WRITING && atomicCAS(&fault->set, before, FAULT_WRITING) == before) {
            __threadfence();
            fault_write(fault, before, location, element, value);
            return;
        }
    }
}

#endif
