// SPDX-License-Identifier: Apache-2.0
// What is no image, or half of one: refused by one sentence, and nothing is left.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "image_test.h"

static const golden_array *file_of(const char *name)
{
    return golden_find_array(golden_find("images", name), "file");
}

// A copy of a stored file, to be changed; freed by the next call.
static uint8_t *copy_of(const char *name, size_t *nbytes)
{
    static uint8_t copy[1 << 16];
    *nbytes = (size_t)file_of(name)->numel;
    assert_true(*nbytes <= sizeof copy);
    memcpy(copy, file_of(name)->data, *nbytes);
    return copy;
}

static void assert_refused(const char *name, const void *bytes, size_t nbytes, tern_status code,
                           const char *words)
{
    assert_null(tern_image_read(write_file(name, bytes, nbytes)));
    assert_error(code, words);
}

// ---- no image -----------------------------------------------------------------------------------

static void a_file_that_is_not_there_or_no_file_is_named(void **state)
{
    (void)state;
    assert_null(tern_image_read(path_of("cat.png")));
    assert_error(TERN_ERR_IO, "/cat.png: No such file or directory");
    assert_null(tern_image_read(directory));
    assert_error(TERN_ERR_IO, "is a directory, not a file");
}

static void a_file_that_is_no_image_is_named(void **state)
{
    (void)state;
    assert_refused("a.png", "", 0, TERN_ERR_FORMAT, "a.png is empty");
    assert_refused("a.png", "x", 1, TERN_ERR_FORMAT, "a.png is no PNG or JPEG file");
    assert_refused("a.png", "GIF89a......", 12, TERN_ERR_FORMAT, "a.png is a GIF file, which tern");
    assert_refused("a.jpg", "RIFF....WEBPVP8 ", 16, TERN_ERR_FORMAT, "a.jpg is a WebP file");
    assert_refused("a.tif", "II*\0........", 12, TERN_ERR_FORMAT, "a.tif is a TIFF file");
    assert_refused("a.bmp", "BM..........", 12, TERN_ERR_FORMAT, "a.bmp is a BMP file");
    assert_refused("a.avif",
                   "\0\0\0\x20"
                   "ftypavif",
                   12, TERN_ERR_FORMAT, "a.avif is an AVIF");
    assert_null(tern_image_decode("x", 1));
    assert_error(TERN_ERR_FORMAT, "image_decode: the image is no PNG or JPEG file");
}

static void bytes_of_a_name_that_are_no_utf8_are_escaped(void **state)
{
    (void)state;
    assert_refused("a\xff\n.png", "x", 1, TERN_ERR_FORMAT, "/a\\xff?.png is no PNG");
}

// ---- formats that the build leaves out ----------------------------------------------------------

static void a_format_that_the_build_leaves_out_is_said(void **state)
{
    (void)state;
    if (tern_image_reason(TERN_IMAGE_PNG))
        assert_refused("cat.png", file_of("png by Pillow RGB")->data, 100, TERN_ERR_UNSUPPORTED,
                       "cat.png is a PNG file, and this build has no libpng (meson -Dpng=enabled)");
    if (tern_image_reason(TERN_IMAGE_JPEG))
        assert_refused("cat.jpg", file_of("jpeg")->data, 100, TERN_ERR_UNSUPPORTED,
                       "cat.jpg is a JPEG file, and this build has no libjpeg-turbo "
                       "(meson -Djpeg=enabled)");
    assert_string_equal(tern_image_reason(TERN_IMAGE_FORMAT_UNSPECIFIED), "it is no format");
}

// ---- damaged files ------------------------------------------------------------------------------

// Up to its last byte: the end of an image is a part of it.
static void assert_every_beginning_is_refused(const char *name)
{
    const golden_array *file = file_of(name);
    for (int64_t nbytes = 0; nbytes < file->numel; nbytes++) {
        if (tern_image_decode(file->data, nbytes))
            fail_msg("%s: %lld bytes are taken for an image", name, (long long)nbytes);
        assert_error(TERN_ERR_FORMAT, nbytes < 8 ? NULL : " ends within its ");
    }
    assert_non_null(tern_image_decode(file->data, file->numel));
}

static void a_truncated_png_is_refused_wherever_it_ends(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    assert_every_beginning_is_refused("png color2 depth8");
    assert_every_beginning_is_refused("png color0 depth16 interlaced");
    assert_every_beginning_is_refused("png palette transparent");
}

static void a_truncated_jpeg_is_refused_wherever_it_ends(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_JPEG);
    assert_every_beginning_is_refused("jpeg");
    assert_every_beginning_is_refused("jpeg progressive");
    assert_every_beginning_is_refused("jpeg cmyk of Adobe");
}

static void a_png_with_a_wrong_bit_is_refused(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    size_t nbytes;
    uint8_t *bytes = copy_of("png with text", &nbytes);
    for (size_t i = 8; i < nbytes; i++) { // the signature says what it is
        bytes[i] ^= 1;
        if (tern_image_decode(bytes, (int64_t)nbytes, .max_pixels = 1000))
            fail_msg("byte %zu does not count", i);
        tern_error_clear();
        bytes[i] ^= 1;
    }
    bytes[nbytes / 2] ^= 1;
    assert_refused("cat.png", bytes, nbytes, TERN_ERR_FORMAT, "cat.png is a damaged PNG file: ");
}

// Every bit: whatever comes of it, memory is given back and no call of exit ends the test.
static void a_jpeg_with_a_wrong_bit_leaves_nothing(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_JPEG);
    size_t nbytes;
    int refused = 0;
    uint8_t *bytes = copy_of("jpeg progressive", &nbytes);
    for (size_t i = 3; i < nbytes; i++) {
        tern_scope inner = tern_scope_open();
        bytes[i] ^= 1 << i % 8;
        refused += !tern_image_decode(bytes, (int64_t)nbytes, .max_pixels = 100000);
        tern_error_clear();
        bytes[i] ^= 1 << i % 8;
        tern_scope_close(inner);
    }
    assert_true(refused > 20);
}

// ---- what a header claims -----------------------------------------------------------------------

static void put_big(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (24 - 8 * i));
}

static void assert_no_png_by(uint8_t interlace, uint32_t width, uint32_t height, tern_status code,
                             const char *words)
{
    size_t nbytes;
    uint8_t *bytes = copy_of("png color2 depth8", &nbytes);
    bytes[28] = interlace;
    put_big(bytes + 16, width);
    put_big(bytes + 20, height);
    put_big(bytes + 29, (uint32_t)crc32(0, bytes + 12, 17));
    const int64_t before = memory.bytes;
    memory.peak = before;
    assert_refused("bomb.png", bytes, nbytes, code, words);
    assert_true(memory.peak - before < (64 << 10) + 4 * (int64_t)nbytes);
}

static void assert_no_png_of(uint32_t width, uint32_t height, tern_status code, const char *words)
{
    assert_no_png_by(0, width, height, code, words);
}

static void a_png_that_claims_more_than_it_can_hold_takes_no_memory(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    assert_no_png_of(10000, 10000, TERN_ERR_ARG,
                     "bomb.png claims 10000 x 10000 pixels, more than the 89478485 of .max_pixels");
    assert_no_png_of(UINT32_MAX, UINT32_MAX, TERN_ERR_ARG, "or than 1000000 on a side");
    assert_no_png_of(1, 1000001, TERN_ERR_ARG, "or than 1000000 on a side");
    assert_no_png_of(9000, 9000, TERN_ERR_FORMAT,
                     "bomb.png claims 9000 x 9000 pixels, more than its");
    assert_no_png_by(1, 9000, 9000, TERN_ERR_FORMAT,
                     "bomb.png claims 9000 x 9000 pixels, more than its");
    assert_no_png_of(0, 5, TERN_ERR_FORMAT, "bomb.png has 0 x 5 pixels");
}

static void a_jpeg_that_claims_too_much_takes_no_memory(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_JPEG);
    size_t nbytes;
    uint8_t *bytes = copy_of("jpeg", &nbytes);
    uint8_t *frame = memmem(bytes, nbytes, "\xff\xc0", 2);
    assert_non_null(frame);
    frame[5] = frame[7] = 0x27; // 10000 is 0x2710
    frame[6] = frame[8] = 0x10;
    memory.peak = memory.bytes;
    const int64_t before = memory.bytes;
    assert_refused("bomb.jpg", bytes, nbytes, TERN_ERR_ARG,
                   "bomb.jpg claims 10000 x 10000 pixels, more than the 89478485 of .max_pixels");
    assert_true(memory.peak - before < (64 << 10) + 4 * (int64_t)nbytes);
}

// A progressive file whose last scan comes again and again.
static void a_jpeg_of_very_many_scans_is_refused(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_JPEG);
    size_t nbytes, at = 0;
    const uint8_t *bytes = copy_of("jpeg progressive", &nbytes);
    for (size_t i = 0; i + 1 < nbytes; i++)
        if (bytes[i] == 0xff && bytes[i + 1] == 0xda)
            at = i;
    const size_t scan = nbytes - 2 - at, total = nbytes + 600 * scan;
    uint8_t *many = malloc(total);
    assert_non_null(many);
    memcpy(many, bytes, nbytes - 2);
    for (int i = 0; i < 600; i++)
        memcpy(many + nbytes - 2 + (size_t)i * scan, bytes + at, scan);
    memcpy(many + total - 2, bytes + nbytes - 2, 2);
    assert_null(tern_image_decode(many, (int64_t)total));
    assert_error(TERN_ERR_FORMAT, "it has more than 500 scans");
    free(many);
}

// ---- memory, and silence ------------------------------------------------------------------------

static void assert_memory_is_needed(const golden_array *file, const char *name)
{
    const char *path = write_file(name, file->data, (size_t)file->numel);
    for (int64_t n = 1;; n++) {
        const int64_t before = memory.bytes;
        tern_scope inner = tern_scope_open();
        fail_nth_allocation(n);
        const tern_tensor *t = tern_image_read(path, .exif = true);
        const bool failed = memory.failed > 0;
        fail_nth_allocation(0);
        if (failed) {
            assert_null(t);
            assert_error(TERN_ERR_NOMEM, "no memory");
        } else {
            assert_non_null(t);
        }
        tern_scope_close(inner);
        assert_int_equal(memory.bytes, before);
        if (!failed) {
            assert_true(n > 3);
            return;
        }
    }
}

static void no_memory_for_an_image_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    if (is_read(TERN_IMAGE_PNG)) {
        assert_memory_is_needed(file_of("png color0 depth16 interlaced"), "a.png");
        assert_memory_is_needed(file_of("png palette transparent"), "b.png");
        assert_memory_is_needed(file_of("png exif 6"), "c.png");
    }
    if (is_read(TERN_IMAGE_JPEG)) {
        assert_memory_is_needed(file_of("jpeg cmyk of Adobe"), "a.jpg");
        assert_memory_is_needed(file_of("jpeg exif 6"), "b.jpg");
    }
}

// Of a palette index without a color libpng warns, and of bytes between segments libjpeg.
static void warnings_of_the_libraries_are_not_printed(void **state)
{
    (void)state;
    size_t nbytes;
    uint8_t *bytes = copy_of("jpeg", &nbytes);
    memmove(bytes + nbytes + 1, bytes + nbytes - 2, 2);
    memset(bytes + nbytes - 2, 0x55, 3);
    const int kept = dup(2), file = open(path_of("stderr"), O_RDWR | O_CREAT, 0600);
    assert_true(kept >= 0 && file >= 0 && dup2(file, 2) == 2);
    const golden_array *png = file_of("png palette index without color");
    const bool png_fine = tern_image_decode(png->data, png->numel) != NULL;
    const bool jpeg_fine = tern_image_decode(bytes, (int64_t)nbytes + 3) != NULL;
    dup2(kept, 2);
    close(kept);
    assert_int_equal(lseek(file, 0, SEEK_END), 0);
    close(file);
    assert_int_equal(png_fine, !tern_image_reason(TERN_IMAGE_PNG));
    assert_int_equal(jpeg_fine, !tern_image_reason(TERN_IMAGE_JPEG));
    tern_error_clear();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DATA_TEST(a_file_that_is_not_there_or_no_file_is_named),
        DATA_TEST(a_file_that_is_no_image_is_named),
        DATA_TEST(bytes_of_a_name_that_are_no_utf8_are_escaped),
        DATA_TEST(a_format_that_the_build_leaves_out_is_said),
        DATA_TEST(a_truncated_png_is_refused_wherever_it_ends),
        DATA_TEST(a_truncated_jpeg_is_refused_wherever_it_ends),
        DATA_TEST(a_png_with_a_wrong_bit_is_refused),
        DATA_TEST(a_jpeg_with_a_wrong_bit_leaves_nothing),
        DATA_TEST(a_png_that_claims_more_than_it_can_hold_takes_no_memory),
        DATA_TEST(a_jpeg_that_claims_too_much_takes_no_memory),
        DATA_TEST(a_jpeg_of_very_many_scans_is_refused),
        DATA_TEST(no_memory_for_an_image_is_reported_and_leaves_nothing),
        DATA_TEST(warnings_of_the_libraries_are_not_printed),
    };
    return see_all_allocations() || cmocka_run_group_tests(tests, start_group, end_group);
}
