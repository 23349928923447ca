// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include "base/mem.h"
#include "io/torch.h"

static int by_key(const void *a, const void *b)
{
    const tern_torch_storage *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? -1 : 1) : (x->ref > y->ref) - (x->ref < y->ref);
}

// Takes away what names a storage again, which says the same of it.
static tern_status keep_firsts(tern_torch_storages *s, const tern_pickle *p)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < s->count; i++) {
        if (kept == 0 || s->at[kept - 1].key != s->at[i].key) {
            s->at[kept++] = s->at[i];
            continue;
        }
        const tern_pickle_storage first = tern_pickle_storage_of(p, s->at[kept - 1].ref);
        const tern_pickle_storage again = tern_pickle_storage_of(p, s->at[i].ref);
        if (first.dtype != again.dtype || first.numel != again.numel ||
            !tern_pickle_same_key(p, first.location, again.location))
            return tern_pickle_bad(p, "names storage %llu in two ways",
                                   (unsigned long long)first.key);
    }
    s->count = kept;
    return TERN_OK;
}

tern_status tern_torch_find_storages(tern_torch_storages *s, const tern_pickle *p)
{
    if (p->storages == 0)
        return TERN_OK;
    s->at = tern_mem_alloc((size_t)p->storages * sizeof *s->at);
    if (!s->at)
        return TERN_ERR_NOMEM;
    s->capacity = p->storages;
    for (uint32_t ref = p->last_storage; ref;) {
        const tern_pickle_storage storage = tern_pickle_storage_of(p, ref);
        s->at[s->count++] = (tern_torch_storage){storage.key, ref, -1};
        ref = storage.before;
    }
    qsort(s->at, (size_t)s->count, sizeof *s->at, by_key);
    return keep_firsts(s, p);
}

tern_torch_storage *tern_torch_storage_at(const tern_torch_storages *s, uint64_t key)
{
    int64_t low = 0, high = s->count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (s->at[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->count && s->at[low].key == key ? &s->at[low] : NULL;
}

void tern_torch_storages_free(tern_torch_storages *s)
{
    tern_mem_free(s->at, (size_t)s->capacity * sizeof *s->at);
    *s = (tern_torch_storages){.at = NULL};
}

int64_t tern_torch_storage_nbytes(const tern_pickle *p, const tern_torch_storage *storage)
{
    const tern_pickle_storage s = tern_pickle_storage_of(p, storage->ref);
    return s.numel * s.dtype->size;
}

tern_status tern_torch_add_storage(tern_archive *archive, const tern_pickle *p,
                                   tern_torch_storage *storage, tern_file_storage stored)
{
    char location[64];
    const tern_pickle_storage s = tern_pickle_storage_of(p, storage->ref);
    const uint32_t length = tern_pickle_length(p, s.location);
    if (length == 0 || length >= sizeof location)
        return tern_pickle_bad(p, "has storage %llu at a location of %u bytes",
                               (unsigned long long)s.key, length);
    tern_pickle_text(p, s.location, location, sizeof location);
    stored.location = tern_arena_text(&archive->arena, location, length);
    if (!stored.location)
        return TERN_ERR_NOMEM;
    stored.dtype = s.dtype->dtype;
    stored.nbytes = tern_torch_storage_nbytes(p, storage);
    stored.swapped = stored.swapped && s.dtype->size > 1;
    storage->index = tern_archive_add_storage(archive, stored);
    return storage->index < 0 ? tern_error_code() : TERN_OK;
}
