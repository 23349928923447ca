// SPDX-License-Identifier: Apache-2.0
#include "io/zip.h"

#include <string.h>
#include <zlib.h>

#include "io/zip_layout.h"

typedef struct tern_zip_entry_written {
    struct tern_zip_entry_written *next;
    const char *name;
    uint32_t crc;
    int64_t at, nbytes;
} tern_zip_entry_written;

// Writes a header with the name in its midst.
static tern_status write_header(tern_save *save, const unsigned char *header, size_t nbytes,
                                size_t name_at, const char *name)
{
    TERN_TRY(tern_save_write(save, header, name_at));
    TERN_TRY(tern_save_write(save, name, strlen(name)));
    return tern_save_write(save, header + name_at, nbytes - name_at);
}

// Remembers an entry for the directory.
static tern_zip_entry_written *note(tern_zip_writer *zip, const char *name, uint32_t crc,
                                    int64_t nbytes)
{
    tern_zip_entry_written *entry = tern_arena_alloc(&zip->arena, sizeof *entry);
    char *copy = entry ? tern_arena_text(&zip->arena, name, strlen(name)) : NULL;
    if (!copy)
        return NULL;
    *entry = (tern_zip_entry_written){
        .name = copy, .crc = crc, .at = zip->save->written, .nbytes = nbytes};
    *(zip->count ? zip->end : &zip->first) = entry;
    zip->end = &entry->next;
    zip->count++;
    return entry;
}

tern_status tern_zip_add_body(tern_zip_writer *zip, const char *name, const void *head,
                              size_t head_nbytes, const tern_body *body)
{
    unsigned char header[ZIP_MAX_LOCAL];
    const int64_t size = (int64_t)head_nbytes + body->nbytes;
    TERN_CHECK(zip->count < TERN_ZIP_MAX_ENTRIES, TERN_ERR_ARG,
               "%s: %s would have more than %d entries", zip->save->op, zip->save->shown,
               TERN_ZIP_MAX_ENTRIES);
    uint32_t crc = (uint32_t)crc32_z(0, head, head_nbytes);
    TERN_TRY(tern_body_crc32(body, &crc));
    const tern_zip_entry_written *entry = note(zip, name, crc, size);
    if (!entry)
        return TERN_ERR_NOMEM;
    const size_t length = tern_zip_local_header(header, strlen(name), entry->crc, size, entry->at);
    TERN_TRY(write_header(zip->save, header, length, ZIP_LOCAL_BYTES, name));
    TERN_TRY(tern_save_write(zip->save, head, head_nbytes));
    return tern_body_write(body, zip->save);
}

tern_status tern_zip_add(tern_zip_writer *zip, const char *name, const void *data, int64_t nbytes)
{
    return tern_zip_add_body(zip, name, NULL, 0, &(tern_body){.data = data, .nbytes = nbytes});
}

tern_status tern_zip_end(tern_zip_writer *zip)
{
    unsigned char header[ZIP_MAX_CENTRAL], ends[ZIP_MAX_ENDS];
    const int64_t at = zip->save->written;
    for (const tern_zip_entry_written *e = zip->first; e; e = e->next) {
        const size_t length =
            tern_zip_central_header(header, strlen(e->name), e->crc, e->nbytes, e->at);
        TERN_TRY(write_header(zip->save, header, length, ZIP_CENTRAL_BYTES, e->name));
    }
    const size_t length = tern_zip_end_records(ends, zip->count, zip->save->written - at, at);
    return tern_save_write(zip->save, ends, length);
}

void tern_zip_writer_free(tern_zip_writer *zip)
{
    tern_arena_free(&zip->arena);
    *zip = (tern_zip_writer){.save = NULL};
}
