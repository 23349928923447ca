// SPDX-License-Identifier: Apache-2.0
// The samples of another dataset, each through a function of the user's.
#include <tern/datasets.h>

#include "base/callback.h"
#include "data/compose/inner.h"

static const char op[] = "data_map";

typedef struct map {
    tern_wrapper over;
    tern_data_map_fn *fn;
    void *user;
    tern_free_fn *free;
    bool serial;
} map;

// A function may set x and y, as in `s->x = tern_neg(s->x)`, or at[].
static void take_named(tern_sample *sample, const tern_sample *before)
{
    if (sample->x != before->x && sample->at[0] == before->at[0])
        sample->at[0] = sample->x;
    if (sample->y == before->y || sample->at[1] != before->at[1])
        return;
    sample->at[1] = sample->y;
    if (sample->count == 1)
        sample->count = 2;
}

static tern_status item(const tern_dataset *dataset, const tern_sample_context *context,
                        int64_t index, tern_sample *out)
{
    const map *self = (const map *)dataset;
    tern_dataset *inner = self->over.inner;
    const tern_sample_context inside = tern_dataset_inner_context(context, UINT64_MAX);
    tern_sample before;
    TERN_TRY(tern_inner_check(op, inner, index));
    TERN_TRY(tern_dataset_make_sample(op, inner, &inside, index, &before));
    *out = before;
    tern_callback_begin();
    tern_status status = self->fn(context, index, out, self->user);
    tern_callback_end();
    take_named(out, &before);
    return status;
}

static void release(tern_dataset *dataset)
{
    map *self = (map *)dataset;
    tern_free_user(self->free, self->user);
    tern_wrapper_free(dataset);
}

static bool is_serial(const tern_dataset *dataset)
{
    return ((const map *)dataset)->serial || tern_wrapper_is_serial(dataset);
}

static const tern_dataset_class map_class = {
    .name = op,
    .size = sizeof(map),
    .count = tern_wrapper_count,
    .item = item,
    .free = release,
    .to = tern_wrapper_to,
    .visit = tern_wrapper_visit,
    .class_count = tern_wrapper_class_count,
    .class_name = tern_wrapper_class_name,
    .sample_name = tern_wrapper_sample_name,
    .is_serial = is_serial,
};

static tern_dataset *make(const tern_data_map_options *options)
{
    if (tern_check_dataset(op, options->dataset) ||
        tern_dataset_count_for(op, options->dataset) < 0)
        return NULL;
    if (!options->fn) {
        (void)tern_null_error(op, "fn");
        return NULL;
    }
    map *self = (map *)tern_wrapper_new(&map_class, options->dataset);
    if (!self)
        return NULL;
    self->fn = options->fn;
    self->user = options->user;
    self->free = options->free;
    self->serial = options->serial;
    return &self->over.base;
}

tern_dataset *tern_data_map_with(const tern_data_map_options *options)
{
    if (!options) {
        (void)tern_null_error(op, "options");
        return NULL;
    }
    tern_dataset *made = make(options);
    if (!made)
        tern_free_user(options->free, options->user);
    return made;
}
