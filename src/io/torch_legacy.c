// SPDX-License-Identifier: Apache-2.0
// PyTorch's files before 1.6: the pickles of a magic number, a protocol version, facts about the
// system, the object and the list of its storages' keys; then each storage, in that order: the
// number of elements (8) and the elements.
#include <string.h>
#include "base/mem.h"
#include "base/bytes.h"
#include "io/torch.h"

#define MAGIC_BYTES 15 // of its pickle, by which the file is known
#define PROTOCOL    1001

// ---- pickles ------------------------------------------------------------------------------------

// The next pickle of the file.
static tern_status run(tern_pickle *p, const char *name)
{
    p->name = name;
    return tern_pickle_run(p);
}

static tern_status check_protocol(tern_pickle *p)
{
    TERN_TRY(run(p, "the version's pickle"));
    if (tern_pickle_type_of(p, p->result) != TERN_PICKLE_INT ||
        tern_pickle_int(p, p->result) != PROTOCOL)
        return tern_pickle_bad(p, "says another version than %d", PROTOCOL);
    return TERN_OK;
}

static tern_status skip_facts(tern_pickle *p)
{
    TERN_TRY(run(p, "the system's pickle"));
    if (tern_pickle_type_of(p, p->result) != TERN_PICKLE_DICT)
        return tern_pickle_bad(p, "is no dictionary");
    return TERN_OK;
}

// ---- storages -----------------------------------------------------------------------------------

// The storage of a key of the list, which is there once.
static tern_status find_key(const tern_pickle *p, tern_pickle_ref key,
                            const tern_torch_storages *storages, tern_torch_storage **found)
{
    char text[24];
    *found = NULL;
    uint64_t number = 0;
    if (tern_pickle_type_of(p, key) != TERN_PICKLE_TEXT || tern_pickle_length(p, key) > 19)
        return tern_pickle_bad(p, "has a key that is no number");
    tern_pickle_text(p, key, text, sizeof text);
    for (const char *at = text; *at >= '0' && *at <= '9'; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    *found = tern_torch_storage_at(storages, number);
    if (!*found || (*found)->index >= 0)
        return tern_pickle_bad(p, "has the key \"%s\", which is %s", text,
                               *found ? "there twice" : "no tensor's");
    return TERN_OK;
}

// The storage at *at, which is behind it then.
static tern_status add_storage(tern_archive *archive, const tern_pickle *p,
                               tern_torch_storage *storage, int64_t *at)
{
    unsigned char begin[8];
    tern_file *file = archive->file;
    const int64_t nbytes = tern_torch_storage_nbytes(p, storage);
    TERN_TRY(tern_file_read_at(file, *at, begin, sizeof begin));
    *at += 8;
    const int64_t numel = (int64_t)get_u64(begin);
    TERN_CHECK(numel == tern_pickle_storage_of(p, storage->ref).numel, TERN_ERR_FORMAT,
               "%s: %s has %lld elements of storage %llu, not as many as its pickle says", file->op,
               file->path, (long long)numel, (unsigned long long)storage->key);
    TERN_CHECK(nbytes <= file->size - *at, TERN_ERR_FORMAT,
               "%s: %s ends inside of storage %llu, which has %lld bytes", file->op, file->path,
               (unsigned long long)storage->key, (long long)nbytes);
    const int64_t begins = *at;
    *at += nbytes;
    return tern_torch_add_storage(archive, p, storage,
                                  (tern_file_storage){.at = begins, .packed = nbytes});
}

static tern_status add_storages(tern_archive *archive, const tern_pickle *p,
                                const tern_torch_storages *storages)
{
    int64_t count = 0, at = MAGIC_BYTES + p->read;
    if (tern_pickle_type_of(p, p->result) != TERN_PICKLE_LIST)
        return tern_pickle_bad(p, "is no list");
    TERN_TRY(tern_archive_reserve(archive, 0, storages->count));
    tern_pickle_cursor cursor = tern_pickle_items(p, p->result);
    for (tern_pickle_ref none, key; tern_pickle_next(&cursor, &none, &key); count++) {
        tern_torch_storage *storage;
        TERN_TRY(find_key(p, key, storages, &storage));
        TERN_TRY(add_storage(archive, p, storage, &at));
    }
    if (count != storages->count)
        return tern_pickle_bad(p, "has %lld keys of %lld storages", (long long)count,
                               (long long)storages->count);
    TERN_CHECK(at == archive->file->size, TERN_ERR_FORMAT,
               "%s: %s goes on for %lld bytes after its last storage", archive->file->op,
               archive->file->path, (long long)(archive->file->size - at));
    return TERN_OK;
}

static tern_status read_all(tern_archive *archive, tern_pickle *p, tern_torch_storages *storages)
{
    TERN_TRY(check_protocol(p));
    TERN_TRY(skip_facts(p));
    TERN_TRY(run(p, "its pickle"));
    const tern_pickle_ref object = p->result;
    TERN_TRY(tern_torch_check_whole(p));
    TERN_TRY(tern_torch_find_storages(storages, p));
    TERN_TRY(run(p, "the list of storages"));
    TERN_TRY(add_storages(archive, p, storages));
    p->name = "its pickle";
    p->result = object;
    return tern_torch_flatten(archive, p, storages);
}

tern_status tern_torch_legacy_read_archive(tern_archive *archive)
{
    archive->format = "PyTorch before 1.6";
    tern_torch_storages storages = {.at = NULL};
    tern_pickle *p = tern_mem_alloc(sizeof *p);
    if (!p)
        return TERN_ERR_NOMEM;
    p->storage_items = 6;
    p->source = (tern_pickle_source){
        .file = archive->file, .at = MAGIC_BYTES, .left = archive->file->size - MAGIC_BYTES};
    tern_status status = read_all(archive, p, &storages);
    tern_torch_storages_free(&storages);
    tern_pickle_free(p);
    tern_mem_free(p, sizeof *p);
    return status;
}
