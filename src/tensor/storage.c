// SPDX-License-Identifier: Apache-2.0
// Counted memory on a device, and its way from one device to another.
#include "base/fork.h"
#include "base/mem.h"
#include "device/backend.h"
#include "device/fault.h"
#include "tensor/capture_storage.h"
#include "tensor/tensor.h"

static const tern_device_table *table_of(const tern_storage *s)
{
    return tern_backend_of(s->device.type)->device;
}

// Page-locked memory is the CUDA backend's, although its device is the CPU.
static void *allocate_memory(tern_storage *s, bool outside)
{
    const int index = s->device.index;
    if (s->pinned)
        return tern_backend_of(TERN_CUDA)->cuda->pinned_alloc(s->nbytes, &s->block);
    if (outside && tern_capturing(s->device))
        return tern_backend_of(TERN_CUDA)->cuda->alloc_outside(index, s->nbytes, &s->block);
    return table_of(s)->alloc(index, s->nbytes, &s->block);
}

static void free_memory(tern_storage *s)
{
    if (tern_forked() && s->block)
        return; // CUDA works in the parent only
    if (s->pinned)
        tern_backend_of(TERN_CUDA)->cuda->pinned_free(s->data, s->nbytes, s->block);
    else
        table_of(s)->free(s->device.index, s->data, s->nbytes, s->block);
}

static void begin_counts(tern_storage *s)
{
    atomic_init(&s->refs, 1);
    atomic_init(&s->version, 0);
    atomic_init(&s->recorded, 0);
    atomic_init(&s->exposed, false);
    atomic_init(&s->left, false);
    atomic_init(&s->capture, 0);
}

static tern_storage *make(tern_device device, int64_t nbytes, bool pinned, bool outside)
{
    tern_storage *s = tern_device_open(device) ? NULL : tern_cache_alloc(sizeof *s);
    if (!s)
        return NULL;
    *s = (tern_storage){.device = device, .nbytes = nbytes, .pinned = pinned};
    s->data = allocate_memory(s, outside);
    if (!s->data) {
        tern_cache_free(s, sizeof *s);
        return NULL;
    }
    begin_counts(s);
    if (tern_capture_now() && !outside)
        tern_capture_made(s);
    return s;
}

tern_storage *tern_storage_new(tern_device device, int64_t nbytes)
{
    return make(device, nbytes, false, false);
}

tern_storage *tern_storage_new_pinned(int64_t nbytes)
{
    return make(tern_cpu(0), nbytes, true, false);
}

tern_storage *tern_storage_new_outside(tern_device device, int64_t nbytes)
{
    return make(device, nbytes, false, true);
}

tern_storage *tern_storage_new_part(tern_storage *whole, int64_t byte, int64_t nbytes)
{
    tern_storage *s = tern_cache_alloc(sizeof *s);
    if (!s)
        return NULL;
    *s = (tern_storage){.device = whole->device,
                        .data = (char *)whole->data + byte,
                        .block = whole->block,
                        .whole = whole,
                        .nbytes = nbytes,
                        .pinned = whole->pinned};
    begin_counts(s);
    tern_storage_retain(whole);
    return s;
}

void tern_storage_release(tern_storage *s)
{
    while (s && tern_refs_release(&s->refs)) {
        tern_storage *whole = s->whole;
        if (!whole)
            free_memory(s);
        tern_cache_free(s, sizeof *s);
        s = whole;
    }
}

void tern_storage_order(const tern_storage *s)
{
    const tern_device_table *table = table_of(s);
    if (s->block && table->use)
        table->use(s->device.index, s->block);
}

void tern_storage_use(tern_storage *s, const char *label)
{
    if (!s->block)
        return;
    if (tern_capture_now())
        tern_capture_storage(s, label);
    tern_storage_order(s);
}

// ---- copies -------------------------------------------------------------------------------------

static tern_status to_cuda(const tern_storage *to, void *data, const tern_storage *from,
                           const void *source, int64_t nbytes, bool wait)
{
    const tern_backend *cuda = tern_backend_of(TERN_CUDA);
    const int index = to->device.index;
    if (!from->pinned)
        return cuda->device->to_device(index, data, source, nbytes);
    TERN_TRY(cuda->cuda->pinned_to_device(index, data, source, nbytes, from->block));
    return wait ? cuda->device->synchronize(index) : TERN_OK;
}

static tern_status from_cuda(const tern_storage *to, void *data, const tern_storage *from,
                             const void *source, int64_t nbytes, bool wait)
{
    const tern_backend *cuda = tern_backend_of(TERN_CUDA);
    const int index = from->device.index;
    if (to->pinned && !wait)
        return cuda->cuda->pinned_to_host(index, data, source, nbytes, to->block);
    cuda->device->fault_publish(index);
    TERN_TRY(cuda->device->to_host(index, data, source, nbytes));
    return tern_fault_poll(from->device);
}

tern_status tern_storage_copy(tern_storage *to, int64_t to_byte, tern_storage *from,
                              int64_t from_byte, int64_t nbytes, bool wait)
{
    void *data = (char *)to->data + to_byte;
    const void *source = (const char *)from->data + from_byte;
    if (nbytes == 0)
        return TERN_OK;
    TERN_TRY(tern_capture_check("copy", to->device));
    TERN_TRY(tern_capture_check("copy", from->device));
    tern_storage_use(to, "");
    tern_storage_use(from, "");
    if (to->device.type == from->device.type)
        return table_of(to)->across(to->device.index, data, from->device.index, source, nbytes);
    if (from->device.type == TERN_CPU)
        return to_cuda(to, data, from, source, nbytes, wait);
    return from_cuda(to, data, from, source, nbytes, wait);
}

void tern_tensor_touched(tern_tensor *t)
{
    uint64_t before = tern_fetch_add(&t->storage->version, 1, memory_order_relaxed);
    if (t->history_version == before)
        t->history_version = before + 1;
}
