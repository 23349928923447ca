// SPDX-License-Identifier: Apache-2.0
// The order of samples in an epoch: the draws that PyTorch's DataLoader and RandomSampler make.
#ifndef TERN_SRC_DATA_LOADER_ORDER_H
#define TERN_SRC_DATA_LOADER_ORDER_H

#include <tern/sampler.h>
#include "device/generator.h"

// Begins an epoch: draws the workers' base seed and, unless `order` is NULL, writes a permutation
// of 0 ... samples - 1 to it. `own` is the user's generator or NULL; `*start` what it was before.
tern_status tern_order_begin(tern_generator *own, tern_mt19937 *start, uint64_t *base_seed,
                             int64_t *order, int64_t samples);
// What that wrote, from `start`; no generator draws.
void tern_order_again(const tern_mt19937 *start, bool own, uint64_t *base_seed, int64_t *order,
                      int64_t samples);

// The same for a sampler's order: `scratch` is a generator that nothing else uses.
tern_status tern_order_sample(const tern_sampler *sampler, tern_generator *own,
                              tern_generator *scratch, tern_mt19937 *start, uint64_t *base_seed,
                              int64_t *order);
// What that wrote, from `start`; no generator but `scratch` draws.
tern_status tern_order_sample_again(const tern_sampler *sampler, const tern_mt19937 *start,
                                    bool own, tern_generator *scratch, uint64_t *base_seed,
                                    int64_t *order);

// RandomSampler asks for one more permutation after the last sample, of which it uses nothing.
void tern_order_end(tern_generator *own, int64_t samples);

#endif
