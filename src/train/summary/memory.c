// SPDX-License-Identifier: Apache-2.0
// The forward in training mode, which changes buffers and random generators, and how they are put
// back.
#include <string.h>
#include "base/mem.h"
#include "train/summary/table.h"

// The memory of a buffer, as it was.
typedef struct saved_buffer {
    tern_storage *storage; // held by its module, which runs
    tern_storage *copy;
    uint64_t version;
} saved_buffer;

typedef struct before {
    saved_buffer *buffers;
    int64_t count, capacity;
    tern_state *random;
} before;

static tern_status save_buffer(before *b, const tern_tensor *buffer)
{
    tern_storage *storage = buffer ? buffer->storage : NULL;
    if (!storage || storage->nbytes == 0)
        return TERN_OK;
    TERN_TRY(tern_mem_grow((void **)&b->buffers, &b->capacity, b->count + 1, sizeof *b->buffers));
    saved_buffer *saved = &b->buffers[b->count];
    *saved = (saved_buffer){.storage = storage, .version = storage->version};
    saved->copy = tern_storage_new(storage->device, storage->nbytes);
    if (!saved->copy)
        return tern_error_code();
    b->count++;
    return tern_storage_copy(saved->copy, 0, storage, 0, storage->nbytes, true);
}

static tern_status save(before *b, const summary_table *t)
{
    for (int64_t i = 0; i < t->count; i++) {
        const tern_module_private *private_ = t->rows[i].module->private_;
        for (int64_t k = 0; k < private_->buffers.count; k++)
            TERN_TRY(save_buffer(b, private_->buffers.at[k].tensor));
    }
    b->random = tern_random_state_dict();
    return tern_error_code();
}

// With the values their versions come back: whoever keeps a buffer for a backward finds what it
// kept.
static tern_status restore(const before *b)
{
    for (int64_t i = 0; i < b->count; i++) {
        const saved_buffer *saved = &b->buffers[i];
        TERN_TRY(
            tern_storage_copy(saved->storage, 0, saved->copy, 0, saved->storage->nbytes, true));
        saved->storage->version = saved->version;
    }
    return b->random ? tern_random_load_state_dict(b->random, .strict = false) : TERN_OK;
}

static void free_before(before *b)
{
    for (int64_t i = 0; i < b->count; i++)
        tern_storage_release(b->buffers[i].copy);
    tern_mem_free(b->buffers, (size_t)b->capacity * sizeof *b->buffers);
    tern_state_free(b->random);
}

static void module_ended(tern_module *module, const tern_tensors *out, void *user)
{
    (void)module, (void)out, (void)user;
}

// As the module is set up, where it trains; all of it, where it is being evaluated.
static tern_status train(summary_table *t, tern_module *module, tern_tensor *x)
{
    const tern_forward_observer rest = {module_ended, NULL};
    tern_tensors out = {0};
    const bool recorded = tern_set_grad_enabled(true);
    if (!t->rows[0].training)
        tern_summary_set_training(t, true);
    tern_status status = tern_summary_forward(module, x, &out, &rest, NULL);
    tern_summary_restore_modes(t);
    (void)tern_set_grad_enabled(recorded);
    int64_t nbytes = -1;
    if (!status)
        status = tern_summary_saved_bytes(t, &out, &nbytes);
    t->memory.activations = status ? -1 : nbytes;
    return status;
}

tern_status tern_summary_train(summary_table *t, tern_module *module, tern_tensor *x)
{
    before b = {0};
    if (tern_error_pending()) { // it stays, and would be taken for the forward's
        strcpy(t->memory.why_not_known, "an error is pending");
        return TERN_OK;
    }
    tern_error_delay();
    tern_status status = save(&b, t);
    if (!status)
        status = train(t, module, x);
    if (status)
        (void)tern_error_take(t->memory.why_not_known, sizeof t->memory.why_not_known);
    status = restore(&b);
    tern_error_report();
    free_before(&b);
    return status;
}
