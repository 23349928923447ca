// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/mem.h"
#include "io/npy.h"
#include "io/zip.h"

#define ENDING ".npy"
// Enough for most headers, so that these are unpacked once.
#define FIRST_BYTES 256

static bool is_array(const tern_zip_entry *entry)
{
    const size_t length = strlen(entry->name), ending = strlen(ENDING);
    return length >= ending && strcmp(entry->name + length - ending, ENDING) == 0;
}

// The entry's name without its ending.
static const char *name_of(const tern_zip_entry *entry, tern_arena *arena)
{
    return tern_arena_text(arena, entry->name, strlen(entry->name) - strlen(ENDING));
}

// Reads a header of `size` bytes that is longer than what was read at first.
static tern_status read_long(const tern_zip *zip, const tern_zip_entry *entry, const char *what,
                             int64_t size, tern_arena *arena, tern_npy_header *header)
{
    unsigned char *bytes = tern_mem_alloc((size_t)size);
    if (!bytes)
        return TERN_ERR_NOMEM;
    tern_status status = tern_zip_read(zip, entry, bytes, size);
    if (!status)
        status = tern_npy_header_read(zip->file->op, what, bytes, size, arena, header);
    tern_mem_free(bytes, (size_t)size);
    return status;
}

static tern_status read_header(const tern_zip *zip, const tern_zip_entry *entry, const char *what,
                               tern_arena *arena, tern_npy_header *header)
{
    unsigned char first[FIRST_BYTES];
    const char *op = zip->file->op;
    const int64_t got = entry->size < FIRST_BYTES ? entry->size : FIRST_BYTES;
    int64_t size;
    TERN_TRY(tern_zip_read(zip, entry, first, got));
    TERN_TRY(tern_npy_header_size(op, what, first,
                                  got < TERN_NPY_FIRST_BYTES ? got : TERN_NPY_FIRST_BYTES, &size));
    TERN_CHECK(size <= entry->size, TERN_ERR_FORMAT, "%s: %s ends in its header of %lld bytes", op,
               what, (long long)size);
    return size > got ? read_long(zip, entry, what, size, arena, header)
                      : tern_npy_header_read(op, what, first, size, arena, header);
}

static tern_status add_entry(tern_archive *c, const tern_zip *zip, const tern_zip_entry *entry)
{
    char what[512];
    tern_npy_header header;
    snprintf(what, sizeof what, "the entry \"%.200s\" of %s", entry->name, c->file->path);
    TERN_TRY(read_header(zip, entry, what, &c->arena, &header));
    const char *name = name_of(entry, &c->arena);
    if (!name)
        return TERN_ERR_NOMEM;
    const tern_file_storage storage = {.at = entry->at,
                                       .packed = entry->packed,
                                       .skip = header.size,
                                       .deflated = entry->deflated,
                                       .checksum = TERN_CHECKSUM_CRC32,
                                       .sum = entry->crc};
    return tern_npy_add(c, what, name, &header, entry->size - header.size, storage);
}

tern_status tern_npz_read_archive(tern_archive *c, const tern_zip *zip)
{
    c->format = "npz";
    for (int64_t i = 0; i < zip->count; i++)
        TERN_CHECK(is_array(&zip->at[i]), TERN_ERR_FORMAT,
                   "%s: %s is a zip archive, but neither PyTorch's, which has a data.pkl, nor an "
                   "npz, whose entries end with .npy: it has \"%.100s\"",
                   c->file->op, c->file->path, zip->at[i].name);
    TERN_TRY(tern_archive_reserve(c, zip->count, zip->count));
    for (int64_t i = 0; i < zip->count; i++)
        TERN_TRY(add_entry(c, zip, &zip->at[i]));
    return TERN_OK;
}

// ---- either kind of zip archive -----------------------------------------------------------------

// An entry "<stem>/data.pkl".
static bool is_pickle(const tern_zip_entry *entry)
{
    const char *slash = strchr(entry->name, '/');
    return slash && strcmp(slash, "/data.pkl") == 0;
}

tern_status tern_zip_read_archive(tern_archive *c)
{
    tern_zip zip;
    TERN_TRY(tern_zip_open(&zip, c->file, &c->arena));
    for (int64_t i = 0; i < zip.count; i++)
        if (is_pickle(&zip.at[i]))
            return tern_torch_zip_read_archive(c, &zip);
    return tern_npz_read_archive(c, &zip);
}
