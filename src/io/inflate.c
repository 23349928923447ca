// SPDX-License-Identifier: Apache-2.0
#include "io/inflate.h"

tern_status tern_inflate_begin(tern_inflate *s, tern_file *file, const char *what, int64_t at,
                               int64_t packed)
{
    s->file = file;
    s->what = what;
    s->at = at;
    s->left = packed;
    s->ended = false;
    s->z = (z_stream){.zalloc = tern_zlib_alloc, .zfree = tern_zlib_free};
    TERN_CHECK(inflateInit2(&s->z, -MAX_WBITS) == Z_OK, TERN_ERR_NOMEM,
               "%s: no memory to unpack %s", file->op, file->path);
    return TERN_OK;
}

// Fills the buffer when it is empty; at the end of the range it stays so.
static tern_status refill(tern_inflate *s)
{
    if (s->z.avail_in > 0 || s->left == 0)
        return TERN_OK;
    const size_t nbytes = s->left < TERN_INFLATE_BUFFER ? (size_t)s->left : TERN_INFLATE_BUFFER;
    TERN_TRY(tern_file_read_at(s->file, s->at, s->buffer, nbytes));
    s->at += (int64_t)nbytes;
    s->left -= (int64_t)nbytes;
    s->z.next_in = s->buffer;
    s->z.avail_in = (uInt)nbytes;
    return TERN_OK;
}

// Unpacks into z.next_out from what the buffer has. Without any input there may still be output.
static tern_status unpack(tern_inflate *s)
{
    TERN_TRY(refill(s));
    const int result = inflate(&s->z, Z_NO_FLUSH);
    s->ended = result == Z_STREAM_END;
    TERN_CHECK(result != Z_MEM_ERROR, TERN_ERR_NOMEM, "%s: no memory to unpack %s", s->file->op,
               s->file->path);
    TERN_CHECK(result != Z_BUF_ERROR, TERN_ERR_FORMAT,
               "%s: %s of %s is truncated: its deflated data goes on after its end", s->file->op,
               s->what, s->file->path);
    TERN_CHECK(result == Z_OK || result == Z_STREAM_END, TERN_ERR_FORMAT,
               "%s: %s of %s is damaged: %s", s->file->op, s->what, s->file->path,
               s->z.msg ? s->z.msg : "its deflated data makes no sense");
    return TERN_OK;
}

tern_status tern_inflate_read(tern_inflate *s, void *data, int64_t nbytes)
{
    for (int64_t done = 0; done < nbytes;) {
        TERN_CHECK(!s->ended, TERN_ERR_FORMAT,
                   "%s: %s of %s unpacks to fewer bytes than its size says", s->file->op, s->what,
                   s->file->path);
        const int64_t left = nbytes - done;
        const uInt space = left < TERN_ZLIB_LARGEST ? (uInt)left : TERN_ZLIB_LARGEST;
        s->z.next_out = (unsigned char *)data + done;
        s->z.avail_out = space;
        TERN_TRY(unpack(s));
        done += space - s->z.avail_out;
    }
    return TERN_OK;
}

tern_status tern_inflate_finish(tern_inflate *s)
{
    unsigned char more;
    while (!s->ended) {
        s->z.next_out = &more;
        s->z.avail_out = 1;
        TERN_TRY(unpack(s));
        TERN_CHECK(s->z.avail_out == 1, TERN_ERR_FORMAT,
                   "%s: %s of %s unpacks to more bytes than its size says", s->file->op, s->what,
                   s->file->path);
    }
    TERN_CHECK(s->left == 0 && s->z.avail_in == 0, TERN_ERR_FORMAT,
               "%s: %s of %s has other bytes after its deflated data", s->file->op, s->what,
               s->file->path);
    return TERN_OK;
}

void tern_inflate_end(tern_inflate *s)
{
    inflateEnd(&s->z);
}
