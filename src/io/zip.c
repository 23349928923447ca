// SPDX-License-Identifier: Apache-2.0
#include "io/zip.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "base/bytes.h"
#include "io/inflate.h"
#include "io/zip_layout.h"

// Longer names than this belong to no tensor.
#define LONGEST_NAME 4096
// Deflate makes at most 1032 bytes of one.
#define DEFLATE_RATIO 1032

// Where the central directory lies.
typedef struct directory {
    int64_t at, size, count;
    int64_t end; // where the records after it begin
} directory;

// ---- the end of the central directory -----------------------------------------------------------

// The last record in `tail` whose comment ends with it; -1: none.
static int64_t find_record(const unsigned char *tail, int64_t nbytes)
{
    for (int64_t at = nbytes - ZIP_END_BYTES; at >= 0; at--)
        if (get_u32(tail + at) == ZIP_END && at + ZIP_END_BYTES + get_u16(tail + at + 20) == nbytes)
            return at;
    return -1;
}

// Where the record begins, that is copied to `record`.
static tern_status find_end(tern_file *file, unsigned char record[ZIP_END_BYTES], int64_t *at)
{
    const int64_t max = ZIP_END_BYTES + UINT16_MAX;
    const int64_t nbytes = file->size < max ? file->size : max;
    TERN_CHECK(nbytes >= ZIP_END_BYTES, TERN_ERR_FORMAT,
               "%s: %s is no zip archive: it has %lld bytes", file->op, file->path,
               (long long)nbytes);
    unsigned char *tail = tern_mem_alloc((size_t)nbytes);
    if (!tail)
        return TERN_ERR_NOMEM;
    tern_status status = tern_file_read_at(file, file->size - nbytes, tail, (size_t)nbytes);
    const int64_t found = status ? -1 : find_record(tail, nbytes);
    if (found >= 0)
        memcpy(record, tail + found, ZIP_END_BYTES);
    tern_mem_free(tail, (size_t)nbytes);
    TERN_TRY(status);
    TERN_CHECK(found >= 0, TERN_ERR_FORMAT,
               "%s: %s is no whole zip archive: the record that ends one is missing", file->op,
               file->path);
    *at = file->size - nbytes + found;
    return TERN_OK;
}

// A number of the record, or all ones, which stands for the one of the zip64 record.
static bool agrees(const unsigned char *small, int count, uint64_t large)
{
    const uint64_t value = little_endian(small, count);
    return value == large || value == (count == 2 ? UINT16_MAX : UINT32_MAX);
}

static tern_status read_zip64_end(tern_file *file, const unsigned char *record, int64_t locator_at,
                                  const unsigned char *locator, directory *found)
{
    unsigned char r[ZIP64_END_BYTES];
    const uint64_t at = get_u64(locator + 8);
    TERN_CHECK(locator_at >= ZIP64_END_BYTES && at <= (uint64_t)(locator_at - ZIP64_END_BYTES),
               TERN_ERR_FORMAT, "%s: %s has its zip64 record outside of the file", file->op,
               file->path);
    TERN_TRY(tern_file_read_at(file, (int64_t)at, r, sizeof r));
    const uint64_t size = get_u64(r + 4);
    TERN_CHECK(get_u32(r) == ZIP64_END && size == (uint64_t)locator_at - at - 12, TERN_ERR_FORMAT,
               "%s: %s has no zip64 record where it says", file->op, file->path);
    TERN_CHECK(get_u32(locator + 4) == 0 && get_u32(locator + 16) <= 1 && get_u32(r + 16) == 0 &&
                   get_u32(r + 20) == 0 && get_u64(r + 24) == get_u64(r + 32),
               TERN_ERR_FORMAT, "%s: %s is part of a zip archive on several disks", file->op,
               file->path);
    TERN_CHECK(agrees(record + 8, 2, get_u64(r + 24)) && agrees(record + 10, 2, get_u64(r + 32)) &&
                   agrees(record + 12, 4, get_u64(r + 40)) &&
                   agrees(record + 16, 4, get_u64(r + 48)),
               TERN_ERR_FORMAT, "%s: the zip64 record of %s contradicts the other one", file->op,
               file->path);
    *found = (directory){(int64_t)get_u64(r + 48), (int64_t)get_u64(r + 40),
                         (int64_t)get_u64(r + 32), (int64_t)at};
    return TERN_OK;
}

static tern_status find_directory(tern_file *file, directory *found)
{
    unsigned char record[ZIP_END_BYTES], locator[ZIP64_LOCATOR_BYTES] = {0};
    int64_t at = 0;
    TERN_TRY(find_end(file, record, &at));
    if (at >= ZIP64_LOCATOR_BYTES)
        TERN_TRY(tern_file_read_at(file, at - ZIP64_LOCATOR_BYTES, locator, sizeof locator));
    TERN_CHECK((get_u16(record + 4) == 0 || get_u16(record + 4) == UINT16_MAX) &&
                   (get_u16(record + 6) == 0 || get_u16(record + 6) == UINT16_MAX) &&
                   get_u16(record + 8) == get_u16(record + 10),
               TERN_ERR_FORMAT, "%s: %s is part of a zip archive on several disks", file->op,
               file->path);
    if (get_u32(locator) == ZIP64_LOCATOR)
        return read_zip64_end(file, record, at - ZIP64_LOCATOR_BYTES, locator, found);
    *found = (directory){get_u32(record + 16), get_u32(record + 12), get_u16(record + 10), at};
    return TERN_OK;
}

static tern_status check_directory(const tern_file *file, const directory *d)
{
    TERN_CHECK(d->count >= 0 && d->count <= TERN_ZIP_MAX_ENTRIES, TERN_ERR_FORMAT,
               "%s: %s has more than %d zip entries", file->op, file->path, TERN_ZIP_MAX_ENTRIES);
    TERN_CHECK(d->size >= 0 && d->at >= 0 && d->size <= d->end && d->at == d->end - d->size,
               TERN_ERR_FORMAT, "%s: the directory of the zip archive %s is not where its end says",
               file->op, file->path);
    TERN_CHECK(d->count <= d->size / ZIP_CENTRAL_BYTES, TERN_ERR_FORMAT,
               "%s: the directory of the zip archive %s is too short for %lld entries", file->op,
               file->path, (long long)d->count);
    return TERN_OK;
}

// ---- the entries of the directory ---------------------------------------------------------------

static tern_status entry_error(const tern_file *file, const tern_zip_entry *entry, const char *what)
{
    return tern_error_raise(TERN_ERR_FORMAT, "%s: the entry \"%.200s\" of %s %s", file->op,
                            entry->name, file->path, what);
}

// The next of the 64-bit numbers that stand for those of the record that are all ones.
static bool take_zip64(const unsigned char *small, const unsigned char **at,
                       const unsigned char *end, int64_t *value)
{
    *value = get_u32(small);
    if (*value != UINT32_MAX)
        return true;
    if (end - *at < 8)
        return false;
    *value = (int64_t)get_u64(*at);
    *at += 8;
    return *value >= 0;
}

// The field of that id in what is `nbytes` long; its end is *end. Without one it is empty.
static const unsigned char *find_extra(const unsigned char *extra, size_t nbytes, unsigned id,
                                       const unsigned char **end)
{
    const unsigned char *at = extra, *last = extra + nbytes;
    while (last - at >= 4) {
        const unsigned char *data = at + 4, *next = data + get_u16(at + 2);
        if (next > last)
            break;
        *end = next;
        if (get_u16(at) == id)
            return data;
        at = next;
    }
    return *end = last;
}

static tern_status check_entry(const tern_file *file, const tern_zip_entry *e,
                               const unsigned char *record)
{
    const int method = get_u16(record + 10);
    if (get_u16(record + 8) & ZIP_ENCRYPTED)
        return entry_error(file, e, "is encrypted");
    if (method != 0 && method != ZIP_DEFLATED)
        return entry_error(file, e, "is packed in another way than by deflate");
    if (get_u16(record + 34) != 0 && get_u16(record + 34) != UINT16_MAX)
        return entry_error(file, e, "is on another disk");
    if (method == 0 && e->packed != e->size)
        return entry_error(file, e, "is stored, but has two sizes");
    if (e->size / DEFLATE_RATIO > e->packed)
        return entry_error(file, e, "cannot unpack to as many bytes as its size says");
    return TERN_OK;
}

// What one record of the directory says; `left` bytes are left of it.
static tern_status read_entry(tern_file *file, tern_arena *arena, const unsigned char *record,
                              int64_t left, tern_zip_entry *e, int64_t *taken)
{
    const bool whole = left >= ZIP_CENTRAL_BYTES && get_u32(record) == ZIP_CENTRAL;
    const int64_t name = whole ? get_u16(record + 28) : 0;
    const int64_t extra = whole ? get_u16(record + 30) : 0;
    *taken = ZIP_CENTRAL_BYTES + name + extra + (whole ? get_u16(record + 32) : 0);
    TERN_CHECK(whole && *taken <= left, TERN_ERR_FORMAT,
               "%s: the directory of the zip archive %s is damaged", file->op, file->path);
    const char *text = (const char *)record + ZIP_CENTRAL_BYTES;
    TERN_CHECK(name > 0 && name <= LONGEST_NAME && !memchr(text, 0, (size_t)name), TERN_ERR_FORMAT,
               "%s: %s has a zip entry whose name is no text of 1 to %d bytes", file->op,
               file->path, LONGEST_NAME);
    e->name = tern_arena_text(arena, text, (size_t)name);
    if (!e->name)
        return TERN_ERR_NOMEM;
    e->deflated = get_u16(record + 10) == ZIP_DEFLATED;
    e->crc = get_u32(record + 16);
    const unsigned char *end, *wide = record + ZIP_CENTRAL_BYTES + name;
    wide = find_extra(wide, (size_t)extra, ZIP64_EXTRA, &end);
    if (!take_zip64(record + 24, &wide, end, &e->size) ||
        !take_zip64(record + 20, &wide, end, &e->packed) ||
        !take_zip64(record + 42, &wide, end, &e->header))
        return entry_error(file, e, "has a zip64 field that does not say its sizes");
    return check_entry(file, e, record);
}

static tern_status read_entries(tern_zip *zip, const directory *d, const unsigned char *records,
                                tern_arena *arena)
{
    int64_t at = 0;
    for (int64_t i = 0, taken; i < d->count; i++, at += taken)
        TERN_TRY(read_entry(zip->file, arena, records + at, d->size - at, &zip->at[i], &taken));
    TERN_CHECK(at == d->size, TERN_ERR_FORMAT,
               "%s: the directory of the zip archive %s has other bytes after its entries",
               zip->file->op, zip->file->path);
    return TERN_OK;
}

static tern_status read_directory(tern_zip *zip, const directory *d, tern_arena *arena)
{
    if (d->count == 0 && d->size == 0)
        return TERN_OK;
    unsigned char *records = tern_mem_alloc((size_t)d->size);
    if (!records)
        return TERN_ERR_NOMEM;
    tern_status status = tern_file_read_at(zip->file, d->at, records, (size_t)d->size);
    if (!status)
        status = read_entries(zip, d, records, arena);
    tern_mem_free(records, (size_t)d->size);
    return status;
}

// ---- what the entries lie in --------------------------------------------------------------------

// The local header: only what says where the data begins, and whose it is. Sizes and the checksum
// may be missing in it.
static tern_status read_local(const tern_zip *zip, tern_zip_entry *e, int64_t directory_at)
{
    unsigned char local[ZIP_LOCAL_BYTES + LONGEST_NAME];
    const int64_t name = (int64_t)strlen(e->name), nbytes = ZIP_LOCAL_BYTES + name;
    if (e->header > directory_at - nbytes)
        return entry_error(zip->file, e, "begins past the end of the data");
    TERN_TRY(tern_file_read_at(zip->file, e->header, local, (size_t)nbytes));
    if (get_u32(local) != ZIP_LOCAL)
        return entry_error(zip->file, e, "is not where the directory says");
    if (get_u16(local + 26) != name || memcmp(local + ZIP_LOCAL_BYTES, e->name, (size_t)name) != 0)
        return entry_error(zip->file, e, "has another name where its data is");
    e->at = e->header + nbytes + get_u16(local + 28);
    if (e->at > directory_at || e->packed > directory_at - e->at)
        return entry_error(zip->file, e, "goes on past the end of the data");
    return TERN_OK;
}

static int compare_offsets(const void *a, const void *b)
{
    const tern_zip_entry *x = *(const tern_zip_entry *const *)a;
    const tern_zip_entry *y = *(const tern_zip_entry *const *)b;
    return (x->header > y->header) - (x->header < y->header);
}

static int compare_names(const void *a, const void *b)
{
    const tern_zip_entry *x = *(const tern_zip_entry *const *)a;
    const tern_zip_entry *y = *(const tern_zip_entry *const *)b;
    return strcmp(x->name, y->name);
}

static tern_status check_offsets(const tern_zip *zip, directory d)
{
    for (int64_t i = 0; i < zip->count; i++)
        TERN_TRY(read_local(zip, &zip->at[i], d.at));
    qsort(zip->by_name, (size_t)zip->count, sizeof *zip->by_name, compare_offsets);
    for (int64_t i = 1; i < zip->count; i++) {
        const tern_zip_entry *before = zip->by_name[i - 1];
        if (before->at + before->packed > zip->by_name[i]->header)
            return entry_error(zip->file, before, "overlaps another one");
    }
    return TERN_OK;
}

static tern_status sort_names(const tern_zip *zip)
{
    qsort(zip->by_name, (size_t)zip->count, sizeof *zip->by_name, compare_names);
    for (int64_t i = 1; i < zip->count; i++)
        if (strcmp(zip->by_name[i - 1]->name, zip->by_name[i]->name) == 0)
            return entry_error(zip->file, zip->by_name[i], "is there twice");
    return TERN_OK;
}

tern_status tern_zip_open(tern_zip *zip, tern_file *file, tern_arena *arena)
{
    directory d = {0};
    *zip = (tern_zip){.file = file};
    TERN_TRY(find_directory(file, &d));
    TERN_TRY(check_directory(file, &d));
    zip->at = tern_arena_alloc(arena, (size_t)(d.count + 1) * sizeof *zip->at);
    zip->by_name = tern_arena_alloc(arena, (size_t)(d.count + 1) * sizeof *zip->by_name);
    if (!zip->at || !zip->by_name)
        return TERN_ERR_NOMEM;
    TERN_TRY(read_directory(zip, &d, arena));
    zip->count = d.count;
    for (int64_t i = 0; i < zip->count; i++)
        zip->by_name[i] = &zip->at[i];
    TERN_TRY(check_offsets(zip, d));
    return sort_names(zip);
}

// ---- reading an entry ---------------------------------------------------------------------------

const tern_zip_entry *tern_zip_find(const tern_zip *zip, const char *name)
{
    const tern_zip_entry wanted = {.name = name}, *key = &wanted;
    tern_zip_entry **found =
        bsearch(&key, zip->by_name, (size_t)zip->count, sizeof *zip->by_name, compare_names);
    return found ? *found : NULL;
}

static tern_status inflate_entry(const tern_zip *zip, const tern_zip_entry *e, void *data,
                                 int64_t nbytes)
{
    tern_inflate stream;
    char what[256];
    snprintf(what, sizeof what, "the entry \"%.200s\"", e->name);
    TERN_TRY(tern_inflate_begin(&stream, zip->file, what, e->at, e->packed));
    tern_status status = tern_inflate_read(&stream, data, nbytes);
    if (!status && nbytes == e->size)
        status = tern_inflate_finish(&stream);
    tern_inflate_end(&stream);
    return status;
}

tern_status tern_zip_read(const tern_zip *zip, const tern_zip_entry *e, void *data, int64_t nbytes)
{
    if (nbytes > e->size)
        return entry_error(zip->file, e, "is too short");
    TERN_TRY(e->deflated ? inflate_entry(zip, e, data, nbytes)
                         : tern_file_read_at(zip->file, e->at, data, (size_t)nbytes));
    if (nbytes == e->size && !zip->unchecked && crc32_z(0, data, (size_t)nbytes) != e->crc)
        return entry_error(zip->file, e, "is damaged: its checksum is another one");
    return TERN_OK;
}
