// SPDX-License-Identifier: Apache-2.0
// What cross-entropies share, whether the logits are given or those of a linear layer.
#ifndef TERN_SRC_OPS_CROSS_ENTROPY_H
#define TERN_SRC_OPS_CROSS_ENTROPY_H

#include "ops/launch.h"

// Of logits (N, C, S): labels (N, S) or probabilities (N, C, S), weight (C) or NULL.
typedef struct tern_entropy {
    const char *op, *logits; // the names that messages give both
    tern_shape shape;        // of the logits: (N, C, ..) or (C)
    tern_dtype dtype;
    tern_tensor *target, *weight;
    bool ignores; // probabilities have no ignore_index
    int64_t ignore_index;
    double label_smoothing;
    tern_reduction reduction;
    bool log_probabilities; // instead of logits
    // From tern_entropy_check:
    int64_t batch, classes, space;
    bool probabilities; // in the target
} tern_entropy;

// Finds the sizes and what the target holds, and refuses what does not fit.
tern_status tern_entropy_check(tern_entropy *e);
// The shape of the losses, (N, ..).
tern_shape tern_entropy_losses(const tern_entropy *e);
// All but the views of the samples; `weight` is given its view.
tern_cross_entropy_args tern_entropy_args(const tern_entropy *e, tern_strided *weight);

#endif
