// SPDX-License-Identifier: Apache-2.0
#include "data/loader/make.h"

#include <tern/ops.h>
#include "data/dataset.h"
#include "data/loader/collate.h"
#include "ops/op.h"
#include "tensor/header.h"
#include "tensor/scope.h"

// From the CPU to a CUDA device through page-locked memory of the loader's own: the copy is queued,
// and neither the dataset nor the user can change what it reads.
static tern_tensor *send(tern_tensor *t, tern_device device)
{
    bool queued = device.type == TERN_CUDA && tern_dev(t).type == TERN_CPU && !tern_is_pinned(t);
    return queued ? tern_to_non_blocking(tern_pin_memory(t), device) : tern_to(t, device);
}

static tern_status move(tern_batch *batch, tern_device device)
{
    if (device.type == TERN_DEVICE_UNSPECIFIED)
        return TERN_OK;
    for (int i = 0; i < batch->count; i++) {
        batch->at[i] = send(batch->at[i], device);
        if (!batch->at[i])
            return tern_error_code();
    }
    batch->x = batch->at[0];
    batch->y = batch->count > 1 ? batch->at[1] : NULL;
    return TERN_OK;
}

static tern_status make(const tern_batch_recipe *recipe, const tern_sample_context *context,
                        const int64_t *index, int64_t size, tern_batch *made)
{
    if (recipe->collate)
        TERN_TRY(tern_batch_collate(recipe, context, index, size, made));
    else
        TERN_TRY(tern_dataset_fetch("loader_next", recipe->dataset, context, index, size, made));
    return move(made, recipe->device);
}

tern_status tern_batch_make(const tern_batch_recipe *recipe, const tern_sample_context *context,
                            const int64_t *index, int64_t size, tern_batch *out)
{
    *out = (tern_batch){0};
    const tern_scope scope = tern_scope_open();
    if (!scope)
        return TERN_ERR_NOMEM;
    const bool before = tern_set_grad_enabled(false);
    tern_batch made;
    const tern_status status = make(recipe, context, index, size, &made);
    for (int i = 0; !status && i < made.count; i++)
        (void)tern_tensor_retain(made.at[i]);
    if (!status)
        *out = made;
    (void)tern_set_grad_enabled(before);
    tern_scope_close(scope);
    return status;
}

void tern_batch_release(tern_batch *batch)
{
    for (int i = 0; i < batch->count; i++)
        tern_tensor_release_as(batch->at[i], TERN_STAMP_BATCH);
    *batch = (tern_batch){0};
}
