// SPDX-License-Identifier: Apache-2.0
// Changes in place: values, gradients through them, and what is refused.
#include "support/tensor_check.h"

static tern_tensor *total(tern_tensor *t)
{
    return tern_sum(t, TERN_ALL_AXES, false);
}

// backward of sum(y * (1, 2, 3, ...)).
static tern_status backward_counted(tern_tensor *y)
{
    tern_tensor *w = tern_arange(1, (double)tern_numel(y) + 1, 1, .dtype = tern_dtype_of(y));
    return tern_backward(total(tern_mul(y, tern_reshape(w, tern_shape_of(y)))));
}

static tern_tensor *line(int64_t start, int64_t end)
{
    return tern_arange((double)start, (double)end, 1, .dtype = TERN_FLOAT32);
}

static void copy_broadcasts_casts_and_crosses_devices(void **state)
{
    (void)state;
    tern_tensor *t = tern_zeros(tern_dims(2, 3));
    assert_ptr_equal(tern_copy_(t, tern_arange(1, 4, 1)), t);
    assert_tensor(t, tern_dims(2, 3), 1, 2, 3, 1, 2, 3);
    assert_non_null(tern_copy_(t, tern_full(tern_dims(), 7, .dtype = TERN_UINT8)));
    assert_tensor(t, tern_dims(2, 3), 7, 7, 7, 7, 7, 7);
    tern_tensor *far = tern_to(line(0, 2), tern_cpu(1));
    assert_non_null(tern_copy_(tern_transpose(t, 0, 1), far));
    assert_tensor(t, tern_dims(2, 3), 0, 0, 0, 1, 1, 1);
    tern_tensor *bytes = tern_zeros(tern_dims(2), .dtype = TERN_BOOL);
    assert_non_null(tern_copy_(bytes, tern_full(tern_dims(1), 0.5)));
    assert_tensor(bytes, tern_dims(2), 1, 1);
    assert_ptr_equal(tern_copy_(t, t), t);
    assert_null_with(
        tern_copy_(t, line(0, 2)), TERN_ERR_SHAPE,
        "copy_: source is float32 (2,) on cpu:0, which does not broadcast to t (2, 3)");
    assert_null_with(tern_copy_(line(0, 3), t), TERN_ERR_SHAPE, "copy_");
    assert_null_with(tern_copy_(t, NULL), TERN_ERR_NULL, "copy_: source is NULL");
    assert_null_with(tern_copy_(NULL, t), TERN_ERR_NULL, "copy_: t is NULL");
    assert_empty(tern_copy_(tern_zeros(tern_dims(0, 3)), line(0, 3)), tern_dims(0, 3));
}

static void a_copy_between_overlapping_views_reads_before_it_writes(void **state)
{
    (void)state;
    for (int up = 0; up < 2; up++) {
        tern_tensor *t = line(0, 200);
        tern_tensor *low = tern_narrow(t, 0, 0, 199), *high = tern_narrow(t, 0, 1, 199);
        assert_non_null(up ? tern_copy_(high, low) : tern_copy_(low, high));
        for (int i = 0; i < 200; i++) {
            int expected = up ? (i == 0 ? 0 : i - 1) : (i == 199 ? 199 : i + 1);
            assert_true(tern_item(tern_select(t, 0, i)) == expected);
        }
    }
    tern_tensor *square = tern_reshape(line(0, 9), tern_dims(3, 3));
    assert_non_null(tern_copy_(square, tern_transpose(square, 0, 1)));
    assert_tensor(square, tern_dims(3, 3), 0, 3, 6, 1, 4, 7, 2, 5, 8);
    square = tern_reshape(line(0, 4), tern_dims(2, 2));
    assert_non_null(tern_add_(square, tern_transpose(square, 0, 1), 1));
    assert_tensor(square, tern_dims(2, 2), 0, 3, 3, 6);
    tern_tensor *t = line(1, 5);
    assert_non_null(tern_mul_(tern_narrow(t, 0, 1, 3), tern_narrow(t, 0, 0, 3)));
    assert_tensor(t, tern_dims(4), 1, 2, 6, 12);
}

static void constants_and_numbers_change_every_element(void **state)
{
    (void)state;
    tern_tensor *t = check_2x3(false);
    assert_ptr_equal(tern_fill_(t, 2), t);
    assert_ptr_equal(tern_add_scalar_(t, 0.5), t);
    assert_ptr_equal(tern_mul_scalar_(t, -2), t);
    assert_tensor(t, tern_dims(2, 3), -5, -5, -5, -5, -5, -5);
    assert_ptr_equal(tern_zero_(tern_select(t, 1, 1)) != NULL ? t : NULL, t);
    assert_tensor(t, tern_dims(2, 3), -5, 0, -5, -5, 0, -5);
    tern_tensor *n = tern_arange(0, 3, 1);
    assert_non_null(tern_mul_scalar_(tern_add_scalar_(n, 2), 3));
    assert_tensor(n, tern_dims(3), 6, 9, 12);
    tern_tensor *half = tern_ones(tern_dims(2), .dtype = TERN_FLOAT16);
    assert_non_null(tern_add_scalar_(half, 0.0004)); // below half of the last place of 1
    assert_tensor(half, tern_dims(2), 1, 1);
    assert_null_with(tern_add_scalar_(n, 0.5), TERN_ERR_DTYPE, "add_scalar_: value 0.5 has a frac");
    assert_null_with(tern_mul_scalar_(n, INFINITY), TERN_ERR_ARG, "out of the range of int64");
    assert_null_with(tern_add_scalar_(tern_zeros(tern_dims(1), .dtype = TERN_BOOL), 1),
                     TERN_ERR_DTYPE, "add_scalar_: t is bool");
    assert_null_with(tern_fill_(tern_zeros(tern_dims(1), .dtype = TERN_UINT8), 256), TERN_ERR_ARG,
                     "fill_: value 256");
}

static void the_sum_of_truths_is_or_whatever_the_factor(void **state)
{
    (void)state;
    tern_tensor *t = tern_from_data(tern_dims(4), ((bool[]){true, true, false, false}));
    tern_tensor *other = tern_from_data(tern_dims(4), ((bool[]){true, false, true, false}));
    assert_ptr_equal(tern_add_(t, other, -1), t);
    assert_tensor(tern_to_dtype(t, TERN_FLOAT32), tern_dims(4), 1, 1, 1, 0);
}

static void the_factor_of_a_sum_is_1_unless_given(void **state)
{
    (void)state;
    tern_tensor *t = tern_full(tern_dims(2), 1), *other = tern_full(tern_dims(2), 5);
    assert_tensor(tern_add_(t, other), tern_dims(2), 6, 6);
    assert_tensor(tern_add_(tern_add_(t, other), other, -2), tern_dims(2), 1, 1);
    assert_tensor((tern_add_)(t, other, 3), tern_dims(2), 16, 16);
}

static void add_and_mul_broadcast_and_promote(void **state)
{
    (void)state;
    tern_tensor *t = check_2x3(false);
    assert_ptr_equal(tern_add_(t, line(0, 3), 10), t);
    assert_tensor(t, tern_dims(2, 3), 0, 11, 22, 3, 14, 25);
    assert_non_null(tern_mul_(t, tern_arange(1, 4, 1)));
    assert_tensor(t, tern_dims(2, 3), 0, 22, 66, 3, 28, 75);
    assert_non_null(tern_mul_(t, t));
    assert_tensor(t, tern_dims(2, 3), 0, 484, 4356, 9, 784, 5625);
    tern_tensor *byte = tern_full(tern_dims(2), 250, .dtype = TERN_UINT8);
    assert_non_null(tern_add_(byte, tern_full(tern_dims(2), 10, .dtype = TERN_INT64), 1));
    assert_tensor(byte, tern_dims(2), 4, 4); // 260 modulo 256
    tern_tensor *narrow = tern_full(tern_dims(1), 1, .dtype = TERN_FLOAT16);
    tern_tensor *fine = tern_full(tern_dims(1), 1 + 0x1p-11 + 0x1p-20);
    assert_non_null(tern_mul_(narrow, fine)); // computed in float32, rounded once
    assert_tensor(narrow, tern_dims(1), 1 + 0x1p-10);
    assert_non_null(tern_mul_(fine, tern_full(tern_dims(), 2, .dtype = TERN_FLOAT64)));
    assert_int_equal(tern_dtype_of(fine), TERN_FLOAT32);
}

static void results_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    tern_tensor *n = tern_arange(0, 3, 1), *f = line(0, 3);
    assert_null_with(tern_add_(n, f, 1), TERN_ERR_DTYPE,
                     "add_: the result would be float32, which t of int64 cannot hold");
    tern_tensor *b = tern_ones(tern_dims(3), .dtype = TERN_BOOL);
    assert_null_with(tern_mul_(b, n), TERN_ERR_DTYPE, "mul_");
    assert_null_with(tern_add_(n, n, 0.5), TERN_ERR_DTYPE, "add_: alpha 0.5");
    assert_null_with(tern_add_(f, check_2x3(false), 1), TERN_ERR_SHAPE, "add_: other is");
    assert_null_with(tern_mul_(f, line(0, 2)), TERN_ERR_SHAPE, "mul_: other is");
    assert_null_with(tern_add_(f, tern_to(f, tern_cpu(1)), 1), TERN_ERR_DEVICE, "cpu:1");
    assert_tensor(f, tern_dims(3), 0, 1, 2);
    assert_tensor(n, tern_dims(3), 0, 1, 2);
    tern_tensor *far = tern_to(f, tern_cpu(1)); // a 0-dim CPU tensor may mix with any device
    assert_tensor(tern_add_(far, tern_full(tern_dims(), 1), 1), tern_dims(3), 1, 2, 3);
}

static void leaves_and_shared_places_are_not_changed(void **state)
{
    (void)state;
    tern_tensor *leaf = check_2x3(true);
    assert_null_with(tern_zero_(leaf), TERN_ERR_STATE, "zero_");
    assert_null_with(tern_add_(leaf, leaf, 1), TERN_ERR_STATE, "tern_no_grad");
    assert_null_with(tern_fill_(tern_select(leaf, 0, 0), 1), TERN_ERR_STATE, "fill_");
    tern_tensor *wide = tern_expand(tern_zeros(tern_dims(1)), tern_dims(3));
    assert_null_with(tern_copy_(wide, line(0, 3)), TERN_ERR_STATE, "copy_");
    tern_no_grad {
        assert_non_null(tern_mul_scalar_(leaf, 2));
    }
    assert_tensor(leaf, tern_dims(2, 3), 0, 2, 4, 6, 8, 10);
    assert_true(tern_requires_grad(leaf) && tern_is_leaf(leaf));
    tern_tensor *buffer = tern_zeros(tern_dims(2, 3));
    assert_null_with(tern_copy_(tern_select(buffer, 0, 0), tern_select(leaf, 0, 0)), TERN_ERR_STATE,
                     "copy_: t is a view, so no gradient could flow to source");
}

static void an_empty_tensor_has_no_places_to_share(void **state)
{
    (void)state;
    tern_tensor *t = tern_expand(tern_zeros(tern_dims(1, 1)), tern_dims(3, 1));
    t = tern_narrow(t, 1, 0, 0);
    assert_int_equal(tern_stride(t, 0), 0);
    assert_ptr_equal(tern_zero_(t), t);
    assert_ptr_equal(tern_copy_(t, tern_ones(tern_dims(3, 0))), t);
    assert_ptr_equal(tern_add_(t, tern_ones(tern_dims(1)), 1), t);
    assert_no_error();
}

static void gradients_flow_through_copy(void **state)
{
    (void)state;
    tern_tensor *x = check_2x3(true), *s = tern_ones(tern_dims(3), .requires_grad = true);
    tern_tensor *y = tern_mul_scalar(x, 2);
    assert_non_null(tern_copy_(y, s));
    assert_int_equal(backward_counted(y), TERN_OK);
    assert_tensor(tern_grad(x), tern_dims(2, 3), 0, 0, 0, 0, 0, 0);
    assert_tensor(tern_grad(s), tern_dims(3), 1 + 4, 2 + 5, 3 + 6);
    tern_tensor *d = tern_full(tern_dims(1), 3, .dtype = TERN_FLOAT64, .device = tern_cpu(1),
                               .requires_grad = true);
    tern_tensor *z = tern_copy_(tern_zeros(tern_dims(3)), d);
    assert_int_equal(backward_counted(z), TERN_OK);
    assert_tensor(tern_grad(d), tern_dims(1), 6);
    assert_int_equal(tern_dtype_of(tern_grad(d)), TERN_FLOAT64);
    assert_true(tern_device_equal(tern_device_of(tern_grad(d)), tern_cpu(1)));
}

static void constants_stop_the_gradient(void **state)
{
    (void)state;
    tern_tensor *x = check_2x3(true);
    tern_tensor *y = tern_fill_(tern_mul_scalar(x, 2), 3);
    assert_int_equal(backward_counted(y), TERN_OK);
    assert_tensor(tern_grad(x), tern_dims(2, 3), 0, 0, 0, 0, 0, 0);
    const float data[] = {1, 2, 3, 4, 5, 6};
    y = tern_mul_scalar(x, 2);
    assert_int_equal(tern_from_host(y, data, sizeof data), TERN_OK);
    assert_int_equal(backward_counted(y), TERN_OK);
    assert_tensor(tern_grad(x), tern_dims(2, 3), 0, 0, 0, 0, 0, 0);
}

static void gradients_flow_through_add_and_numbers(void **state)
{
    (void)state;
    tern_tensor *x = check_2x3(true), *b = tern_ones(tern_dims(2, 1), .requires_grad = true);
    tern_tensor *y = tern_add_(tern_mul_scalar(x, 3), b, 0.5); // 3 x + b / 2
    assert_non_null(tern_mul_scalar_(tern_add_scalar_(y, 1), 4));
    assert_tensor(y, tern_dims(2, 3), 6, 18, 30, 42, 54, 66);
    assert_int_equal(backward_counted(y), TERN_OK);
    assert_tensor(tern_grad(x), tern_dims(2, 3), 12, 24, 36, 48, 60, 72);
    assert_tensor(tern_grad(b), tern_dims(2, 1), 2 * (1 + 2 + 3), 2 * (4 + 5 + 6));
    tern_tensor *w = tern_full(tern_dims(), 2, .dtype = TERN_INT64);
    assert_non_null(tern_add_(tern_clone(x), w, 1)); // an integer operand needs none
}

static void gradients_flow_through_mul(void **state)
{
    (void)state;
    const float data[] = {10, 20, 30};
    tern_tensor *x = check_2x3(true);
    tern_tensor *s = tern_from_data(tern_dims(3), data, .requires_grad = true);
    tern_tensor *y = tern_mul_(tern_clone(x), s);
    assert_int_equal(backward_counted(y), TERN_OK);
    assert_tensor(tern_grad(x), tern_dims(2, 3), 10, 40, 90, 40, 100, 180);
    assert_tensor(tern_grad(s), tern_dims(3), 0 * 1 + 3 * 4, 1 * 2 + 4 * 5, 2 * 3 + 5 * 6);
    tern_tensor *z = tern_clone(s);
    assert_non_null(tern_mul_(z, z)); // s^2
    tern_zero_grad(s);
    assert_int_equal(backward_counted(z), TERN_OK);
    assert_tensor(tern_grad(s), tern_dims(3), 20, 80, 180);
}

static void what_a_backward_needs_may_not_change(void **state)
{
    (void)state;
    tern_tensor *x = check_2x3(true);
    tern_tensor *y = tern_exp(x); // saves its output
    assert_non_null(tern_add_scalar_(y, 1));
    assert_status(backward_counted(y), TERN_ERR_STATE, "exp");
    tern_zero_grad(x);
    tern_tensor *s = tern_ones(tern_dims(3));
    tern_tensor *z = tern_mul_(tern_clone(x), s);
    assert_non_null(tern_zero_(s));
    assert_status(backward_counted(z), TERN_ERR_STATE, "mul_");
    tern_zero_grad(x);
}

static tern_tensor *add_one_(tern_tensor *t)
{
    return tern_add_scalar_(t, 1);
}

static tern_tensor *double_(tern_tensor *t)
{
    return tern_mul_scalar_(t, 2);
}

static tern_tensor *add_itself_(tern_tensor *t)
{
    return tern_add_(t, t, 1);
}

static tern_tensor *square_(tern_tensor *t)
{
    return tern_mul_(t, t);
}

static tern_tensor *halve_copied_(tern_tensor *t)
{
    return tern_copy_(t, tern_mul_scalar(t, 0.5));
}

static void changes_count_when_nothing_is_recorded_too(void **state)
{
    (void)state;
    tern_tensor *(*const changes[])(tern_tensor *) = {add_one_, double_,    add_itself_,
                                                      square_,  tern_zero_, halve_copied_};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        tern_tensor *x = check_2x3(true);
        tern_tensor *y = tern_exp(x); // saves its output
        tern_no_grad {
            assert_non_null(changes[i](y));
        }
        assert_status(backward_counted(y), TERN_ERR_STATE, "exp");
        tern_zero_grad(x);
    }
}

static void a_failed_change_leaves_the_values(void **state)
{
    (void)state;
    tern_tensor *x = check_2x3(true);
    tern_tensor *y = tern_mul_scalar(x, 1);
    assert_null_with(tern_add_(y, line(0, 2), 1), TERN_ERR_SHAPE, "add_");
    assert_null_with(tern_mul_(y, NULL), TERN_ERR_NULL, "mul_: other is NULL");
    assert_tensor(y, tern_dims(2, 3), 0, 1, 2, 3, 4, 5);
    assert_int_equal(backward_counted(y), TERN_OK);
    assert_tensor(tern_grad(x), tern_dims(2, 3), 1, 2, 3, 4, 5, 6);
}

int main(void)
{
    setenv("TERN_CPU_DEVICES", "2", 1);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(copy_broadcasts_casts_and_crosses_devices),
        CHECK_TEST(a_copy_between_overlapping_views_reads_before_it_writes),
        CHECK_TEST(constants_and_numbers_change_every_element),
        CHECK_TEST(the_sum_of_truths_is_or_whatever_the_factor),
        CHECK_TEST(the_factor_of_a_sum_is_1_unless_given),
        CHECK_TEST(add_and_mul_broadcast_and_promote),
        CHECK_TEST(results_that_do_not_fit_are_refused),
        CHECK_TEST(leaves_and_shared_places_are_not_changed),
        CHECK_TEST(an_empty_tensor_has_no_places_to_share),
        CHECK_TEST(gradients_flow_through_copy),
        CHECK_TEST(constants_stop_the_gradient),
        CHECK_TEST(gradients_flow_through_add_and_numbers),
        CHECK_TEST(gradients_flow_through_mul),
        CHECK_TEST(what_a_backward_needs_may_not_change),
        CHECK_TEST(changes_count_when_nothing_is_recorded_too),
        CHECK_TEST(a_failed_change_leaves_the_values),
    };
    return cmocka_run_group_tests_name("inplace", tests, NULL, check_shutdown);
}
