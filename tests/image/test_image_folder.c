// SPDX-License-Identifier: Apache-2.0
// Folders of images as datasets, and packed into one file.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sys/stat.h>

#include "base/worker.h"
#include "image_test.h"

// ---- folders ------------------------------------------------------------------------------------

static void make_folder(const char *name)
{
    assert_int_equal(mkdir(path_of(name), 0700), 0);
}

// A PNG of one color: (red, green, blue).
static void put_png(const char *name, int red, int green, int blue, int64_t height, int64_t width)
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
static void make_pets(void)
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

static void remove_below(const char *folder)
{
    char command[600];
    snprintf(command, sizeof command, "rm -rf %s/*", folder);
    assert_int_equal(system(command), 0);
}

static int empty_and_check(void **state)
{
    tern_scope_close(scope);
    remove_below(directory);
    scope = tern_scope_open();
    return leaves_nothing(state);
}

#define FOLDER_TEST(name) cmocka_unit_test_setup_teardown(name, start, empty_and_check)

static void assert_pets(tern_dataset *set)
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

// ---- packed -------------------------------------------------------------------------------------

static char packed_path[100];

static const char *pack_path(void)
{
    snprintf(packed_path, sizeof packed_path, "%s.safetensors", directory);
    return packed_path;
}

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
        FOLDER_TEST(names_that_are_no_utf8_are_read_and_escaped_in_messages),
        FOLDER_TEST(a_packed_file_has_the_same_samples),
        FOLDER_TEST(files_keep_their_bytes_where_they_are_not_raw),
        FOLDER_TEST(raw_images_of_several_sizes_are_refused),
        FOLDER_TEST(what_is_no_packed_file_is_refused),
        FOLDER_TEST(a_packed_file_that_contradicts_itself_is_refused),
        FOLDER_TEST(a_packed_file_that_shrinks_fails_its_samples),
        FOLDER_TEST(no_memory_is_reported_and_leaves_nothing),
        FOLDER_TEST(threads_may_ask_for_samples_at_once),
        FOLDER_TEST(a_loaders_workers_read_the_files_and_say_which_is_damaged),
    };
    return see_all_allocations() || cmocka_run_group_tests(tests, start_group, end_group);
}
