// SPDX-License-Identifier: Apache-2.0
// PNG through libpng's classic interface. Its errors leave by longjmp, to one place; its memory is
// tern's, and what it takes is freed there.
#include <png.h>
#include <setjmp.h>
#include <string.h>

#include "base/mem.h"
#include "image/image.h"
#include "io/zlib_memory.h"

#define SIGNATURE_BYTES 8
#define HEADER_BYTES    33 // signature and IHDR
#define CHUNK_LIMIT     (1 << 20)

// In one struct, which a longjmp leaves as it is.
typedef struct reader {
    const tern_image_source *source;
    const tern_image_form *form;
    tern_pixels *pixels;
    png_structp png;
    png_infop info;
    size_t at;  // the next byte to read
    bool ended; // it was asked for bytes behind the last one
    bool no_memory;
    bool deep; // 16 bits a sample are kept, two bytes each
    png_bytep *rows;
    size_t rows_nbytes;
    png_bytep deep_data; // (height, width, samples) of 2 bytes
    size_t deep_nbytes;
    char reason[128];
    jmp_buf jump;
} reader;

const char *tern_png_reason(void)
{
    return NULL;
}

// ---- what libpng calls --------------------------------------------------------------------------

static PNG_FUNCTION(void, on_error, (png_structp png, png_const_charp sentence), PNG_NORETURN)
{
    reader *r = png_get_error_ptr(png);
    snprintf(r->reason, sizeof r->reason, "%s", sentence);
    longjmp(r->jump, 1);
}

static void on_warning(png_structp png, png_const_charp sentence)
{
    (void)png;
    (void)sentence;
}

static png_voidp on_malloc(png_structp png, png_alloc_size_t nbytes)
{
    reader *r = png_get_mem_ptr(png);
    if (nbytes > TERN_ZLIB_LARGEST)
        return NULL;
    void *memory = tern_zlib_alloc(NULL, 1, (uInt)nbytes);
    r->no_memory = r->no_memory || !memory;
    return memory;
}

static void on_free(png_structp png, png_voidp memory)
{
    (void)png;
    if (memory)
        tern_zlib_free(NULL, memory);
}

static void on_read(png_structp png, png_bytep to, size_t nbytes)
{
    reader *r = png_get_io_ptr(png);
    r->ended = nbytes > r->source->nbytes - r->at;
    if (r->ended)
        png_error(png, "it ends");
    memcpy(to, r->source->bytes + r->at, nbytes);
    r->at += nbytes;
}

// ---- the header ---------------------------------------------------------------------------------

static uint32_t big(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// Before libpng sees it: no memory is taken for what is refused. Deflate packs at most 1032 to 1,
// and the passes of an interlaced image have no fewer rows and bytes than the image itself.
static tern_status check_header(const tern_image_source *source, const tern_image_form *form)
{
    const uint8_t *bytes = source->bytes;
    TERN_CHECK(source->nbytes >= HEADER_BYTES, TERN_ERR_FORMAT, "%s: %s ends within its PNG header",
               source->op, source->name);
    TERN_CHECK(memcmp(bytes + 12, "IHDR", 4) == 0, TERN_ERR_FORMAT,
               "%s: %s is a damaged PNG file: it does not begin with a header", source->op,
               source->name);
    const uint32_t width = big(bytes + 16), height = big(bytes + 20);
    TERN_TRY(tern_image_check_size(source, form, height, width));
    const uint64_t rows = (uint64_t)height * (1 + ((uint64_t)width * bytes[24] + 7) / 8);
    TERN_CHECK(rows / 1032 <= source->nbytes, TERN_ERR_FORMAT,
               "%s: %s claims %u x %u pixels, more than its %zu bytes can hold", source->op,
               source->name, width, height, source->nbytes);
    return TERN_OK;
}

// The orientation in an eXIf chunk; libpng reads none.
static int find_orientation(const tern_image_source *source)
{
    size_t at = SIGNATURE_BYTES;
    while (source->nbytes - at >= 12) {
        const uint8_t *chunk = source->bytes + at;
        const size_t nbytes = big(chunk);
        if (nbytes > source->nbytes - at - 12)
            break;
        if (memcmp(chunk + 4, "eXIf", 4) == 0)
            return tern_exif_orientation(chunk + 8, nbytes);
        at += 12 + nbytes;
    }
    return 1;
}

// ---- pixels -------------------------------------------------------------------------------------

static void start(reader *r)
{
    png_set_read_fn(r->png, r, on_read);
    png_set_user_limits(r->png, TERN_IMAGE_MAX_SIDE, TERN_IMAGE_MAX_SIDE);
    png_set_chunk_malloc_max(r->png, CHUNK_LIMIT);
    png_set_crc_action(r->png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
    // Of the chunks that an image can do without only tRNS is read.
    png_set_keep_unknown_chunks(r->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_read_info(r->png, r->info);
}

// 8 bits a sample, no palette, alpha where it is wanted.
static void set_transforms(reader *r)
{
    const png_byte color = png_get_color_type(r->png, r->info);
    const png_byte depth = png_get_bit_depth(r->png, r->info);
    const bool alpha = r->form->channels == 0 || r->form->channels == 4;
    r->deep = color == PNG_COLOR_TYPE_GRAY && depth == 16;
    if (color == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(r->png);
    else if (color == PNG_COLOR_TYPE_GRAY && depth < 8)
        png_set_expand_gray_1_2_4_to_8(r->png);
    else if (depth == 16 && !r->deep)
        png_set_strip_16(r->png);
    if (alpha && png_get_valid(r->png, r->info, PNG_INFO_tRNS))
        png_set_tRNS_to_alpha(r->png);
    if (!alpha)
        png_set_strip_alpha(r->png);
    (void)png_set_interlace_handling(r->png);
    png_read_update_info(r->png, r->info);
}

static tern_status alloc_rows(reader *r)
{
    const png_uint_32 height = png_get_image_height(r->png, r->info);
    const png_uint_32 width = png_get_image_width(r->png, r->info);
    const int channels = png_get_channels(r->png, r->info);
    const size_t row = png_get_rowbytes(r->png, r->info);
    TERN_TRY(tern_pixels_alloc(r->pixels, height, width, channels));
    r->rows_nbytes = height * sizeof *r->rows;
    r->rows = tern_cache_alloc(r->rows_nbytes);
    if (r->deep) {
        r->deep_nbytes = height * row;
        r->deep_data = tern_cache_alloc(r->deep_nbytes);
    }
    if (!r->rows || (r->deep && !r->deep_data))
        return TERN_ERR_NOMEM;
    for (png_uint_32 y = 0; y < height; y++)
        r->rows[y] = (r->deep ? r->deep_data : r->pixels->data) + y * row;
    return TERN_OK;
}

// As PIL: grey of 16 bits is cut at 255, alpha has its upper 8.
static void narrow(const reader *r)
{
    const int channels = r->pixels->channels;
    for (size_t i = 0; i < r->pixels->nbytes; i++) {
        const png_byte *sample = r->deep_data + 2 * i;
        const bool is_alpha = channels == 2 && i % 2 == 1;
        r->pixels->data[i] = is_alpha || sample[0] == 0 ? sample[is_alpha ? 0 : 1] : 255;
    }
}

static tern_status failure(const reader *r)
{
    const tern_image_source *s = r->source;
    if (r->no_memory)
        return TERN_ERR_NOMEM;
    TERN_CHECK(!r->ended, TERN_ERR_FORMAT, "%s: %s ends within its PNG data, at byte %zu", s->op,
               s->name, s->nbytes);
    return tern_error_raise(TERN_ERR_FORMAT, "%s: %s is a damaged PNG file: %s", s->op, s->name,
                            r->reason);
}

// Nothing here is in a variable of its own that a longjmp could make stale.
static tern_status read_image(reader *r)
{
    if (setjmp(r->jump))
        return failure(r);
    r->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, r, on_error, on_warning, r, on_malloc,
                                      on_free);
    r->info = r->png ? png_create_info_struct(r->png) : NULL;
    if (!r->info)
        return failure(r);
    start(r);
    set_transforms(r);
    TERN_TRY(alloc_rows(r));
    png_read_image(r->png, r->rows);
    png_read_end(r->png, NULL);
    if (r->deep)
        narrow(r);
    return TERN_OK;
}

tern_status tern_png_read(const tern_image_source *source, const tern_image_form *form,
                          tern_pixels *pixels, int *orientation)
{
    TERN_TRY(check_header(source, form));
    reader r = {.source = source, .form = form, .pixels = pixels, .reason = "it cannot be read"};
    tern_status status = read_image(&r);
    png_destroy_read_struct(&r.png, &r.info, NULL);
    tern_cache_free(r.rows, r.rows_nbytes);
    tern_cache_free(r.deep_data, r.deep_nbytes);
    *orientation = !status && form->exif ? find_orientation(source) : 1;
    return status;
}
