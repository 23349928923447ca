// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data_fixture.h"

// ---- tensors ----------------------------------------------------------------------------------

static void samples_are_slices_of_any_number_of_tensors(void **state)
{
    (void)state;
    tern_tensor *x = tern_arange(0, 12, 1, .dtype = TERN_FLOAT64);
    x = tern_reshape(x, tern_dims(4, 3));
    tern_tensor *y = tern_from_data(tern_dims(4), ((int64_t[]){5, 6, 7, 8}), .dtype = TERN_INT64);
    tern_tensor *z = tern_from_data(tern_dims(4, 1, 2), ((uint8_t[]){0, 1, 2, 3, 4, 5, 6, 7}),
                                    .dtype = TERN_UINT8);
    tern_dataset *set = tern_data_tensors(x, y, z);
    assert_int_equal(tern_dataset_count(set), 4);
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, (const int64_t[]){3, 1}, 2, &b), TERN_OK);
    assert_int_equal(b.count, 3);
    assert_true(tern_shape_equal(tern_shape_of(b.x), tern_dims(2, 3)));
    assert_memory_equal(tern_data(b.x), ((double[]){9, 10, 11, 3, 4, 5}), 48);
    assert_memory_equal(tern_data(b.y), ((int64_t[]){8, 6}), 16);
    assert_true(tern_shape_equal(tern_shape_of(b.at[2]), tern_dims(2, 1, 2)));
    assert_memory_equal(tern_data(b.at[2]), ((uint8_t[]){6, 7, 2, 3}), 4);
    tern_dataset_free(set);
    set = tern_data_tensors(y);
    assert_int_equal(tern_dataset_get(set, (const int64_t[]){2}, 1, &b), TERN_OK);
    assert_int_equal(b.count, 1);
    assert_int_equal(*(int64_t *)tern_data(b.x), 7);
    assert_null(b.y);
    tern_dataset_free(set);
}

static void views_with_strides_and_offsets_give_their_own_elements(void **state)
{
    (void)state;
    tern_tensor *x = tern_arange(0, 12, 1, .dtype = TERN_FLOAT32);
    x = tern_reshape(x, tern_dims(3, 4));
    tern_dataset *set = tern_data_tensors(tern_transpose(x, 0, 1),
                                          tern_narrow(tern_reshape(x, tern_dims(12)), 0, 5, 4));
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, (const int64_t[]){3, 0}, 2, &b), TERN_OK);
    assert_memory_equal(tern_data(b.x), ((float[]){3, 7, 11, 0, 4, 8}), 24);
    assert_memory_equal(tern_data(b.y), ((float[]){8, 5}), 8);
    tern_dataset_free(set);
}

static void a_dataset_holds_its_tensors_and_sees_them_change(void **state)
{
    (void)state;
    tern_scope inner = tern_scope_open();
    tern_tensor *x = tern_from_data(tern_dims(2), ((float[]){1, 2}));
    tern_dataset *set = tern_data_tensors(x);
    tern_scope_close(inner);
    ((float *)tern_data(x))[1] = 5;
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, (const int64_t[]){1, 0}, 2, &b), TERN_OK);
    assert_memory_equal(tern_data(b.x), ((float[]){5, 1}), 8);
    tern_dataset_free(set);
}

static void tensors_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    tern_tensor *x = tern_zeros(tern_dims(4, 3)), *y = tern_zeros(tern_dims(5));
    assert_null(tern_data_tensors(x, y));
    assert_error(TERN_ERR_SHAPE, "tensor 0 has shape (4, 3) and tensor 1 (5,)");
    assert_null(tern_data_tensors(tern_zeros(tern_dims())));
    assert_error(TERN_ERR_SHAPE, "tensor 0 has no dimension");
    assert_null(tern_data_tensors(x, NULL));
    assert_error(TERN_ERR_NULL, "data_tensors: tensor 1 is NULL");
    assert_null(tern_data_tensors_new(0, &x));
    assert_error(TERN_ERR_ARG, "0 tensors were given");
    assert_null(tern_data_tensors(x, x, x, x, x, x, x, x, x));
    assert_error(TERN_ERR_ARG, "9 tensors were given");
    assert_null(tern_data_tensors_new(1, NULL));
    assert_error(TERN_ERR_NULL, "tensors is NULL");
    tern_scope inner = tern_scope_open();
    tern_tensor *dead = tern_zeros(tern_dims(4));
    tern_scope_close(inner);
    assert_null(tern_data_tensors(x, dead));
    assert_error(TERN_ERR_STATE, "died when its scope closed");
}

static void a_tensor_without_elements_makes_an_empty_dataset(void **state)
{
    (void)state;
    tern_dataset *set = tern_data_tensors(tern_zeros(tern_dims(0, 3)));
    assert_int_equal(tern_dataset_count(set), 0);
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, (const int64_t[]){0}, 1, &b), TERN_ERR_INDEX);
    assert_error(TERN_ERR_INDEX, "index[0] is 0");
    tern_dataset_free(set);
    set = tern_data_tensors(tern_zeros(tern_dims(3, 0)));
    assert_int_equal(tern_dataset_get(set, (const int64_t[]){2, 1}, 2, &b), TERN_OK);
    assert_true(tern_shape_equal(tern_shape_of(b.x), tern_dims(2, 0)));
    tern_dataset_free(set);
}

static void a_bad_index_list_is_refused(void **state)
{
    (void)state;
    tern_dataset *set = tern_data_tensors(tern_zeros(tern_dims(4)));
    tern_batch b = {.size = 7};
    const int64_t index[] = {0, 4, -1};
    assert_int_equal(tern_dataset_get(set, index, 2, &b), TERN_ERR_INDEX);
    assert_int_equal(b.size, 0);
    assert_null(b.x);
    assert_error(TERN_ERR_INDEX, "index[1] is 4, but data_tensors has samples 0 to 3");
    assert_int_equal(tern_dataset_get(set, index + 2, 1, &b), TERN_ERR_INDEX);
    assert_error(TERN_ERR_INDEX, "index[0] is -1");
    assert_int_equal(tern_dataset_get(set, index, 0, &b), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "count is 0");
    assert_int_equal(tern_dataset_get(set, NULL, 1, &b), TERN_ERR_NULL);
    assert_error(TERN_ERR_NULL, "index is NULL");
    assert_int_equal(tern_dataset_get(set, index, 1, NULL), TERN_ERR_NULL);
    assert_error(TERN_ERR_NULL, "out is NULL");
    assert_int_equal(tern_dataset_get(NULL, index, 1, &b), TERN_ERR_NULL);
    assert_error(TERN_ERR_NULL, "dataset is NULL");
    assert_int_equal(tern_dataset_count(NULL), -1);
    assert_error(TERN_ERR_NULL, "dataset is NULL");
    tern_dataset_free(set);
}

static void a_failed_dataset_passes_its_error_on(void **state)
{
    (void)state;
    tern_dataset *set = tern_data_mnist("/nowhere", TERN_TRAIN);
    assert_int_equal(tern_dataset_count(set), -1);
    assert_error(TERN_ERR_IO, "/nowhere");
}

// ---- datasets of the user's own ---------------------------------------------------------------

// Sample i is (i) and (i * i); counts how often it was freed.
typedef struct squares {
    tern_dataset base;
    int64_t count;
    int tensors; // in a batch
    int64_t rows_more;
    tern_status status;
    int *freed;
} squares;

static int64_t squares_size(const tern_dataset *self)
{
    return ((const squares *)self)->count;
}

static tern_status squares_get(const tern_dataset *dataset, const tern_sample_context *context,
                               const int64_t *index, int64_t count, tern_batch *out)
{
    (void)context;
    const squares *self = (const squares *)dataset;
    assert_false(tern_grad_enabled());
    tern_tensor *x = tern_zeros(tern_dims(count + self->rows_more, 1));
    for (int64_t i = 0; x && i < count; i++)
        ((float *)tern_data(x))[i] = (float)index[i];
    for (int i = 0; i < self->tensors && i < TERN_BATCH_TENSORS; i++)
        out->at[i] = i == 0 ? x : tern_mul(x, x);
    out->count = self->tensors;
    return self->status;
}

static void squares_free(tern_dataset *self)
{
    ++*((squares *)self)->freed;
}

static const tern_dataset_class squares_class = {
    .name = "squares",
    .size = sizeof(squares),
    .count = squares_size,
    .get = squares_get,
    .free = squares_free,
};

static squares *new_squares(int *freed)
{
    squares *self = (squares *)tern_dataset_new(&squares_class);
    assert_non_null(self);
    assert_int_equal(self->count, 0);
    self->count = 5;
    self->tensors = 2;
    self->freed = freed;
    return self;
}

static void a_class_of_the_users_own_makes_batches(void **state)
{
    (void)state;
    int freed = 0;
    squares *set = new_squares(&freed);
    assert_int_equal(tern_dataset_count(&set->base), 5);
    tern_batch b;
    assert_int_equal(tern_dataset_get(&set->base, (const int64_t[]){3, 4}, 2, &b), TERN_OK);
    assert_memory_equal(tern_data(b.x), ((float[]){3, 4}), 8);
    assert_memory_equal(tern_data(b.y), ((float[]){9, 16}), 8);
    assert_true(tern_grad_enabled());
    tern_dataset_free(&set->base);
    assert_int_equal(freed, 1);
}

static void the_last_reference_frees_a_dataset(void **state)
{
    (void)state;
    int freed = 0;
    squares *set = new_squares(&freed);
    assert_ptr_equal(tern_dataset_retain(&set->base), &set->base);
    tern_dataset_free(&set->base);
    assert_int_equal(freed, 0);
    assert_int_equal(tern_dataset_count(&set->base), 5);
    tern_dataset_free(&set->base);
    assert_int_equal(freed, 1);
    tern_dataset_free(NULL);
    assert_null(tern_dataset_retain(NULL));
}

static void what_a_class_makes_is_checked(void **state)
{
    (void)state;
    int freed = 0;
    squares *set = new_squares(&freed);
    const int64_t index[] = {1, 2};
    tern_batch b;
    set->rows_more = 1;
    assert_int_equal(tern_dataset_get(&set->base, index, 2, &b), TERN_ERR_SHAPE);
    assert_error(TERN_ERR_SHAPE, "squares gave tensor 0 of shape (3, 1) for 2 samples");
    set->rows_more = 0;
    set->tensors = 0;
    assert_int_equal(tern_dataset_get(&set->base, index, 2, &b), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "squares gave 0 tensors");
    set->tensors = 9;
    assert_int_equal(tern_dataset_get(&set->base, index, 2, &b), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "squares gave 9 tensors");
    set->tensors = 2;
    set->status = TERN_ERR_IO;
    assert_int_equal(tern_dataset_get(&set->base, index, 2, &b), TERN_ERR_IO);
    assert_error(TERN_ERR_IO, "squares failed to make a batch and did not say why");
    set->count = -3;
    assert_int_equal(tern_dataset_count(&set->base), -1);
    assert_error(TERN_ERR_STATE, "squares says that it has -3 samples");
    tern_dataset_free(&set->base);
}

static void an_incomplete_class_is_refused(void **state)
{
    (void)state;
    tern_dataset_class bad = squares_class;
    assert_null(tern_dataset_new(NULL));
    assert_error(TERN_ERR_NULL, "dataset_class is NULL");
    bad.get = NULL;
    assert_null(tern_dataset_new(&bad));
    assert_error(TERN_ERR_NULL, "the class's item is NULL");
    bad = squares_class;
    bad.count = NULL;
    assert_null(tern_dataset_new(&bad));
    assert_error(TERN_ERR_NULL, "the class's count is NULL");
    bad = squares_class;
    bad.size = 8;
    assert_null(tern_dataset_new(&bad));
    assert_error(TERN_ERR_ARG, "8 bytes");
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(samples_are_slices_of_any_number_of_tensors),
        DATA_TEST(views_with_strides_and_offsets_give_their_own_elements),
        DATA_TEST(a_dataset_holds_its_tensors_and_sees_them_change),
        DATA_TEST(tensors_that_do_not_fit_are_refused),
        DATA_TEST(a_tensor_without_elements_makes_an_empty_dataset),
        DATA_TEST(a_bad_index_list_is_refused),
        DATA_TEST(a_failed_dataset_passes_its_error_on),
        DATA_TEST(a_class_of_the_users_own_makes_batches),
        DATA_TEST(the_last_reference_frees_a_dataset),
        DATA_TEST(what_a_class_makes_is_checked),
        DATA_TEST(an_incomplete_class_is_refused),
    };
    return cmocka_run_group_tests_name("dataset", tests, start_group, end_group);
}
