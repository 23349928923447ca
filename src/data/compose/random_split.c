// SPDX-License-Identifier: Apache-2.0
// A dataset in random parts, as torch.utils.data.random_split makes them.
#include <math.h>
#include <string.h>
#include <tern/datasets.h>

#include "base/mem.h"
#include "data/compose/subset.h"
#include "data/dataset.h"
#include "device/generator.h"

static const char op[] = "data_random_split";

// Fractions add up to 1 within this: PyTorch's math.isclose.
#define SUM_TOLERANCE 1e-9

static tern_status check_lengths(const tern_data_random_split_options *o, int64_t samples)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < o->count; i++) {
        TERN_CHECK(o->lengths[i] >= 0, TERN_ERR_ARG, "%s: lengths[%lld] is %lld, but must be >= 0",
                   op, (long long)i, (long long)o->lengths[i]);
        TERN_CHECK(!__builtin_add_overflow(sum, o->lengths[i], &sum), TERN_ERR_ARG,
                   "%s: the lengths add up to more than an int64 holds", op);
    }
    TERN_CHECK(sum == samples, TERN_ERR_ARG,
               "%s: the lengths add up to %lld, but %s has %lld samples", op, (long long)sum,
               tern_dataset_name(o->dataset), (long long)samples);
    return TERN_OK;
}

static tern_status check_fractions(const tern_data_random_split_options *o)
{
    double sum = 0;
    for (int64_t i = 0; i < o->count; i++) {
        TERN_CHECK(o->fractions[i] >= 0 && o->fractions[i] <= 1, TERN_ERR_ARG,
                   "%s: fractions[%lld] is %g, but must be 0 to 1", op, (long long)i,
                   o->fractions[i]);
        sum += o->fractions[i];
    }
    TERN_CHECK(fabs(sum - 1) <= SUM_TOLERANCE, TERN_ERR_ARG,
               "%s: the fractions add up to %.10g, but must to 1", op, sum);
    return TERN_OK;
}

static tern_status check(const tern_data_random_split_options *o)
{
    TERN_TRY(tern_check_dataset(op, o->dataset));
    TERN_CHECK(!o->lengths != !o->fractions, TERN_ERR_ARG, "%s: %s", op,
               o->lengths ? "give .lengths or .fractions, not both"
                          : "give .lengths or .fractions, which say how large the parts are");
    if (!o->generator && tern_error_pending()) // one that could not be made is not the default one
        return tern_error_code();
    return tern_check_generator(op, o->generator);
}

// What is left goes to the parts in turn, one sample each.
static tern_status share_out(const tern_data_random_split_options *o, int64_t samples,
                             int64_t *lengths)
{
    int64_t left = samples;
    for (int64_t i = 0; i < o->count; i++) {
        lengths[i] = o->lengths ? o->lengths[i] : (int64_t)floor((double)samples * o->fractions[i]);
        left -= lengths[i];
    }
    TERN_CHECK(left >= 0 && left <= samples, TERN_ERR_ARG,
               "%s: the fractions are of more samples than the %lld of %s", op, (long long)samples,
               tern_dataset_name(o->dataset));
    for (int64_t i = 0; i < left; i++)
        lengths[i % o->count]++;
    return TERN_OK;
}

static void permute(tern_generator *generator, int64_t *order, int64_t samples)
{
    tern_generator_lock(generator);
    tern_mt19937_randperm(&generator->mt, order, samples);
    tern_generator_unlock(generator);
}

static void free_all(tern_dataset **parts, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        tern_dataset_free(parts[i]);
        parts[i] = NULL;
    }
}

// The parts are made of any numbers first: nothing is drawn where one cannot be.
static tern_status make_parts(const tern_data_random_split_options *o, const int64_t *lengths,
                              int64_t *order, int64_t samples)
{
    tern_generator *generator = o->generator ? o->generator : tern_default_generator(tern_cpu(0));
    if (!generator)
        return tern_error_code();
    memset(order, 0, (size_t)samples * sizeof *order);
    for (int64_t i = 0, first = 0; i < o->count; first += lengths[i++]) {
        o->parts[i] = tern_subset_new(o->dataset, order + first, lengths[i]);
        if (o->parts[i])
            continue;
        free_all(o->parts, i);
        return tern_error_code();
    }
    permute(generator, order, samples);
    for (int64_t i = 0, first = 0; i < o->count; first += lengths[i++])
        tern_subset_renumber(o->parts[i], order + first);
    return TERN_OK;
}

static tern_status split(const tern_data_random_split_options *o)
{
    const int64_t samples = tern_dataset_count_for(op, o->dataset);
    if (samples < 0)
        return tern_error_code();
    TERN_TRY(o->lengths ? check_lengths(o, samples) : check_fractions(o));
    int64_t *numbers = NULL, capacity = 0;
    TERN_CHECK(samples <= INT64_MAX / 16 - o->count, TERN_ERR_NOMEM,
               "%s: no memory for the order of %lld samples", op, (long long)samples);
    TERN_TRY(tern_mem_grow((void **)&numbers, &capacity, samples + o->count, sizeof *numbers));
    tern_status status = share_out(o, samples, numbers);
    if (!status)
        status = make_parts(o, numbers, numbers + o->count, samples);
    tern_mem_free(numbers, (size_t)capacity * sizeof *numbers);
    return status;
}

tern_status tern_data_random_split_with(const tern_data_random_split_options *options)
{
    if (!options || !options->parts)
        return tern_null_error(op, options ? "parts" : "options");
    TERN_CHECK(options->count >= 1, TERN_ERR_ARG, "%s: count is %lld, but must be at least 1", op,
               (long long)options->count);
    memset(options->parts, 0, (size_t)options->count * sizeof(tern_dataset *));
    TERN_TRY(check(options));
    return split(options);
}
