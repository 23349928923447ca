// SPDX-License-Identifier: Apache-2.0
// Views and their gradients. Weights 1, 2, 3, ... tell the elements of a gradient apart.
#include "support/tensor_check.h"

// backward of sum(y * (1, 2, 3, ...)), so that y's gradient is 1, 2, 3, ... row-major.
static void backward_counted(tern_tensor *y)
{
    tern_tensor *w = tern_arange(1, (double)tern_numel(y) + 1, 1, .dtype = TERN_FLOAT32);
    w = tern_reshape(w, tern_shape_of(y));
    assert_int_equal(tern_backward(tern_sum(tern_mul(y, w), TERN_ALL_AXES, false)), TERN_OK);
}

static void assert_shares(tern_tensor *view, tern_tensor *base, bool shares)
{
    const char *data = tern_data(base);
    const char *at = tern_data(view);
    bool inside = at >= data && at < data + tern_numel(base) * 4;
    assert_int_equal(inside, shares);
}

static void reshape_keeps_the_order_of_elements(void **state)
{
    (void)state;
    tern_tensor *t = check_2x3(false);
    tern_tensor *y = tern_reshape(t, tern_dims(3, -1));
    assert_tensor(y, tern_dims(3, 2), 0, 1, 2, 3, 4, 5);
    assert_shares(y, t, true);
    assert_tensor(tern_reshape(t, tern_dims(-1)), tern_dims(6), 0, 1, 2, 3, 4, 5);
    assert_tensor(tern_reshape(t, tern_dims(1, 6, 1)), tern_dims(1, 6, 1), 0, 1, 2, 3, 4, 5);
    assert_tensor(tern_reshape(tern_full(tern_dims(), 3), tern_dims(1, 1)), tern_dims(1, 1), 3);
    assert_tensor(tern_reshape(tern_full(tern_dims(1, 1), 3), tern_dims()), tern_dims(), 3);
    assert_empty(tern_reshape(tern_zeros(tern_dims(0, 3)), tern_dims(7, 0)), tern_dims(7, 0));
    assert_empty(tern_reshape(tern_zeros(tern_dims(0, 3)), tern_dims(-1, 3)), tern_dims(0, 3));
}

static void reshape_copies_only_where_it_must(void **state)
{
    (void)state;
    tern_tensor *t = tern_transpose(check_2x3(false), 0, 1); // 0 3 / 1 4 / 2 5
    tern_tensor *y = tern_reshape(t, tern_dims(2, 3));
    assert_tensor(y, tern_dims(2, 3), 0, 3, 1, 4, 2, 5);
    assert_shares(y, t, false);
    tern_tensor *split = tern_reshape(t, tern_dims(3, 1, 2, 1));
    assert_tensor(split, tern_dims(3, 1, 2, 1), 0, 3, 1, 4, 2, 5);
    assert_shares(split, t, true);
    tern_tensor *every_other = tern_slice(tern_arange(0, 8, 1, .dtype = TERN_FLOAT32), 0, 0, 8, 2);
    tern_tensor *square = tern_view(every_other, tern_dims(2, 2));
    assert_tensor(square, tern_dims(2, 2), 0, 2, 4, 6);
    assert_shares(square, every_other, true);
}

static void view_refuses_what_needs_a_copy(void **state)
{
    (void)state;
    tern_tensor *t = check_2x3(false);
    assert_tensor(tern_view(t, tern_dims(6)), tern_dims(6), 0, 1, 2, 3, 4, 5);
    assert_null_with(tern_view(tern_transpose(t, 0, 1), tern_dims(6)), TERN_ERR_SHAPE,
                     "view: cannot make (6,) of float32 (3, 2) on cpu: its strides need a copy");
    tern_tensor *row = tern_narrow(t, 1, 0, 2);
    assert_null_with(tern_view(row, tern_dims(4)), TERN_ERR_SHAPE, "view");
    assert_tensor(tern_view(row, tern_dims(2, 1, 2)), tern_dims(2, 1, 2), 0, 1, 3, 4);
}

// Every way to cut 24 elements, over contiguous, transposed and sliced memory, against a walk by
// strides.
static void reshape_agrees_with_a_walk_over_the_elements(void **state)
{
    (void)state;
    const tern_shape shapes[] = {tern_dims(24),      tern_dims(4, 6),    tern_dims(6, 4),
                                 tern_dims(2, 3, 4), tern_dims(4, 3, 2), tern_dims(1, 8, 3),
                                 tern_dims(3, 1, 8), tern_dims(2, 12),   tern_dims(2, 2, 2, 3)};
    const int count = (int)(sizeof shapes / sizeof *shapes);
    for (int from = 0; from < count; from++) {
        for (int kind = 0; kind < 3; kind++) {
            tern_tensor *t = tern_arange(0, 48, 1, .dtype = TERN_FLOAT32);
            t = tern_slice(t, 0, 0, kind == 1 ? 48 : 24, kind == 1 ? 2 : 1);
            t = tern_reshape(t, shapes[from]);
            if (kind == 2)
                t = tern_transpose(t, 0, -1);
            float expected[24];
            int n = 0;
            tern_tensor *padded = t;
            while (tern_rank(padded) < 4)
                padded = tern_unsqueeze(padded, 0);
            const float *data = tern_data(padded);
            for (int64_t a = 0; a < tern_size(padded, 0); a++)
                for (int64_t b = 0; b < tern_size(padded, 1); b++)
                    for (int64_t c = 0; c < tern_size(padded, 2); c++)
                        for (int64_t d = 0; d < tern_size(padded, 3); d++)
                            expected[n++] =
                                data[a * tern_stride(padded, 0) + b * tern_stride(padded, 1) +
                                     c * tern_stride(padded, 2) + d * tern_stride(padded, 3)];
            assert_int_equal(n, 24);
            for (int to = 0; to < count; to++) {
                float out[24];
                assert_int_equal(tern_to_host(tern_reshape(t, shapes[to]), out, sizeof out),
                                 TERN_OK);
                assert_memory_equal(out, expected, sizeof out);
            }
        }
    }
}

static void wrong_shapes_are_named(void **state)
{
    (void)state;
    tern_tensor *t = tern_zeros(tern_dims(2, 4));
    assert_null_with(tern_reshape(t, tern_dims(3, 5)), TERN_ERR_SHAPE,
                     "reshape: cannot make (3, 5) of float32 (2, 4) on cpu: 15 elements, not 8");
    assert_null_with(tern_reshape(t, tern_dims(3, -1)), TERN_ERR_SHAPE,
                     "reshape: cannot make (3, -1) of float32 (2, 4) on cpu: 3 does not divide 8");
    assert_null_with(tern_reshape(t, tern_dims(-1, -1)), TERN_ERR_SHAPE, "only one size may be -1");
    assert_null_with(tern_reshape(t, tern_dims(-2, 4)), TERN_ERR_SHAPE, "a size is negative");
    assert_null_with(tern_reshape(tern_zeros(tern_dims(0)), tern_dims(0, -1)), TERN_ERR_SHAPE,
                     "-1 could be any size");
    assert_null_with(tern_reshape(t, tern_dims(INT64_MAX, 3)), TERN_ERR_SHAPE, "too many");
    const int64_t nine[] = {8, 1, 1, 1, 1, 1, 1, 1, 1};
    assert_null_with(tern_reshape(t, tern_shape_make(9, nine)), TERN_ERR_SHAPE, "9 dimensions");
    assert_null_with(tern_reshape(NULL, tern_dims(1)), TERN_ERR_NULL, "reshape: t is NULL");
}

static void flatten_joins_dimensions(void **state)
{
    (void)state;
    tern_tensor *t = tern_zeros(tern_dims(2, 3, 4));
    assert_true(tern_shape_equal(tern_shape_of(tern_flatten(t, 1, -1)), tern_dims(2, 12)));
    assert_true(tern_shape_equal(tern_shape_of(tern_flatten(t, 0, 1)), tern_dims(6, 4)));
    assert_true(tern_shape_equal(tern_shape_of(tern_flatten(t, 1, 1)), tern_dims(2, 3, 4)));
    assert_tensor(tern_flatten(tern_full(tern_dims(), 5), 0, -1), tern_dims(1), 5);
    assert_empty(tern_flatten(tern_zeros(tern_dims(3, 0, 2)), 0, 1), tern_dims(0, 2));
    assert_null_with(tern_flatten(t, 2, 1), TERN_ERR_ARG, "flatten: dim 2 comes after dim 1");
    assert_null_with(tern_flatten(t, 0, 3), TERN_ERR_ARG, "flatten: dim 3 is out of range");
}

static void transpose_and_permute_reorder_dimensions(void **state)
{
    (void)state;
    tern_tensor *t = check_2x3(false);
    assert_tensor(tern_transpose(t, 0, -1), tern_dims(3, 2), 0, 3, 1, 4, 2, 5);
    tern_tensor *cube = tern_reshape(tern_arange(0, 8, 1), tern_dims(2, 2, 2));
    assert_tensor(tern_permute(cube, tern_axes(2, 0, 1)), tern_dims(2, 2, 2), 0, 2, 4, 6, 1, 3, 5,
                  7);
    assert_tensor(tern_permute(cube, tern_axes(-1, 1, 0)), tern_dims(2, 2, 2), 0, 4, 2, 6, 1, 5, 3,
                  7);
    assert_tensor(tern_permute(tern_full(tern_dims(), 1), tern_axes()), tern_dims(), 1);
    assert_tensor(tern_transpose(tern_full(tern_dims(), 1), 0, 0), tern_dims(), 1);
    assert_null_with(tern_permute(t, tern_axes(0)), TERN_ERR_ARG, "permute: 1 axes for the 2");
    assert_null_with(tern_permute(t, tern_axes(0, 0)), TERN_ERR_ARG, "axis 0 comes twice");
    assert_null_with(tern_permute(t, tern_axes(0, 2)), TERN_ERR_ARG, "permute: dim 2");
    assert_null_with(tern_transpose(t, 0, 2), TERN_ERR_ARG, "transpose: dim 2");
}

static void narrow_select_and_slice_cut(void **state)
{
    (void)state;
    tern_tensor *t = check_2x3(false);
    assert_tensor(tern_narrow(t, 1, 1, 2), tern_dims(2, 2), 1, 2, 4, 5);
    assert_tensor(tern_narrow(t, -1, -1, 1), tern_dims(2, 1), 2, 5);
    assert_empty(tern_narrow(t, 1, 3, 0), tern_dims(2, 0));
    assert_tensor(tern_select(t, 0, -1), tern_dims(3), 3, 4, 5);
    assert_tensor(tern_select(tern_select(t, 0, 1), 0, 2), tern_dims(), 5);
    tern_tensor *line = tern_arange(0, 7, 1);
    assert_tensor(tern_slice(line, 0, 1, 6, 2), tern_dims(3), 1, 3, 5);
    assert_tensor(tern_slice(line, 0, -3, INT64_MAX, 1), tern_dims(3), 4, 5, 6);
    assert_tensor(tern_slice(line, 0, -100, -5, 1), tern_dims(2), 0, 1);
    assert_tensor(tern_slice(line, 0, 2, 100, 100), tern_dims(1), 2);
    assert_empty(tern_slice(line, 0, 5, 2, 1), tern_dims(0));
    assert_empty(tern_slice(line, 0, INT64_MAX, INT64_MIN, 1), tern_dims(0));
    assert_null_with(tern_narrow(t, 1, 2, 2), TERN_ERR_INDEX,
                     "narrow: start 2 and length 2 leave dim 1 of float32 (2, 3)");
    assert_null_with(tern_narrow(t, 1, 0, -1), TERN_ERR_INDEX, "narrow");
    assert_null_with(tern_narrow(t, 1, INT64_MIN, 1), TERN_ERR_INDEX, "narrow");
    assert_null_with(tern_select(t, 1, 3), TERN_ERR_INDEX, "select: index 3 is not in dim 1");
    assert_null_with(tern_select(t, 0, -3), TERN_ERR_INDEX, "select");
    assert_null_with(tern_slice(line, 0, 0, 3, 0), TERN_ERR_ARG, "slice: step 0");
    assert_null_with(tern_select(tern_zeros(tern_dims()), 0, 0), TERN_ERR_SHAPE, "no dimensions");
}

static void expand_repeats_without_copying(void **state)
{
    (void)state;
    const float data[] = {1, 2};
    tern_tensor *t = tern_from_data(tern_dims(2, 1), data);
    assert_tensor(tern_expand(t, tern_dims(-1, 3)), tern_dims(2, 3), 1, 1, 1, 2, 2, 2);
    assert_tensor(tern_expand(t, tern_dims(2, 2, 1)), tern_dims(2, 2, 1), 1, 2, 1, 2);
    assert_tensor(tern_expand(tern_full(tern_dims(), 4), tern_dims(2)), tern_dims(2), 4, 4);
    assert_empty(tern_expand(t, tern_dims(2, 0)), tern_dims(2, 0));
    assert_shares(tern_expand(t, tern_dims(2, 9)), t, true);
    assert_null_with(tern_expand(t, tern_dims(3, 1)), TERN_ERR_SHAPE,
                     "expand: cannot make (3, 1) of float32 (2, 1) on cpu: dim 0");
    assert_null_with(tern_expand(t, tern_dims(2)), TERN_ERR_SHAPE, "expand: 1 dimensions");
    assert_null_with(tern_expand(t, tern_dims(-1, 2, 1)), TERN_ERR_SHAPE, "dim 0");
    assert_null_with(tern_expand(t, tern_dims(2, (int64_t)1 << 62)), TERN_ERR_SHAPE, "too many");
}

// Bytes of a row that is not there need no 64 bits.
static void an_empty_tensor_may_have_another_size_that_is_huge(void **state)
{
    (void)state;
    const int64_t huge = (int64_t)1 << 61;
    tern_tensor *t = tern_zeros(tern_dims(0, huge)), *column = tern_ones(tern_dims(0, 1));
    assert_empty(tern_add(t, column), tern_dims(0, huge));
    assert_empty(tern_transpose(tern_mul(t, column), 0, 1), tern_dims(huge, 0));
    assert_empty(tern_clone(tern_expand(column, tern_dims(0, huge))), tern_dims(0, huge));
    assert_tensor(tern_sum(tern_add(t, column), TERN_ALL_AXES, false), tern_dims(), 0);
}

static void sizes_of_one_come_and_go(void **state)
{
    (void)state;
    tern_tensor *t = check_2x3(false);
    assert_true(tern_shape_equal(tern_shape_of(tern_unsqueeze(t, 0)), tern_dims(1, 2, 3)));
    assert_true(tern_shape_equal(tern_shape_of(tern_unsqueeze(t, -1)), tern_dims(2, 3, 1)));
    assert_true(tern_shape_equal(tern_shape_of(tern_unsqueeze(t, -2)), tern_dims(2, 1, 3)));
    assert_tensor(tern_unsqueeze(tern_full(tern_dims(), 2), 0), tern_dims(1), 2);
    assert_tensor(tern_squeeze(tern_unsqueeze(tern_transpose(t, 0, 1), 1), 1), tern_dims(3, 2), 0,
                  3, 1, 4, 2, 5);
    assert_true(tern_shape_equal(tern_shape_of(tern_squeeze(t, 0)), tern_dims(2, 3)));
    assert_tensor(tern_squeeze(tern_full(tern_dims(), 2), 0), tern_dims(), 2);
    assert_null_with(tern_unsqueeze(t, 3), TERN_ERR_ARG, "unsqueeze: dim 3 is out of range");
    assert_null_with(tern_squeeze(t, 2), TERN_ERR_ARG, "squeeze: dim 2");
    tern_tensor *eight = tern_zeros(tern_dims(1, 1, 1, 1, 1, 1, 1, 1));
    assert_null_with(tern_unsqueeze(eight, 0), TERN_ERR_SHAPE, "8 dimensions already");
}

static void views_see_changes_of_their_base(void **state)
{
    (void)state;
    tern_tensor *t = check_2x3(false);
    tern_tensor *column = tern_select(t, 1, 1);
    assert_non_null(tern_fill_(column, 9));
    assert_tensor(t, tern_dims(2, 3), 0, 9, 2, 3, 9, 5);
    assert_non_null(tern_zero_(t));
    assert_tensor(column, tern_dims(2), 0, 0);
}

static void every_dtype_can_be_viewed(void **state)
{
    (void)state;
    for (int dtype = TERN_FLOAT32; dtype <= TERN_BOOL; dtype++) {
        const int64_t data[] = {1, 0, 0, 1, 1, 0};
        tern_tensor *t = tern_from_data(tern_dims(2, 3), data, .dtype = TERN_INT64);
        t = tern_to_dtype(t, (tern_dtype)dtype);
        t = tern_slice(tern_transpose(t, 0, 1), 0, 0, 3, 2);
        assert_tensor(t, tern_dims(2, 2), 1, 1, 0, 0);
        assert_tensor(tern_reshape(t, tern_dims(4)), tern_dims(4), 1, 1, 0, 0);
    }
}

// ---- gradients ---------------------------------------------------------------------------------

static void gradients_take_the_shape_back(void **state)
{
    (void)state;
    tern_tensor *t = check_2x3(true);
    backward_counted(tern_reshape(t, tern_dims(3, 2)));
    assert_tensor(tern_grad(t), tern_dims(2, 3), 1, 2, 3, 4, 5, 6);
    t = check_2x3(true);
    backward_counted(tern_reshape(tern_transpose(t, 0, 1), tern_dims(6))); // copies
    assert_tensor(tern_grad(t), tern_dims(2, 3), 1, 3, 5, 2, 4, 6);
    t = check_2x3(true);
    backward_counted(tern_unsqueeze(tern_flatten(t, 0, 1), 1));
    assert_tensor(tern_grad(t), tern_dims(2, 3), 1, 2, 3, 4, 5, 6);
    t = tern_ones(tern_dims(2, 1), .requires_grad = true);
    backward_counted(tern_squeeze(t, 1));
    assert_tensor(tern_grad(t), tern_dims(2, 1), 1, 2);
}

static void gradients_take_the_order_back(void **state)
{
    (void)state;
    tern_tensor *t = check_2x3(true);
    backward_counted(tern_transpose(t, 0, 1));
    assert_tensor(tern_grad(t), tern_dims(2, 3), 1, 3, 5, 2, 4, 6);
    t = tern_zeros(tern_dims(2, 1, 3), .requires_grad = true);
    backward_counted(tern_permute(t, tern_axes(2, 0, 1))); // (3, 2, 1)
    assert_tensor(tern_grad(t), tern_dims(2, 1, 3), 1, 3, 5, 2, 4, 6);
}

static void gradients_of_cuts_are_zero_elsewhere(void **state)
{
    (void)state;
    tern_tensor *t = check_2x3(true);
    backward_counted(tern_narrow(t, 1, 1, 2));
    assert_tensor(tern_grad(t), tern_dims(2, 3), 0, 1, 2, 0, 3, 4);
    backward_counted(tern_select(t, 1, 0)); // adds
    assert_tensor(tern_grad(t), tern_dims(2, 3), 1, 1, 2, 2, 3, 4);
    t = check_2x3(true);
    backward_counted(tern_slice(t, 1, 0, 3, 2));
    assert_tensor(tern_grad(t), tern_dims(2, 3), 1, 0, 2, 3, 0, 4);
}

static void gradients_of_repetitions_add_up(void **state)
{
    (void)state;
    tern_tensor *t = tern_ones(tern_dims(2, 1), .requires_grad = true);
    backward_counted(tern_expand(t, tern_dims(2, 2, 3))); // 1..6, 7..12
    assert_tensor(tern_grad(t), tern_dims(2, 1), 1 + 2 + 3 + 7 + 8 + 9, 4 + 5 + 6 + 10 + 11 + 12);
    t = tern_ones(tern_dims(), .requires_grad = true);
    backward_counted(tern_expand(t, tern_dims(4)));
    assert_tensor(tern_grad(t), tern_dims(), 10);
}

static void detach_cuts_the_history(void **state)
{
    (void)state;
    tern_tensor *t = check_2x3(true);
    tern_tensor *d = tern_detach(tern_mul_scalar(t, 2));
    assert_false(tern_requires_grad(d));
    assert_true(tern_is_leaf(d));
    backward_counted(tern_mul(t, tern_detach(t))); // d/dt = detached t * weight
    assert_tensor(tern_grad(t), tern_dims(2, 3), 0, 2, 6, 12, 20, 30);
    assert_shares(tern_detach(t), t, true);
}

static void views_are_recorded_only_when_needed(void **state)
{
    (void)state;
    assert_true(tern_is_leaf(tern_reshape(check_2x3(false), tern_dims(6))));
    tern_tensor *t = check_2x3(true);
    assert_false(tern_is_leaf(tern_reshape(t, tern_dims(6))));
    tern_no_grad {
        assert_true(tern_is_leaf(tern_reshape(t, tern_dims(6))));
        assert_false(tern_requires_grad(tern_narrow(t, 0, 0, 1)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(reshape_keeps_the_order_of_elements),
        CHECK_TEST(reshape_copies_only_where_it_must),
        CHECK_TEST(view_refuses_what_needs_a_copy),
        CHECK_TEST(reshape_agrees_with_a_walk_over_the_elements),
        CHECK_TEST(wrong_shapes_are_named),
        CHECK_TEST(flatten_joins_dimensions),
        CHECK_TEST(transpose_and_permute_reorder_dimensions),
        CHECK_TEST(narrow_select_and_slice_cut),
        CHECK_TEST(expand_repeats_without_copying),
        CHECK_TEST(an_empty_tensor_may_have_another_size_that_is_huge),
        CHECK_TEST(sizes_of_one_come_and_go),
        CHECK_TEST(views_see_changes_of_their_base),
        CHECK_TEST(every_dtype_can_be_viewed),
        CHECK_TEST(gradients_take_the_shape_back),
        CHECK_TEST(gradients_take_the_order_back),
        CHECK_TEST(gradients_of_cuts_are_zero_elsewhere),
        CHECK_TEST(gradients_of_repetitions_add_up),
        CHECK_TEST(detach_cuts_the_history),
        CHECK_TEST(views_are_recorded_only_when_needed),
    };
    return cmocka_run_group_tests_name("views", tests, NULL, check_shutdown);
}
