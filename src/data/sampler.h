// SPDX-License-Identifier: Apache-2.0
#ifndef TERN_SRC_DATA_SAMPLER_H
#define TERN_SRC_DATA_SAMPLER_H

#include <tern/sampler.h>

// NULL follows the rule of pending errors; a freed one is found while its memory is kept.
tern_status tern_check_sampler(const char *function, const tern_sampler *sampler);
// In the name of `op`: the count, or -1 with an error.
int64_t tern_sampler_count_for(const char *op, const tern_sampler *sampler);
// The order of an epoch of `count` numbers, which are not looked at.
tern_status tern_sampler_draw(const char *op, const tern_sampler *sampler,
                              tern_generator *generator, int64_t *order);
// Its batches, see tern_sampler_batches_fn: how many, or -1 with an error; not known is one for a
// caller that has an order.
int64_t tern_sampler_cut(const char *op, const tern_sampler *sampler, const int64_t *order,
                         int64_t count, int64_t *sizes);
// For messages; never NULL.
const char *tern_sampler_name(const tern_sampler *sampler);

#endif
