// SPDX-License-Identifier: Apache-2.0
#include "data/loader/order.h"

#include <tern/error.h>
#include "data/sampler.h"

// What is left to draw of an order once its generator may go on without it.
static int64_t draw(tern_mt19937 *mt, bool own, uint64_t *base_seed, int64_t *order,
                    int64_t samples)
{
    *base_seed = (uint64_t)tern_mt19937_random63(mt);
    if (order && own)
        tern_mt19937_randperm(mt, order, samples);
    return order && !own ? tern_mt19937_random63(mt) : 0;
}

static void permute(bool own, int64_t seed, int64_t *order, int64_t samples)
{
    if (!order || own)
        return;
    tern_mt19937 fresh;
    tern_mt19937_seed(&fresh, (uint64_t)seed);
    tern_mt19937_randperm(&fresh, order, samples);
}

tern_status tern_order_begin(tern_generator *own, tern_mt19937 *start, uint64_t *base_seed,
                             int64_t *order, int64_t samples)
{
    tern_generator *generator = own ? own : tern_default_generator(tern_cpu(0));
    if (!generator)
        return tern_error_code();
    tern_generator_lock(generator);
    *start = generator->mt;
    int64_t seed = draw(&generator->mt, own != NULL, base_seed, order, samples);
    tern_generator_unlock(generator);
    permute(own != NULL, seed, order, samples);
    return TERN_OK;
}

void tern_order_again(const tern_mt19937 *start, bool own, uint64_t *base_seed, int64_t *order,
                      int64_t samples)
{
    tern_mt19937 mt = *start;
    permute(own, draw(&mt, own, base_seed, order, samples), order, samples);
}

// A sampler with `fresh_generator` draws from `scratch` unless the generator is the user's own.
static tern_generator *draw_for_sampler(const tern_sampler *sampler, bool own,
                                        tern_generator *generator, tern_generator *scratch,
                                        uint64_t *base_seed)
{
    *base_seed = (uint64_t)tern_mt19937_random63(&generator->mt);
    if (own || !sampler->klass->fresh_generator)
        return generator;
    tern_mt19937_seed(&scratch->mt, (uint64_t)tern_mt19937_random63(&generator->mt));
    return scratch;
}

tern_status tern_order_sample(const tern_sampler *sampler, tern_generator *own,
                              tern_generator *scratch, tern_mt19937 *start, uint64_t *base_seed,
                              int64_t *order)
{
    tern_generator *generator = own ? own : tern_default_generator(tern_cpu(0));
    if (!generator)
        return tern_error_code();
    tern_generator_lock(generator);
    *start = generator->mt;
    tern_generator *from = draw_for_sampler(sampler, own != NULL, generator, scratch, base_seed);
    tern_generator_unlock(generator);
    return tern_sampler_draw("loader_next", sampler, from, order);
}

tern_status tern_order_sample_again(const tern_sampler *sampler, const tern_mt19937 *start,
                                    bool own, tern_generator *scratch, uint64_t *base_seed,
                                    int64_t *order)
{
    scratch->mt = *start;
    tern_generator *from = draw_for_sampler(sampler, own, scratch, scratch, base_seed);
    return tern_sampler_draw("loader_next", sampler, from, order);
}

void tern_order_end(tern_generator *own, int64_t samples)
{
    if (!own)
        return;
    tern_generator_lock(own);
    for (int64_t i = 1; i < samples; i++)
        (void)tern_mt19937_u32(&own->mt);
    tern_generator_unlock(own);
}
