// SPDX-License-Identifier: Apache-2.0
// Folders of images in one file.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "folder_test.h"

static void a_packed_file_has_the_same_samples(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    make_pets();
    for (int raw = 0; raw < 2; raw++) {
        assert_int_equal(tern_data_pack(directory, pack_path(), .raw = raw), TERN_OK);
        tern_dataset *set = tern_data_packed(packed_path);
        assert_pets(set);
        tern_dataset_free(set);
        set = tern_data_packed(packed_path, .exif = true);
        assert_int_equal(set == NULL, raw);
        if (raw)
            assert_error(TERN_ERR_ARG, "has raw pixels, which .exif does not turn");
        tern_dataset_free(set);
        tern_state *state_of_it = tern_state_read(packed_path);
        assert_int_equal(tern_state_count(state_of_it), raw ? 4 : 5);
        assert_true(tern_shape_equal(tern_shape_of(tern_state_tensor(state_of_it, "labels")),
                                     tern_dims(7)));
        tern_state_free(state_of_it);
        unlink(packed_path);
    }
}

// The file's bytes, as they were encoded.
static void files_keep_their_bytes_where_they_are_not_raw(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_JPEG);
    const golden_array *file = golden_find_array(golden_find("images", "jpeg exif 6"), "file");
    make_folder("cat");
    write_file("cat/1.jpg", file->data, (size_t)file->numel);
    assert_int_equal(tern_data_pack(directory, pack_path()), TERN_OK);
    tern_state *content = tern_state_read(packed_path);
    tern_tensor *images = tern_state_tensor(content, "images");
    assert_int_equal(tern_numel(images), file->numel);
    assert_memory_equal(tern_data(images), file->data, (size_t)file->numel);
    tern_state_free(content);
    const golden_array *upright =
        golden_find_array(golden_find("images", "jpeg exif 6"), "upright");
    tern_dataset *set = tern_data_packed(packed_path, .exif = true);
    tern_sample sample;
    assert_int_equal(tern_dataset_item(set, 0, &sample), TERN_OK);
    assert_int_equal(tern_size(sample.x, 1), upright->shape.dim[0]);
    tern_dataset_free(set);
    unlink(packed_path);
}

static void raw_images_of_several_sizes_are_refused(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    make_folder("cat");
    put_png("cat/1.png", 0, 0, 0, 2, 3);
    put_png("cat/2.png", 0, 0, 0, 3, 3);
    assert_int_equal(tern_data_pack(directory, pack_path(), .raw = true), TERN_ERR_SHAPE);
    assert_error(TERN_ERR_SHAPE, "cat/2.png has 3 x 3 pixels, but cat/1.png has 3 x 2");
    assert_int_equal(access(packed_path, F_OK), -1);
}

// With an alpha of 255 they would not be the samples of the folder.
static void raw_images_have_no_alpha_to_give(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    make_folder("cat");
    tern_tensor *image = tern_zeros(tern_dims(4, 1, 1), .dtype = TERN_UINT8);
    assert_int_equal(tern_image_write(path_of("cat/1.png"), image), TERN_OK);
    for (int raw = 0; raw < 2; raw++) {
        assert_int_equal(tern_data_pack(directory, pack_path(), .raw = raw), TERN_OK);
        tern_dataset *set = tern_data_packed(packed_path, .channels = 4, .dtype = TERN_UINT8);
        assert_int_equal(set == NULL, raw);
        tern_sample sample;
        if (raw)
            assert_error(TERN_ERR_ARG, "has raw pixels, which are without alpha: .channels is 4");
        else if (tern_dataset_item(set, 0, &sample))
            fail_msg("%s", tern_error_message());
        else
            assert_memory_equal(tern_data(sample.x), ((uint8_t[]){0, 0, 0, 0}), 4);
        tern_dataset_free(set);
        unlink(packed_path);
    }
}

static void what_is_no_packed_file_is_refused(void **state)
{
    (void)state;
    assert_null(tern_data_packed(path_of("none.safetensors")));
    assert_error(TERN_ERR_IO, "none.safetensors: No such file");
    assert_null(tern_data_packed(write_file("a.safetensors", "\x02\0\0\0\0\0\0\0{}", 10)));
    assert_error(TERN_ERR_FORMAT, "a.safetensors is no packed file of images: it has not all of");
}

// Overwrites `count` bytes of the packed file, found behind `before` bytes of the elements.
static void change(const char *path, long at, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "r+b");
    unsigned char size[8];
    assert_int_equal(fread(size, 1, 8, file), 8);
    fseek(file, 8 + size[0] + 256 * size[1] + at, SEEK_SET);
    fwrite(bytes, 1, count, file);
    fclose(file);
}

static void a_packed_file_that_contradicts_itself_is_refused(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    static const struct {
        long at; // 8 offsets, 7 labels, "cat\0dog\0", names
        const char *bytes, *words;
    } cases[] = {{8, "\xff\xff\xff\x7f", "the offsets are not in order or lead out"},
                 {56, "\xff\xff\xff\x7f", "the offsets are not in order or lead out"},
                 {64 + 8, "\2", "a label is none of the classes"},
                 {64 + 56 + 7, "x", "the names do not fit"},
                 {64 + 56 + 8 + 9, "x", "the names do not fit"}};
    make_pets();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(tern_data_pack(directory, pack_path()), TERN_OK);
        change(packed_path, cases[i].at, cases[i].bytes, strlen(cases[i].bytes));
        assert_null(tern_data_packed(packed_path));
        assert_error(TERN_ERR_FORMAT, cases[i].words);
    }
    unlink(packed_path);
}

static void a_packed_file_that_shrinks_fails_its_samples(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    make_pets();
    assert_int_equal(tern_data_pack(directory, pack_path()), TERN_OK);
    tern_dataset *set = tern_data_packed(packed_path);
    struct stat facts;
    assert_int_equal(stat(packed_path, &facts), 0);
    assert_int_equal(truncate(packed_path, facts.st_size - 5), 0);
    tern_sample sample;
    assert_int_equal(tern_dataset_item(set, 6, &sample), TERN_ERR_FORMAT);
    assert_error(TERN_ERR_FORMAT, "[in sample 6 of data_packed, from dog/2.png]");
    assert_int_equal(tern_dataset_item(set, 0, &sample), TERN_OK);
    tern_dataset_free(set);
    unlink(packed_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_packed_file_has_the_same_samples),
        FOLDER_TEST(files_keep_their_bytes_where_they_are_not_raw),
        FOLDER_TEST(raw_images_of_several_sizes_are_refused),
        FOLDER_TEST(raw_images_have_no_alpha_to_give),
        FOLDER_TEST(what_is_no_packed_file_is_refused),
        FOLDER_TEST(a_packed_file_that_contradicts_itself_is_refused),
        FOLDER_TEST(a_packed_file_that_shrinks_fails_its_samples),
    };
    return see_all_allocations() || cmocka_run_group_tests(tests, start_group, end_group);
}
