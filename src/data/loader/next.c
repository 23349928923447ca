// SPDX-License-Identifier: Apache-2.0
// A loader's epochs and batches.
#include "base/fork.h"
#include "base/integer.h"
#include "base/mem.h"
#include "data/dataset.h"
#include "data/loader/loader.h"
#include "data/loader/order.h"
#include "ops/op.h"
#include "tensor/header.h"
#include "tensor/scope.h"

// ---- epochs -----------------------------------------------------------------------------------

tern_status tern_loader_reserve(tern_loader *loader, int64_t samples)
{
    int64_t needed = loader->shuffle ? samples : min_int64(samples, loader->batch_size);
    return tern_mem_grow((void **)&loader->order, &loader->capacity, needed, sizeof *loader->order);
}

static tern_status begin_epoch(tern_loader *loader)
{
    int64_t samples = tern_dataset_count_for("loader_next", loader->dataset);
    if (samples < 0)
        return tern_error_code();
    TERN_TRY(tern_loader_reserve(loader, samples));
    uint64_t seed;
    TERN_TRY(tern_order_begin(loader->own, &loader->start, &seed,
                              loader->shuffle ? loader->order : NULL, samples));
    loader->samples = samples;
    loader->done = loader->position = 0;
    loader->order_ended = false;
    loader->running = true;
    loader->resumed = false;
    loader->epoch++;
    loader->context = (tern_sample_context){.seed = seed, .epoch = loader->epoch};
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
    if (!tern_check_loader_change("loader_reset", loader))
        loader->running = false;
}

// ---- batches ----------------------------------------------------------------------------------

// The size of the next batch; 0 at the end.
static int64_t next_size(const tern_loader *loader)
{
    int64_t left = loader->samples - loader->done;
    return left < loader->batch_size && loader->drop_last ? 0 : min_int64(left, loader->batch_size);
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
        tern_tensor_retain(batch->at[i]);
}

static tern_status make_batch(tern_loader *loader, int64_t size)
{
    tern_scope scope = tern_scope_open();
    if (!scope)
        return TERN_ERR_NOMEM;
    bool before = tern_set_grad_enabled(false);
    tern_batch made;
    tern_status status = tern_dataset_fetch("loader_next", loader->dataset, &loader->context,
                                            next_index(loader, size), size, &made);
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
        tern_loader_end_batch(loader);
        return TERN_ERR_NOMEM;
    }
    loader->done += size;
    loader->position++;
    if (size < loader->batch_size) // PyTorch's sampler has run out before a short batch is out
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
    loader->asking = true;
    tern_status status = begin_epoch(loader);
    loader->asking = false;
    return status;
}

bool tern_loader_hand_out(tern_loader *loader, tern_batch *batch)
{
    int64_t size = next_size(loader);
    loader->resumed = false;
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
