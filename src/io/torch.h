// SPDX-License-Identifier: Apache-2.0
// Files of PyTorch's: what is shared between those since 1.6 (zip) and those before.
#ifndef TERN_SRC_IO_TORCH_H
#define TERN_SRC_IO_TORCH_H

#include "io/archive.h"
#include "io/pickle.h"
#include "io/zip.h"

// A storage that a pickle names.
typedef struct tern_torch_storage {
    uint64_t key;
    tern_pickle_ref ref; // the first that names it
    int64_t index;       // in the archive; -1: not yet
} tern_torch_storage;

// All of them, each once, by ascending keys.
typedef struct tern_torch_storages {
    tern_torch_storage *at;
    int64_t count, capacity;
} tern_torch_storages;

// TERN_ERR_FORMAT where one is named in two ways.
tern_status tern_torch_find_storages(tern_torch_storages *storages, const tern_pickle *p);
tern_torch_storage *tern_torch_storage_at(const tern_torch_storages *storages, uint64_t key);
void tern_torch_storages_free(tern_torch_storages *storages);
// Adds a storage to the archive: dtype, location and size as the pickle says, the place as given.
tern_status tern_torch_add_storage(tern_archive *archive, const tern_pickle *p,
                                   tern_torch_storage *storage, tern_file_storage stored);
// Its bytes.
int64_t tern_torch_storage_nbytes(const tern_pickle *p, const tern_torch_storage *storage);

// TERN_ERR_FORMAT where the whole is no state dict, but an object of Python's.
tern_status tern_torch_check_whole(const tern_pickle *p);
// Adds the values of the pickle's dictionaries, lists and tuples, by dotted names.
tern_status tern_torch_flatten(tern_archive *archive, const tern_pickle *p,
                               const tern_torch_storages *storages);

#endif
