// SPDX-License-Identifier: Apache-2.0
// Sizes that options give, as shapes of as many dimensions as an operation has.
#ifndef TERN_SRC_OPS_SIZES_H
#define TERN_SRC_OPS_SIZES_H

#include <tern/sizes.h>
#include <tern/tensor.h>

// Sums and products of such sizes stay within int64.
#define TERN_SIZE_MAX INT32_MAX

// Sizes as a shape of `dims` dimensions, TERN_SAME_AS_FIRST replaced; more numbers are refused.
tern_status tern_sizes_shape(const char *op, const char *what, tern_sizes sizes, int dims,
                             tern_shape *shape);
// Each size is `min` or more, and below 2^31.
tern_status tern_sizes_check(const char *op, const char *what, tern_shape sizes, int64_t min);

#endif
