// SPDX-License-Identifier: Apache-2.0
// What poolings have in common, as operations and as modules: sizes along the last dimensions,
// outermost first.
#ifndef TERN_SRC_OPS_POOL_H
#define TERN_SRC_OPS_POOL_H

#include "ops/op.h"
#include "ops/sizes.h"

#define TERN_POOL_DIMS 3

// A pooling with a window of its own, or with `out` outputs.
typedef struct tern_pool {
    const char *name;
    int dims;
    tern_shape kernel, stride, padding, dilation;
    bool ceil_mode, count_include_pad;
    int64_t divisor_override; // 0: none
    tern_shape out;           // of adaptive ones; TERN_KEEP_SIZE
} tern_pool;

// What options say. One of `kernel` and `kernel_size` is given (not 0). Refuses what can pool no
// input.
tern_status tern_pool_finalize(tern_pool *pool, int64_t kernel, tern_sizes kernel_size,
                               tern_sizes stride, tern_sizes padding, tern_sizes dilation);
// Likewise one of `out` and `size` (not -1).
tern_status tern_pool_finalize_adaptive(tern_pool *pool, int64_t out, tern_sizes size);

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
