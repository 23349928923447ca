// SPDX-License-Identifier: Apache-2.0
// Copies, moves between two CPU devices, casts, joining and splitting, with their gradients.
#include "support/tensor_check.h"

static tern_tensor *total(tern_tensor *t)
{
    return tern_sum(t, TERN_ALL_AXES, false);
}

// backward of sum(y * (1, 2, 3, ...)).
static void backward_counted(tern_tensor *y)
{
    tern_tensor *w = tern_arange(1, (double)tern_numel(y) + 1, 1, .dtype = tern_dtype_of(y),
                                 .device = tern_device_of(y));
    w = tern_reshape(w, tern_shape_of(y));
    assert_int_equal(tern_backward(total(tern_mul(y, w))), TERN_OK);
}

static void a_clone_has_memory_of_its_own(void **state)
{
    (void)state;
    tern_tensor *t = tern_transpose(check_2x3(false), 0, 1);
    tern_tensor *y = tern_clone(t);
    assert_true(tern_is_contiguous(y));
    assert_ptr_not_equal(y, t);
    assert_non_null(tern_zero_(t));
    assert_tensor(y, tern_dims(3, 2), 0, 3, 1, 4, 2, 5);
    assert_empty(tern_clone(tern_zeros(tern_dims(0, 2))), tern_dims(0, 2));
    assert_tensor(tern_clone(tern_full(tern_dims(), 3)), tern_dims(), 3);
    tern_tensor *leaf = check_2x3(true);
    backward_counted(tern_clone(tern_transpose(leaf, 0, 1)));
    assert_tensor(tern_grad(leaf), tern_dims(2, 3), 1, 3, 5, 2, 4, 6);
}

static void contiguous_copies_only_where_it_must(void **state)
{
    (void)state;
    tern_tensor *t = check_2x3(true);
    assert_ptr_equal(tern_contiguous(t), t);
    tern_tensor *y = tern_contiguous(tern_transpose(t, 0, 1));
    assert_true(tern_is_contiguous(y));
    assert_tensor(y, tern_dims(3, 2), 0, 3, 1, 4, 2, 5);
    backward_counted(y);
    assert_tensor(tern_grad(t), tern_dims(2, 3), 1, 3, 5, 2, 4, 6);
    assert_null_with(tern_contiguous(NULL), TERN_ERR_NULL, "contiguous: t is NULL");
}

static void a_move_copies_to_the_other_device_and_gradients_come_back(void **state)
{
    (void)state;
    tern_tensor *t = check_2x3(true);
    assert_ptr_equal(tern_to(t, tern_cpu(0)), t);
    tern_tensor *y = tern_to(tern_transpose(t, 0, 1), tern_cpu(1));
    assert_true(tern_device_equal(tern_device_of(y), tern_cpu(1)));
    assert_tensor(y, tern_dims(3, 2), 0, 3, 1, 4, 2, 5);
    backward_counted(y);
    assert_tensor(tern_grad(t), tern_dims(2, 3), 1, 3, 5, 2, 4, 6);
    assert_true(tern_device_equal(tern_device_of(tern_grad(t)), tern_cpu(0)));
    assert_empty(tern_to(tern_zeros(tern_dims(0)), tern_cpu(1)), tern_dims(0));
    assert_null_with(tern_to(t, tern_cpu(2)), TERN_ERR_DEVICE, "to: there is no device cpu:2");
    assert_null_with(tern_to(t, tern_cuda(0)), TERN_ERR_DEVICE, "to: there is no cuda:0");
}

static void casts_truncate_round_and_test_for_zero(void **state)
{
    (void)state;
    const double data[] = {-2.7, 0, 0.5, 300.25};
    tern_tensor *t = tern_from_data(tern_dims(4), data, .dtype = TERN_FLOAT64);
    assert_ptr_equal(tern_to_dtype(t, TERN_FLOAT64), t);
    assert_tensor(tern_to_dtype(t, TERN_INT64), tern_dims(4), -2, 0, 0, 300);
    assert_tensor(tern_to_dtype(t, TERN_INT32), tern_dims(4), -2, 0, 0, 300);
    assert_tensor(tern_to_dtype(t, TERN_BOOL), tern_dims(4), 1, 0, 1, 1);
    assert_tensor(tern_to_dtype(t, TERN_FLOAT32), tern_dims(4), (float)-2.7, 0, 0.5, 300.25);
    assert_tensor(tern_to_dtype(t, TERN_FLOAT16), tern_dims(4), -2.69921875, 0, 0.5, 300.25);
    assert_tensor(tern_to_dtype(t, TERN_BFLOAT16), tern_dims(4), -2.703125, 0, 0.5, 300);
    assert_null_with(tern_to_dtype(t, (tern_dtype)77), TERN_ERR_DTYPE, "to_dtype: 77 is no dtype");
    assert_null_with(tern_to_dtype(t, TERN_DTYPE_UNSPECIFIED), TERN_ERR_DTYPE, "to_dtype");
}

// 300 elements: NaN, infinities and what is out of range among numbers, in vectors and after them.
static void casts_to_integers_take_the_nearest_and_nan_gives_0(void **state)
{
    (void)state;
    enum { COUNT = 300 };
    static const double odd[] = {NAN, INFINITY, -INFINITY, 3e9, -3e9, -NAN, -1.5};
    static const double words[] = {0, INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, 0, -1};
    static const double longs[] = {0, 0x1p63, -0x1p63, 3e9, -3e9, 0, -1}; // 2^63 - 1 as a double
    static const tern_dtype from[] = {TERN_FLOAT32, TERN_FLOAT64, TERN_BFLOAT16};
    for (size_t k = 0; k < sizeof from / sizeof *from; k++) {
        double data[COUNT], as_int32[COUNT], as_int64[COUNT];
        for (int i = 0; i < COUNT; i++) {
            data[i] = odd[i % 7];
            as_int32[i] = words[i % 7];
            as_int64[i] = longs[i % 7];
            if (from[k] == TERN_BFLOAT16 && fabs(data[i]) == 3e9) // rounded to 8 bits
                as_int64[i] = data[i] < 0 ? -179 * 0x1p24 : 179 * 0x1p24;
        }
        tern_tensor *x = tern_from_data(tern_dims(COUNT), data, .dtype = TERN_FLOAT64);
        x = tern_to_dtype(x, from[k]);
        check_close_to(tern_to_dtype(x, TERN_INT32), tern_dims(COUNT), as_int32, COUNT, 0, __FILE__,
                       __LINE__);
        check_close_to(tern_to_dtype(x, TERN_INT64), tern_dims(COUNT), as_int64, COUNT, 0, __FILE__,
                       __LINE__);
    }
}

static void gradients_are_cast_back(void **state)
{
    (void)state;
    tern_tensor *t = check_2x3(true);
    tern_tensor *y = tern_to_dtype(t, TERN_FLOAT64);
    backward_counted(y);
    assert_int_equal(tern_dtype_of(tern_grad(t)), TERN_FLOAT32);
    assert_tensor(tern_grad(t), tern_dims(2, 3), 1, 2, 3, 4, 5, 6);
    assert_false(tern_requires_grad(tern_to_dtype(t, TERN_INT64)));
}

static void cat_joins_along_any_dimension(void **state)
{
    (void)state;
    tern_tensor *a = check_2x3(false);
    tern_tensor *b = tern_transpose(
        tern_reshape(tern_arange(6, 10, 1, .dtype = TERN_FLOAT32), tern_dims(2, 2)), 0, 1);
    tern_tensor *both[] = {a, b};
    assert_tensor(tern_cat(both, 2, 1), tern_dims(2, 5), 0, 1, 2, 6, 8, 3, 4, 5, 7, 9);
    assert_tensor(tern_cat(both, 2, -1), tern_dims(2, 5), 0, 1, 2, 6, 8, 3, 4, 5, 7, 9);
    tern_tensor *twice[] = {a, a};
    assert_tensor(tern_cat(twice, 2, 0), tern_dims(4, 3), 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5);
    assert_tensor(tern_cat(twice, 1, 0), tern_dims(2, 3), 0, 1, 2, 3, 4, 5);
    tern_tensor *with_empty[] = {tern_zeros(tern_dims(2, 0)), a};
    assert_tensor(tern_cat(with_empty, 2, 1), tern_dims(2, 3), 0, 1, 2, 3, 4, 5);
}

static void cat_says_what_does_not_fit(void **state)
{
    (void)state;
    tern_tensor *a = check_2x3(false);
    tern_tensor *list[] = {a, tern_zeros(tern_dims(3, 3))};
    assert_null_with(tern_cat(list, 2, 1), TERN_ERR_SHAPE,
                     "cat: tensors[0] is float32 (2, 3) on cpu:0 and tensors[1] is float32 (3, 3)");
    list[1] = tern_zeros(tern_dims(2));
    assert_null_with(tern_cat(list, 2, 0), TERN_ERR_SHAPE, "cat");
    list[1] = tern_zeros(tern_dims(2, 3), .dtype = TERN_INT64);
    assert_null_with(tern_cat(list, 2, 0), TERN_ERR_DTYPE, "tensors[1] is int64");
    list[1] = tern_zeros(tern_dims(2, 3), .device = tern_cpu(1));
    assert_null_with(tern_cat(list, 2, 0), TERN_ERR_DEVICE, "tensors[1] on cpu:1");
    list[1] = NULL;
    assert_null_with(tern_cat(list, 2, 0), TERN_ERR_NULL, "cat: tensors[1] is NULL");
    assert_null_with(tern_cat(NULL, 2, 0), TERN_ERR_NULL, "cat: tensors is NULL");
    assert_null_with(tern_cat(list, 0, 0), TERN_ERR_ARG, "cat: count is 0");
    assert_null_with(tern_cat(list, 1, 2), TERN_ERR_ARG, "cat: dim 2");
    list[0] = tern_zeros(tern_dims());
    assert_null_with(tern_cat(list, 1, 0), TERN_ERR_SHAPE, "tern_stack");
}

static void cat_hands_each_part_its_gradient(void **state)
{
    (void)state;
    tern_tensor *list[20];
    for (int i = 0; i < 20; i++)
        list[i] = tern_zeros(tern_dims(2, 1), .requires_grad = i % 3 != 0);
    backward_counted(tern_cat(list, 20, 1)); // 1 .. 20 and 21 .. 40
    for (int i = 0; i < 20; i++) {
        if (i % 3 == 0)
            assert_null(tern_grad(list[i]));
        else
            assert_tensor(tern_grad(list[i]), tern_dims(2, 1), i + 1, i + 21);
    }
    tern_tensor *same[] = {list[1], list[1]};
    tern_zero_grad(list[1]);
    backward_counted(tern_cat(same, 2, 0));
    assert_tensor(tern_grad(list[1]), tern_dims(2, 1), 1 + 3, 2 + 4);
}

static void stack_makes_a_new_dimension(void **state)
{
    (void)state;
    tern_tensor *rows[] = {tern_arange(0, 2, 1, .dtype = TERN_FLOAT64),
                           tern_arange(2, 4, 1, .dtype = TERN_FLOAT64),
                           tern_arange(4, 6, 1, .dtype = TERN_FLOAT64)};
    assert_tensor(tern_stack(rows, 3, 0), tern_dims(3, 2), 0, 1, 2, 3, 4, 5);
    assert_tensor(tern_stack(rows, 3, -1), tern_dims(2, 3), 0, 2, 4, 1, 3, 5);
    tern_tensor *scalars[] = {tern_full(tern_dims(), 1, .requires_grad = true),
                              tern_full(tern_dims(), 2, .requires_grad = true)};
    tern_tensor *y = tern_stack(scalars, 2, 0);
    assert_tensor(y, tern_dims(2), 1, 2);
    backward_counted(y);
    assert_tensor(tern_grad(scalars[1]), tern_dims(), 2);
    rows[1] = tern_zeros(tern_dims(3), .dtype = TERN_FLOAT64);
    assert_null_with(tern_stack(rows, 3, 0), TERN_ERR_SHAPE, "stack: tensors[0] is float64 (2,)");
    assert_null_with(tern_stack(rows, 1, 2), TERN_ERR_ARG, "stack: dim 2");
}

static void split_gives_views_of_one_size_and_a_rest(void **state)
{
    (void)state;
    tern_tensor *t = tern_reshape(tern_arange(0, 10, 1), tern_dims(2, 5)), *out[4] = {NULL};
    int64_t count = -1;
    assert_int_equal(tern_split(t, 2, 1, out, 4, &count), TERN_OK);
    assert_int_equal(count, 3);
    assert_tensor(out[0], tern_dims(2, 2), 0, 1, 5, 6);
    assert_tensor(out[2], tern_dims(2, 1), 4, 9);
    assert_non_null(tern_fill_(out[2], 7));
    assert_tensor(t, tern_dims(2, 5), 0, 1, 2, 3, 7, 5, 6, 7, 8, 7);
    assert_int_equal(tern_chunk(t, 4, -1, out, 4, &count), TERN_OK); // pieces of 2
    assert_int_equal(count, 3);
    assert_int_equal(tern_split(t, 100, 0, out, 4, &count), TERN_OK);
    assert_int_equal(count, 1);
    assert_int_equal(tern_split(tern_zeros(tern_dims(0)), 3, 0, out, 4, &count), TERN_OK);
    assert_int_equal(count, 1);
    assert_empty(out[0], tern_dims(0));
}

static void split_writes_nothing_when_it_fails(void **state)
{
    (void)state;
    tern_tensor *t = tern_zeros(tern_dims(5)), *out[2] = {t, t};
    int64_t count = 42;
    assert_status(tern_split(t, 2, 0, out, 2, &count), TERN_ERR_ARG,
                  "split: 3 pieces of float32 (5,) on cpu:0, but room for 2");
    assert_status(tern_split(t, 0, 0, out, 2, &count), TERN_ERR_ARG, "split: size 0");
    assert_status(tern_chunk(t, -1, 0, out, 2, &count), TERN_ERR_ARG, "chunk: chunks -1");
    assert_status(tern_chunk(t, 1, 1, out, 2, &count), TERN_ERR_ARG, "chunk: dim 1");
    assert_status(tern_split(t, 1, 0, NULL, 2, &count), TERN_ERR_NULL, "split: out is NULL");
    assert_status(tern_split(t, 1, 0, out, 2, NULL), TERN_ERR_NULL, "split: count is NULL");
    assert_ptr_equal(out[0], t);
    assert_ptr_equal(out[1], t);
    assert_int_equal(count, 42);
}

static void split_pieces_pass_gradients_back(void **state)
{
    (void)state;
    tern_tensor *t = check_2x3(true), *out[2];
    int64_t count;
    assert_int_equal(tern_split(t, 2, 1, out, 2, &count), TERN_OK);
    backward_counted(out[0]); // (2, 2)
    backward_counted(out[1]); // (2, 1)
    assert_tensor(tern_grad(t), tern_dims(2, 3), 1, 2, 1, 3, 4, 2);
}

int main(void)
{
    setenv("TERN_CPU_DEVICES", "2", 1);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_clone_has_memory_of_its_own),
        CHECK_TEST(contiguous_copies_only_where_it_must),
        CHECK_TEST(a_move_copies_to_the_other_device_and_gradients_come_back),
        CHECK_TEST(casts_truncate_round_and_test_for_zero),
        CHECK_TEST(casts_to_integers_take_the_nearest_and_nan_gives_0),
        CHECK_TEST(gradients_are_cast_back),
        CHECK_TEST(cat_joins_along_any_dimension),
        CHECK_TEST(cat_says_what_does_not_fit),
        CHECK_TEST(cat_hands_each_part_its_gradient),
        CHECK_TEST(stack_makes_a_new_dimension),
        CHECK_TEST(split_gives_views_of_one_size_and_a_rest),
        CHECK_TEST(split_writes_nothing_when_it_fails),
        CHECK_TEST(split_pieces_pass_gradients_back),
    };
    return cmocka_run_group_tests_name("copies", tests, NULL, check_shutdown);
}
