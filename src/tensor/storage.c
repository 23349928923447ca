// SPDX-License-Identifier: Apache-2.0
#include "base/mem.h"
#include "tensor/backend.h"
#include "tensor/op.h"
#include "tensor/tensor.h"

tern_storage *tern_storage_new(tern_device device, int64_t nbytes)
{
    const tern_device_table *table = tern_backend_of(device.type)->device;
    tern_storage *s = tern_cache_alloc(sizeof *s);
    if (!s)
        return NULL;
    s->data = table->alloc(device.index, nbytes, &s->block);
    if (!s->data) {
        tern_cache_free(s, sizeof *s);
        return NULL;
    }
    atomic_init(&s->refs, 1);
    atomic_init(&s->version, 0);
    atomic_init(&s->recorded, 0);
    s->device = device;
    s->nbytes = nbytes;
    return s;
}

void tern_storage_hold(tern_storage *s)
{
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
}

void tern_storage_drop(tern_storage *s)
{
    if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
        return;
    tern_backend_of(s->device.type)->device->free(s->device.index, s->data, s->nbytes, s->block);
    tern_cache_free(s, sizeof *s);
}

void tern_tensor_touched(tern_tensor *t)
{
    t->history_version =
        atomic_fetch_add_explicit(&t->storage->version, 1, memory_order_relaxed) + 1;
}
