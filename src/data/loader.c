// SPDX-License-Identifier: Apache-2.0
#include "base/fork.h"
#include "base/mem.h"
#include "data/dataset.h"
#include "data/order.h"
#include "device/generator.h"
#include "ops/op.h"
#include "tensor/scope.h"

struct tern_loader {
    tern_dataset *dataset; // NULL: the loader was freed
    int64_t batch_size;
    bool shuffle, drop_last;
    tern_device device; // where batches go; unspecified: they stay where the dataset makes them
    tern_device batch_device; // of the last batch
    tern_generator *own;      // NULL: the default generator
    tern_scope scope;         // of the last batch; 0: none
    tern_batch batch;         // its tensors are held
    int64_t *order;           // sample numbers of the epoch when shuffling, else of the batch
    int64_t capacity;         // of order
    bool running;             // an epoch is in progress
    bool asking;              // the dataset, whose functions may not change this loader
    bool order_ended;         // tern_order_end was called for it
    int64_t samples;          // in the epoch
    int64_t done;             // samples handed out
    int64_t epoch, position;
    int depth;          // epochs set aside
    tern_loader *outer; // the last of them: the loader as it was
};

// NULL follows the rule of pending errors; a freed one is found while its memory is kept.
static tern_status check_loader(const char *function, const tern_loader *loader)
{
    if (!loader)
        return tern_null_error(function, "loader");
    TERN_CHECK(loader->dataset, TERN_ERR_STATE, "%s: this loader was freed already", function);
    return TERN_OK;
}

static tern_status check_change(const char *function, const tern_loader *loader)
{
    TERN_TRY(check_loader(function, loader));
    TERN_CHECK(!loader->asking, TERN_ERR_STATE,
               "%s: called by %s while this loader asks it for samples; call it afterwards",
               function, tern_dataset_name(loader->dataset));
    return TERN_OK;
}

// ---- making and freeing -----------------------------------------------------------------------

tern_loader_new_options tern_loader_new_defaults(void)
{
    return (tern_loader_new_options){.batch_size = 1};
}

static bool is_first_cpu(tern_device device)
{
    return device.type == TERN_CPU && device.index == 0;
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
    *device = options->device;
    TERN_TRY(tern_device_resolve("loader_new", device));
    if (options->device.type == TERN_DEVICE_UNSPECIFIED && is_first_cpu(*device))
        *device = (tern_device){TERN_DEVICE_UNSPECIFIED, 0};
    return TERN_OK;
}

tern_loader *tern_loader_new_with(const tern_loader_new_options *options)
{
    tern_device device;
    if (check_options(options, &device))
        return NULL;
    tern_loader *loader = tern_mem_alloc(sizeof *loader);
    if (!loader)
        return NULL;
    loader->dataset = tern_dataset_hold(options->dataset);
    loader->batch_size = options->batch_size;
    loader->shuffle = options->shuffle;
    loader->drop_last = options->drop_last;
    loader->device = device;
    loader->batch_device = device.type == TERN_DEVICE_UNSPECIFIED ? tern_cpu(0) : device;
    loader->own = options->generator;
    return loader;
}

// Ends the last batch: its tensors and what the thread made since.
static void end_batch(tern_loader *loader)
{
    for (int i = 0; i < loader->batch.count; i++)
        tern_drop_as(loader->batch.at[i], TERN_STAMP_BATCH);
    loader->batch = (tern_batch){0};
    tern_scope_end_batch(loader->scope);
    loader->scope = 0;
}

static void free_order(tern_loader *loader)
{
    tern_mem_free(loader->order, (size_t)loader->capacity * sizeof *loader->order);
    loader->order = NULL;
    loader->capacity = 0;
}

// Puts the epoch in progress aside, its batch with it.
static tern_status set_aside(tern_loader *loader)
{
    tern_loader *outer = tern_mem_alloc(sizeof *outer);
    if (!outer)
        return TERN_ERR_NOMEM;
    *outer = *loader;
    loader->outer = outer;
    loader->depth++;
    loader->scope = 0;
    loader->batch = (tern_batch){0};
    loader->order = NULL;
    loader->capacity = 0;
    loader->running = false;
    return TERN_OK;
}

// Ends the epochs begun since `depth` of them were set aside.
static void go_back(tern_loader *loader, int depth)
{
    while (loader->depth > depth) {
        tern_loader *outer = loader->outer;
        int64_t epoch = loader->epoch;
        end_batch(loader);
        free_order(loader);
        *loader = *outer;
        loader->epoch = epoch;
        tern_mem_free(outer, sizeof *outer);
    }
}

void tern_loader_free(tern_loader *loader)
{
    if (!loader || check_change("loader_free", loader))
        return;
    go_back(loader, 0);
    end_batch(loader);
    tern_dataset_drop(loader->dataset);
    free_order(loader);
    loader->dataset = NULL;
    tern_mem_free_late(loader, sizeof *loader, sizeof loader->dataset);
}

// ---- epochs -----------------------------------------------------------------------------------

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static tern_status begin_epoch(tern_loader *loader)
{
    int64_t samples = tern_dataset_size_for("loader_next", loader->dataset);
    if (samples < 0)
        return tern_error_code();
    int64_t needed = loader->shuffle ? samples : least(samples, loader->batch_size);
    TERN_TRY(
        tern_mem_grow((void **)&loader->order, &loader->capacity, needed, sizeof *loader->order));
    TERN_TRY(tern_order_begin(loader->own, loader->shuffle ? loader->order : NULL, samples));
    loader->samples = samples;
    loader->done = loader->position = 0;
    loader->order_ended = false;
    loader->running = true;
    loader->epoch++;
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
    loader->running = false;
    return tern_synchronize(loader->batch_device);
}

void tern_loader_reset(tern_loader *loader)
{
    if (!check_change("loader_reset", loader))
        loader->running = false;
}

// ---- batches ----------------------------------------------------------------------------------

// The size of the next batch; 0 at the end.
static int64_t next_size(const tern_loader *loader)
{
    int64_t left = loader->samples - loader->done;
    return left < loader->batch_size && loader->drop_last ? 0 : least(left, loader->batch_size);
}

static const int64_t *next_index(tern_loader *loader, int64_t size)
{
    if (loader->shuffle)
        return loader->order + loader->done;
    for (int64_t i = 0; i < size; i++)
        loader->order[i] = loader->done + i;
    return loader->order;
}

// From the CPU to a CUDA device through page-locked memory of the loader's own: the copy is queued,
// and neither the dataset nor the user can change what it reads.
static tern_tensor *send(tern_tensor *t, tern_device device)
{
    bool queued = device.type == TERN_CUDA && tern_dev(t).type == TERN_CPU && !tern_is_pinned(t);
    return queued ? tern_to_non_blocking(tern_pin_memory(t), device) : tern_to(t, device);
}

static tern_status move(tern_loader *loader, tern_batch *batch)
{
    if (loader->device.type == TERN_DEVICE_UNSPECIFIED)
        return TERN_OK;
    for (int i = 0; i < batch->count; i++) {
        batch->at[i] = send(batch->at[i], loader->device);
        if (!batch->at[i])
            return tern_error_code();
    }
    batch->x = batch->at[0];
    batch->y = batch->count > 1 ? batch->at[1] : NULL;
    return TERN_OK;
}

static void hold(tern_loader *loader, const tern_batch *batch)
{
    loader->batch = *batch;
    loader->batch_device = tern_dev(batch->x);
    for (int i = 0; i < batch->count; i++)
        tern_hold(batch->at[i]);
}

static tern_status make_batch(tern_loader *loader, int64_t size)
{
    tern_scope scope = tern_scope_open();
    if (!scope)
        return TERN_ERR_NOMEM;
    bool before = tern_set_grad_enabled(false);
    tern_batch made;
    tern_status status =
        tern_dataset_fetch("loader_next", loader->dataset, next_index(loader, size), size, &made);
    if (!status)
        status = move(loader, &made);
    if (!status)
        hold(loader, &made);
    (void)tern_set_grad_enabled(before);
    tern_scope_close(scope);
    return status;
}

static tern_status next_batch(tern_loader *loader, int64_t size)
{
    TERN_TRY(make_batch(loader, size));
    loader->scope = tern_scope_next_batch(0);
    if (!loader->scope) {
        end_batch(loader);
        return TERN_ERR_NOMEM;
    }
    loader->done += size;
    loader->position++;
    if (size < loader->batch_size) // PyTorch's sampler has run out before a short batch is out
        end_order(loader);
    return TERN_OK;
}

static bool may_go_on(tern_loader *loader)
{
    return !tern_error_pending() && !tern_fork_check() && !tern_fault_poll(loader->batch_device) &&
           !tern_check_generator("loader_next", loader->own);
}

// Asks the dataset, which must not change the loader meanwhile.
static tern_status begin_asking(tern_loader *loader)
{
    loader->asking = true;
    tern_status status = begin_epoch(loader);
    loader->asking = false;
    return status;
}

// The next batch of the epoch in progress, or its end.
static bool hand_out(tern_loader *loader, tern_batch *batch)
{
    int64_t size = next_size(loader);
    loader->asking = true;
    tern_status status = size > 0 ? next_batch(loader, size) : end_epoch(loader);
    loader->asking = false;
    if (status || size == 0)
        return false;
    *batch = loader->batch;
    return true;
}

bool tern_loader_next(tern_loader *loader, tern_batch *batch)
{
    if (batch)
        *batch = (tern_batch){0};
    if (check_change("loader_next", loader))
        return false;
    if (!batch) {
        (void)tern_null_error("loader_next", "batch");
        return false;
    }
    end_batch(loader);
    if (!may_go_on(loader) || (!loader->running && begin_asking(loader)))
        return false;
    return hand_out(loader, batch);
}

// ---- a loop with an epoch of its own ------------------------------------------------------------

tern_epoch_guard_ tern_epoch_guard_open_(tern_loader *loader)
{
    tern_epoch_guard_ guard = {0};
    if (check_change("each_batch", loader))
        return guard;
    guard.outer = loader->depth;
    if (!loader->running)
        end_batch(loader);
    if (!may_go_on(loader) || (loader->running && set_aside(loader)))
        return guard;
    if (begin_asking(loader)) {
        go_back(loader, guard.outer);
        return guard;
    }
    guard.own = loader->depth;
    guard.loader = loader;
    guard.open = true;
    return guard;
}

// Begins no epoch: a loop inside may have been left by longjmp, and the epoch may have been reset,
// or run to its end by tern_loader_next.
bool tern_epoch_guard_next_(tern_epoch_guard_ *guard, tern_batch *batch)
{
    tern_loader *loader = guard->loader;
    *batch = (tern_batch){0};
    if (check_change("each_batch", loader))
        return false;
    go_back(loader, guard->own);
    end_batch(loader);
    return may_go_on(loader) && loader->running && hand_out(loader, batch);
}

void tern_epoch_guard_close_(tern_epoch_guard_ *guard)
{
    tern_loader *loader = guard->loader;
    if (!loader || !loader->dataset) // did not open, or was freed in the loop
        return;
    go_back(loader, guard->own);
    end_batch(loader);
    loader->running = false;
    go_back(loader, guard->outer);
}

// ---- asking -----------------------------------------------------------------------------------

int64_t tern_loader_batches(const tern_loader *loader)
{
    if (check_loader("loader_batches", loader))
        return -1;
    tern_loader *asking = (tern_loader *)(uintptr_t)loader; // no batch or epoch of it changes
    bool before = asking->asking;
    asking->asking = true;
    int64_t samples = tern_dataset_size_for("loader_batches", loader->dataset);
    asking->asking = before;
    if (samples < 0)
        return -1;
    bool part = samples % loader->batch_size != 0 && !loader->drop_last;
    return samples / loader->batch_size + part;
}

int64_t tern_loader_epoch(const tern_loader *loader)
{
    return check_loader("loader_epoch", loader) ? -1 : loader->epoch;
}

int64_t tern_loader_position(const tern_loader *loader)
{
    return check_loader("loader_position", loader) ? -1 : loader->position;
}
