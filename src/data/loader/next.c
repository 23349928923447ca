// SPDX-License-Identifier: Apache-2.0
// A loader's epochs and batches.
#include <string.h>
#include "base/clock.h"
#include "base/fork.h"
#include "base/integer.h"
#include "base/mem.h"
#include "data/dataset.h"
#include "data/loader/loader.h"
#include "data/loader/order.h"
#include "data/sampler.h"
#include "ops/op.h"
#include "tensor/header.h"
#include "tensor/scope.h"

// ---- epochs -----------------------------------------------------------------------------------

static bool has_order(const tern_loader *loader)
{
    return loader->shuffle || loader->sampler;
}

tern_status tern_loader_reserve(tern_loader *loader, int64_t samples)
{
    const int64_t there = tern_loader_streams(loader) ? INT64_MAX : samples;
    const int64_t needed = has_order(loader) ? samples : min_int64(there, loader->batch_size);
    if (loader->sampler && loader->sampler->klass->batches)
        TERN_TRY(tern_mem_grow((void **)&loader->sizes, &loader->sizes_capacity, samples,
                               sizeof *loader->sizes));
    return tern_mem_grow((void **)&loader->order, &loader->capacity, needed, sizeof *loader->order);
}

// A sampler's numbers are of samples that there are, and its batches cut.
static tern_status check_order(tern_loader *loader, int64_t samples)
{
    const int64_t there = tern_dataset_count_for("loader_next", loader->dataset);
    if (there < 0)
        return tern_error_code();
    for (int64_t i = 0; i < samples; i++)
        TERN_CHECK(loader->order[i] >= 0 && loader->order[i] < there, TERN_ERR_INDEX,
                   "loader_next: %s gave %lld as number %lld of an epoch, but %s has samples 0 to "
                   "%lld",
                   tern_sampler_name(loader->sampler), (long long)loader->order[i], (long long)i,
                   tern_dataset_name(loader->dataset), (long long)there - 1);
    if (!loader->sampler->klass->batches)
        return TERN_OK;
    loader->batches =
        tern_sampler_cut("loader_next", loader->sampler, loader->order, samples, loader->sizes);
    return loader->batches < 0 ? tern_error_code() : TERN_OK;
}

static tern_status begin_order(tern_loader *loader, int64_t samples, uint64_t *seed)
{
    if (!loader->sampler)
        return tern_order_begin(loader->own, &loader->start, seed,
                                loader->shuffle ? loader->order : NULL, samples);
    TERN_TRY(tern_order_sample(loader->sampler, loader->own, loader->saved, &loader->start, seed,
                               loader->order));
    return check_order(loader, samples);
}

static tern_status begin_epoch(tern_loader *loader)
{
    int64_t samples =
        tern_loader_streams(loader) ? INT64_MAX : tern_loader_count_samples("loader_next", loader);
    if (samples < 0)
        return tern_error_code();
    TERN_TRY(tern_loader_reserve(loader, samples));
    TERN_TRY(tern_loader_begin_stream(loader));
    uint64_t seed;
    TERN_TRY(begin_order(loader, samples, &seed));
    loader->samples = samples;
    loader->done = loader->position = 0;
    loader->order_ended = loader->order_due = loader->stream_due = false;
    loader->running = true;
    loader->resumed = false;
    loader->epoch++;
    loader->context = (tern_sample_context){.seed = seed, .epoch = loader->epoch};
    return TERN_OK;
}

// Of a loaded epoch: a sampler may fail, which loading a state may not.
static tern_status draw_order_again(tern_loader *loader)
{
    TERN_TRY(tern_order_sample_again(loader->sampler, &loader->start, loader->own != NULL,
                                     loader->saved, &loader->context.seed, loader->order));
    TERN_TRY(check_order(loader, loader->samples));
    if (loader->sampler->klass->batches) {
        TERN_CHECK(loader->position <= loader->batches, TERN_ERR_STATE,
                   "loader_next: %lld batches were handed out, but %s gives %lld now",
                   (long long)loader->position, tern_sampler_name(loader->sampler),
                   (long long)loader->batches);
        loader->done = 0;
        for (int64_t i = 0; i < loader->position; i++)
            loader->done += loader->sizes[i];
    }
    loader->order_due = false;
    return TERN_OK;
}

static void end_order(tern_loader *loader)
{
    if (loader->shuffle && !loader->order_ended)
        tern_order_end(loader->own, loader->samples);
    loader->order_ended = true;
}

// A value error of the last steps is found here.
static tern_status end_epoch(tern_loader *loader)
{
    end_order(loader);
    tern_loader_leave(loader);
    return tern_synchronize(loader->batch_device);
}

void tern_loader_reset(tern_loader *loader)
{
    if (!tern_check_loader_change("loader_reset", loader))
        tern_loader_leave(loader);
}

// ---- batches ----------------------------------------------------------------------------------

// The size of a batch that begins behind `done` samples in `position` batches; 0 at the end.
static int64_t size_of_batch(const tern_loader *loader, int64_t position, int64_t done)
{
    if (loader->sampler && loader->sampler->klass->batches)
        return position < loader->batches ? loader->sizes[position] : 0;
    int64_t left = loader->samples - done;
    return left < loader->batch_size && loader->drop_last ? 0 : min_int64(left, loader->batch_size);
}

static void count_up(int64_t *index, int64_t first, int64_t size)
{
    for (int64_t i = 0; i < size; i++)
        index[i] = first + i;
}

static tern_batch_recipe recipe_of(const tern_loader *loader)
{
    return (tern_batch_recipe){.dataset = loader->dataset,
                               .device = loader->device,
                               .collate = loader->collate,
                               .user = loader->user};
}

static tern_status make_batch(tern_loader *loader, int64_t size)
{
    const int64_t *index = loader->order + (has_order(loader) ? loader->done : 0);
    if (!has_order(loader))
        count_up(loader->order, loader->done, size);
    const tern_batch_recipe recipe = recipe_of(loader);
    return tern_batch_make(&recipe, &loader->context, index, size, &loader->batch);
}

// ---- workers ------------------------------------------------------------------------------------

static int64_t max_size(const tern_loader *loader)
{
    int64_t max = loader->sizes ? 1 : min_int64(loader->batch_size, max_int64(loader->samples, 1));
    for (int64_t i = 0; loader->sizes && i < loader->batches; i++)
        max = max_int64(max, loader->sizes[i]);
    return max;
}

// More than an epoch has are not made ahead. One at least: there is a next batch.
static int64_t left_batches(const tern_loader *loader)
{
    if (tern_loader_streams(loader))
        return INT64_MAX;
    const int64_t all = loader->sampler && loader->sampler->klass->batches
                            ? loader->batches
                            : tern_loader_batches_of(loader, loader->samples);
    return max_int64(all - loader->position, 1);
}

// Without an error where there is no thread for one.
static tern_status begin_workers(tern_loader *loader)
{
    const int64_t ahead = min_int64(loader->worker_count * loader->prefetch, left_batches(loader));
    const tern_workers_plan plan = {.recipe = recipe_of(loader),
                                    .context = loader->context,
                                    .workers = loader->worker_count,
                                    .ahead = ahead,
                                    .batch_size = max_size(loader),
                                    .timeout = loader->timeout,
                                    .init = loader->worker_init,
                                    .user = loader->user,
                                    .owner = loader};
    loader->submitted = loader->done;
    loader->submitted_batches = loader->position;
    loader->workers = tern_loader_workers_begin(&plan);
    return loader->workers ? TERN_OK : tern_error_code();
}

static void submit_batches(tern_loader *loader)
{
    for (;;) {
        const int64_t size = size_of_batch(loader, loader->submitted_batches, loader->submitted);
        int64_t *index = size > 0 ? tern_loader_workers_next_index(loader->workers) : NULL;
        if (!index)
            return;
        if (has_order(loader))
            memcpy(index, loader->order + loader->submitted, (size_t)size * sizeof *index);
        else
            count_up(index, loader->submitted, size);
        tern_loader_workers_submit(loader->workers, size);
        loader->submitted += size;
        loader->submitted_batches++;
    }
}

static tern_status get_batch(tern_loader *loader, int64_t size)
{
    if (loader->worker_count > 0 && !loader->workers)
        TERN_TRY(begin_workers(loader));
    if (!loader->workers)
        return make_batch(loader, size);
    submit_batches(loader);
    TERN_TRY(tern_loader_workers_take(loader->workers, &loader->batch));
    submit_batches(loader);
    return TERN_OK;
}

// ---- handing out --------------------------------------------------------------------------------

static tern_status next_batch(tern_loader *loader, int64_t *size)
{
    TERN_TRY(get_batch(loader, *size));
    if (tern_loader_streams(loader))
        *size = tern_loader_size_of_stream(loader, *size);
    if (*size == 0)
        return end_epoch(loader);
    loader->batch_device = tern_dev(loader->batch.x);
    loader->scope = tern_scope_next_batch(0);
    if (!loader->scope) {
        tern_loader_end_batch(loader);
        tern_loader_stop_workers(loader);
        return TERN_ERR_NOMEM;
    }
    loader->done += *size;
    loader->position++;
    if (*size < loader->batch_size) // PyTorch's sampler has run out before a short batch is out
        end_order(loader);
    return TERN_OK;
}

bool tern_loader_may_go_on(tern_loader *loader)
{
    return !tern_error_pending() && !tern_fork_check() && !tern_fault_poll(loader->batch_device) &&
           !tern_check_generator("loader_next", loader->own);
}

tern_status tern_loader_begin(tern_loader *loader)
{
    loader->began = tern_clock_now();
    loader->waited = loader->ended = 0;
    loader->asking = true;
    tern_status status = begin_epoch(loader);
    loader->asking = false;
    return status;
}

static tern_status next_or_end(tern_loader *loader, int64_t *size)
{
    if (loader->order_due)
        TERN_TRY(draw_order_again(loader));
    if (loader->stream_due)
        TERN_TRY(tern_loader_catch_up(loader));
    *size = size_of_batch(loader, loader->position, loader->done);
    return *size > 0 ? next_batch(loader, size) : end_epoch(loader);
}

bool tern_loader_hand_out(tern_loader *loader, tern_batch *batch)
{
    const int64_t before = tern_clock_now();
    int64_t size = 0;
    loader->resumed = false;
    loader->asking = true;
    tern_status status = next_or_end(loader, &size);
    loader->asking = false;
    loader->waited += (loader->ended ? loader->ended : tern_clock_now()) - before;
    if (status || size == 0)
        return false;
    *batch = loader->batch;
    return true;
}

bool tern_loader_next(tern_loader *loader, tern_batch *batch)
{
    if (batch)
        *batch = (tern_batch){0};
    if (tern_check_loader_change("loader_next", loader))
        return false;
    if (!batch) {
        (void)tern_null_error("loader_next", "batch");
        return false;
    }
    tern_loader_end_batch(loader);
    if (!tern_loader_may_go_on(loader) || (!loader->running && tern_loader_begin(loader)))
        return false;
    return tern_loader_hand_out(loader, batch);
}
