// SPDX-License-Identifier: Apache-2.0
// What a file of weights holds, whatever its format: values by name, and the storages in the file
// that tensors are views of. A reader fills it from the file's headers and checks all that can be
// checked without the elements; tern_archive_load makes a state of it.
#ifndef TERN_SRC_IO_ARCHIVE_H
#define TERN_SRC_IO_ARCHIVE_H

#include <stdio.h>
#include <tern/dtype.h>
#include <tern/state.h>
#include "base/name_table.h"
#include "io/arena.h"
#include "io/file.h"

typedef enum tern_checksum {
    TERN_CHECKSUM_NONE = 0,
    TERN_CHECKSUM_CRC32, // zip's
    TERN_CHECKSUM_CRC32C // Castagnoli's
} tern_checksum;

// Elements one after another. In the file they lie, packed or not, in `packed` bytes from `at` on;
// unpacked these are `skip` bytes that are no elements (an npy header in a zip), then `nbytes`.
typedef struct tern_file_storage {
    int64_t at, packed;
    int64_t skip, nbytes;
    bool deflated;
    bool swapped;           // big-endian elements
    tern_checksum checksum; // of all that is unpacked
    uint32_t sum;
    tern_dtype dtype;     // TERN_DTYPE_UNSPECIFIED: one that tern does not have
    const char *location; // where it was saved, "cuda:0", or NULL
    tern_tensor *tensor;  // all of it, once it is loaded; held
} tern_file_storage;

// A value by name. Texts lie in the arena.
typedef struct tern_file_value {
    const char *name;
    tern_state_type type; // BYTES: a tensor of uint8 and rank 1 that is taken as bytes, or, where
        // its storage is -1, bytes at `text`; UNSPECIFIED: one that cannot be read
    int rank;
    const char *dtype;     // of a tensor, as the file calls it
    const int64_t *shape;  // rank sizes
    const int64_t *stride; // rank of them, in elements; NULL: contiguous
    int64_t offset;        // elements
    int64_t storage;       // its index
    union {                // of the other types
        int64_t integer;
        double number;
        const char *text; // of one that cannot be read: what it is, "is a complex number"
    };
} tern_file_value;

// Whether a value is elements of a storage.
static inline bool tern_file_value_has_elements(const tern_file_value *value)
{
    return value->type == TERN_STATE_TENSOR ||
           (value->type == TERN_STATE_BYTES && value->storage >= 0);
}

// The version of a module whose tensors are among the values.
typedef struct tern_file_version {
    const char *module; // "layer1.0.bn1"; "" is the whole
    int64_t version;
} tern_file_version;

typedef struct tern_archive {
    tern_file *file;
    const char *format; // "safetensors"
    tern_arena arena;
    tern_file_value *values;
    int64_t count, capacity;
    tern_file_storage *storages;
    int64_t storage_count, storage_capacity;
    tern_file_version *versions; // those above 1, which is every module's first
    int64_t version_count, version_capacity;
    tern_name_table table; // of the values
    const char *metadata;  // what else the file says of itself, for people; or NULL
} tern_archive;

// Room for so many at once, where a reader knows how many there are.
tern_status tern_archive_reserve(tern_archive *archive, int64_t values, int64_t storages);
// Adds a value whose `name` and arrays lie in the arena. TERN_ERR_FORMAT, naming the file, for a
// name that cannot be (tern_state_set_tensor) or is there already.
tern_status tern_archive_add(tern_archive *archive, tern_file_value value);
// Adds the version of a module, whose name lies in the arena.
tern_status tern_archive_add_version(tern_archive *archive, tern_file_version version);
// The index of a new storage; -1 on failure.
int64_t tern_archive_add_storage(tern_archive *archive, tern_file_storage storage);
// The value of a name, or NULL.
tern_file_value *tern_archive_find(const tern_archive *archive, const char *name);
// A zeroed one is fine.
void tern_archive_free(tern_archive *archive);

// ---- readers ------------------------------------------------------------------------------------
// Each fills an archive whose `file` is set; freed by the caller also after a failure.

tern_status tern_safetensors_read_archive(tern_archive *archive);
tern_status tern_npy_read_archive(tern_archive *archive);
// A zip archive: one of PyTorch's or an npz.
tern_status tern_zip_read_archive(tern_archive *archive);
// Of PyTorch's, when the archive is open.
struct tern_zip;
tern_status tern_torch_zip_read_archive(tern_archive *archive, struct tern_zip *zip);
// PyTorch's before 1.6.
tern_status tern_torch_legacy_read_archive(tern_archive *archive);

// The reader for a file, by its first bytes.
tern_status tern_archive_read(tern_archive *archive, tern_file *file);

// Writes what there is to `file`, a line a value.
tern_status tern_archive_list(const tern_archive *archive, FILE *file);

// ---- elements -----------------------------------------------------------------------------------

// Reads the elements of a storage to `data` (nbytes): unpacks, checks the checksum, and that bools
// are 0 or 1; swaps bytes. `what` names it in errors. `data` NULL: only checks.
tern_status tern_archive_read_storage(const tern_archive *archive, const tern_file_storage *storage,
                                      const char *what, void *data);

#endif
