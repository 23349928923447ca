// SPDX-License-Identifier: Apache-2.0
// Folders of images as datasets, and what they share with packed ones.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "base/worker.h"
#include "folder_test.h"

static void a_folder_has_the_samples_of_ImageFolder_in_its_order(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    make_pets();
    tern_dataset *set = tern_data_image_folder(directory);
    assert_pets(set);
    tern_batch batch;
    const int64_t index[] = {6, 0};
    assert_int_equal(tern_dataset_get(set, index, 2, &batch), TERN_OK);
    assert_true(tern_shape_equal(tern_shape_of(batch.x), tern_dims(2, 3, 2, 3)));
    assert_true(tern_shape_equal(tern_shape_of(batch.y), tern_dims(2)));
    tern_dataset_free(set);
    set = tern_data_image_folder(directory, .dtype = TERN_UINT8, .channels = 1);
    tern_sample sample;
    assert_int_equal(tern_dataset_item(set, 6, &sample), TERN_OK);
    assert_int_equal(tern_size(sample.x, 0), 1);
    assert_int_equal(((const uint8_t *)tern_data(sample.x))[0], 29); // 0.114 of blue
    tern_dataset_free(set);
}

static void assert_no_folder(tern_status code, const char *words)
{
    assert_null(tern_data_image_folder(directory));
    assert_error(code, words);
}

static void folders_without_images_are_refused(void **state)
{
    (void)state;
    assert_null(tern_data_image_folder("/nowhere/at-all"));
    assert_error(TERN_ERR_IO, "cannot open the folder /nowhere/at-all: No such file or directory");
    assert_null(tern_data_image_folder(""));
    assert_error(TERN_ERR_IO, "cannot open the folder : No such file or directory");
    assert_no_folder(TERN_ERR_FORMAT, "there is no folder in");
    make_folder("cat");
    make_folder("dog");
    write_file("cat/notes.txt", "x", 1);
    assert_no_folder(TERN_ERR_FORMAT, "class cat in");
    NEEDS(TERN_IMAGE_PNG);
    put_png("cat/1.png", 0, 0, 0, 1, 1);
    assert_no_folder(TERN_ERR_FORMAT, "class dog in");
    tern_dataset *set = tern_data_image_folder(directory, .allow_empty = true);
    assert_int_equal(tern_dataset_count(set), 1);
    assert_int_equal(tern_dataset_class_count(set), 2);
    tern_dataset_free(set);
}

static void formats_that_tern_does_not_read_are_named_or_left_out(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    make_folder("cat");
    put_png("cat/1.png", 0, 0, 0, 1, 1);
    write_file("cat/2.webp", "x", 1);
    assert_no_folder(TERN_ERR_UNSUPPORTED, "cat/2.webp is a WebP file, and tern does not read");
    tern_dataset *set = tern_data_image_folder(directory, .skip_other_formats = true);
    assert_int_equal(tern_dataset_count(set), 1);
    tern_dataset_free(set);
}

static void formats_that_the_build_leaves_out_are_said(void **state)
{
    (void)state;
    make_folder("cat");
    write_file("cat/1.png", "x", 1);
    if (!tern_image_reason(TERN_IMAGE_PNG))
        skip();
    assert_no_folder(TERN_ERR_UNSUPPORTED, "cat/1.png is a PNG file, and this build has no libpng");
}

static void a_damaged_image_fails_alone_and_by_its_name(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    make_pets();
    write_file("dog/10.PNG", "\x89PNG\r\n\x1a\n.....", 13);
    assert_int_equal(unlink(path_of("dog/2.png")), 0);
    assert_int_equal(symlink("nowhere", path_of("dog/2.png")), 0);
    tern_dataset *set = tern_data_image_folder(directory);
    tern_sample sample;
    assert_int_equal(tern_dataset_item(set, 5, &sample), TERN_ERR_FORMAT);
    assert_error(TERN_ERR_FORMAT, "/dog/10.PNG ends within its PNG header [in sample 5 of "
                                  "data_image_folder, from dog/10.PNG]");
    assert_int_equal(tern_dataset_item(set, 6, &sample), TERN_ERR_IO);
    assert_error(TERN_ERR_IO, "dog/2.png: No such file or directory [in sample 6");
    assert_int_equal(tern_dataset_item(set, 4, &sample), TERN_OK);
    tern_dataset_free(set);
}

static void links_are_followed_but_not_in_a_circle(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    make_folder("cat");
    make_folder("cat/more");
    put_png("cat/more/1.png", 9, 0, 0, 1, 1);
    assert_int_equal(symlink("cat", path_of("dog")), 0);
    tern_dataset *set = tern_data_image_folder(directory);
    assert_int_equal(tern_dataset_count(set), 2);
    assert_string_equal(tern_dataset_class_name(set, 1), "dog");
    tern_dataset_free(set);
    assert_int_equal(symlink("..", path_of("cat/more/up")), 0);
    assert_no_folder(TERN_ERR_IO, "cat/more/up is a link to a folder that it is in");
}

// Those that lead nowhere too: torchvision lists the images among them.
static void links_to_themselves_are_links_that_lead_nowhere(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    make_folder("cat");
    put_png("cat/1.png", 9, 0, 0, 1, 1);
    assert_int_equal(symlink("self", path_of("self")), 0);
    assert_int_equal(symlink("1.png/inside", path_of("inside")), 0);
    assert_int_equal(symlink("self", path_of("cat/self")), 0);
    assert_int_equal(symlink("2.png", path_of("cat/2.png")), 0);
    assert_int_equal(symlink("1.png/inside", path_of("cat/inside")), 0);
    tern_dataset *set = tern_data_image_folder(directory);
    assert_int_equal(tern_dataset_class_count(set), 1);
    assert_int_equal(tern_dataset_count(set), 2);
    tern_sample sample;
    assert_int_equal(tern_dataset_item(set, 1, &sample), TERN_ERR_IO);
    assert_error(TERN_ERR_IO, "cat/2.png: Too many levels of symbolic links");
    tern_dataset_free(set);
}

static void names_that_are_no_utf8_are_read_and_escaped_in_messages(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    make_folder("c\xfft");
    write_file("c\xfft/1.png", "x", 1);
    tern_dataset *set = tern_data_image_folder(directory);
    tern_sample sample;
    assert_string_equal(tern_dataset_class_name(set, 0), "c\xfft");
    assert_int_equal(tern_dataset_item(set, 0, &sample), TERN_ERR_FORMAT);
    assert_error(TERN_ERR_FORMAT, "c\\xfft/1.png is no PNG or JPEG file");
    tern_dataset_free(set);
}

// ---- memory and threads -------------------------------------------------------------------------

static tern_dataset *open_folder(void)
{
    return tern_data_image_folder(directory);
}

static tern_dataset *open_packed(void)
{
    return tern_data_packed(packed_path);
}

static bool pack_all(void)
{
    return tern_data_pack(directory, packed_path) == TERN_OK &&
           tern_data_pack(directory, packed_path, .raw = true) == TERN_OK;
}

static void assert_memory_is_needed(tern_dataset *(*open_set)(void))
{
    for (int64_t n = 1;; n++) {
        const int64_t before = memory.bytes;
        tern_scope inner = tern_scope_open();
        fail_nth_allocation(n);
        tern_sample sample;
        tern_dataset *set = open_set();
        const bool fine = set && tern_dataset_item(set, 3, &sample) == TERN_OK;
        const bool failed = memory.failed > 0;
        fail_nth_allocation(0);
        assert_int_equal(fine, !failed);
        if (failed)
            assert_error(TERN_ERR_NOMEM, "no memory");
        tern_scope_close(inner);
        tern_dataset_free(set);
        (void)tern_memory_trim();
        assert_int_equal(memory.bytes, before);
        if (!failed) {
            assert_true(n > 5);
            return;
        }
    }
}

static void no_memory_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    make_pets();
    pack_path();
    for (int64_t n = 1;; n++) {
        const int64_t before = memory.bytes;
        fail_nth_allocation(n);
        const bool fine = pack_all(), failed = memory.failed > 0;
        fail_nth_allocation(0);
        assert_int_equal(fine, !failed);
        assert_int_equal(memory.bytes, before);
        if (!failed)
            break;
        assert_error(TERN_ERR_NOMEM, "no memory");
    }
    assert_memory_is_needed(open_folder);
    assert_memory_is_needed(open_packed);
    unlink(packed_path);
}

#define THREADS 4

static void *ask_all(void *argument)
{
    tern_dataset *set = argument;
    intptr_t failures = 0;
    for (int round = 0; round < 20; round++)
        for (int i = 0; i < 7; i++) {
            tern_scope inner = tern_scope_open();
            tern_sample sample;
            failures += tern_dataset_item(set, i, &sample) != TERN_OK ||
                        ((const float *)tern_data(sample.x))[0] != (float)reds[i] / 255.0f;
            tern_scope_close(inner);
        }
    return (void *)failures;
}

static void threads_may_ask_for_samples_at_once(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    make_pets();
    assert_int_equal(tern_data_pack(directory, pack_path()), TERN_OK);
    tern_dataset *sets[] = {tern_data_image_folder(directory), tern_data_packed(packed_path)};
    for (int s = 0; s < 2; s++) {
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, ask_all, sets[s]), 0);
        for (int i = 0; i < THREADS; i++) {
            void *failures;
            assert_int_equal(pthread_join(threads[i], &failures), 0);
            assert_null(failures);
        }
        tern_dataset_free(sets[s]);
    }
    (void)tern_memory_trim();
    unlink(packed_path);
}

static void a_loaders_workers_read_the_files_and_say_which_is_damaged(void **state)
{
    (void)state;
    NEEDS(TERN_IMAGE_PNG);
    make_pets();
    write_file("dog/2.png", "\x89PNG\r\n\x1a\n.....", 13);
    tern_dataset *set = tern_data_image_folder(directory);
    tern_loader *loader = tern_loader_new(set, .batch_size = 2, .workers = 3);
    tern_batch batch;
    for (int first = 0; first < 6; first += 2) {
        assert_true(tern_loader_next(loader, &batch));
        for (int i = 0; i < 2; i++)
            assert_true(((const float *)tern_data(batch.x))[18 * i] ==
                        (float)reds[first + i] / 255.0f);
    }
    assert_false(tern_loader_next(loader, &batch));
    assert_error(TERN_ERR_FORMAT, "/dog/2.png ends within its PNG header [in sample 6 of "
                                  "data_image_folder, from dog/2.png]");
    tern_loader_free(loader);
    tern_dataset_free(set);
    tern_workers_shutdown(); // they keep scopes
    (void)tern_memory_trim();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_folder_has_the_samples_of_ImageFolder_in_its_order),
        FOLDER_TEST(folders_without_images_are_refused),
        FOLDER_TEST(formats_that_tern_does_not_read_are_named_or_left_out),
        FOLDER_TEST(formats_that_the_build_leaves_out_are_said),
        FOLDER_TEST(a_damaged_image_fails_alone_and_by_its_name),
        FOLDER_TEST(links_are_followed_but_not_in_a_circle),
        FOLDER_TEST(links_to_themselves_are_links_that_lead_nowhere),
        FOLDER_TEST(names_that_are_no_utf8_are_read_and_escaped_in_messages),
        FOLDER_TEST(no_memory_is_reported_and_leaves_nothing),
        FOLDER_TEST(threads_may_ask_for_samples_at_once),
        FOLDER_TEST(a_loaders_workers_read_the_files_and_say_which_is_damaged),
    };
    return see_all_allocations() || cmocka_run_group_tests(tests, start_group, end_group);
}
