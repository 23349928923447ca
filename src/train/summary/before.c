// SPDX-License-Identifier: Apache-2.0
#include "train/summary/before.h"
#include <tern/generator.h>
#include "base/mem.h"
#include "device/backend.h"

// The memory of a buffer.
struct summary_buffer {
    tern_storage *storage; // held by its module, which runs
    tern_storage *copy;
    uint64_t version;
};

struct summary_generator {
    tern_generator *generator; // the library's
    void *state;
};

static tern_status save_buffer(summary_before *b, const tern_tensor *buffer)
{
    tern_storage *storage = buffer ? buffer->storage : NULL;
    if (!storage || storage->nbytes == 0)
        return TERN_OK;
    TERN_TRY(tern_mem_grow((void **)&b->buffers, &b->buffer_capacity, b->buffer_count + 1,
                           sizeof *b->buffers));
    tern_storage *copy = tern_storage_new(storage->device, storage->nbytes);
    if (!copy)
        return tern_error_code();
    b->buffers[b->buffer_count++] =
        (summary_buffer){.storage = storage, .copy = copy, .version = storage->version};
    return tern_storage_copy(copy, 0, storage, 0, storage->nbytes, true);
}

static tern_status save_generator(summary_before *b, tern_device device)
{
    const size_t size = tern_generator_state_size();
    tern_generator *generator = tern_default_generator(device);
    if (!generator)
        return tern_error_code();
    TERN_TRY(tern_mem_grow((void **)&b->generators, &b->generator_capacity, b->generator_count + 1,
                           sizeof *b->generators));
    void *state = tern_mem_alloc(size);
    if (!state)
        return tern_error_code();
    b->generators[b->generator_count++] =
        (summary_generator){.generator = generator, .state = state};
    return tern_generator_save(generator, state, size);
}

static tern_status save_generators(summary_before *b)
{
    for (int type = TERN_CPU; type < TERN_DEVICE_TYPES; type++)
        for (int i = 0; i < TERN_MAX_DEVICES; i++) {
            const tern_device device = {(tern_device_type)type, i};
            const bool first = type == TERN_CPU && i == 0;
            if (first || tern_device_is_open(device))
                TERN_TRY(save_generator(b, device));
        }
    return TERN_OK;
}

tern_status tern_summary_save(summary_before *b, const summary_table *t)
{
    for (int64_t i = 0; i < t->count; i++) {
        const tern_module_private *private_ = t->rows[i].module->private_;
        for (int64_t k = 0; k < private_->buffers.count; k++)
            TERN_TRY(save_buffer(b, private_->buffers.at[k].tensor));
    }
    return save_generators(b);
}

// With the values their versions come back: whoever keeps a buffer for a backward finds what it
// kept.
tern_status tern_summary_restore(const summary_before *b)
{
    for (int64_t i = 0; i < b->buffer_count; i++) {
        const summary_buffer *saved = &b->buffers[i];
        TERN_TRY(
            tern_storage_copy(saved->storage, 0, saved->copy, 0, saved->storage->nbytes, true));
        saved->storage->version = saved->version;
    }
    for (int64_t i = 0; i < b->generator_count; i++)
        TERN_TRY(tern_generator_load(b->generators[i].generator, b->generators[i].state,
                                     tern_generator_state_size()));
    return TERN_OK;
}

void tern_summary_before_free(summary_before *b)
{
    for (int64_t i = 0; i < b->buffer_count; i++)
        tern_storage_release(b->buffers[i].copy);
    for (int64_t i = 0; i < b->generator_count; i++)
        tern_mem_free(b->generators[i].state, tern_generator_state_size());
    tern_mem_free(b->buffers, (size_t)b->buffer_capacity * sizeof *b->buffers);
    tern_mem_free(b->generators, (size_t)b->generator_capacity * sizeof *b->generators);
}
