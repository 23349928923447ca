// SPDX-License-Identifier: Apache-2.0
// Images that tern writes, as libpng and libjpeg read them.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "image_test.h"

// Of all 256 bytes, so that every filter of PNG has residuals of both signs.
static tern_tensor *picture(int64_t channels, int64_t height, int64_t width)
{
    tern_tensor *t = tern_zeros(tern_dims(channels, height, width), .dtype = TERN_UINT8);
    uint8_t *bytes = tern_data(t);
    uint32_t state = 7;
    for (int64_t i = 0; i < channels * height * width; i++) {
        state = state * 1664525 + 1013904223;
        const int64_t y = i / width % height, x = i % width;
        bytes[i] = (uint8_t)(y < height / 2 ? 3 * x + 5 * y : state >> 24);
    }
    return t;
}

static void assert_written(tern_tensor *image, const char *name)
{
    if (tern_image_write(path_of(name), image))
        fail_msg("%s", tern_error_message());
}

// ---- PNG ----------------------------------------------------------------------------------------

static void a_png_has_the_bytes_that_were_written(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    static const int64_t sizes[][2] = {{1, 1}, {1, 300}, {300, 1}, {37, 51}, {256, 300}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int64_t channels = 1; channels <= 4; channels++) {
            tern_tensor *image = picture(channels, sizes[i][0], sizes[i][1]);
            assert_written(image, "a.png");
            tern_tensor *back = tern_image_read(path_of("a.png"), .channels = 0);
            assert_bytes("a.png", back, tern_shape_of(image), tern_data(image));
        }
    assert_int_equal(files_in_directory(), 1); // the temporary file is gone
}

// Without a reader: chunks that follow each other to the end of the file, each with its checksum.
static void a_png_is_chunks_with_their_checksums(void **state)
{
    (void)state;
    static uint8_t bytes[1 << 20];
    assert_written(picture(3, 256, 300), "a.png");
    FILE *file = fopen(path_of("a.png"), "rb");
    const size_t nbytes = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_memory_equal(bytes, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\x2c\0\0\1\0\x08\x02\0\0\0", 29);
    size_t at = 8, parts = 0;
    while (at < nbytes) {
        const size_t size = (size_t)bytes[at] << 24 | (size_t)bytes[at + 1] << 16 |
                            (size_t)bytes[at + 2] << 8 | bytes[at + 3];
        const uint8_t *sum = bytes + at + 8 + size;
        parts += memcmp(bytes + at + 4, "IDAT", 4) == 0;
        assert_int_equal(crc32(0, bytes + at + 4, (uInt)size + 4),
                         (uint32_t)sum[0] << 24 | (uint32_t)sum[1] << 16 | (uint32_t)sum[2] << 8 |
                             sum[3]);
        at += size + 12;
    }
    assert_int_equal(at, nbytes);
    assert_true(parts > 1);
    assert_memory_equal(bytes + nbytes - 8, "IEND\xae\x42\x60\x82", 8);
}

static void layouts_views_and_planes_alone_are_written(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    tern_tensor *image = picture(3, 6, 5);
    tern_tensor *pixels = tern_permute(image, tern_axes(1, 2, 0));
    assert_int_equal(tern_image_write(path_of("a.png"), pixels, .layout = TERN_HWC), TERN_OK);
    assert_bytes("pixels", tern_image_read(path_of("a.png")), tern_shape_of(image),
                 tern_data(image));
    tern_tensor *plane = tern_select(image, 0, 2);
    assert_written(plane, "b.png");
    assert_bytes("plane", tern_image_read(path_of("b.png"), .channels = 0), tern_dims(1, 6, 5),
                 (const uint8_t *)tern_data(image) + 60);
    assert_int_equal(tern_image_write(path_of("c.png"), plane, .layout = TERN_HWC), TERN_OK);
    assert_bytes("plane", tern_image_read(path_of("c.png"), .channels = 0), tern_dims(1, 6, 5),
                 (const uint8_t *)tern_data(image) + 60);
}

// tests/golden/make_images.py: torchvision's save_image.
static void fractions_become_bytes_as_save_image_makes_them(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    static const char *const names[] = {"save float32", "save float64"};
    for (int i = 0; i < 2; i++) {
        const golden_case *c = golden_find("images", names[i]);
        const golden_array *x = golden_find_array(c, "x"), *bytes = golden_find_array(c, "bytes");
        assert_written(x->dtype == TERN_FLOAT32 ? tern_from_data(x->shape, (const float *)x->data)
                                                : tern_from_data(x->shape, (const double *)x->data),
                       "a.png");
        assert_bytes(names[i], tern_image_read(path_of("a.png")), bytes->shape, bytes->data);
    }
}

// ---- JPEG ---------------------------------------------------------------------------------------

// The pixels of a file that Pillow made of the same image, whose libjpeg-turbo is another version.
static void assert_as_pillow(const char *name, int64_t quality)
{
    const golden_case *c = golden_find("images", name);
    const golden_array *source = golden_find_array(c, "source");
    const golden_array *rgb = golden_find_array(c, "rgb");
    tern_tensor *image = tern_from_data(source->shape, (const uint8_t *)source->data);
    assert_int_equal(
        tern_image_write(path_of("a.jpeg"), image, .layout = TERN_HWC, .quality = quality),
        TERN_OK);
    assert_bytes(name, tern_image_read(path_of("a.jpeg"), .layout = TERN_HWC), rgb->shape,
                 rgb->data);
}

static void a_jpeg_has_the_pixels_of_one_by_pillow(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_JPEG);
    assert_as_pillow("jpeg", 75);
    assert_as_pillow("jpeg grey", 75);
    assert_as_pillow("jpeg quality 20", 20);
}

// ---- what cannot be written ---------------------------------------------------------------------

static void assert_not_written(tern_status status, tern_status code, const char *words)
{
    assert_int_equal(status, code);
    assert_error(code, words);
    assert_int_equal(files_in_directory(), 0);
}

static void what_is_no_image_is_not_written(void **state)
{
    (void)state;
    tern_tensor *image = picture(3, 4, 5);
    assert_not_written(tern_image_write(path_of("a.gif"), image), TERN_ERR_ARG,
                       "says no format; it is one of .png, .jpg and .jpeg");
    assert_not_written(tern_image_write(path_of("png"), image), TERN_ERR_ARG, "says no format");
    assert_not_written(tern_image_write(path_of("a.png"), tern_zeros(tern_dims(5, 4, 3))),
                       TERN_ERR_SHAPE, "the image is (5, 4, 3), but must be (channels, height");
    assert_not_written(tern_image_write(path_of("a.png"), tern_zeros(tern_dims(3, 0, 3))),
                       TERN_ERR_SHAPE, "sides are 1 to 1000000 pixels");
    assert_not_written(
        tern_image_write(path_of("a.png"), tern_zeros(tern_dims(3, 2, 2), .dtype = TERN_INT64)),
        TERN_ERR_DTYPE, "the image is int64, but must be uint8, float32 or float64");
    tern_tensor *bad = tern_zeros(tern_dims(3, 2, 4));
    ((float *)tern_data(bad))[8 + 5] = NAN;
    assert_not_written(tern_image_write(path_of("a.png"), bad), TERN_ERR_NUMERIC,
                       "channel 1 of the image is nan in row 1, column 1");
    NEEDS(TERN_IMAGE_JPEG);
    assert_not_written(tern_image_write(path_of("a.jpg"), picture(4, 4, 5)), TERN_ERR_SHAPE,
                       "the image has 4 channels, but a JPEG file has 1 or 3");
    assert_not_written(tern_image_write(path_of("a.jpg"), picture(1, 1, 70000)), TERN_ERR_ARG,
                       "cannot be a JPEG file");
}

static void a_jpeg_is_not_written_where_the_build_has_none(void **state)
{
    (void)state;
    if (!tern_image_reason(TERN_IMAGE_JPEG))
        skip();
    assert_not_written(tern_image_write(path_of("a.jpg"), picture(3, 4, 5)), TERN_ERR_UNSUPPORTED,
                       "would be a JPEG file, and this build has no libjpeg-turbo");
}

static void no_memory_to_write_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {"a.png", "a.jpg"};
    tern_tensor *image = tern_permute(picture(3, 130, 140), tern_axes(0, 2, 1));
    for (int i = 0; i < (tern_image_reason(TERN_IMAGE_JPEG) ? 1 : 2); i++)
        for (int64_t n = 1;; n++) {
            const int64_t before = memory.bytes;
            fail_nth_allocation(n);
            const tern_status status = tern_image_write(path_of(names[i]), image);
            const bool failed = memory.failed > 0;
            fail_nth_allocation(0);
            assert_int_equal(memory.bytes, before);
            if (!failed) {
                assert_int_equal(status, TERN_OK);
                assert_true(n > 4);
                empty_directory();
                break;
            }
            assert_not_written(status, TERN_ERR_NOMEM, "no memory");
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DATA_TEST(a_png_has_the_bytes_that_were_written),
        DATA_TEST(a_png_is_chunks_with_their_checksums),
        DATA_TEST(layouts_views_and_planes_alone_are_written),
        DATA_TEST(fractions_become_bytes_as_save_image_makes_them),
        DATA_TEST(a_jpeg_has_the_pixels_of_one_by_pillow),
        DATA_TEST(what_is_no_image_is_not_written),
        DATA_TEST(a_jpeg_is_not_written_where_the_build_has_none),
        DATA_TEST(no_memory_to_write_is_reported_and_leaves_nothing),
    };
    return see_all_allocations() || cmocka_run_group_tests(tests, start_group, end_group);
}
