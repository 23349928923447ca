// SPDX-License-Identifier: Apache-2.0
// PyTorch's files since 1.6: a zip archive of <stem>/data.pkl and the storages <stem>/data/<key>.
#include "io/torch.h"

#include <stdio.h>
#include <string.h>
#include "base/mem.h"

// The longest first part of the entries' names.
#define STEM 1024
// The latest that PyTorch 2.15 reads.
#define MAX_VERSION 10

typedef struct torch_zip {
    tern_archive *archive;
    const tern_zip *zip;
    char stem[STEM]; // with the slash
    bool swapped;    // big-endian
} torch_zip;

static tern_status archive_error(const torch_zip *a, const char *what)
{
    return tern_error_raise(TERN_ERR_FORMAT, "%s: %s %s", a->zip->file->op, a->zip->file->path,
                            what);
}

// ---- entries ------------------------------------------------------------------------------------

static const tern_zip_entry *find(const torch_zip *a, const char *name)
{
    char whole[STEM + 64];
    snprintf(whole, sizeof whole, "%s%s", a->stem, name);
    return tern_zip_find(a->zip, whole);
}

// The stem of the archive; "" where the first entry is in no folder.
static void find_stem(const tern_zip *zip, char *stem)
{
    const char *name = zip->count ? zip->at[0].name : "";
    const char *slash = strchr(name, '/');
    const size_t length = slash ? (size_t)(slash - name) + 1 : 0;
    if (length < STEM) {
        memcpy(stem, name, length);
        stem[length] = 0;
    }
}

static tern_status check_stem(const torch_zip *a)
{
    const size_t length = strlen(a->stem);
    for (int64_t i = 0; i < a->zip->count; i++) {
        const char *name = a->zip->at[i].name;
        TERN_CHECK(strncmp(name, a->stem, length) == 0, TERN_ERR_FORMAT,
                   "%s: %s has the entry \"%.200s\" outside of \"%.200s\"", a->zip->file->op,
                   a->zip->file->path, name, a->stem);
        if (strcmp(name + length, "constants.pkl") == 0 || !strncmp(name + length, "code/", 5))
            return archive_error(a, "is a TorchScript program, which only PyTorch runs: save "
                                    "torch.jit.load(path).state_dict()");
    }
    return TERN_OK;
}

// The text of a short entry.
typedef struct short_text {
    char text[32];
    int64_t length; // -1: there is no such entry
} short_text;

static tern_status read_short(const torch_zip *a, const char *name, short_text *to)
{
    const tern_zip_entry *entry = find(a, name);
    *to = (short_text){.length = entry ? entry->size : -1};
    if (!entry)
        return TERN_OK;
    TERN_CHECK(entry->size < (int64_t)sizeof to->text, TERN_ERR_FORMAT,
               "%s: %s has %lld bytes of \"%s\"", a->zip->file->op, a->zip->file->path,
               (long long)entry->size, name);
    return tern_zip_read(a->zip, entry, to->text, entry->size);
}

static bool is(const short_text *s, const char *text)
{
    return s->length == (int64_t)strlen(text) && memcmp(s->text, text, strlen(text)) == 0;
}

static tern_status check_version(const torch_zip *a)
{
    short_text version;
    TERN_TRY(read_short(a, "version", &version));
    if (version.length < 0)
        return archive_error(a, "has no entry \"version\": it is cut, or not PyTorch's");
    bool known = false;
    for (int number = 1; number <= MAX_VERSION; number++) {
        char text[8];
        snprintf(text, sizeof text, "%d\n", number);
        known |= is(&version, text);
        text[strlen(text) - 1] = 0;
        known |= is(&version, text);
    }
    TERN_CHECK(known, TERN_ERR_FORMAT, "%s: %s is of version \"%.20s\", not 1 to %d",
               a->zip->file->op, a->zip->file->path, version.text, MAX_VERSION);
    return TERN_OK;
}

static tern_status find_byte_order(torch_zip *a)
{
    short_text order;
    TERN_TRY(read_short(a, "byteorder", &order));
    a->swapped = is(&order, "big");
    TERN_CHECK(a->swapped || order.length < 0 || is(&order, "little"), TERN_ERR_FORMAT,
               "%s: %s has the byteorder \"%.20s\" of %lld bytes, not little or big",
               a->zip->file->op, a->zip->file->path, order.text, (long long)order.length);
    return TERN_OK;
}

// ---- the pickle ---------------------------------------------------------------------------------

// A deflated one is unpacked into *bytes.
static tern_status open_pickle(const torch_zip *a, tern_pickle *p, unsigned char **bytes)
{
    const tern_zip_entry *entry = find(a, "data.pkl");
    p->name = "data.pkl";
    p->storage_items = 5;
    p->whole = true;
    p->source = (tern_pickle_source){.file = a->zip->file, .at = entry->at, .left = entry->size};
    if (!entry->deflated || entry->size == 0)
        return TERN_OK;
    TERN_CHECK(entry->size <= a->zip->file->size, TERN_ERR_FORMAT,
               "%s: %s has a data.pkl that unpacks to %lld bytes, more than the file has",
               a->zip->file->op, a->zip->file->path, (long long)entry->size);
    *bytes = tern_mem_alloc((size_t)entry->size);
    if (!*bytes)
        return TERN_ERR_NOMEM;
    TERN_TRY(tern_zip_read(a->zip, entry, *bytes, entry->size));
    p->source.left = 0;
    p->source.bytes = *bytes;
    p->source.have = (size_t)entry->size;
    p->source.crc = entry->crc; // checked by now
    return TERN_OK;
}

static tern_status read_pickle(const torch_zip *a, tern_pickle *p)
{
    unsigned char *bytes = NULL;
    const tern_zip_entry *entry = find(a, "data.pkl");
    tern_status status = open_pickle(a, p, &bytes);
    if (!status)
        status = tern_pickle_run(p);
    if (!status && !a->zip->unchecked && p->source.crc != entry->crc)
        status = tern_pickle_bad(p, "is damaged: its checksum is %08x, not %08x", p->source.crc,
                                 entry->crc);
    if (bytes)
        tern_mem_free(bytes, (size_t)entry->size);
    return status;
}

// ---- storages -----------------------------------------------------------------------------------

static tern_status add_storage(const torch_zip *a, const tern_pickle *p,
                               tern_torch_storage *storage)
{
    char name[40];
    snprintf(name, sizeof name, "data/%llu", (unsigned long long)storage->key);
    const tern_zip_entry *entry = find(a, name);
    TERN_CHECK(entry, TERN_ERR_FORMAT, "%s: %s has no entry \"%s%s\", which its pickle names",
               a->zip->file->op, a->zip->file->path, a->stem, name);
    const int64_t nbytes = tern_torch_storage_nbytes(p, storage);
    TERN_CHECK(entry->size == nbytes, TERN_ERR_FORMAT,
               "%s: %s has %lld bytes in \"%s%s\", and its pickle says %lld", a->zip->file->op,
               a->zip->file->path, (long long)entry->size, a->stem, name, (long long)nbytes);
    return tern_torch_add_storage(
        a->archive, p, storage,
        (tern_file_storage){
            .at = entry->at,
            .packed = entry->packed,
            .deflated = entry->deflated,
            .swapped = a->swapped,
            .checksum = a->zip->unchecked ? TERN_CHECKSUM_NONE : TERN_CHECKSUM_CRC32,
            .sum = entry->crc,
        });
}

static tern_status fill(const torch_zip *a, const tern_pickle *p, tern_torch_storages *storages)
{
    TERN_TRY(tern_torch_check_whole(p));
    TERN_TRY(tern_torch_find_storages(storages, p));
    TERN_TRY(tern_archive_reserve(a->archive, 0, storages->count));
    for (int64_t i = 0; i < storages->count; i++)
        TERN_TRY(add_storage(a, p, &storages->at[i]));
    return tern_torch_flatten(a->archive, p, storages);
}

// torch.serialization.set_crc32_options(False) leaves them all out.
static bool has_checksums(const tern_zip *zip)
{
    for (int64_t i = 0; i < zip->count; i++)
        if (zip->at[i].crc)
            return true;
    return false;
}

tern_status tern_torch_zip_read_archive(tern_archive *archive, tern_zip *zip)
{
    zip->unchecked = !has_checksums(zip);
    torch_zip a = {.archive = archive, .zip = zip};
    archive->format = "PyTorch";
    find_stem(zip, a.stem);
    TERN_TRY(check_stem(&a));
    if (!find(&a, "data.pkl"))
        return archive_error(&a, "has no entry \"data.pkl\": it is not PyTorch's");
    TERN_TRY(check_version(&a));
    TERN_TRY(find_byte_order(&a));
    tern_pickle *p = tern_mem_alloc(sizeof *p);
    if (!p)
        return TERN_ERR_NOMEM;
    tern_torch_storages storages = {.at = NULL};
    tern_status status = read_pickle(&a, p);
    if (!status)
        status = fill(&a, p, &storages);
    tern_torch_storages_free(&storages);
    tern_pickle_free(p);
    tern_mem_free(p, sizeof *p);
    return status;
}
