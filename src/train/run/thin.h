// SPDX-License-Identifier: Apache-2.0
// Fewer points that draw the same picture.
#ifndef TERN_SRC_TRAIN_RUN_THIN_H
#define TERN_SRC_TRAIN_RUN_THIN_H

#include <stdint.h>

// The most that tern_run_thin keeps of so many columns.
#define TERN_RUN_THIN_POINTS(columns) (3 * (columns) + 2)

// Which points of a curve (count), steps ascending, are drawn where its steps are spread over so
// many columns of pixels: of each column the lowest and the highest value and the first that is not
// finite, and the first and the last point of all. Writes their indices, ascending, to
// `kept` (TERN_RUN_THIN_POINTS(columns)) and returns how many there are. columns >= 1.
int64_t tern_run_thin(int64_t count, const int64_t *steps, const double *values, int64_t columns,
                      int64_t *kept);

// The column of a point.
int64_t tern_run_column(int64_t first_step, int64_t last_step, int64_t step, int64_t columns);

#endif
