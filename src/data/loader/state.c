// SPDX-License-Identifier: Apache-2.0
// Where a loader is, as a state. No order is saved: it is drawn again, from what the generator was.
#include "base/callback.h"
#include "data/dataset.h"
#include "data/loader/loader.h"
#include "data/loader/order.h"
#include "data/sampler.h"
#include "device/generator.h"
#include "state/visitor.h"

typedef struct progress {
    int64_t epoch, position;
    int64_t in_progress; // the number of the epoch; 0: none is
} progress;

static tern_status check_loader(const char *function, const tern_loader *loader)
{
    TERN_TRY(tern_check_loader_change(function, loader));
    TERN_CHECK(loader->depth == 0, TERN_ERR_STATE,
               "%s: called in a loop over this loader that is inside another over it; call it "
               "behind the inner one",
               function);
    return TERN_OK;
}

// The state has no other than this one.
static tern_status visit_fixed(tern_state_visitor *visitor, const char *name, int64_t here)
{
    int64_t saved;
    if (tern_visit_peek_int(visitor, name, &saved) && saved != here)
        return tern_visit_refuse(visitor, name, "is %lld in the state and %lld here",
                                 (long long)saved, (long long)here);
    return tern_visit_int(visitor, name, &here);
}

static tern_status visit_number(tern_state_visitor *visitor, const char *name, int64_t *value,
                                int64_t max)
{
    int64_t saved;
    const bool found = tern_visit_peek_int(visitor, name, &saved);
    if (found && saved < 0)
        return tern_visit_refuse(visitor, name, "is %lld, not 0 or more", (long long)saved);
    if (found && saved > max)
        return tern_visit_refuse(visitor, name, "is %lld, more than %lld", (long long)saved,
                                 (long long)max);
    return tern_visit_int(visitor, name, value);
}

// A loader with a sampler has its class; others say nothing of it, as those before there were any.
static tern_status visit_sampler(const tern_loader *loader, tern_state_visitor *visitor)
{
    return loader->sampler ? tern_visit_kind(visitor, "sampler", tern_sampler_name(loader->sampler))
                           : TERN_OK;
}

// Of the epoch in progress when that is saved, else of the dataset, which is asked. Taking asks
// nobody: the state has the same.
static tern_status count_samples(tern_loader *loader, const tern_state_visitor *visitor,
                                 int64_t *samples)
{
    const bool loading = tern_visit_is_loading(visitor);
    *samples = loader->samples;
    if (tern_visit_is_taking(visitor))
        return tern_visit_peek_int(visitor, "samples", samples), TERN_OK;
    if (tern_loader_streams(loader))
        return *samples = 0, TERN_OK;
    if (!loading && loader->running)
        return TERN_OK;
    loader->asking = true;
    *samples =
        tern_loader_count_samples(loading ? "loader_load_state_dict" : "loader_state_dict", loader);
    loader->asking = false;
    return *samples < 0 ? tern_error_code() : TERN_OK;
}

// The generator as it was when the epoch began. Room for its order is taken before anything is.
static tern_status visit_start(tern_loader *loader, tern_state_visitor *visitor, int64_t samples)
{
    if (!tern_visit_is_loading(visitor))
        loader->saved->mt = loader->start;
    else if (!tern_visit_is_taking(visitor))
        TERN_TRY(tern_loader_reserve(loader, samples));
    return tern_visit_generator(visitor, "generator", loader->saved);
}

static tern_status visit_dataset(void *object, tern_state_visitor *visitor)
{
    tern_loader *loader = object;
    const bool failed_before = tern_error_pending();
    loader->asking = true;
    tern_loader_workers_pause(loader->workers);
    tern_callback_begin();
    tern_status status = loader->dataset->klass->visit(loader->dataset, visitor);
    tern_callback_end();
    tern_loader_workers_resume(loader->workers);
    loader->asking = false;
    return tern_dataset_check_result("visit_loader", loader->dataset, status, failed_before,
                                     "its state known");
}

static void take(tern_loader *loader, const progress *p, int64_t samples)
{
    tern_loader_leave(loader);
    loader->epoch = p->epoch;
    loader->position = p->position;
    loader->running = loader->resumed = p->in_progress > 0;
    if (!loader->running)
        return;
    loader->samples = tern_loader_streams(loader) ? INT64_MAX : samples;
    const int64_t full = loader->samples / loader->batch_size;
    loader->stream_due = tern_loader_streams(loader);
    loader->done = p->position > full ? samples : p->position * loader->batch_size;
    loader->order_ended = p->position > full; // a short batch was the last one
    loader->start = loader->saved->mt;
    loader->context = (tern_sample_context){.epoch = p->in_progress};
    loader->order_due = loader->sampler != NULL;
    if (!loader->sampler)
        tern_order_again(&loader->start, loader->own != NULL, &loader->context.seed,
                         loader->shuffle ? loader->order : NULL, samples);
}

static int64_t max_position(const tern_loader *loader, int64_t samples)
{
    if (tern_loader_streams(loader))
        return INT64_MAX / loader->batch_size;
    const bool cut = loader->sampler && loader->sampler->klass->batches;
    return cut ? samples : tern_loader_batches_of(loader, samples);
}

static tern_status visit_progress(tern_loader *loader, tern_state_visitor *visitor, progress *p,
                                  int64_t samples)
{
    int64_t epoch = p->epoch;
    (void)tern_visit_peek_int(visitor, "epoch", &epoch);
    TERN_TRY(visit_number(visitor, "epoch", &p->epoch, INT64_MAX));
    TERN_TRY(visit_number(visitor, "position", &p->position, max_position(loader, samples)));
    return visit_number(visitor, "epoch_in_progress", &p->in_progress, epoch);
}

static tern_status visit(void *object, tern_state_visitor *visitor)
{
    tern_loader *loader = object;
    progress p = {loader->epoch, loader->position, loader->running ? loader->context.epoch : 0};
    int64_t samples;
    TERN_TRY(check_loader("visit_loader", loader));
    TERN_TRY(count_samples(loader, visitor, &samples));
    TERN_TRY(visit_fixed(visitor, "samples", samples));
    TERN_TRY(visit_fixed(visitor, "batch_size", loader->batch_size));
    TERN_TRY(visit_fixed(visitor, "shuffle", loader->shuffle));
    TERN_TRY(visit_fixed(visitor, "drop_last", loader->drop_last));
    TERN_TRY(visit_fixed(visitor, "own_generator", loader->own != NULL));
    TERN_TRY(visit_sampler(loader, visitor));
    TERN_TRY(visit_progress(loader, visitor, &p, samples));
    int64_t in_progress = p.in_progress;
    if (tern_visit_is_loading(visitor) &&
        !tern_visit_peek_int(visitor, "epoch_in_progress", &in_progress))
        in_progress = 0;
    if (in_progress > 0)
        TERN_TRY(visit_start(loader, visitor, samples));
    if (loader->dataset->klass->visit)
        TERN_TRY(tern_visit_part(visitor, "dataset", visit_dataset, loader));
    if (tern_visit_is_taking(visitor))
        take(loader, &p, samples);
    return TERN_OK;
}

tern_state *tern_loader_state_dict(tern_loader *loader)
{
    if (check_loader("loader_state_dict", loader))
        return NULL;
    return tern_state_of_as("loader_state_dict", visit, loader);
}

tern_status tern_loader_load_state_dict_with(const tern_loader_load_state_dict_options *options)
{
    static const char function[] = "loader_load_state_dict";
    if (!options)
        return tern_null_error(function, "options");
    TERN_TRY(check_loader(function, options->loader));
    return tern_state_load_as(
        &(tern_load_caller){.function = function, .options = TERN_LOAD_PREFIX},
        &(tern_state_load_options){.strict = true,
                                   .prefix = options->prefix,
                                   .report = options->report,
                                   .state = options->state,
                                   .visit = visit,
                                   .object = options->loader});
}

tern_status tern_visit_loader(tern_state_visitor *visitor, const char *name, tern_loader *loader)
{
    TERN_TRY(check_loader("visit_loader", loader));
    return tern_visit_part(visitor, name, visit, loader);
}
