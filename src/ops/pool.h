// SPDX-License-Identifier: Apache-2.0
// What poolings have in common, as operations and as modules: sizes along the last dimensions,
// outermost first.
#ifndef TERN_SRC_OPS_POOL_H
#define TERN_SRC_OPS_POOL_H

#include "ops/op.h"

#define TERN_POOL_DIMS 3

typedef struct tern_pool_sizes {
    int64_t at[TERN_POOL_DIMS];
} tern_pool_sizes;

// A pooling with a window of its own, or with `out` outputs.
typedef struct tern_pool {
    const char *name;
    int dims;
    tern_pool_sizes kernel, stride, padding, dilation;
    bool ceil_mode, count_include_pad;
    int64_t divisor_override; // 0: none
    tern_pool_sizes out;      // of adaptive ones; TERN_KEEP_SIZE
} tern_pool;

// Options as sizes: what is TERN_SAME_AS_FIRST becomes the first.
tern_pool_sizes tern_pool_line(int64_t size);
tern_pool_sizes tern_pool_pair(tern_pair pair);
tern_pool_sizes tern_pool_triple(tern_triple triple);

// One of `kernel` and pool->kernel is given (not 0); fills in pool->kernel and the stride. Refuses
// what no input can be pooled with.
tern_status tern_pool_finalize(tern_pool *pool, int64_t kernel);
// Likewise for `out` and pool->out, which is given when it is not -1.
tern_status tern_pool_finalize_adaptive(tern_pool *pool, int64_t out);

// After settling; name "max_pool2d".
tern_tensor *tern_max_pool_run(const tern_pool *pool, tern_tensor *x, tern_tensor **indices);
tern_tensor *tern_avg_pool_run(const tern_pool *pool, tern_tensor *x);
tern_tensor *tern_adaptive_avg_pool_run(const tern_pool *pool, tern_tensor *x);
tern_tensor *tern_adaptive_max_pool_run(const tern_pool *pool, tern_tensor *x,
                                        tern_tensor **indices);

// ---- for these ---------------------------------------------------------------------------------

// x is (N, C, ..) or (C, ..), and only N may be 0.
tern_status tern_pool_check_input(const tern_pool *pool, const tern_tensor *x);
// x's shape after pooling.
tern_status tern_pool_shape(const tern_pool *pool, const tern_tensor *x, tern_shape *out);
tern_status tern_pool_adaptive_shape(const tern_pool *pool, const tern_tensor *x, tern_shape *out);

// Sizes as numbers of a call, and back.
void tern_pool_save(const tern_pool *pool, tern_op_attrs *attrs);
tern_pool tern_pool_saved(const tern_op_attrs *attrs);

#endif
