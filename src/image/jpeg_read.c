// SPDX-License-Identifier: Apache-2.0
// JPEG through libjpeg-turbo. Its errors leave by longjmp, to one place, where what it took is
// freed; its warnings are not shown. DCT and upsampling are libjpeg's defaults, whose bits every
// version of libjpeg-turbo gives.
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

#include "base/mem.h"
#include "image/image.h"

// More scans than a progressive image has any use for: each goes over the whole image.
#define MAX_SCANS  500
#define EXIF       "Exif\0\0"
#define EXIF_BYTES 6

// In one struct, which a longjmp leaves as it is.
typedef struct reader {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    const tern_image_source *from;
    const tern_image_form *form;
    tern_pixels *pixels;
    uint8_t *cmyk; // a row
    size_t cmyk_nbytes;
    int orientation;
    bool ended; // it was asked for bytes behind the last one
    char reason[JMSG_LENGTH_MAX];
    jmp_buf jump;
} reader;

const char *tern_jpeg_reason(void)
{
    return NULL;
}

// ---- what libjpeg calls -------------------------------------------------------------------------

static void on_error(j_common_ptr jpeg)
{
    reader *r = jpeg->client_data;
    jpeg->err->format_message(jpeg, r->reason);
    longjmp(r->jump, 1);
}

static void on_message(j_common_ptr jpeg, int level)
{
    (void)jpeg;
    (void)level;
}

static void on_progress(j_common_ptr jpeg)
{
    reader *r = jpeg->client_data;
    if (r->jpeg.input_scan_number <= MAX_SCANS)
        return;
    snprintf(r->reason, sizeof r->reason, "it has more than %d scans", MAX_SCANS);
    longjmp(r->jump, 1);
}

static void do_nothing(j_decompress_ptr jpeg)
{
    (void)jpeg;
}

static boolean fill(j_decompress_ptr jpeg)
{
    reader *r = jpeg->client_data;
    r->ended = true;
    longjmp(r->jump, 1);
}

static void skip(j_decompress_ptr jpeg, long nbytes)
{
    if (nbytes <= 0)
        return;
    if ((size_t)nbytes > jpeg->src->bytes_in_buffer)
        (void)fill(jpeg);
    jpeg->src->next_input_byte += nbytes;
    jpeg->src->bytes_in_buffer -= (size_t)nbytes;
}

static void prepare(reader *r)
{
    r->jpeg.err = jpeg_std_error(&r->errors);
    r->errors.error_exit = on_error;
    r->errors.emit_message = on_message;
    r->source = (struct jpeg_source_mgr){.next_input_byte = r->from->bytes,
                                         .bytes_in_buffer = r->from->nbytes,
                                         .init_source = do_nothing,
                                         .fill_input_buffer = fill,
                                         .skip_input_data = skip,
                                         .resync_to_restart = jpeg_resync_to_restart,
                                         .term_source = do_nothing};
    r->progress.progress_monitor = on_progress;
}

// ---- the header ---------------------------------------------------------------------------------

static tern_status choose_colors(reader *r)
{
    static const J_COLOR_SPACE spaces[] = {[1] = JCS_GRAYSCALE, [3] = JCS_RGB, [4] = JCS_CMYK};
    const int channels = r->jpeg.num_components;
    TERN_CHECK(channels == 1 || channels == 3 || channels == 4, TERN_ERR_FORMAT,
               "%s: %s is a JPEG file of %d channels, but grey, color and CMYK are read",
               r->from->op, r->from->name, channels);
    r->jpeg.out_color_space = spaces[channels];
    return TERN_OK;
}

static tern_status read_header(reader *r)
{
    if (r->form->exif)
        jpeg_save_markers(&r->jpeg, JPEG_APP0 + 1, 0xFFFF);
    (void)jpeg_read_header(&r->jpeg, TRUE);
    TERN_TRY(tern_image_check_size(r->from, r->form, r->jpeg.image_height, r->jpeg.image_width));
    return choose_colors(r);
}

static int orientation_of(const reader *r)
{
    for (jpeg_saved_marker_ptr m = r->jpeg.marker_list; m; m = m->next)
        if (m->data_length > EXIF_BYTES && memcmp(m->data, EXIF, EXIF_BYTES) == 0)
            return tern_exif_orientation(m->data + EXIF_BYTES, m->data_length - EXIF_BYTES);
    return 1;
}

// ---- pixels -------------------------------------------------------------------------------------

// a * b / 255, rounded as PIL does.
static int scale(int a, int b)
{
    const int product = a * b + 128;
    return ((product >> 8) + product) >> 8;
}

// Of inks that are stored inverted, which PIL takes them all for.
static void convert_cmyk(uint8_t *rgb, const uint8_t *cmyk, int64_t width)
{
    for (int64_t x = 0; x < width; x++, rgb += 3, cmyk += 4)
        for (int c = 0; c < 3; c++)
            rgb[c] = (uint8_t)(cmyk[3] - scale(255 - cmyk[c], cmyk[3]));
}

static tern_status alloc_rows(reader *r)
{
    const bool cmyk = r->jpeg.out_color_space == JCS_CMYK;
    TERN_TRY(tern_pixels_alloc(r->pixels, r->jpeg.output_height, r->jpeg.output_width,
                               cmyk ? 3 : r->jpeg.output_components));
    if (!cmyk)
        return TERN_OK;
    r->cmyk_nbytes = 4 * (size_t)r->jpeg.output_width;
    r->cmyk = tern_cache_alloc(r->cmyk_nbytes);
    return r->cmyk ? TERN_OK : TERN_ERR_NOMEM;
}

static void read_rows(reader *r)
{
    const size_t row_nbytes = (size_t)r->pixels->width * (size_t)r->pixels->channels;
    while (r->jpeg.output_scanline < r->jpeg.output_height) {
        uint8_t *row = r->pixels->data + r->jpeg.output_scanline * row_nbytes;
        JSAMPROW to = r->cmyk ? r->cmyk : row;
        if (jpeg_read_scanlines(&r->jpeg, &to, 1) && r->cmyk)
            convert_cmyk(row, r->cmyk, r->pixels->width);
    }
}

static tern_status failure(const reader *r)
{
    const tern_image_source *from = r->from;
    TERN_CHECK(!r->ended, TERN_ERR_FORMAT, "%s: %s ends within its JPEG data, at byte %zu",
               from->op, from->name, from->nbytes);
    TERN_CHECK(r->errors.msg_code != JERR_OUT_OF_MEMORY, TERN_ERR_NOMEM,
               "%s: no memory to decode %s", from->op, from->name);
    return tern_error_raise(TERN_ERR_FORMAT, "%s: %s is a JPEG file that cannot be read: %s",
                            from->op, from->name, r->reason);
}

static tern_status read_image(reader *r)
{
    if (setjmp(r->jump))
        return failure(r);
    jpeg_create_decompress(&r->jpeg);
    r->jpeg.client_data = r;
    r->jpeg.src = &r->source;
    r->jpeg.progress = &r->progress;
    TERN_TRY(read_header(r));
    r->orientation = orientation_of(r); // the markers go with the last row
    (void)jpeg_start_decompress(&r->jpeg);
    TERN_TRY(alloc_rows(r));
    read_rows(r);
    (void)jpeg_finish_decompress(&r->jpeg);
    return TERN_OK;
}

tern_status tern_jpeg_read(const tern_image_source *source, const tern_image_form *form,
                           tern_pixels *pixels, int *orientation)
{
    reader r = {.from = source, .form = form, .pixels = pixels, .orientation = 1};
    r.jpeg.client_data = &r;
    prepare(&r);
    tern_status status = read_image(&r);
    *orientation = r.orientation;
    jpeg_destroy_decompress(&r.jpeg);
    tern_cache_free(r.cmyk, r.cmyk_nbytes);
    return status;
}
