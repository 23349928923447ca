// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/sampler.h, for the site.
#include "examples.h"

static void show_sampler_random(void)
{
    // [tern_sampler_random]
    tern_sampler *sampler = tern_sampler_random(1000, .replacement = true, .num_samples = 250);
    int64_t count = tern_sampler_count(sampler); // 250 of 1000
    // [/tern_sampler_random]
    expect(count == 250);
    tern_sampler_free(sampler);
}

static void show_sampler_weighted(void)
{
    double weights[] = {0.1, 0.9, 0.4};
    // [tern_sampler_weighted]
    tern_sampler *sampler = tern_sampler_weighted(weights, 3, 100); // each as often as it weighs
    int64_t count = tern_sampler_count(sampler);                    // 100
    // [/tern_sampler_weighted]
    expect(count == 100);
    tern_sampler_free(sampler);
}

static void show_sampler_sequential(void)
{
    // [tern_sampler_sequential]
    tern_sampler *sampler = tern_sampler_sequential(10); // 0 to 9
    // [/tern_sampler_sequential]
    expect(tern_sampler_count(sampler) == 10);
    tern_sampler_free(sampler);
}

static void show_sampler_batch(void)
{
    tern_sampler *sampler = tern_sampler_sequential(10);
    // [tern_sampler_batch]
    tern_sampler *batches = tern_sampler_batch(sampler, 4, false); // of 4, 4 and 2
    // [/tern_sampler_batch]
    expect(tern_sampler_count(batches) == 10);
    tern_free(batches, sampler);
}

int sampler_examples(void)
{
    show_sampler_random();
    show_sampler_weighted();
    show_sampler_sequential();
    show_sampler_batch();
    return failures;
}
