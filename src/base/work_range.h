// SPDX-License-Identifier: Apache-2.0
// Numbers from 0 on that threads take from both ends: in one range after the other a thread that
// keeps to its end meets about the same part.
#ifndef TERN_SRC_BASE_WORK_RANGE_H
#define TERN_SRC_BASE_WORK_RANGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef _Atomic uint64_t work_range; // the first << 32 | how many are left

// `count` is less than 2^32. What was written before is seen by who takes a number.
static inline void work_range_fill(work_range *range, int64_t count)
{
    atomic_store(range, (uint64_t)count);
}

static inline bool work_range_is_empty(work_range *range)
{
    return (uint32_t)atomic_load(range) == 0;
}

// Takes one part of `share` of what is left, at least one number, from the front or, if `last`,
// from the end. Returns how many, 0 when none are left.
static inline int64_t work_range_take(work_range *range, bool last, int share, int64_t *first)
{
    uint64_t now = atomic_load(range);
    while ((uint32_t)now > 0) {
        const uint32_t left = (uint32_t)now, count = (left - 1) / (uint32_t)share + 1;
        const uint64_t next = now - count + (last ? 0 : (uint64_t)count << 32);
        if (atomic_compare_exchange_weak(range, &now, next)) {
            *first = (int64_t)((now >> 32) + (last ? left - count : 0));
            return count;
        }
    }
    return 0;
}

#endif
