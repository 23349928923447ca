// SPDX-License-Identifier: Apache-2.0
// loader.h and sampler.h, but for what tests/errors/cases_data.c has
#include "errors.h"

// ---- what a dataset calls its classes and samples -----------------------------------------------

static char name[64];

REFUSES(tern_dataset_class_count, "a dataset that is NULL", TERN_ERR_NULL,
        "dataset_class_count: dataset is NULL", tern_dataset_class_count(NULL) == -1)
REFUSES(tern_dataset_class_name, "a dataset that is NULL", TERN_ERR_NULL,
        "dataset_class_name: dataset is NULL", tern_dataset_class_name(NULL, 0) == NULL)
REFUSES(tern_dataset_class_name, "a label of no class", TERN_ERR_INDEX,
        "dataset_class_name: label is 0|data_tensors|0 classes",
        tern_dataset_class_name(f->dataset, 0) == NULL)
REFUSES(tern_dataset_sample_name, "a dataset that is NULL", TERN_ERR_NULL,
        "dataset_sample_name: dataset is NULL",
        !tern_dataset_sample_name(NULL, 0, name, sizeof name))
REFUSES(tern_dataset_sample_name, "a buffer that is NULL", TERN_ERR_NULL,
        "dataset_sample_name: buffer is NULL", !tern_dataset_sample_name(f->dataset, 0, NULL, 0))
REFUSES(tern_dataset_sample_name, "a number past the end", TERN_ERR_INDEX,
        "dataset_sample_name: index is 2|0 to 1",
        !tern_dataset_sample_name(f->dataset, 2, name, sizeof name))

// ---- samplers -----------------------------------------------------------------------------------

static int64_t order[8];

static int64_t four(const tern_sampler *self)
{
    (void)self;
    return 4;
}

static tern_status in_turn(const tern_sampler *self, tern_generator *generator, int64_t *to)
{
    (void)self, (void)generator;
    for (int64_t i = 0; i < 4; i++)
        to[i] = i;
    return TERN_OK;
}

static int retain_freed(bool twice)
{
    tern_sampler *sampler = tern_sampler_sequential(3);
    tern_sampler_free(sampler);
    if (twice)
        tern_sampler_free(sampler);
    return twice || tern_sampler_retain(sampler) == NULL;
}

TAKES(tern_sampler_retain, "NULL", tern_sampler_retain(NULL) == NULL)
REFUSES(tern_sampler_retain, "a sampler that was freed", TERN_ERR_STATE,
        "sampler_retain: sampler_sequential was freed already", retain_freed(false))
TAKES(tern_sampler_free, "NULL", (tern_sampler_free(NULL), 1))
REFUSES(tern_sampler_free, "a sampler that was freed", TERN_ERR_STATE,
        "sampler_free: sampler_sequential was freed already", retain_freed(true))
REFUSES(tern_sampler_count, "a sampler that is NULL", TERN_ERR_NULL,
        "sampler_count: sampler is NULL", tern_sampler_count(NULL) == -1)
REFUSES(tern_sampler_order, "a sampler that is NULL", TERN_ERR_NULL,
        "sampler_order: sampler is NULL", tern_sampler_order(NULL, NULL, order))
REFUSES(tern_sampler_sequential, "less than none", TERN_ERR_ARG,
        "sampler_sequential: count is -1|0 or more", tern_sampler_sequential(-1))
REFUSES(tern_sampler_random_with, "options that are NULL", TERN_ERR_NULL,
        "sampler_random: options is NULL", tern_sampler_random_with(NULL))
REFUSES(tern_sampler_random_with, "nothing to draw from", TERN_ERR_ARG,
        "sampler_random: count is 0|at least 1", tern_sampler_random(0))
REFUSES(tern_sampler_weighted_with, "options that are NULL", TERN_ERR_NULL,
        "sampler_weighted: options is NULL", tern_sampler_weighted_with(NULL))
REFUSES(tern_sampler_weighted_with, "weights that are NULL", TERN_ERR_NULL,
        "sampler_weighted: weights is NULL", tern_sampler_weighted(NULL, 1, 1))
REFUSES(tern_sampler_weighted_with, "a weight that is no number", TERN_ERR_NUMERIC,
        "sampler_weighted: weight 1 is nan",
        tern_sampler_weighted(((double[]){1, (double)NAN}), 2, 1))
REFUSES(tern_sampler_batch, "a sampler that is NULL", TERN_ERR_NULL,
        "sampler_batch: sampler is NULL", tern_sampler_batch(NULL, 1, false))
REFUSES(tern_sampler_new, "a class that is NULL", TERN_ERR_NULL,
        "sampler_new: sampler_class is NULL", tern_sampler_new(NULL))
REFUSES(tern_sampler_new, "a class without an order", TERN_ERR_NULL,
        "sampler_new: the class's order is NULL",
        tern_sampler_new(&(tern_sampler_class){
            .name = "odd", .size = sizeof(tern_sampler), .count = four}))
REFUSES(tern_sampler_new, "a size too small for a sampler", TERN_ERR_ARG,
        "sampler_new: |odd|3 bytes",
        tern_sampler_new(&(tern_sampler_class){
            .name = "odd", .size = 3, .count = four, .order = in_turn}))

// ---- loader -------------------------------------------------------------------------------------

static tern_batch made;

REFUSES(tern_loader_wait_share, "a loader that is NULL", TERN_ERR_NULL,
        "loader_wait_share: loader is NULL", isnan(tern_loader_wait_share(NULL)))
REFUSES(tern_loader_new_with, "less than no workers", TERN_ERR_ARG,
        "loader_new: workers is -1|0 to 256", tern_loader_new(f->dataset, .workers = -1))
REFUSES(tern_loader_new_with, "no batches ahead", TERN_ERR_ARG,
        "loader_new: prefetch is 0|1 to 1000", tern_loader_new(f->dataset, .prefetch = 0))
REFUSES(tern_loader_new_with, "a time to wait for nobody", TERN_ERR_ARG,
        "loader_new: .timeout|none", tern_loader_new(f->dataset, .timeout = 1))
REFUSES(tern_collate_padded, "samples that are NULL", TERN_ERR_NULL,
        "collate_padded: samples is NULL", tern_collate_padded(NULL, 1, NULL, &made))
REFUSES(tern_collate_padded, "a batch that is NULL", TERN_ERR_NULL, "collate_padded: batch is NULL",
        tern_collate_padded(&(tern_sample){.count = 1}, 1, NULL, NULL))

// ---- indices by weights -------------------------------------------------------------------------

REFUSES(tern_multinomial_with, "options that are NULL", TERN_ERR_NULL,
        "multinomial: options is NULL", tern_multinomial_with(NULL))
REFUSES(tern_multinomial_with, "weights that are NULL", TERN_ERR_NULL, "multinomial: p is NULL",
        tern_multinomial(NULL, 1))
REFUSES(tern_multinomial_with, "weights that are no floats", TERN_ERR_DTYPE,
        "multinomial: p is int64|float32 or float64", tern_multinomial(f->ints, 1))
REFUSES(tern_multinomial_with, "no samples", TERN_ERR_ARG, "multinomial: num_samples is 0",
        tern_multinomial(f->x, 0))
REFUSES(tern_multinomial_with, "more than there are", TERN_ERR_ARG,
        "multinomial: 4 samples|3 weights", tern_multinomial(f->x, 4))
