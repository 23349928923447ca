// SPDX-License-Identifier: Apache-2.0
// PyTorch's samplers: sequential, random, weighted, and batches of another one.
#include <math.h>
#include <string.h>
#include "base/error.h"
#include "base/integer.h"
#include "base/mem.h"
#include "data/sampler.h"
#include "device/generator.h"
#include "ops/multinomial_draw.h"

// ---- sequential ---------------------------------------------------------------------------------

typedef struct sequential {
    tern_sampler base;
    int64_t count;
} sequential;

static int64_t count_sequential(const tern_sampler *self)
{
    return ((const sequential *)self)->count;
}

static tern_status order_sequential(const tern_sampler *self, tern_generator *generator,
                                    int64_t *order)
{
    (void)generator;
    for (int64_t i = 0; i < ((const sequential *)self)->count; i++)
        order[i] = i;
    return TERN_OK;
}

static const tern_sampler_class sequential_class = {.name = "sampler_sequential",
                                                    .size = sizeof(sequential),
                                                    .count = count_sequential,
                                                    .order = order_sequential};

tern_sampler *tern_sampler_sequential(int64_t count)
{
    TERN_CHECK_PTR(count >= 0, TERN_ERR_ARG,
                   "sampler_sequential: count is %lld, but must be 0 or more", (long long)count);
    sequential *self = (sequential *)tern_sampler_new(&sequential_class);
    if (!self)
        return NULL;
    self->count = count;
    return &self->base;
}

// ---- random -------------------------------------------------------------------------------------

typedef struct shuffled {
    tern_sampler base;
    int64_t count, samples;
    bool replacement;
} shuffled;

static int64_t count_random(const tern_sampler *self)
{
    return ((const shuffled *)self)->samples;
}

// Whole permutations, and one more, which is drawn even when nothing of it is used.
static tern_status permute(const shuffled *self, tern_mt19937 *mt, int64_t *order)
{
    const int64_t whole = self->samples / self->count * self->count, rest = self->samples - whole;
    TERN_CHECK(self->count <= INT64_MAX / (int64_t)sizeof *order, TERN_ERR_NOMEM,
               "sampler_random: no memory for the order of %lld numbers", (long long)self->count);
    const size_t nbytes = (size_t)self->count * sizeof *order;
    int64_t *last = tern_cache_alloc(nbytes);
    if (!last)
        return TERN_ERR_NOMEM;
    for (int64_t i = 0; i < whole; i += self->count)
        tern_mt19937_randperm(mt, order + i, self->count);
    tern_mt19937_randperm(mt, last, self->count);
    memcpy(order + whole, last, (size_t)rest * sizeof *order);
    tern_cache_free(last, nbytes);
    return TERN_OK;
}

static tern_status order_random(const tern_sampler *sampler, tern_generator *generator,
                                int64_t *order)
{
    const shuffled *self = (const shuffled *)sampler;
    tern_status status = TERN_OK;
    tern_generator_lock(generator);
    if (self->replacement)
        tern_mt19937_randint(&generator->mt, order, self->samples, 0, self->count);
    else
        status = permute(self, &generator->mt, order);
    tern_generator_unlock(generator);
    return status;
}

static const tern_sampler_class random_class = {.name = "sampler_random",
                                                .size = sizeof(shuffled),
                                                .count = count_random,
                                                .order = order_random,
                                                .fresh_generator = true};

tern_sampler *tern_sampler_random_with(const tern_sampler_random_options *options)
{
    if (!options) {
        (void)tern_null_error("sampler_random", "options");
        return NULL;
    }
    TERN_CHECK_PTR(options->count >= 1, TERN_ERR_ARG,
                   "sampler_random: count is %lld, but must be at least 1",
                   (long long)options->count);
    TERN_CHECK_PTR(options->num_samples >= 0, TERN_ERR_ARG,
                   "sampler_random: num_samples is %lld, but must be at least 1, or 0 for all",
                   (long long)options->num_samples);
    shuffled *self = (shuffled *)tern_sampler_new(&random_class);
    if (!self)
        return NULL;
    self->count = options->count;
    self->samples = options->num_samples > 0 ? options->num_samples : options->count;
    self->replacement = options->replacement;
    return &self->base;
}

// ---- weighted -----------------------------------------------------------------------------------

typedef struct weighted {
    tern_sampler base;
    int64_t count, samples;
    bool replacement;
    double *weights; // (count)
} weighted;

static int64_t count_weighted(const tern_sampler *self)
{
    return ((const weighted *)self)->samples;
}

static tern_status order_weighted(const tern_sampler *sampler, tern_generator *generator,
                                  int64_t *order)
{
    const weighted *self = (const weighted *)sampler;
    tern_generator_lock(generator);
    const tern_status status =
        tern_multinomial_draw(&generator->mt,
                              &(tern_multinomial_row){self->weights, self->count, self->samples,
                                                      self->replacement, false},
                              order);
    tern_generator_unlock(generator);
    return status;
}

static void free_weighted(tern_sampler *sampler)
{
    weighted *self = (weighted *)sampler;
    tern_mem_free(self->weights, (size_t)self->count * sizeof *self->weights);
}

static const tern_sampler_class weighted_class = {.name = "sampler_weighted",
                                                  .size = sizeof(weighted),
                                                  .count = count_weighted,
                                                  .order = order_weighted,
                                                  .free = free_weighted};

static tern_status check_weights(const tern_sampler_weighted_options *o)
{
    TERN_CHECK(o->count >= 1, TERN_ERR_ARG,
               "sampler_weighted: count is %lld, but must be at least 1", (long long)o->count);
    TERN_CHECK(o->num_samples >= 1, TERN_ERR_ARG,
               "sampler_weighted: num_samples is %lld, but must be at least 1",
               (long long)o->num_samples);
    return tern_multinomial_check(
        "sampler_weighted",
        &(tern_multinomial_row){o->weights, o->count, o->num_samples, o->replacement, false});
}

tern_sampler *tern_sampler_weighted_with(const tern_sampler_weighted_options *options)
{
    if (!options || !options->weights) {
        (void)tern_null_error("sampler_weighted", options ? "weights" : "options");
        return NULL;
    }
    if (check_weights(options))
        return NULL;
    const size_t nbytes = (size_t)options->count * sizeof(double);
    double *weights = tern_mem_alloc(nbytes);
    weighted *self = weights ? (weighted *)tern_sampler_new(&weighted_class) : NULL;
    if (!self) {
        tern_mem_free(weights, nbytes);
        return NULL;
    }
    memcpy(weights, options->weights, nbytes);
    self->weights = weights;
    self->count = options->count;
    self->samples = options->num_samples;
    self->replacement = options->replacement;
    return &self->base;
}

// ---- batches ------------------------------------------------------------------------------------

typedef struct batched {
    tern_sampler base;
    tern_sampler *inner;
    int64_t batch_size;
    bool drop_last;
} batched;

static int64_t count_batched(const tern_sampler *self)
{
    return tern_sampler_count_for("sampler_batch", ((const batched *)self)->inner);
}

// The inner sampler's rule of generators is that of its batches too, by one of two classes.
static tern_status order_batched(const tern_sampler *self, tern_generator *generator,
                                 int64_t *order)
{
    return tern_sampler_draw("sampler_batch", ((const batched *)self)->inner, generator, order);
}

static int64_t cut_batched(const tern_sampler *sampler, const int64_t *order, int64_t count,
                           int64_t *sizes)
{
    const batched *self = (const batched *)sampler;
    (void)order;
    const int64_t full = count / self->batch_size, rest = count % self->batch_size;
    const int64_t batches = full + (rest > 0 && !self->drop_last);
    for (int64_t i = 0; sizes && i < batches; i++)
        sizes[i] = i < full ? self->batch_size : rest;
    return batches;
}

static void free_batched(tern_sampler *self)
{
    tern_sampler_free(((batched *)self)->inner);
}

#define BATCHED_CLASS(fresh)                                                                       \
    {                                                                                              \
        .name = "sampler_batch", .size = sizeof(batched), .count = count_batched,                  \
        .order = order_batched, .batches = cut_batched, .free = free_batched,                      \
        .fresh_generator = (fresh)                                                                 \
    }
static const tern_sampler_class batched_class = BATCHED_CLASS(false);
static const tern_sampler_class fresh_batched_class = BATCHED_CLASS(true);

tern_sampler *tern_sampler_batch(tern_sampler *sampler, int64_t batch_size, bool drop_last)
{
    if (tern_check_sampler("sampler_batch", sampler))
        return NULL;
    TERN_CHECK_PTR(batch_size >= 1, TERN_ERR_ARG,
                   "sampler_batch: batch_size is %lld, but must be at least 1",
                   (long long)batch_size);
    TERN_CHECK_PTR(!sampler->klass->batches, TERN_ERR_ARG,
                   "sampler_batch: %s gives batches already", tern_sampler_name(sampler));
    const bool fresh = sampler->klass->fresh_generator;
    batched *self = (batched *)tern_sampler_new(fresh ? &fresh_batched_class : &batched_class);
    if (!self)
        return NULL;
    self->inner = tern_sampler_retain(sampler);
    self->batch_size = batch_size;
    self->drop_last = drop_last;
    return &self->base;
}
