// SPDX-License-Identifier: Apache-2.0
// The elements of a storage: from the file, through the checks, to memory.
#include "io/elements.h"

#include <string.h>
#include <zlib.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "io/archive.h"
#include "io/inflate.h"

// What is read at once: its checksum is taken while it is in a cache.
#define CHUNK (256 << 10)
// The same where it is not kept: memory for a file of few bytes is little.
#define SCRATCH (16 << 10)

typedef struct source {
    const tern_archive *c;
    const tern_file_storage *storage;
    const char *what;
    int64_t done; // bytes taken so far, those that are skipped included
    uint32_t sum;
    tern_inflate *inflate; // NULL: nothing is packed
} source;

static tern_status refuse(const source *s, const char *why)
{
    return tern_error_raise(TERN_ERR_FORMAT, "%s: the elements of \"%.200s\" in %s %s",
                            s->c->file->op, s->what, s->c->file->path, why);
}

static tern_status take(source *s, void *data, int64_t nbytes)
{
    if (s->inflate)
        TERN_TRY(tern_inflate_read(s->inflate, data, nbytes));
    else
        TERN_TRY(tern_file_read_at(s->c->file, s->storage->at + s->done, data, (size_t)nbytes));
    s->done += nbytes;
    if (s->storage->checksum == TERN_CHECKSUM_CRC32)
        s->sum = (uint32_t)crc32(s->sum, data, (uInt)nbytes);
    if (s->storage->checksum == TERN_CHECKSUM_CRC32C)
        s->sum = tern_crc32c(s->sum, data, (size_t)nbytes);
    return TERN_OK;
}

int64_t tern_elements_find_no_bool(const unsigned char *bytes, int64_t nbytes)
{
    for (int64_t i = 0; i < nbytes; i++)
        if (bytes[i] > 1)
            return i;
    return -1;
}

static tern_status check_bools(const source *s, const unsigned char *chunk, int64_t nbytes)
{
    if (s->storage->dtype != TERN_BOOL)
        return TERN_OK;
    const int64_t at = tern_elements_find_no_bool(chunk, nbytes);
    TERN_CHECK(at < 0, TERN_ERR_FORMAT,
               "%s: element %lld of \"%.200s\" in %s is the bool %d, not 0 or 1", s->c->file->op,
               (long long)(s->done - nbytes - s->storage->skip + at), s->what, s->c->file->path,
               chunk[at]);
    return TERN_OK;
}

void tern_elements_swap(unsigned char *bytes, int64_t nbytes, size_t size)
{
    for (int64_t i = 0; i < nbytes; i += (int64_t)size)
        for (size_t a = 0, b = size - 1; a < b; a++, b--) {
            const unsigned char byte = bytes[i + (int64_t)a];
            bytes[i + (int64_t)a] = bytes[i + (int64_t)b];
            bytes[i + (int64_t)b] = byte;
        }
}

// To `data`, or through `scratch` of SCRATCH bytes where that is NULL.
static tern_status take_elements(source *s, unsigned char *data, unsigned char *scratch)
{
    const int64_t all = s->storage->skip + s->storage->nbytes;
    while (s->done < all) {
        const bool skipped = s->done < s->storage->skip;
        const int64_t left = (skipped ? s->storage->skip : all) - s->done;
        const int64_t chunk = skipped || !data ? SCRATCH : CHUNK;
        const int64_t nbytes = left < chunk ? left : chunk;
        unsigned char *to = skipped || !data ? scratch : data + (s->done - s->storage->skip);
        TERN_TRY(take(s, to, nbytes));
        if (!skipped)
            TERN_TRY(check_bools(s, to, nbytes));
    }
    if (s->storage->checksum && s->sum != s->storage->sum)
        return refuse(s, "are damaged: the checksum does not fit");
    if (data && s->storage->swapped)
        tern_elements_swap(data, s->storage->nbytes, tern_dtype_size(s->storage->dtype));
    return TERN_OK;
}

static tern_status take_packed(source *s, unsigned char *data, unsigned char *scratch)
{
    tern_inflate stream;
    TERN_TRY(tern_inflate_begin(&stream, s->c->file, s->what, s->storage->at, s->storage->packed));
    s->inflate = &stream;
    tern_status status = take_elements(s, data, scratch);
    if (!status)
        status = tern_inflate_finish(&stream);
    tern_inflate_end(&stream);
    return status;
}

tern_status tern_archive_read_storage(const tern_archive *archive, const tern_file_storage *storage,
                                      const char *what, void *data)
{
    source s = {.c = archive, .storage = storage, .what = what};
    const bool scratched = (!data && storage->nbytes > 0) || storage->skip > 0;
    unsigned char *scratch = scratched ? tern_mem_alloc(SCRATCH) : NULL;
    if (scratched && !scratch)
        return TERN_ERR_NOMEM;
    tern_status status =
        storage->deflated ? take_packed(&s, data, scratch) : take_elements(&s, data, scratch);
    tern_mem_free(scratch, scratched ? SCRATCH : 0);
    return status;
}
