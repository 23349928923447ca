// SPDX-License-Identifier: Apache-2.0
// What the two directions of the cross-entropy share. Samples, (N, S) in row-major order, are done
// LANES at a time, side by side; with S = 1 and few classes they are transposed for that, with S =
// 1 and many classes each row is done for itself.
#ifndef TERN_SRC_CPU_LOSS_CROSS_ENTROPY_H
#define TERN_SRC_CPU_LOSS_CROSS_ENTROPY_H

#include "cpu/real.h"

#define CE_LANES       32
#define CE_TILE        64  // classes that are transposed
#define CE_CLASS_CHUNK 256 // classes added before the sum goes on in double
#define CE_CHUNKS      256 // at most, so that their partial sums need no scratch

typedef struct ce_job {
    const tern_exec *exec;
    const tern_cross_entropy_args *args; // float32 or float64
    int64_t classes, spatial, samples, samples_per_chunk;
    double weight_sum;         // over the classes
    double *loss, *total;      // forward: of each chunk
    const tern_strided *dx;    // backward
    const tern_strided *dloss; // backward, (N, S)
    double gradient;           // backward, of a loss of one element
} ce_job;

typedef void ce_chunk(const ce_job *job, int64_t chunk, int64_t first, int64_t last);

// Forward and backward of the samples first to last - 1.
REAL_DECLARE(ce_chunk, ce_forward);
REAL_DECLARE(ce_chunk, ce_backward);

// True when the label takes part; one that is out of range goes to the fault record if `report`.
bool TERN_ISA_NAME(ce_counts)(const ce_job *job, int64_t sample, int64_t label, bool report);
#define ce_counts TERN_ISA_NAME(ce_counts)

#endif
