// SPDX-License-Identifier: Apache-2.0
// Initialisers, by what their values are; golden has PyTorch's. Argument: a device, cpu:0 unless
// given.
#include "support/tensor_check.h"

static tern_device device;

static tern_tensor *nan_of(tern_shape shape, tern_dtype dtype)
{
    return tern_full(shape, NAN, .dtype = dtype, .device = device);
}

static double largest_of(tern_tensor *t)
{
    return tern_item(tern_amax(t, TERN_ALL_AXES, false));
}

static double least_of(tern_tensor *t)
{
    return tern_item(tern_amin(t, TERN_ALL_AXES, false));
}

// ---- what is changed ----------------------------------------------------------------------------

static void a_leaf_is_filled_and_collects_gradients_as_before(void **state)
{
    (void)state;
    tern_tensor *leaf = tern_zeros(tern_dims(4, 3), .device = device, .requires_grad = true);
    assert_ptr_equal(tern_init_xavier_uniform(leaf), leaf);
    assert_ptr_equal(tern_init_orthogonal(leaf), leaf);
    assert_ptr_equal(tern_init_trunc_normal(leaf), leaf);
    assert_ptr_equal(tern_init_constant(leaf, 2), leaf);
    assert_int_equal(tern_backward(tern_sum_all(tern_mul(leaf, leaf))), TERN_OK);
    assert_near(tern_item(tern_sum_all(tern_grad(leaf))), 4 * 12, 0, 0);
    assert_no_error();
}

// Every other column of a tensor of sevens.
static void only_the_elements_of_a_view_change(void **state)
{
    (void)state;
    typedef tern_tensor *call(tern_tensor * t);
    tern_tensor *whole = tern_full(tern_dims(4, 6), 7, .device = device);
    tern_tensor *view = tern_transpose(tern_slice(whole, 1, 0, 6, 2), 0, 1);
    static call *const calls[] = {tern_init_ones, tern_init_eye};
    for (int i = 0; i < 2; i++) {
        assert_ptr_equal(calls[i](view), view);
        assert_near(tern_item(tern_sum_all(view)), i == 0 ? 12 : 3, 0, 0);
        assert_near(tern_item(tern_sum_all(whole)), 7 * 12 + (i == 0 ? 12 : 3), 0, 0);
    }
    assert_ptr_equal(tern_init_orthogonal(view), view);
    assert_ptr_equal(tern_init_sparse(view, 0.5), view);
    assert_ptr_equal(tern_init_trunc_normal(view), view);
    tern_tensor *between = tern_slice(whole, 1, 1, 6, 2);
    assert_true(least_of(between) == 7 && largest_of(between) == 7);
    assert_true(largest_of(tern_abs(view)) <= 2);
    assert_no_error();
}

static void a_tensor_without_elements_stays(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = {{0, 0, 3}, {2, 3, 0}, {0, 3, 3}};
    for (int i = 0; i < 3; i++) {
        tern_tensor *t = nan_of(tern_dims(sizes[i][0], sizes[i][1], sizes[i][2]), TERN_FLOAT32);
        assert_ptr_equal(tern_init_uniform(t), t);
        assert_ptr_equal(tern_init_xavier_normal(t), t);
        assert_ptr_equal(tern_init_kaiming_uniform(t), t);
        assert_ptr_equal(tern_init_trunc_normal(t), t);
        assert_ptr_equal(tern_init_orthogonal(t), t);
        assert_ptr_equal(tern_init_dirac(t), t);
    }
    tern_tensor *flat = nan_of(tern_dims(0, 3), TERN_FLOAT32);
    assert_ptr_equal(tern_init_sparse(flat, 0.5), flat);
    assert_ptr_equal(tern_init_eye(flat), flat);
    assert_no_error();
}

static void integers_take_what_is_not_drawn(void **state)
{
    (void)state;
    tern_tensor *t = tern_full(tern_dims(2, 2), 9, .dtype = TERN_INT64, .device = device);
    assert_values(tern_init_eye(t), 1, 0, 0, 1);
    assert_values(tern_init_constant(t, -3), -3, -3, -3, -3);
    tern_tensor *kernels = tern_full(tern_dims(1, 2, 3), 9, .dtype = TERN_UINT8, .device = device);
    assert_values(tern_init_dirac(kernels), 0, 1, 0, 0, 0, 0);
}

// ---- what the values are ------------------------------------------------------------------------

static void fans_are_products_of_sizes(void **state)
{
    (void)state;
    tern_tensor *weight = nan_of(tern_dims(5, 7, 2, 3), TERN_FLOAT32);
    assert_int_equal(tern_init_calculate_fan(weight, TERN_FAN_IN), 42);
    assert_int_equal(tern_init_calculate_fan(weight, TERN_FAN_UNSPECIFIED), 42);
    assert_int_equal(tern_init_calculate_fan(weight, TERN_FAN_OUT), 30);
}

static void check_orthonormal(int64_t rows, int64_t cols, tern_dtype dtype, double atol)
{
    tern_tensor *t = nan_of(tern_dims(rows, cols), dtype);
    assert_ptr_equal(tern_init_orthogonal(t, 2), t);
    tern_tensor *other = tern_transpose(t, 0, 1);
    tern_tensor *square = rows < cols ? tern_matmul(t, other) : tern_matmul(other, t);
    tern_tensor *four = tern_mul_scalar(
        tern_eye(tern_size(square, 0), tern_size(square, 0), .dtype = dtype, .device = device), 4);
    assert_true(largest_of(tern_abs(tern_sub(square, four))) <= atol);
    assert_no_error();
}

static void rows_or_columns_of_an_orthogonal_tensor_are_orthonormal(void **state)
{
    (void)state;
    check_orthonormal(40, 70, TERN_FLOAT64, 1e-13);
    check_orthonormal(70, 40, TERN_FLOAT64, 1e-13);
    check_orthonormal(130, 130, TERN_FLOAT64, 1e-13);
    check_orthonormal(1, 5, TERN_FLOAT64, 1e-13);
    check_orthonormal(33, 65, TERN_FLOAT32, 1e-5);
    check_orthonormal(9, 4, TERN_FLOAT16, 1e-2);
}

static void an_orthogonal_tensor_has_the_same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    enum { SIZE = 300 };
    static double one[SIZE * SIZE], several[SIZE * SIZE];
    double *const values[] = {one, several};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tern_set_num_threads(i == 0 ? 1 : 3), TERN_OK);
        tern_manual_seed(5);
        tern_tensor *t = tern_init_orthogonal(nan_of(tern_dims(SIZE, SIZE), TERN_FLOAT64));
        assert_int_equal(tern_to_host(t, values[i], sizeof one), TERN_OK);
    }
    assert_memory_equal(one, several, sizeof one);
}

static void columns_of_a_sparse_tensor_have_that_many_zeros(void **state)
{
    (void)state;
    tern_tensor *t = tern_init_sparse(nan_of(tern_dims(10, 30), TERN_FLOAT32), 0.35, .std = 2);
    tern_tensor *zeros = tern_to_dtype(tern_eq_scalar(t, 0), TERN_INT64);
    tern_tensor *counts = tern_sum(zeros, tern_axes(0), false);
    tern_tensor *in_rows = tern_sum(zeros, tern_axes(1), false);
    assert_true(least_of(counts) == 4 && largest_of(counts) == 4);
    assert_true(largest_of(in_rows) < 30 && largest_of(tern_abs(t)) > 1);
    assert_near(tern_item(tern_sum_all(tern_abs(tern_init_sparse(t, 1)))), 0, 0, 0);
    assert_true(least_of(tern_abs(tern_init_sparse(t, 0))) > 0);
    assert_no_error();
}

// Mean and standard deviation by integrals of the density.
static void numbers_of_a_cut_normal_distribution_are_within_it(void **state)
{
    (void)state;
    static const struct {
        double mean, std, a, b, expected_mean, expected_std;
    } cases[] = {
        {0, 1, -2, 2, 0, 0.8796},          {1, 2, 0, INFINITY, 2.0183, 1.3945},
        {0, 1, 2, 4, 2.3706, 0.3310},      {0, 1, -0.25, 0.25, 0, 0.1438},
        {0, 0.5, -9, -5, -5.0493, 0.0489},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tern_tensor *t = nan_of(tern_dims(100, 200), TERN_FLOAT32);
        assert_ptr_equal(tern_init_trunc_normal(t, .mean = cases[i].mean, .std = cases[i].std,
                                                .a = cases[i].a, .b = cases[i].b),
                         t);
        assert_no_error();
        assert_true(least_of(t) >= cases[i].a && largest_of(t) <= cases[i].b);
        const double error = 5 * cases[i].expected_std / sqrt(20000);
        assert_near(tern_item(tern_mean_all(t)), cases[i].expected_mean, 0, error);
        assert_near(tern_item(tern_std(t, TERN_ALL_AXES, 1, false)), cases[i].expected_std, 0.05,
                    0);
    }
}

static void check_identity(tern_tensor *x, tern_tensor *y)
{
    assert_no_error();
    assert_near(tern_item(tern_amax(tern_abs(tern_sub(x, y)), TERN_ALL_AXES, false)), 0, 0, 0);
}

static void a_convolution_with_dirac_weights_is_the_identity(void **state)
{
    (void)state;
    tern_tensor *image = tern_randn(tern_dims(2, 6, 5, 7), .device = device);
    for (int groups = 1; groups <= 3; groups++) {
        tern_tensor *weight = nan_of(tern_dims(6, 6 / groups, 3, 5), TERN_FLOAT32);
        assert_ptr_equal(tern_init_dirac(weight, .groups = groups), weight);
        check_identity(image,
                       tern_conv2d(image, weight, NULL, .padding = {1, 2}, .groups = groups));
    }
    tern_tensor *line = tern_randn(tern_dims(2, 3, 8), .device = device);
    check_identity(line,
                   tern_conv1d(line, tern_init_dirac(nan_of(tern_dims(3, 3, 3), TERN_FLOAT32)),
                               NULL, .padding = 1));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_leaf_is_filled_and_collects_gradients_as_before),
        CHECK_TEST(only_the_elements_of_a_view_change),
        CHECK_TEST(a_tensor_without_elements_stays),
        CHECK_TEST(integers_take_what_is_not_drawn),
        CHECK_TEST(fans_are_products_of_sizes),
        CHECK_TEST(rows_or_columns_of_an_orthogonal_tensor_are_orthonormal),
        CHECK_TEST(an_orthogonal_tensor_has_the_same_bits_for_any_number_of_threads),
        CHECK_TEST(columns_of_a_sparse_tensor_have_that_many_zeros),
        CHECK_TEST(numbers_of_a_cut_normal_distribution_are_within_it),
        CHECK_TEST(a_convolution_with_dirac_weights_is_the_identity),
    };
    if (tern_device_parse(argc > 1 ? argv[1] : "cpu:0", &device))
        return tern_error_print(stderr);
    return cmocka_run_group_tests_name("initialisers", tests, NULL, NULL);
}
