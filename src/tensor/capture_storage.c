// SPDX-License-Identifier: Apache-2.0
#include "tensor/capture_storage.h"

#include <string.h>
#include "base/mem.h"

void tern_capture_made(tern_storage *s)
{
    if (tern_capturing(s->device))
        atomic_store_explicit(&s->capture, tern_capture_of_thread()->id, memory_order_relaxed);
}

bool tern_capture_knows(const tern_tensor_capture *capture, const tern_storage *s)
{
    return atomic_load_explicit(&s->capture, memory_order_relaxed) == capture->base.id;
}

static tern_status record(tern_tensor_capture *capture, tern_storage *s, const char *label)
{
    TERN_TRY(tern_mem_grow((void **)&capture->storages, &capture->storage_capacity,
                           capture->storage_count + 1, sizeof *capture->storages));
    tern_captured_storage *recorded = &capture->storages[capture->storage_count++];
    *recorded = (tern_captured_storage){.storage = s, .version = atomic_load(&s->version)};
    memcpy(recorded->label, label, strlen(label) + 1);
    tern_storage_retain(s);
    atomic_store_explicit(&s->capture, capture->base.id, memory_order_relaxed);
    return TERN_OK;
}

void tern_capture_storage(tern_storage *s, const char *label)
{
    tern_tensor_capture *capture = (tern_tensor_capture *)tern_capture_of_thread();
    bool used = s->pinned || tern_device_equal(s->device, capture->base.device);
    if (used && !tern_capture_knows(capture, s) && record(capture, s, label))
        capture->base.failed = true;
}
