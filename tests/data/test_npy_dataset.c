// SPDX-License-Identifier: Apache-2.0
// Rows of numpy's files, read when they are asked for.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data_fixture.h"

// A file of numpy's version 1.0 with these bytes of elements.
static const char *write_npy(const char *name, const char *descr, const char *shape,
                             const char *order, const void *elements, size_t nbytes)
{
    unsigned char bytes[4096] = "\x93NUMPY\x01";
    const int length =
        snprintf((char *)bytes + 10, 512, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n",
                 descr, order, shape);
    bytes[7] = 0;
    bytes[8] = (unsigned char)length;
    bytes[9] = 0;
    assert_true(length < 256 && nbytes <= 3000);
    memcpy(bytes + 10 + length, elements, nbytes);
    return write_file(name, bytes, 10 + (size_t)length + nbytes);
}

static void write_pairs(void)
{
    float x[15];
    int64_t y[5];
    for (int i = 0; i < 15; i++)
        x[i] = (float)i / 2;
    for (int i = 0; i < 5; i++)
        y[i] = 10 * i;
    write_npy("x.npy", "<f4", "(5, 3)", "False", x, sizeof x);
    write_npy("y.npy", "<i8", "(5,)", "False", y, sizeof y);
}

static tern_dataset *pairs(void)
{
    write_pairs();
    tern_dataset *set = tern_data_npy(path_of("x.npy"), .labels = path_of("y.npy"));
    assert_non_null(set);
    return set;
}

static void rows_of_two_files_belong_together(void **state)
{
    (void)state;
    tern_dataset *set = pairs();
    tern_batch b;
    assert_int_equal(tern_dataset_count(set), 5);
    assert_int_equal(tern_dataset_get(set, (int64_t[]){4, 0, 4}, 3, &b), TERN_OK);
    assert_true(tern_shape_equal(tern_shape_of(b.x), tern_dims(3, 3)));
    assert_true(tern_shape_equal(tern_shape_of(b.y), tern_dims(3)));
    assert_memory_equal(tern_data(b.x), ((float[]){6, 6.5f, 7, 0, 0.5f, 1, 6, 6.5f, 7}), 36);
    assert_memory_equal(tern_data(b.y), ((int64_t[]){40, 0, 40}), 24);
    tern_dataset_free(set);
}

static void one_file_gives_x_alone(void **state)
{
    (void)state;
    write_pairs();
    tern_dataset *set = tern_data_npy(path_of("y.npy"));
    tern_sample s;
    assert_int_equal(tern_dataset_item(set, 3, &s), TERN_OK);
    assert_int_equal(s.count, 1);
    assert_int_equal(tern_rank(s.x), 0);
    assert_true(tern_item(s.x) == 30);
    tern_dataset_free(set);
}

static void big_endian_elements_are_turned_around(void **state)
{
    (void)state;
    const unsigned char bytes[] = {0, 0, 0, 1, 0, 0, 2, 0};
    tern_dataset *set =
        tern_data_npy(write_npy("big.npy", ">i4", "(2,)", "False", bytes, sizeof bytes));
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, (int64_t[]){1, 0}, 2, &b), TERN_OK);
    assert_memory_equal(tern_data(b.x), ((int32_t[]){512, 1}), 8);
    tern_dataset_free(set);
}

static void no_rows_and_rows_of_nothing(void **state)
{
    (void)state;
    tern_dataset *none = tern_data_npy(write_npy("none.npy", "<f4", "(0, 3)", "False", "", 0));
    assert_int_equal(tern_dataset_count(none), 0);
    tern_dataset *bare = tern_data_npy(write_npy("bare.npy", "<f4", "(3, 0)", "False", "", 0));
    tern_batch b;
    assert_int_equal(tern_dataset_get(bare, (int64_t[]){2}, 1, &b), TERN_OK);
    assert_true(tern_shape_equal(tern_shape_of(b.x), tern_dims(1, 0)));
    tern_free(none, bare);
}

static void arrays_of_another_form_are_refused(void **state)
{
    (void)state;
    const unsigned char zeros[64] = {0};
    static const struct {
        const char *descr, *shape, *order;
        size_t nbytes;
        const char *words;
    } cases[] = {
        {"<f4", "(2, 2)", "True", 16, "is in Fortran's order"},
        {"|O", "(2,)", "False", 16, "holds Python objects, which are never read"},
        {"<c8", "(2,)", "False", 16, "has elements of the type <c8, which tern has not"},
        {"<f4", "()", "False", 4, "has no dimension to count samples by"},
        {"<f4", "(2, 2)", "False", 12, "has 12 bytes of elements, but its shape wants 16"},
        {"<f4", "(2, 2)", "False", 20, "has 20 bytes of elements, but its shape wants 16"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_npy("bad.npy", cases[i].descr, cases[i].shape, cases[i].order, zeros,
                  cases[i].nbytes);
        assert_null(tern_data_npy(path_of("bad.npy")));
        assert_error(TERN_ERR_FORMAT, cases[i].words);
    }
    write_file("bad.npy", "\x93NUMPY\x01\0\x40\0{", 11);
    assert_null(tern_data_npy(path_of("bad.npy")));
    assert_error(TERN_ERR_FORMAT, "bad.npy ends in its header of 74 bytes");
    write_file("bad.npy", "P5", 2);
    assert_null(tern_data_npy(path_of("bad.npy")));
    assert_error(TERN_ERR_FORMAT, "is no array of numpy's");
    assert_null(tern_data_npy(path_of("missing.npy")));
    assert_error(TERN_ERR_IO, "missing.npy: No such file or directory");
}

static void a_vector_in_fortrans_order_is_one_in_c_order(void **state)
{
    (void)state;
    tern_dataset *set =
        tern_data_npy(write_npy("f.npy", "<i4", "(2,)", "True", (int32_t[]){7, 8}, 8));
    tern_sample s;
    assert_int_equal(tern_dataset_item(set, 1, &s), TERN_OK);
    assert_true(tern_item(s.x) == 8);
    tern_dataset_free(set);
}

static void numbers_of_rows_that_differ_are_refused(void **state)
{
    (void)state;
    write_pairs();
    write_npy("y.npy", "<i4", "(2,)", "False", (int32_t[]){7, 8}, 8);
    assert_null(tern_data_npy(path_of("x.npy"), .labels = path_of("y.npy")));
    assert_error(TERN_ERR_FORMAT, "x.npy has 5 rows, but ");
}

static void a_bool_that_is_none_names_its_sample(void **state)
{
    (void)state;
    const unsigned char bytes[] = {1, 0, 2, 0};
    tern_dataset *set =
        tern_data_npy(write_npy("b.npy", "|b1", "(2, 2)", "False", bytes, sizeof bytes));
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, (int64_t[]){0}, 1, &b), TERN_OK);
    assert_int_equal(tern_dataset_get(set, (int64_t[]){0, 1}, 2, &b), TERN_ERR_FORMAT);
    assert_error(TERN_ERR_FORMAT, "b.npy has the bool 2, not 0 or 1 [in sample 1 of data_npy");
    tern_dataset_free(set);
}

static void a_file_that_shrinks_names_file_and_sample(void **state)
{
    (void)state;
    tern_dataset *set = pairs();
    tern_batch b;
    assert_int_equal(truncate(path_of("x.npy"), 100), 0);
    assert_true(tern_dataset_get(set, (int64_t[]){3, 1}, 2, &b) != TERN_OK);
    assert_true(strstr(tern_error_message(), "x.npy was written to while it was read") != NULL);
    assert_error(TERN_ERR_IO, "[in sample 3 of data_npy, from x.npy]");
    tern_dataset_free(set);
}

static void a_file_that_is_deleted_can_still_be_read(void **state)
{
    (void)state;
    tern_dataset *set = pairs();
    unlink(path_of("x.npy"));
    unlink(path_of("y.npy"));
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, (int64_t[]){3}, 1, &b), TERN_OK);
    assert_memory_equal(tern_data(b.y), ((int64_t[]){30}), 8);
    tern_dataset_free(set);
}

static void *read_rows(void *set)
{
    bool fine = true;
    for (int64_t i = 0; i < 200 && fine; i++) {
        tern_scope inner = tern_scope_open();
        tern_batch b;
        fine = !tern_dataset_get(set, (int64_t[]){i % 5, (i + 2) % 5}, 2, &b) &&
               ((int64_t *)tern_data(b.y))[1] == 10 * ((i + 2) % 5);
        tern_scope_close(inner);
    }
    return fine ? set : NULL;
}

static void several_threads_read_one_file(void **state)
{
    (void)state;
    pthread_t thread[4];
    tern_dataset *set = pairs();
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, read_rows, set), 0);
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(thread[i], &result);
        assert_ptr_equal(result, set);
    }
    tern_dataset_free(set);
}

static tern_dataset *open_for_memory(void)
{
    const char *x = path_of("x.npy"), *y = path_of("y.npy");
    return tern_data_npy(x, .labels = y);
}

static void no_memory_for_npy_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    write_pairs();
    assert_needs_memory(open_for_memory, 4);
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(rows_of_two_files_belong_together),
        DATA_TEST(one_file_gives_x_alone),
        DATA_TEST(big_endian_elements_are_turned_around),
        DATA_TEST(no_rows_and_rows_of_nothing),
        DATA_TEST(arrays_of_another_form_are_refused),
        DATA_TEST(a_vector_in_fortrans_order_is_one_in_c_order),
        DATA_TEST(numbers_of_rows_that_differ_are_refused),
        DATA_TEST(a_bool_that_is_none_names_its_sample),
        DATA_TEST(a_file_that_shrinks_names_file_and_sample),
        DATA_TEST(a_file_that_is_deleted_can_still_be_read),
        DATA_TEST(several_threads_read_one_file),
        DATA_TEST(no_memory_for_npy_is_reported_and_leaves_nothing),
    };
    return cmocka_run_group_tests_name("npy_dataset", tests, start_group, end_group);
}
