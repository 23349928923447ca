// SPDX-License-Identifier: Apache-2.0
#include "data/order.h"

#include <tern/error.h>

tern_status tern_order_begin(tern_generator *own, uint64_t *base_seed, int64_t *order,
                             int64_t samples)
{
    tern_generator *generator = own ? own : tern_default_generator(tern_cpu(0));
    if (!generator)
        return tern_error_code();
    int64_t seed = 0;
    tern_generator_lock(generator);
    *base_seed = (uint64_t)tern_mt19937_random63(&generator->mt);
    if (order && own)
        tern_mt19937_randperm(&generator->mt, order, samples);
    else if (order)
        seed = tern_mt19937_random63(&generator->mt);
    tern_generator_unlock(generator);
    if (order && !own) {
        tern_mt19937 fresh;
        tern_mt19937_seed(&fresh, (uint64_t)seed);
        tern_mt19937_randperm(&fresh, order, samples);
    }
    return TERN_OK;
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
