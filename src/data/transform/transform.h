// SPDX-License-Identifier: Apache-2.0
// What transforms share: running them, the images they are given, and random numbers.
#ifndef TERN_SRC_DATA_TRANSFORM_TRANSFORM_H
#define TERN_SRC_DATA_TRANSFORM_TRANSFORM_H

#include <tern/transform.h>

#include "base/error.h"
#include "tensor/tensor.h"

// NULL follows the rule of pending errors; a freed one is found while its memory is kept.
tern_status tern_check_transform(const char *function, const tern_transform *transform);
// For messages; never NULL.
const char *tern_transform_name(const tern_transform *transform);

// tern_transform_batch in the name of `op`, with draws from `first_draw` on; recording is off.
tern_status tern_transform_run(const char *op, const tern_transform *transform,
                               const tern_sample_context *context, int64_t first_draw,
                               tern_batch *batch);

// ---- random numbers -----------------------------------------------------------------------------

// Those of a call of `apply`.
typedef struct tern_draws {
    const tern_sample_context *context;
    int64_t first;
} tern_draws;

// The k-th of sample `index`, uniform in [low, high).
static inline double tern_draw(const tern_draws *draws, int64_t index, int64_t k, double low,
                               double high)
{
    return low + (high - low) * tern_sample_rand(draws->context, index, draws->first + k);
}

// Likewise an integer in [0, below).
static inline int64_t tern_draw_int(const tern_draws *draws, int64_t index, int64_t k,
                                    int64_t below)
{
    return tern_sample_randint(draws->context, index, draws->first + k, 0, below);
}

// ---- options ------------------------------------------------------------------------------------

// A probability; a number of channels that a list holds, and finite numbers.
tern_status tern_check_probability(const char *op, double p);
tern_status tern_check_channels(const char *op, const char *name, const tern_channel_list *list);
// The size of a result; 1 to 2^31 - 1 both.
tern_status tern_check_image_size(const char *op, int64_t height, int64_t width);
// {low, high} of finite numbers, low <= high.
tern_status tern_check_number_range(const char *op, const char *name, tern_range range);

// A single number is that much on both sides of `center`.
static inline tern_range tern_range_around(tern_range range, double center)
{
    const bool single = range.low > 0 && range.high == 0;
    return single ? (tern_range){center - range.low, center + range.low} : range;
}

// The number of channel c.
static inline double tern_channel_value(const tern_channel_list *list, int64_t c)
{
    return list->count == 0 ? 0 : list->at[list->count == 1 ? 0 : c];
}

#endif
