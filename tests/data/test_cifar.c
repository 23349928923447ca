// SPDX-License-Identifier: Apache-2.0
// CIFAR-10 and CIFAR-100.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data_fixture.h"

enum { IMAGE = 3072 };

// Byte k of the n-th image of a file that begins with `first`.
static unsigned char pixel(int first, int n, int k)
{
    return (unsigned char)(first + 31 * n + 7 * k);
}

// `count` records, with the labels 0, 1, 2, ... behind `fixed` bytes of 5.
static void write_records(const char *name, int fixed, int count, int first)
{
    const size_t size = (size_t)fixed + 1 + IMAGE;
    unsigned char *bytes = calloc((size_t)count, size);
    assert_non_null(bytes);
    for (int n = 0; n < count; n++) {
        unsigned char *record = bytes + (size_t)n * size;
        memset(record, 5, (size_t)fixed);
        record[fixed] = (unsigned char)n;
        for (int k = 0; k < IMAGE; k++)
            record[fixed + 1 + k] = pixel(first, n, k);
    }
    write_file(name, bytes, (size_t)count * size);
    free(bytes);
}

static void write_train_10(int count)
{
    for (int file = 1; file <= 5; file++) {
        char name[32];
        snprintf(name, sizeof name, "data_batch_%d.bin", file);
        write_records(name, 0, count + file, file);
    }
}

static void write_text(const char *name, const char *text)
{
    write_file(name, text, strlen(text));
}

static const char ten_names[] =
    "airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n";

static void assert_image(tern_dataset *set, int64_t index, int first, int n, int64_t label)
{
    tern_sample s;
    assert_int_equal(tern_dataset_item(set, index, &s), TERN_OK);
    assert_true(tern_shape_equal(tern_shape_of(s.x), tern_dims(3, 32, 32)));
    assert_int_equal(tern_dtype_of(s.x), TERN_FLOAT32);
    for (int k = 0; k < IMAGE; k++)
        assert_true(((float *)tern_data(s.x))[k] == (float)pixel(first, n, k) / 255.0f);
    assert_int_equal(tern_dtype_of(s.y), TERN_INT64);
    assert_true(tern_item(s.y) == (double)label);
}

static void the_five_files_of_cifar10_follow_one_another(void **state)
{
    (void)state;
    write_train_10(1);
    write_text("batches.meta.txt", ten_names);
    tern_dataset *set = tern_data_cifar10(directory, TERN_TRAIN);
    assert_non_null(set);
    assert_int_equal(tern_dataset_count(set), 2 + 3 + 4 + 5 + 6);
    assert_image(set, 0, 1, 0, 0);
    assert_image(set, 4, 2, 2, 2);
    assert_image(set, 19, 5, 5, 5);
    assert_int_equal(tern_dataset_class_count(set), 10);
    assert_string_equal(tern_dataset_class_name(set, 0), "airplane");
    assert_string_equal(tern_dataset_class_name(set, 9), "truck");
    char name[64];
    assert_true(tern_dataset_sample_name(set, 4, name, sizeof name));
    assert_string_equal(name, "record 2 of data_batch_2.bin");
    tern_dataset_free(set);
}

static void more_records_than_are_read_at_once(void **state)
{
    (void)state;
    write_records("test_batch.bin", 0, 10, 3);
    for (int i = 0; i < 4; i++) { // 10, 20, ... 160 records
        FILE *file = fopen(path_of("test_batch.bin"), "rb");
        static unsigned char bytes[160 * 3073];
        const size_t nbytes = fread(bytes, 1, sizeof bytes / 2, file);
        fclose(file);
        memcpy(bytes + nbytes, bytes, nbytes);
        write_file("test_batch.bin", bytes, 2 * nbytes);
    }
    tern_dataset *set = tern_data_cifar10(directory, TERN_TEST);
    assert_int_equal(tern_dataset_count(set), 160);
    for (int i = 0; i < 160; i += 7)
        assert_image(set, i, 3, i % 10, i % 10);
    assert_null(tern_dataset_class_name(set, 1)); // there is no file of names
    assert_int_equal(tern_dataset_class_count(set), 10);
    tern_dataset_free(set);
}

static void cifar100_has_fine_and_coarse_labels(void **state)
{
    (void)state;
    write_records("train.bin", 1, 30, 1);
    write_records("test.bin", 1, 2, 9);
    tern_dataset *fine = tern_data_cifar100(directory, TERN_TRAIN);
    tern_dataset *coarse = tern_data_cifar100(directory, TERN_TRAIN, .coarse = true);
    tern_dataset *test = tern_data_cifar100(directory, TERN_TEST);
    assert_image(fine, 29, 1, 29, 29);
    assert_image(coarse, 29, 1, 29, 5);
    assert_image(test, 1, 9, 1, 1);
    assert_int_equal(tern_dataset_class_count(fine), 100);
    assert_int_equal(tern_dataset_class_count(coarse), 20);
    tern_free(fine, coarse, test);
}

static void the_names_of_coarse_classes_are_their_own(void **state)
{
    (void)state;
    char text[2000] = "";
    write_records("train.bin", 1, 2, 1);
    for (int i = 0; i < 20; i++)
        sprintf(text + strlen(text), "group %d\r\n", i);
    write_text("coarse_label_names.txt", text);
    tern_dataset *set = tern_data_cifar100(directory, TERN_TRAIN, .coarse = true);
    assert_string_equal(tern_dataset_class_name(set, 19), "group 19");
    tern_dataset_free(set);
    set = tern_data_cifar100(directory, TERN_TRAIN);
    assert_null(tern_dataset_class_name(set, 19));
    tern_dataset_free(set);
}

static void files_of_another_form_are_refused(void **state)
{
    (void)state;
    write_train_10(1);
    write_file("data_batch_3.bin", "12345", 5);
    assert_null(tern_data_cifar10(directory, TERN_TRAIN));
    assert_error(TERN_ERR_FORMAT, "data_batch_3.bin has 5 bytes, but must have one or more");
    write_file("data_batch_3.bin", "", 0);
    assert_null(tern_data_cifar10(directory, TERN_TRAIN));
    assert_error(TERN_ERR_FORMAT, "data_batch_3.bin has 0 bytes");
    unlink(path_of("data_batch_3.bin"));
    assert_null(tern_data_cifar10(directory, TERN_TRAIN));
    assert_error(TERN_ERR_IO, "data_batch_3.bin: No such file or directory");
    write_records("test_batch.bin", 0, 12, 3);
    assert_null(tern_data_cifar10(directory, TERN_TEST));
    assert_error(TERN_ERR_FORMAT, "data_cifar10: record 10 of ");
    write_records("test.bin", 1, 101, 3);
    assert_null(tern_data_cifar100(directory, TERN_TEST));
    assert_error(TERN_ERR_FORMAT, "has the label 100, but labels are 0 to 99");
    tern_dataset *coarse = tern_data_cifar100(directory, TERN_TEST, .coarse = true);
    assert_non_null(coarse); // the fine ones do not count
    tern_dataset_free(coarse);
}

static void names_that_are_not_as_many_as_classes_are_refused(void **state)
{
    (void)state;
    write_records("test_batch.bin", 0, 2, 3);
    write_text("batches.meta.txt", "airplane\nautomobile\n");
    assert_null(tern_data_cifar10(directory, TERN_TEST));
    assert_error(TERN_ERR_FORMAT, "has the names of 2 classes, but must of 10");
    write_text("batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n");
    assert_null(tern_data_cifar10(directory, TERN_TEST));
    assert_error(TERN_ERR_FORMAT, "has the names of 11 classes");
    write_text("batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\n\xC4\n");
    assert_null(tern_data_cifar10(directory, TERN_TEST));
    assert_error(TERN_ERR_FORMAT, "batches.meta.txt is no text in UTF-8");
}

static tern_dataset *open_for_memory(void)
{
    return tern_data_cifar10(directory, TERN_TEST);
}

static void no_memory_for_cifar_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    write_records("test_batch.bin", 0, 2, 3);
    write_text("batches.meta.txt", ten_names);
    assert_needs_memory(open_for_memory, 5);
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(the_five_files_of_cifar10_follow_one_another),
        DATA_TEST(more_records_than_are_read_at_once),
        DATA_TEST(cifar100_has_fine_and_coarse_labels),
        DATA_TEST(the_names_of_coarse_classes_are_their_own),
        DATA_TEST(files_of_another_form_are_refused),
        DATA_TEST(names_that_are_not_as_many_as_classes_are_refused),
        DATA_TEST(no_memory_for_cifar_is_reported_and_leaves_nothing),
    };
    return cmocka_run_group_tests_name("cifar", tests, start_group, end_group);
}
