// SPDX-License-Identifier: Apache-2.0
// Loaders: making, freeing and asking.
#include "data/loader/loader.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread_pool_size.h"
#include "data/dataset.h"
#include "data/sampler.h"
#include "device/generator.h"
#include "ops/op.h"
#include "tensor/header.h"
#include "tensor/scope.h"

tern_status tern_check_loader(const char *function, const tern_loader *loader)
{
    if (!loader)
        return tern_null_error(function, "loader");
    TERN_CHECK(loader->dataset, TERN_ERR_STATE, "%s: this loader was freed already", function);
    return TERN_OK;
}

tern_status tern_check_loader_change(const char *function, const tern_loader *loader)
{
    TERN_TRY(tern_check_loader(function, loader));
    TERN_CHECK(!tern_works_for_loader(loader), TERN_ERR_STATE, // `asking` is the other thread's
               "%s: called on a worker's thread; only the thread that runs the loop may", function);
    TERN_CHECK(!loader->asking, TERN_ERR_STATE,
               "%s: called by %s while this loader asks it for samples; call it afterwards",
               function, tern_dataset_name(loader->dataset));
    return TERN_OK;
}

#define MAX_WORKERS  256
#define MAX_PREFETCH 1000
#define MAX_TIMEOUT  1e6 // seconds

// ---- making and freeing -----------------------------------------------------------------------

static bool is_first_cpu(tern_device device)
{
    return device.type == TERN_CPU && device.index == 0;
}

static tern_status check_sampler(const tern_loader_new_options *options)
{
    if (!options->sampler)
        return TERN_OK;
    TERN_TRY(tern_check_sampler("loader_new", options->sampler));
    TERN_CHECK(!options->shuffle, TERN_ERR_ARG,
               "loader_new: .sampler gives the order, and .shuffle asks for another");
    if (!options->sampler->klass->batches)
        return TERN_OK;
    TERN_CHECK(options->batch_size == 1 && !options->drop_last, TERN_ERR_ARG,
               "loader_new: the batches of %s have sizes of their own: .batch_size and .drop_last "
               "must not be set",
               tern_sampler_name(options->sampler));
    return TERN_OK;
}

static tern_status check_stream(const tern_loader_new_options *options)
{
    TERN_CHECK(
        !options->dataset->klass->next || (!options->shuffle && !options->sampler), TERN_ERR_ARG,
        "loader_new: %s is a stream, whose samples come in its order: it takes no .shuffle and "
        "no .sampler",
        tern_dataset_name(options->dataset));
    return TERN_OK;
}

static tern_status check_workers(const tern_loader_new_options *options)
{
    TERN_CHECK(options->workers >= 0 && options->workers <= MAX_WORKERS, TERN_ERR_ARG,
               "loader_new: workers is %d, but must be 0 to %d", options->workers, MAX_WORKERS);
    TERN_CHECK(options->prefetch >= 1 && options->prefetch <= MAX_PREFETCH, TERN_ERR_ARG,
               "loader_new: prefetch is %lld, but must be 1 to %d", (long long)options->prefetch,
               MAX_PREFETCH);
    TERN_CHECK(options->timeout >= 0 && options->timeout <= MAX_TIMEOUT, TERN_ERR_ARG,
               "loader_new: timeout is %g, but must be 0 to %g seconds", options->timeout,
               MAX_TIMEOUT);
    TERN_CHECK(options->timeout == 0 || options->workers > 0, TERN_ERR_ARG,
               "loader_new: .timeout is how long to wait for workers, and there are none");
    TERN_CHECK(!options->worker_init || options->workers > 0, TERN_ERR_ARG,
               "loader_new: .worker_init is for workers, and there are none");
    return TERN_OK;
}

static tern_status check_options(const tern_loader_new_options *options, tern_device *device)
{
    if (!options)
        return tern_null_error("loader_new", "options");
    TERN_TRY(tern_check_dataset("loader_new", options->dataset));
    TERN_CHECK(options->batch_size >= 1, TERN_ERR_ARG,
               "loader_new: batch_size is %lld, but must be at least 1",
               (long long)options->batch_size);
    TERN_TRY(tern_check_generator("loader_new", options->generator));
    TERN_TRY(check_stream(options));
    TERN_TRY(check_sampler(options));
    TERN_TRY(check_workers(options));
    *device = options->device;
    TERN_TRY(tern_device_resolve("loader_new", device));
    if (options->device.type == TERN_DEVICE_UNSPECIFIED && is_first_cpu(*device))
        *device = (tern_device){TERN_DEVICE_UNSPECIFIED, 0};
    return TERN_OK;
}

// One thread at a time runs a class's functions that write to what they work on.
static int count_workers(const tern_loader_new_options *options)
{
    const int cpus = tern_pool_cpus();
    static atomic_bool reported;
    if (options->workers > cpus && !atomic_exchange(&reported, true))
        tern_log_send(
            TERN_LOG_INFO,
            "a loader has %d workers, and the process %d CPU%s: more of them wait for files "
            "at once, but do not compute faster",
            options->workers, cpus, cpus == 1 ? "" : "s");
    const bool serial = tern_dataset_is_serial(options->dataset);
    if (serial && tern_dataset_has_state(options->dataset)) // that of the batch in hand
        return 0;
    return serial && options->workers > 1 ? 1 : options->workers;
}

tern_loader *tern_loader_new_with(const tern_loader_new_options *options)
{
    tern_device device;
    if (check_options(options, &device))
        return NULL;
    tern_loader *loader = tern_mem_alloc(sizeof *loader);
    if (!loader)
        return NULL;
    loader->saved = tern_generator_new(0);
    if (!loader->saved) {
        tern_mem_free(loader, sizeof *loader);
        return NULL;
    }
    loader->dataset = tern_dataset_retain_internal(options->dataset);
    loader->batch_size = options->batch_size;
    loader->shuffle = options->shuffle;
    loader->drop_last = options->drop_last;
    loader->device = device;
    loader->batch_device = device.type == TERN_DEVICE_UNSPECIFIED ? tern_cpu(0) : device;
    loader->own = options->generator;
    loader->sampler = tern_sampler_retain(options->sampler);
    loader->worker_count = count_workers(options);
    loader->prefetch = options->prefetch;
    loader->timeout = options->timeout;
    loader->collate = options->collate;
    loader->worker_init = options->worker_init;
    loader->user = options->user;
    return loader;
}

void tern_loader_end_batch(tern_loader *loader)
{
    tern_batch_release(&loader->batch);
    tern_scope_end_batch(loader->scope);
    loader->scope = 0;
}

static void free_order(tern_loader *loader)
{
    tern_mem_free(loader->order, (size_t)loader->capacity * sizeof *loader->order);
    tern_mem_free(loader->sizes, (size_t)loader->sizes_capacity * sizeof *loader->sizes);
    loader->order = loader->sizes = NULL;
    loader->capacity = loader->sizes_capacity = 0;
}

void tern_loader_stop_workers(tern_loader *loader)
{
    tern_loader_workers *workers = loader->workers;
    loader->workers = NULL;
    tern_loader_workers_end(workers);
}

void tern_loader_leave(tern_loader *loader)
{
    if (loader->running)
        loader->ended = tern_clock_now();
    loader->running = false;
    tern_loader_stop_workers(loader);
}

void tern_loader_go_back(tern_loader *loader, int depth)
{
    while (loader->depth > depth) {
        tern_loader *outer = loader->outer;
        int64_t epoch = loader->epoch;
        tern_loader_end_batch(loader);
        tern_loader_leave(loader);
        free_order(loader);
        *loader = *outer;
        loader->epoch = epoch;
        tern_mem_free(outer, sizeof *outer);
    }
}

void tern_loader_free(tern_loader *loader)
{
    if (!loader || tern_check_loader_change("loader_free", loader))
        return;
    tern_loader_go_back(loader, 0);
    tern_loader_end_batch(loader);
    tern_loader_leave(loader);
    tern_dataset_release_internal(loader->dataset);
    tern_sampler_free(loader->sampler);
    free_order(loader);
    tern_generator_free(loader->saved);
    loader->dataset = NULL;
    tern_mem_free_deferred(loader, sizeof *loader, sizeof loader->dataset);
}

// ---- asking -----------------------------------------------------------------------------------

int64_t tern_loader_batches_of(const tern_loader *loader, int64_t samples)
{
    bool part = samples % loader->batch_size != 0 && !loader->drop_last;
    return samples / loader->batch_size + part;
}

int64_t tern_loader_count_samples(const char *op, tern_loader *loader)
{
    return loader->sampler ? tern_sampler_count_for(op, loader->sampler)
                           : tern_dataset_count_for(op, loader->dataset);
}

int64_t tern_loader_batches(const tern_loader *loader)
{
    if (tern_check_loader("loader_batches", loader))
        return -1;
    tern_loader *asking = (tern_loader *)(uintptr_t)loader; // no batch or epoch of it changes
    bool before = asking->asking;
    asking->asking = true;
    int64_t samples = tern_loader_count_samples("loader_batches", asking);
    if (samples >= 0 && loader->sampler && loader->sampler->klass->batches)
        samples = tern_sampler_cut("loader_batches", loader->sampler, NULL, samples, NULL);
    else if (samples >= 0)
        samples = tern_loader_batches_of(loader, samples);
    asking->asking = before;
    return samples;
}

int64_t tern_loader_epoch(const tern_loader *loader)
{
    return tern_check_loader("loader_epoch", loader) ? -1 : loader->epoch;
}

int64_t tern_loader_position(const tern_loader *loader)
{
    return tern_check_loader("loader_position", loader) ? -1 : loader->position;
}
