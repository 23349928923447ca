// SPDX-License-Identifier: Apache-2.0
// Images that torchvision's ImageFolder and tern read, pixel for pixel.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "image_test.h"

// ---- against PIL --------------------------------------------------------------------------------

static tern_tensor *decode(const golden_array *file, int64_t channels, bool exif)
{
    return tern_image_decode(file->data, file->numel, .channels = channels, .layout = TERN_HWC,
                             .exif = exif);
}

static void compare(const golden_case *c, const golden_array *file, const char *name,
                    int64_t channels, bool exif)
{
    const golden_array *expected = golden_find_array(c, name);
    if (!expected)
        return;
    const tern_shape shape = tern_dims(expected->shape.dim[0], expected->shape.dim[1], channels);
    assert_bytes(c->name, decode(file, channels, exif), shape, expected->data);
}

static void look_at_rgb(const golden_case *c, const golden_array *file)
{
    compare(c, file, "rgb", 3, false);
}

static void look_at_others(const golden_case *c, const golden_array *file)
{
    compare(c, file, "grey", 1, false);
    compare(c, file, "rgba", 4, false);
}

static void look_at_upright(const golden_case *c, const golden_array *file)
{
    compare(c, file, "upright", 3, true);
}

static int least_files(void)
{
    return (tern_image_reason(TERN_IMAGE_PNG) ? 0 : 40) +
           (tern_image_reason(TERN_IMAGE_JPEG) ? 0 : 20);
}

static void every_kind_of_file_gives_the_pixels_of_ImageFolder(void **state)
{
    (void)state;
    assert_true(each_golden_file(look_at_rgb) >= least_files());
}

static void grey_and_alpha_are_those_of_PIL(void **state)
{
    (void)state;
    assert_true(each_golden_file(look_at_others) >= least_files());
}

static void exif_orientation_is_followed_where_it_is_asked_for(void **state)
{
    (void)state;
    assert_true(each_golden_file(look_at_upright) >= least_files());
}

// PIL's exif_transpose takes a LONG as well, which some programs write.
static void an_orientation_may_be_a_long_integer(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_JPEG);
    static const uint8_t big[] = {1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0};
    static const uint8_t little[] = {0x12, 1, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0};
    const golden_case *c = golden_find("images", "jpeg exif 6");
    const golden_array *file = golden_find_array(c, "file");
    uint8_t *bytes = test_malloc((size_t)file->numel), *entry = NULL;
    memcpy(bytes, file->data, (size_t)file->numel);
    for (int64_t i = 0; i + 12 <= file->numel && !entry; i++)
        if (memcmp(bytes + i, big, 12) == 0 || memcmp(bytes + i, little, 12) == 0)
            entry = bytes + i;
    assert_non_null(entry);
    if (entry[0] == 1)
        memcpy(entry + 2, ((uint8_t[]){0, 4, 0, 0, 0, 1, 0, 0, 0, 6}), 10);
    else
        entry[2] = 4;
    const golden_array changed = {.shape = file->shape, .numel = file->numel, .data = bytes};
    compare(c, &changed, "upright", 3, true);
    test_free(bytes);
}

// ---- forms of the result ------------------------------------------------------------------------

static const golden_case *with_alpha(void)
{
    return golden_find("images", "png by Pillow RGBA");
}

static void floats_are_bytes_over_255_in_either_layout(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    const golden_array *file = golden_find_array(with_alpha(), "file");
    const golden_array *rgb = golden_find_array(with_alpha(), "rgb");
    const uint8_t *bytes = rgb->data;
    const int64_t height = rgb->shape.dim[0], width = rgb->shape.dim[1];
    tern_tensor *planes = tern_image_decode(file->data, file->numel, .dtype = TERN_FLOAT32);
    tern_tensor *pixels =
        tern_image_decode(file->data, file->numel, .dtype = TERN_FLOAT32, .layout = TERN_HWC);
    assert_true(tern_shape_equal(tern_shape_of(planes), tern_dims(3, height, width)));
    assert_true(tern_shape_equal(tern_shape_of(pixels), tern_dims(height, width, 3)));
    for (int64_t i = 0; i < height * width * 3; i++) {
        const int64_t plane = i % 3 * height * width + i / 3;
        assert_true(((const float *)tern_data(pixels))[i] == (float)bytes[i] / 255.0f);
        assert_true(((const float *)tern_data(planes))[plane] == (float)bytes[i] / 255.0f);
    }
}

static int64_t channels_as_stored(const char *name)
{
    const golden_array *file = golden_find_array(golden_find("images", name), "file");
    return tern_size(decode(file, 0, false), 2);
}

static void channels_as_stored_are_the_files_own(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    assert_int_equal(channels_as_stored("png color0 depth1"), 1);
    assert_int_equal(channels_as_stored("png color4 depth16 interlaced"), 2);
    assert_int_equal(channels_as_stored("png grey transparent"), 2);
    assert_int_equal(channels_as_stored("png palette depth2"), 3);
    assert_int_equal(channels_as_stored("png palette transparent"), 4);
    assert_int_equal(channels_as_stored("png color6 depth8"), 4);
    NEEDS(TERN_IMAGE_JPEG);
    assert_int_equal(channels_as_stored("jpeg grey"), 1);
    assert_int_equal(channels_as_stored("jpeg cmyk"), 3);
}

static void a_transparent_value_of_16_bits_is_alpha(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    const golden_case *c = golden_find("images", "png grey16 transparent");
    const golden_array *file = golden_find_array(c, "file");
    const golden_array *grey = golden_find_array(c, "grey"), *alpha = golden_find_array(c, "alpha");
    const uint8_t *bytes = tern_data(decode(file, 0, false));
    for (int64_t i = 0; i < alpha->numel; i++) {
        assert_int_equal(bytes[2 * i], ((const uint8_t *)grey->data)[i]);
        assert_int_equal(bytes[2 * i + 1], ((const uint8_t *)alpha->data)[i]);
    }
}

// ---- from files ---------------------------------------------------------------------------------

static void a_file_is_known_by_its_bytes_whatever_its_name(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    const golden_case *c = golden_find("images", "png by Pillow RGB");
    const golden_array *file = golden_find_array(c, "file"), *rgb = golden_find_array(c, "rgb");
    const char *path = write_file("cat.jpg", file->data, (size_t)file->numel);
    assert_bytes("cat.jpg", tern_image_read(path, .layout = TERN_HWC), rgb->shape, rgb->data);
}

static void more_pixels_than_allowed_are_refused(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    const golden_array *file =
        golden_find_array(golden_find("images", "png by Pillow RGB"), "file");
    const char *path = write_file("cat.png", file->data, (size_t)file->numel);
    assert_non_null(tern_image_read(path, .max_pixels = 19 * 23));
    assert_null(tern_image_read(path, .max_pixels = 19 * 23 - 1));
    assert_error(TERN_ERR_ARG, "cat.png claims 23 x 19 pixels, more than the 436 of .max_pixels");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DATA_TEST(every_kind_of_file_gives_the_pixels_of_ImageFolder),
        DATA_TEST(grey_and_alpha_are_those_of_PIL),
        DATA_TEST(exif_orientation_is_followed_where_it_is_asked_for),
        DATA_TEST(an_orientation_may_be_a_long_integer),
        DATA_TEST(floats_are_bytes_over_255_in_either_layout),
        DATA_TEST(channels_as_stored_are_the_files_own),
        DATA_TEST(a_transparent_value_of_16_bits_is_alpha),
        DATA_TEST(a_file_is_known_by_its_bytes_whatever_its_name),
        DATA_TEST(more_pixels_than_allowed_are_refused),
    };
    return see_all_allocations() || cmocka_run_group_tests(tests, start_group, end_group);
}
