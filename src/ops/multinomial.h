// SPDX-License-Identifier: Apache-2.0
// Drawing indices by weights, on the host, in PyTorch's order. The weights were checked.
#ifndef TERN_SRC_OPS_MULTINOMIAL_H
#define TERN_SRC_OPS_MULTINOMIAL_H

#include <tern/error.h>
#include "base/mt19937.h"

// The weights are finite, 0 or more, not all 0, and enough of them above 0; `op` is for messages.
tern_status tern_multinomial_check_f64(const char *op, const double *weights, int64_t count,
                                       int64_t samples, bool replacement);
tern_status tern_multinomial_check_f32(const char *op, const float *weights, int64_t count,
                                       int64_t samples, bool replacement);

// Writes `samples` indices, 0 to count - 1. TERN_ERR_NOMEM.
tern_status tern_multinomial_f64(tern_mt19937 *mt, const double *weights, int64_t count,
                                 int64_t samples, bool replacement, int64_t *out);
tern_status tern_multinomial_f32(tern_mt19937 *mt, const float *weights, int64_t count,
                                 int64_t samples, bool replacement, int64_t *out);

#endif
