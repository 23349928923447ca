// SPDX-License-Identifier: Apache-2.0
// The reverse of broadcasting.
#ifndef TERN_SRC_OPS_SUM_TO_H
#define TERN_SRC_OPS_SUM_TO_H

#include "tensor/tensor.h"

// Sums `t` down to `shape`, which broadcasts to t's shape; t itself when nothing changes. For
// backwards; not recorded.
tern_tensor *tern_sum_to(tern_tensor *t, tern_shape shape);

#endif
