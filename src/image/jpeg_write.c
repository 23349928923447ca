// SPDX-License-Identifier: Apache-2.0
// JPEG through libjpeg-turbo: baseline, chroma 4:2:0, as PIL writes it.
#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>
#include <jerror.h>

#include "image/image.h"

#define BUFFER_BYTES 16384

// In one struct, which a longjmp leaves as it is.
typedef struct writer {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr destination;
    const char *op;
    const tern_pixels *pixels;
    int quality;
    tern_image_bytes *to;
    bool full; // there is no memory for more bytes
    char reason[JMSG_LENGTH_MAX];
    uint8_t buffer[BUFFER_BYTES];
    jmp_buf jump;
} writer;

// ---- what libjpeg calls -------------------------------------------------------------------------

static void on_error(j_common_ptr jpeg)
{
    writer *w = jpeg->client_data;
    jpeg->err->format_message(jpeg, w->reason);
    longjmp(w->jump, 1);
}

static void on_message(j_common_ptr jpeg, int level)
{
    (void)jpeg;
    (void)level;
}

static void start_buffer(j_compress_ptr jpeg)
{
    writer *w = jpeg->client_data;
    w->destination.next_output_byte = w->buffer;
    w->destination.free_in_buffer = BUFFER_BYTES;
}

static void put(writer *w, size_t nbytes)
{
    w->full = tern_image_bytes_add(w->to, w->buffer, nbytes) != TERN_OK;
    if (w->full)
        longjmp(w->jump, 1);
}

static boolean empty_buffer(j_compress_ptr jpeg)
{
    put(jpeg->client_data, BUFFER_BYTES);
    start_buffer(jpeg);
    return TRUE;
}

static void end_buffer(j_compress_ptr jpeg)
{
    writer *w = jpeg->client_data;
    put(w, BUFFER_BYTES - w->destination.free_in_buffer);
}

// ---- the image ----------------------------------------------------------------------------------

static void set_form(writer *w)
{
    w->jpeg.client_data = w;
    w->jpeg.dest = &w->destination;
    w->jpeg.image_height = (JDIMENSION)w->pixels->height;
    w->jpeg.image_width = (JDIMENSION)w->pixels->width;
    w->jpeg.input_components = w->pixels->channels;
    w->jpeg.in_color_space = w->pixels->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&w->jpeg);
    jpeg_set_quality(&w->jpeg, w->quality, TRUE);
}

static void put_rows(writer *w)
{
    const size_t row_nbytes = (size_t)w->pixels->width * (size_t)w->pixels->channels;
    while (w->jpeg.next_scanline < w->jpeg.image_height) {
        JSAMPROW row = w->pixels->data + w->jpeg.next_scanline * row_nbytes;
        (void)jpeg_write_scanlines(&w->jpeg, &row, 1);
    }
}

static tern_status failure(const writer *w)
{
    if (w->full)
        return TERN_ERR_NOMEM;
    TERN_CHECK(w->errors.msg_code != JERR_OUT_OF_MEMORY, TERN_ERR_NOMEM,
               "%s: no memory to encode the image", w->op);
    return tern_error_raise(TERN_ERR_ARG, "%s: the image cannot be a JPEG file: %s", w->op,
                            w->reason);
}

static tern_status encode(writer *w)
{
    if (setjmp(w->jump))
        return failure(w);
    jpeg_create_compress(&w->jpeg);
    set_form(w);
    jpeg_start_compress(&w->jpeg, TRUE);
    put_rows(w);
    jpeg_finish_compress(&w->jpeg);
    return TERN_OK;
}

tern_status tern_jpeg_encode(const char *op, const tern_pixels *pixels, int quality,
                             tern_image_bytes *to)
{
    TERN_CHECK(pixels->channels == 1 || pixels->channels == 3, TERN_ERR_SHAPE,
               "%s: the image has %d channels, but a JPEG file has 1 or 3", op, pixels->channels);
    writer w = {.op = op, .pixels = pixels, .quality = quality, .to = to};
    w.jpeg.client_data = &w;
    w.jpeg.err = jpeg_std_error(&w.errors);
    w.errors.error_exit = on_error;
    w.errors.emit_message = on_message;
    w.destination = (struct jpeg_destination_mgr){.init_destination = start_buffer,
                                                  .empty_output_buffer = empty_buffer,
                                                  .term_destination = end_buffer};
    tern_status status = encode(&w);
    jpeg_destroy_compress(&w.jpeg);
    return status;
}
