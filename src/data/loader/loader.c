// SPDX-License-Identifier: Apache-2.0
// Loaders: making, freeing and asking.
#include "data/loader/loader.h"

#include "base/mem.h"
#include "data/dataset.h"
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
    TERN_CHECK(!loader->asking, TERN_ERR_STATE,
               "%s: called by %s while this loader asks it for samples; call it afterwards",
               function, tern_dataset_name(loader->dataset));
    return TERN_OK;
}

// ---- making and freeing -----------------------------------------------------------------------

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
    return loader;
}

void tern_loader_end_batch(tern_loader *loader)
{
    for (int i = 0; i < loader->batch.count; i++)
        tern_tensor_release_as(loader->batch.at[i], TERN_STAMP_BATCH);
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

void tern_loader_go_back(tern_loader *loader, int depth)
{
    while (loader->depth > depth) {
        tern_loader *outer = loader->outer;
        int64_t epoch = loader->epoch;
        tern_loader_end_batch(loader);
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
    tern_dataset_release_internal(loader->dataset);
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

int64_t tern_loader_batches(const tern_loader *loader)
{
    if (tern_check_loader("loader_batches", loader))
        return -1;
    tern_loader *asking = (tern_loader *)(uintptr_t)loader; // no batch or epoch of it changes
    bool before = asking->asking;
    asking->asking = true;
    int64_t samples = tern_dataset_count_for("loader_batches", loader->dataset);
    asking->asking = before;
    if (samples < 0)
        return -1;
    return tern_loader_batches_of(loader, samples);
}

int64_t tern_loader_epoch(const tern_loader *loader)
{
    return tern_check_loader("loader_epoch", loader) ? -1 : loader->epoch;
}

int64_t tern_loader_position(const tern_loader *loader)
{
    return tern_check_loader("loader_position", loader) ? -1 : loader->position;
}
