// SPDX-License-Identifier: Apache-2.0
// The values of a state as a file has them: tensors in the host's memory.
#ifndef TERN_SRC_IO_ARCHIVE_ENTRIES_H
#define TERN_SRC_IO_ARCHIVE_ENTRIES_H

#include "io/body.h"
#include "state/state.h"

typedef struct tern_archive_entry {
    const char *name; // the state's
    const tern_state_value *value;
    tern_tensor *tensor; // on the CPU, held; NULL: no tensor
    tern_body body;      // its elements, or the bytes or text
    int64_t tied; // the first value with the same elements in the same shape; itself: none before
} tern_archive_entry;

typedef struct tern_archive_entries {
    tern_archive_entry *at; // in the state's order
    int64_t count;
} tern_archive_entries;

// Copies what is on another device, and waits for it.
tern_status tern_archive_entries_begin(tern_archive_entries *entries, const tern_state *state);
void tern_archive_entries_free(tern_archive_entries *entries);

// Each appends a whole file.
tern_status tern_safetensors_write(tern_save *save, const tern_archive_entries *entries,
                                   const char *metadata_format, bool tied_once);
tern_status tern_torch_write(tern_save *save, const tern_archive_entries *entries);
tern_status tern_npy_write(tern_save *save, const tern_archive_entries *entries);
tern_status tern_npz_write(tern_save *save, const tern_archive_entries *entries);

#endif
