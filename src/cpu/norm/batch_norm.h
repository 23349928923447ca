// SPDX-License-Identifier: Apache-2.0
// What the units of work of batch normalisation are, and do in one element type.
#ifndef TERN_SRC_CPU_NORM_BATCH_NORM_H
#define TERN_SRC_CPU_NORM_BATCH_NORM_H

#include "base/integer.h"
#include "cpu/real.h"

#define SHORT_RUN 32 // elements of a channel in a sample; where there are fewer,
#define COLS      64 // so many columns are done side by side

// Every unit of work is a block of channels of a segment of samples.
typedef struct channel_job {
    int64_t n, c, s;                  // of x
    int64_t block, blocks;            // channels of a unit; how many such
    int64_t samples, segments;        // likewise
    const void *x, *dy;               /* (N, C, S) */
    void *y;                          /* (N, C, S): y or dx */
    const void *weight, *bias;        /* (C) or NULL */
    double *partial;                  /* (segments, C, 2) */
    const tern_batch_norm_args *args; // mean, rstd, the running statistics
    const tern_norm_grads *grads;
    double momentum;
    bool sums; // the backward needs them
} channel_job;

static inline int64_t samples_of(const channel_job *job, int64_t segment)
{
    return min_int64(job->samples, job->n - segment * job->samples);
}

typedef void batch_norm_unit_fn(const channel_job *job, int64_t block, int64_t segment);
REAL_DECLARE(batch_norm_unit_fn, batch_norm_moments);
REAL_DECLARE(batch_norm_unit_fn, batch_norm_sums);
REAL_DECLARE(batch_norm_unit_fn, batch_norm_elements);
REAL_DECLARE(batch_norm_unit_fn, batch_norm_gradients);

#endif
