// SPDX-License-Identifier: Apache-2.0
#include "io/gzip.h"

#include <string.h>
#include "io/zlib_memory.h"

// Fills the empty buffer; at the end of the file `have` stays 0.
static tern_status refill(tern_gzip *s)
{
    s->at = 0;
    return tern_file_read(&s->file, s->buffer, sizeof s->buffer, &s->have);
}

static tern_status no_memory(const tern_gzip *s)
{
    return tern_error_raise(TERN_ERR_NOMEM, "%s: no memory to unpack %s", s->file.op, s->file.path);
}

static tern_status start(tern_gzip *s)
{
    TERN_TRY(refill(s));
    s->zipped = s->have >= 2 && s->buffer[0] == 0x1f && s->buffer[1] == 0x8b;
    if (!s->zipped)
        return TERN_OK;
    s->in_member = true;
    s->z = (z_stream){.zalloc = tern_zlib_alloc, .zfree = tern_zlib_free};
    return inflateInit2(&s->z, 16 + MAX_WBITS) == Z_OK ? TERN_OK : no_memory(s);
}

tern_status tern_gzip_open(tern_gzip *s, const char *op, const char *path)
{
    s->zipped = s->in_member = false;
    s->at = s->have = 0;
    TERN_TRY(tern_file_open(&s->file, op, path));
    tern_status status = start(s);
    if (status)
        tern_file_close(&s->file);
    return status;
}

void tern_gzip_close(tern_gzip *s)
{
    if (s->zipped)
        inflateEnd(&s->z);
    tern_file_close(&s->file);
}

// What `inflate` said, between members aside.
static tern_status check(tern_gzip *s, int result)
{
    if (result == Z_MEM_ERROR)
        return no_memory(s);
    TERN_CHECK(result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR, TERN_ERR_FORMAT,
               "%s: %s is a damaged gzip file: %s", s->file.op, s->file.path,
               s->z.msg ? s->z.msg : "it wants a preset dictionary");
    return TERN_OK;
}

// Unpacks into z.next_out from what the buffer has.
static tern_status inflate_some(tern_gzip *s)
{
    TERN_CHECK(s->have > 0, TERN_ERR_FORMAT,
               "%s: %s is a truncated gzip file: it ends before its data does", s->file.op,
               s->file.path);
    s->z.next_in = s->buffer + s->at;
    s->z.avail_in = (uInt)s->have;
    int result = inflate(&s->z, Z_NO_FLUSH);
    s->at += s->have - s->z.avail_in;
    s->have = s->z.avail_in;
    s->in_member = result != Z_STREAM_END;
    return check(s, result);
}

// Begins the next member, if there is one.
static tern_status next_member(tern_gzip *s)
{
    if (s->have == 0)
        return TERN_OK;
    TERN_CHECK(s->buffer[s->at] == 0x1f, TERN_ERR_FORMAT,
               "%s: %s has other bytes after its gzip data (the first is 0x%02x)", s->file.op,
               s->file.path, s->buffer[s->at]);
    s->in_member = true;
    return inflateReset(&s->z) == Z_OK ? TERN_OK : no_memory(s);
}

static tern_status read_zipped(tern_gzip *s, void *data, size_t nbytes, size_t *got)
{
    *got = 0;
    while (*got < nbytes) {
        if (s->have == 0)
            TERN_TRY(refill(s));
        if (!s->in_member)
            TERN_TRY(next_member(s));
        if (!s->in_member)
            return TERN_OK;
        size_t space = nbytes - *got < TERN_ZLIB_LARGEST ? nbytes - *got : TERN_ZLIB_LARGEST;
        s->z.next_out = (unsigned char *)data + *got;
        s->z.avail_out = (uInt)space;
        TERN_TRY(inflate_some(s));
        *got += space - s->z.avail_out;
    }
    return TERN_OK;
}

static tern_status read_plain(tern_gzip *s, void *data, size_t nbytes, size_t *got)
{
    size_t buffered = nbytes < s->have ? nbytes : s->have;
    memcpy(data, s->buffer + s->at, buffered);
    s->at += buffered;
    s->have -= buffered;
    tern_status status = tern_file_read(&s->file, (char *)data + buffered, nbytes - buffered, got);
    *got += buffered;
    return status;
}

tern_status tern_gzip_read(tern_gzip *s, void *data, size_t nbytes, size_t *got)
{
    return s->zipped ? read_zipped(s, data, nbytes, got) : read_plain(s, data, nbytes, got);
}
