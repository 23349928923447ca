// SPDX-License-Identifier: Apache-2.0
// Drawing indices by weights, on the host, in PyTorch's order.
#ifndef TERN_SRC_OPS_MULTINOMIAL_DRAW_H
#define TERN_SRC_OPS_MULTINOMIAL_DRAW_H

#include <tern/error.h>
#include "base/mt19937.h"

typedef struct tern_multinomial_row {
    const double *weights; // (count)
    int64_t count;
    int64_t samples;
    bool replacement;
    bool single; // the weights are of float32, and so is what is computed of them
} tern_multinomial_row;

// The weights are finite, 0 or more, not all 0, and enough of them above 0; `op` is for messages.
tern_status tern_multinomial_check(const char *op, const tern_multinomial_row *row);
// Writes `samples` indices, 0 to count - 1, of weights that were checked. TERN_ERR_NOMEM.
tern_status tern_multinomial_draw(tern_mt19937 *mt, const tern_multinomial_row *row, int64_t *out);

#endif
