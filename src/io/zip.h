// SPDX-License-Identifier: Apache-2.0
// Zip archives, as far as PyTorch's files and npz go: entries that are stored or deflated, found by
// the central directory, zip64 included. Source of the layout: APPNOTE.TXT 6.3 of PKWARE.
#ifndef TERN_SRC_IO_ZIP_H
#define TERN_SRC_IO_ZIP_H

#include "io/arena.h"
#include "io/body.h"
#include "io/file.h"

#define TERN_ZIP_MAX_ENTRIES 65536

// ---- reading ------------------------------------------------------------------------------------

typedef struct tern_zip_entry {
    const char *name;     // in the arena; only looked up, never a path
    int64_t header, at;   // of its local header and of its data in the file
    int64_t packed, size; // bytes in the file, and unpacked
    uint32_t crc;         // crc32 of what is unpacked
    bool deflated;
} tern_zip_entry;

typedef struct tern_zip {
    tern_file *file;
    tern_zip_entry *at;       // in the arena, in the order of the central directory
    tern_zip_entry **by_name; // sorted
    int64_t count;
    bool unchecked; // the checksums say nothing
} tern_zip;

// Reads the directory and checks it: signatures, names, ranges inside the file that do not overlap,
// no encryption, one disk, at most 65 536 entries. TERN_ERR_FORMAT for what is not so.
tern_status tern_zip_open(tern_zip *zip, tern_file *file, tern_arena *arena);
// The entry of that name, or NULL.
const tern_zip_entry *tern_zip_find(const tern_zip *zip, const char *name);
// The first `nbytes` unpacked bytes of an entry; checks the checksum when these are all.
tern_status tern_zip_read(const tern_zip *zip, const tern_zip_entry *entry, void *data,
                          int64_t nbytes);

// ---- writing ------------------------------------------------------------------------------------

typedef struct tern_zip_writer {
    tern_save *save;
    tern_arena arena; // entries that were written; zeroed at first, as all that follows
    struct tern_zip_entry_written *first, **end;
    int64_t count;
} tern_zip_writer;

// Appends an entry, stored, whose data begins at a multiple of 64.
tern_status tern_zip_add(tern_zip_writer *zip, const char *name, const void *data, int64_t nbytes);
// Likewise, of a head and what follows it.
tern_status tern_zip_add_body(tern_zip_writer *zip, const char *name, const void *head,
                              size_t head_nbytes, const tern_body *body);
// Appends the central directory. The writer is freed by tern_zip_writer_free also after a failure.
tern_status tern_zip_end(tern_zip_writer *zip);
void tern_zip_writer_free(tern_zip_writer *zip);

#endif
