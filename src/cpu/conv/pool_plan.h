// SPDX-License-Identifier: Apache-2.0
// What the parts of max pooling know.
#ifndef TERN_SRC_CPU_CONV_POOL_PLAN_H
#define TERN_SRC_CPU_CONV_POOL_PLAN_H

#include <string.h>

#include "base/mem.h"
#include "base/thread_pool.h"
#include "cpu/real.h"

#define POOL_FN                static inline __attribute__((unused))
#define POOL_DIM               tern_pool_dim
#define POOL_BY(n, dim, field) ((n) / (dim)->field)
#include "device/pool_window.h"

#define POOL_LOOP static inline __attribute__((always_inline))

typedef struct pool_job {
    tern_pool_dim d, h, w;
    const void *x; // dx's counterpart in the backward
    void *y;
    uint8_t *small; // taps, of one of the two types, or NULL
    int32_t *large;
    int64_t *index;
    pool_window *window; // (w.out)
    int64_t *offset;     // (volume): from the base of a window, in elements of (in..)
    int64_t first, last; // outputs along w whose windows are whole
    int64_t units, groups, scratch_nbytes;
    char *scratch; // (groups, scratch_nbytes) bytes
} pool_job;

// v is better than the best so far.
#define POOL_BETTER(v, best) (((v) > (best)) | ((v) != (v)))

#endif
