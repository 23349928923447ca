// SPDX-License-Identifier: Apache-2.0
// Counting elements.
#ifndef TERN_SRC_TRAIN_LOG_HISTOGRAM_H
#define TERN_SRC_TRAIN_LOG_HISTOGRAM_H

#include <tern/dtype.h>
#include "train/log/values.h"

// The histogram of `count` elements of float32 or float64: the finite ones in `bins` ranges, as
// numpy.histogram(x.astype(float64), bins) counts them. `edges` are (bins + 1), zeroed `counts`
// (bins), to which the result points.
void tern_log_histogram_make(tern_log_histogram *h, tern_dtype dtype, const void *x, int64_t count,
                             int64_t bins, double *edges, int64_t *counts);

#endif
