// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data_fixture.h"
#include "golden/golden.h"

static void assert_no_mnist(tern_data_split split, tern_status code, const char *words)
{
    assert_null(tern_data_mnist(directory, split));
    assert_error(code, words);
}

static void a_batch_of_mnist_has_floats_and_int64_labels(void **state)
{
    (void)state;
    write_mnist("train", 5, 5);
    tern_dataset *set = tern_data_mnist(directory, TERN_TRAIN);
    assert_non_null(set);
    assert_int_equal(tern_dataset_count(set), 5);
    tern_batch b;
    const int64_t index[] = {4, 0, 4};
    assert_int_equal(tern_dataset_get(set, index, 3, &b), TERN_OK);
    assert_int_equal(b.size, 3);
    assert_int_equal(b.count, 2);
    assert_ptr_equal(b.index, index);
    assert_ptr_equal(b.x, b.at[0]);
    assert_ptr_equal(b.y, b.at[1]);
    assert_int_equal(tern_dtype_of(b.x), TERN_FLOAT32);
    assert_int_equal(tern_dtype_of(b.y), TERN_INT64);
    assert_true(tern_shape_equal(tern_shape_of(b.x), tern_dims(3, 1, 2, 3)));
    assert_true(tern_shape_equal(tern_shape_of(b.y), tern_dims(3)));
    for (int i = 0; i < 18; i++) {
        float byte = (float)(index[i / 6] * 6 + i % 6);
        assert_true(((float *)tern_data(b.x))[i] == byte / 255.0f);
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(((int64_t *)tern_data(b.y))[i], index[i]);
    tern_dataset_free(set);
}

static void the_parts_come_from_different_files(void **state)
{
    (void)state;
    write_mnist("train", 5, 5);
    assert_no_mnist(TERN_TEST, TERN_ERR_IO,
                    "neither t10k-images-idx3-ubyte nor t10k-images-idx3-"
                    "ubyte.gz");
    write_mnist("t10k", 3, 3);
    tern_dataset *set = tern_data_mnist(directory, TERN_TEST);
    assert_int_equal(tern_dataset_count(set), 3);
    tern_dataset_free(set);
}

static void a_missing_directory_or_file_is_named(void **state)
{
    (void)state;
    assert_null(tern_data_mnist("/nowhere/at-all", TERN_TRAIN));
    assert_error(TERN_ERR_IO, "no directory /nowhere/at-all: No such file or directory");
    assert_no_mnist(TERN_TRAIN, TERN_ERR_IO, "neither train-images-idx3-ubyte nor");
    write_mnist("train", 5, 5);
    unlink(path_of("train-labels-idx1-ubyte"));
    assert_no_mnist(TERN_TRAIN, TERN_ERR_IO, "neither train-labels-idx1-ubyte nor");
}

static void images_and_labels_that_differ_in_number_are_refused(void **state)
{
    (void)state;
    write_mnist("train", 5, 4);
    assert_no_mnist(TERN_TRAIN, TERN_ERR_FORMAT, "5 images but 4 labels");
}

static void files_of_another_rank_or_dtype_are_refused(void **state)
{
    (void)state;
    static const unsigned char row[] = {0, 0, 8, 1, 0, 0, 0, 2, 1, 2};
    static const unsigned char ints[] = {0, 0, 9, 1, 0, 0, 0, 2, 1, 2};
    write_mnist("train", 2, 2);
    write_file("train-images-idx3-ubyte", row, sizeof row);
    assert_no_mnist(TERN_TRAIN, TERN_ERR_FORMAT, "uint8 (2,), but must be uint8 with 3 dimensions");
    write_mnist("train", 2, 2);
    write_file("train-labels-idx1-ubyte", ints, sizeof ints);
    assert_no_mnist(TERN_TRAIN, TERN_ERR_FORMAT, "int32 (2,), but must be uint8 with 1 dimension");
}

static void a_label_out_of_range_is_refused(void **state)
{
    (void)state;
    write_mnist("train", 12, 12);
    assert_no_mnist(TERN_TRAIN, TERN_ERR_FORMAT, "label 10 in");
    tern_dataset *set = tern_data_mnist(directory, TERN_TRAIN, .classes = 12);
    assert_int_equal(tern_dataset_count(set), 12);
    tern_dataset_free(set);
    assert_null(tern_data_mnist(directory, TERN_TRAIN, .classes = 0));
    assert_error(TERN_ERR_ARG, "classes is 0, but must be 1 to 256");
    assert_null(tern_data_mnist(directory, TERN_TRAIN, .classes = 257));
    assert_error(TERN_ERR_ARG, "classes is 257");
}

static void mnist_needs_a_directory_and_a_part(void **state)
{
    (void)state;
    assert_null(tern_data_mnist(NULL, TERN_TRAIN));
    assert_error(TERN_ERR_NULL, "data_mnist: directory is NULL");
    assert_null(tern_data_mnist(directory, TERN_SPLIT_UNSPECIFIED));
    assert_error(TERN_ERR_ARG, "TERN_TRAIN or TERN_TEST");
    assert_null(tern_data_mnist_with(NULL));
    assert_error(TERN_ERR_NULL, "options is NULL");
    assert_int_equal(tern_data_mnist_defaults().classes, 10);
    char longest[6000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    assert_null(tern_data_mnist(longest, TERN_TRAIN));
    assert_error(TERN_ERR_ARG, "too long");
}

static void no_memory_for_mnist_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    write_mnist("train", 5, 5);
    for (int64_t n = 1;; n++) {
        int64_t before = memory.bytes;
        fail_nth_allocation(n);
        tern_dataset *set = tern_data_mnist(directory, TERN_TRAIN);
        bool failed = memory.calls >= n;
        fail_nth_allocation(0);
        if (!failed) {
            assert_non_null(set);
            assert_true(n > 6);
            tern_dataset_free(set);
            return;
        }
        assert_null(set);
        assert_error(TERN_ERR_NOMEM, "no memory");
        assert_int_equal(memory.bytes, before);
    }
}

// Computed by numpy and PyTorch: tests/golden/make_data.py.
static void fashion_mnist_has_the_pixels_that_torch_computes(void **state)
{
    (void)state;
    const char *home = getenv("TERN_TEST_DATA");
    if (!home || access(home, R_OK) != 0) {
        print_message("the data set is not there: %s\n", home ? home : "TERN_TEST_DATA is not set");
        skip();
    }
    for (int i = 0; i < 2; i++) {
        const golden_case *c = golden_find("data", i == 0 ? "fashion train" : "fashion t10k");
        const int64_t count = (int64_t)golden_number(c, "count", 0);
        tern_dataset *set = tern_data_mnist(home, i == 0 ? TERN_TRAIN : TERN_TEST);
        assert_int_equal(tern_dataset_count(set), count);
        uLong pixels = 0, labels = 0;
        for (int64_t first = 0; first < count; first += 1000) {
            tern_scope inner = tern_scope_open();
            int64_t index[1000];
            for (int64_t k = 0; k < 1000; k++)
                index[k] = first + k;
            tern_batch b;
            assert_int_equal(tern_dataset_get(set, index, 1000, &b), TERN_OK);
            pixels = crc32(pixels, tern_data(b.x), 1000 * 784 * sizeof(float));
            labels = crc32(labels, tern_data(b.y), 1000 * sizeof(int64_t));
            if (first == 0)
                assert_memory_equal(tern_data(b.y), golden_values(c, "first_labels", TERN_INT64, 8),
                                    64);
            tern_scope_close(inner);
        }
        assert_int_equal(pixels, (uint32_t)golden_number(c, "pixels", 0));
        assert_int_equal(labels, (uint32_t)golden_number(c, "labels64", 0));
        tern_dataset_free(set);
    }
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(a_batch_of_mnist_has_floats_and_int64_labels),
        DATA_TEST(the_parts_come_from_different_files),
        DATA_TEST(a_missing_directory_or_file_is_named),
        DATA_TEST(images_and_labels_that_differ_in_number_are_refused),
        DATA_TEST(files_of_another_rank_or_dtype_are_refused),
        DATA_TEST(a_label_out_of_range_is_refused),
        DATA_TEST(mnist_needs_a_directory_and_a_part),
        DATA_TEST(no_memory_for_mnist_is_reported_and_leaves_nothing),
        DATA_TEST(fashion_mnist_has_the_pixels_that_torch_computes),
    };
    return cmocka_run_group_tests_name("mnist", tests, start_group, end_group);
}
