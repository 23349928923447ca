// SPDX-License-Identifier: Apache-2.0
// Launching max pooling, with windows of any kind.
#ifndef TERN_SRC_OPS_MAX_POOL_H
#define TERN_SRC_OPS_MAX_POOL_H

#include "ops/pool.h"
#include "ops/resample.h"

typedef struct tern_max_pooled {
    bool with_index;
    tern_tensor *y, *tap, *index; // tap: where a backward may want it
} tern_max_pooled;

// A dimension of one element.
tern_pool_dim tern_pool_dim_same(void);

// Makes the results, of that shape, and computes them from call->in[0].
tern_status tern_max_pool_launch(const tern_op_call *call, tern_max_pool_args *args, int dims,
                                 tern_shape shape, tern_max_pooled *out);
// Ends the call. indices: NULL, or where they go.
tern_tensor *tern_max_pool_end(const tern_op_call *call, const tern_max_pooled *out,
                               tern_tensor **indices);
tern_status tern_max_pool_launch_grad(tern_node *node, tern_max_pool_args *args, int dims,
                                      tern_tensor *dy, tern_tensor **dx);

#endif
