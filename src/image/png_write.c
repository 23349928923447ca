// SPDX-License-Identifier: Apache-2.0
// PNG (ISO/IEC 15948): 8 bits a channel, no interlacing; each row by the filter whose residuals
// are the least in sum, as the standard's clause 12.8 advises.
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "image/image.h"
#include "io/zlib_memory.h"

#define FILTERS     5
#define CHUNK_BYTES 65536 // of an IDAT

typedef struct writer {
    const char *op;
    const tern_pixels *pixels;
    tern_image_bytes *to;
    z_stream z;
    size_t row_nbytes;
    uint8_t *rows; // (FILTERS + 1, 1 + row_nbytes): a row by each filter, and zeros
    uint8_t *chunk;
} writer;

static void put_big(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (24 - 8 * i));
}

static tern_status put_chunk(writer *w, const char type[4], const uint8_t *data, size_t nbytes)
{
    uint8_t word[8];
    put_big(word, (uint32_t)nbytes);
    memcpy(word + 4, type, 4);
    TERN_TRY(tern_image_bytes_add(w->to, word, 8));
    TERN_TRY(tern_image_bytes_add(w->to, data, nbytes));
    const uLong sum = crc32(crc32(0, word + 4, 4), data, (uInt)nbytes);
    put_big(word, (uint32_t)sum);
    return tern_image_bytes_add(w->to, word, 4);
}

static tern_status put_header(writer *w)
{
    static const uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    static const uint8_t color_types[] = {[1] = 0, [2] = 4, [3] = 2, [4] = 6};
    uint8_t header[13] = {0};
    put_big(header, (uint32_t)w->pixels->width);
    put_big(header + 4, (uint32_t)w->pixels->height);
    header[8] = 8;
    header[9] = color_types[w->pixels->channels];
    TERN_TRY(tern_image_bytes_add(w->to, signature, sizeof signature));
    return put_chunk(w, "IHDR", header, sizeof header);
}

// ---- filters ------------------------------------------------------------------------------------

// The neighbour that left + above - above_left is nearest to.
static int paeth(int left, int above, int above_left)
{
    const int to_left = abs(above - above_left), to_above = abs(left - above_left);
    const int to_corner = abs(left + above - 2 * above_left);
    if (to_left <= to_above && to_left <= to_corner)
        return left;
    return to_above <= to_corner ? above : above_left;
}

static int predict(int filter, int left, int above, int above_left)
{
    switch (filter) {
    case 1:
        return left;
    case 2:
        return above;
    case 3:
        return (left + above) / 2;
    case 4:
        return paeth(left, above, above_left);
    }
    return 0;
}

// The residuals of a row behind the number of their filter. Returns their sum as signed bytes.
static uint64_t filter_row(uint8_t *out, int filter, const uint8_t *row, const uint8_t *above,
                           size_t nbytes, size_t channels)
{
    uint64_t sum = 0;
    *out++ = (uint8_t)filter;
    for (size_t i = 0; i < nbytes; i++) {
        const int left = i < channels ? 0 : row[i - channels];
        const int corner = i < channels ? 0 : above[i - channels];
        out[i] = (uint8_t)(row[i] - predict(filter, left, above[i], corner));
        sum += (uint64_t)abs((int8_t)out[i]);
    }
    return sum;
}

static uint8_t *best_row(writer *w, int64_t y)
{
    const size_t size = w->row_nbytes, channels = (size_t)w->pixels->channels;
    const uint8_t *row = w->pixels->data + (size_t)y * size;
    const uint8_t *above = y > 0 ? row - size : w->rows + FILTERS * (1 + size);
    int best = 0;
    uint64_t least = UINT64_MAX;
    for (int filter = 0; filter < FILTERS; filter++) {
        uint8_t *out = w->rows + (size_t)filter * (1 + size);
        const uint64_t sum = filter_row(out, filter, row, above, size, channels);
        if (sum < least) {
            least = sum;
            best = filter;
        }
    }
    return w->rows + (size_t)best * (1 + size);
}

// ---- the stream ---------------------------------------------------------------------------------

// Compresses what is in the stream; full buffers become chunks, at the end all that is left.
static tern_status deflate_into_chunks(writer *w, int flush)
{
    for (;;) {
        const int result = deflate(&w->z, flush);
        if (w->z.avail_out > 0 && result != Z_STREAM_END)
            return TERN_OK;
        TERN_TRY(put_chunk(w, "IDAT", w->chunk, CHUNK_BYTES - w->z.avail_out));
        w->z.next_out = w->chunk;
        w->z.avail_out = CHUNK_BYTES;
        if (result == Z_STREAM_END)
            return TERN_OK;
    }
}

static tern_status put_rows(writer *w)
{
    w->z.next_out = w->chunk;
    w->z.avail_out = CHUNK_BYTES;
    for (int64_t y = 0; y < w->pixels->height; y++) {
        w->z.next_in = best_row(w, y);
        w->z.avail_in = (uInt)(1 + w->row_nbytes);
        TERN_TRY(deflate_into_chunks(w, Z_NO_FLUSH));
    }
    return deflate_into_chunks(w, Z_FINISH);
}

static tern_status put_data(writer *w)
{
    w->z = (z_stream){.zalloc = tern_zlib_alloc, .zfree = tern_zlib_free};
    if (deflateInit(&w->z, Z_DEFAULT_COMPRESSION) != Z_OK)
        return tern_error_pending() ? TERN_ERR_NOMEM
                                    : tern_error_raise(TERN_ERR_NOMEM, "%s: zlib failed", w->op);
    tern_status status = put_rows(w);
    deflateEnd(&w->z);
    return status;
}

static tern_status put_all(writer *w)
{
    if (!w->rows || !w->chunk)
        return TERN_ERR_NOMEM;
    TERN_TRY(put_header(w));
    TERN_TRY(put_data(w));
    return put_chunk(w, "IEND", (const uint8_t *)"", 0);
}

tern_status tern_png_encode(const char *op, const tern_pixels *pixels, tern_image_bytes *to)
{
    writer w = {.op = op, .pixels = pixels, .to = to};
    w.row_nbytes = (size_t)pixels->width * (size_t)pixels->channels;
    const size_t rows_nbytes = (FILTERS + 1) * (1 + w.row_nbytes);
    w.rows = tern_mem_alloc(rows_nbytes);
    w.chunk = tern_mem_alloc(CHUNK_BYTES);
    tern_status status = put_all(&w);
    tern_mem_free(w.rows, rows_nbytes);
    tern_mem_free(w.chunk, CHUNK_BYTES);
    return status;
}
