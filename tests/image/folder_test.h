// SPDX-License-Identifier: Apache-2.0
// What the tests of folders of images share. Include <cmocka.h> before.
#ifndef TERN_TESTS_FOLDER_TEST_H
#define TERN_TESTS_FOLDER_TEST_H

#include <sys/stat.h>

#include "image_test.h"

static inline void make_folder(const char *name)
{
    assert_int_equal(mkdir(path_of(name), 0700), 0);
}

// A PNG of one color: (red, green, blue).
static inline void put_png(const char *name, int red, int green, int blue, int64_t height,
                           int64_t width)
{
    tern_tensor *image = tern_empty(tern_dims(height, width, 3), .dtype = TERN_UINT8);
    uint8_t *bytes = tern_data(image);
    for (int64_t i = 0; i < height * width; i++) {
        bytes[3 * i] = (uint8_t)red;
        bytes[3 * i + 1] = (uint8_t)green;
        bytes[3 * i + 2] = (uint8_t)blue;
    }
    if (tern_image_write(path_of(name), image, .layout = TERN_HWC))
        fail_msg("%s", tern_error_message());
}

// As torchvision 0.29's ImageFolder lists it: see the names in `listed`.
static inline void make_pets(void)
{
    static const char *const folders[] = {"dog", "cat", "cat/b", "cat/a-b", "cat/a", "cat/a/c"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        make_folder(folders[i]);
    static const char *const files[] = {"dog/2.png",    "dog/10.PNG",  "cat/z.png",
                                        "cat/b/1.png",  "cat/a/1.png", "cat/a-b/1.png",
                                        "cat/a/c/1.png"};
    for (int i = 0; i < 7; i++)
        put_png(files[i], 10 * i, 0, 255, 2, 3);
    write_file("cat/notes.txt", "x", 1);
    write_file("cat/.hidden", "x", 1);
    write_file("readme.png", "x", 1); // in no class
}

static const char *const listed[] = {"cat/z.png",   "cat/a/1.png", "cat/a-b/1.png", "cat/a/c/1.png",
                                     "cat/b/1.png", "dog/10.PNG",  "dog/2.png"};
static const int reds[] = {20, 40, 50, 60, 30, 10, 0};

static inline void remove_below(const char *folder)
{
    char command[600];
    snprintf(command, sizeof command, "rm -rf %s/*", folder);
    assert_int_equal(system(command), 0);
}

static inline int empty_and_check(void **state)
{
    tern_scope_close(scope);
    remove_below(directory);
    scope = tern_scope_open();
    return leaves_nothing(state);
}

#define FOLDER_TEST(name) cmocka_unit_test_setup_teardown(name, start, empty_and_check)

static inline void assert_pets(tern_dataset *set)
{
    if (!set)
        fail_msg("%s", tern_error_message());
    assert_int_equal(tern_dataset_count(set), 7);
    assert_int_equal(tern_dataset_class_count(set), 2);
    assert_string_equal(tern_dataset_class_name(set, 0), "cat");
    assert_string_equal(tern_dataset_class_name(set, 1), "dog");
    for (int i = 0; i < 7; i++) {
        char name[100];
        tern_sample sample;
        assert_true(tern_dataset_sample_name(set, i, name, sizeof name));
        assert_string_equal(name, listed[i]);
        assert_int_equal(tern_dataset_item(set, i, &sample), TERN_OK);
        assert_true(tern_shape_equal(tern_shape_of(sample.x), tern_dims(3, 2, 3)));
        assert_int_equal(tern_dtype_of(sample.x), TERN_FLOAT32);
        assert_true(((const float *)tern_data(sample.x))[5] == (float)reds[i] / 255.0f);
        assert_true(((const float *)tern_data(sample.x))[17] == 1);
        assert_int_equal(tern_rank(sample.y), 0);
        assert_int_equal(tern_item_int(sample.y), i >= 5);
    }
}

static char packed_path[100];

static const char *pack_path(void)
{
    snprintf(packed_path, sizeof packed_path, "%s.safetensors", directory);
    return packed_path;
}

#endif
