// SPDX-License-Identifier: Apache-2.0
// Where results live, and what happens when operands are on different devices.
#include "device_check.h"

static void results_live_where_their_operands_do(void **state)
{
    (void)state;
    NEEDS_TWO_DEVICES();
    tern_tensor *x = tern_to(check_2x3(false), there);
    if (kind == TERN_CUDA)
        assert_int_equal(tern_cuda_set_device(here.index), TERN_OK);
    tern_with_device(here)
    {
        assert_true(is_on(tern_add(x, x), there));
        assert_true(is_on(tern_relu(x), there));
        assert_true(is_on(tern_sum(x, TERN_ALL_AXES, false), there));
        assert_true(is_on(tern_matmul(x, tern_transpose(x, 0, 1)), there));
    }
    assert_tensor(tern_add(x, x), tern_dims(2, 3), 0, 2, 4, 6, 8, 10);
}

static void operands_on_two_devices_are_an_error_that_names_them(void **state)
{
    (void)state;
    tern_tensor *a = check_2x3(false), *b = tern_to(a, here);
    assert_null(tern_add(a, b));
    const char *sentence = tern_error_message();
    assert_non_null(strstr(sentence, "add: "));
    assert_non_null(strstr(sentence, "a is on cpu"));
    assert_non_null(strstr(sentence, "b on "));
    assert_non_null(strstr(sentence, tern_device_string(here)));
    assert_non_null(strstr(sentence, "tern_to"));
    assert_int_equal(tern_error_code(), TERN_ERR_DEVICE);
    tern_error_clear();
    NEEDS_TWO_DEVICES();
    assert_null_with(tern_matmul(b, tern_to(tern_transpose(a, 0, 1), there)), TERN_ERR_DEVICE,
                     tern_device_string(there));
}

static void a_cpu_number_without_dimensions_may_mix(void **state)
{
    (void)state;
    tern_tensor *x = tern_to(check_2x3(false), here);
    tern_tensor *two = tern_full(tern_dims(), 2);
    assert_true(is_on(tern_mul(x, two), here));
    assert_tensor(tern_mul(x, two), tern_dims(2, 3), 0, 2, 4, 6, 8, 10);
    assert_tensor(tern_mul(two, x), tern_dims(2, 3), 0, 2, 4, 6, 8, 10);
    assert_null_with(tern_mul(x, tern_full(tern_dims(1), 2)), TERN_ERR_DEVICE, "on cpu");
}

static void copies_in_place_cross_devices(void **state)
{
    (void)state;
    NEEDS_TWO_DEVICES();
    tern_tensor *x = check_2x3(false), *y = tern_zeros(tern_dims(2, 3), .device = here);
    tern_tensor *z = tern_zeros(tern_dims(2, 3), .dtype = TERN_FLOAT64, .device = there);
    assert_ptr_equal(tern_copy_(y, x), y);
    assert_ptr_equal(tern_copy_(z, y), z); // another device and dtype
    assert_true(is_on(y, here) && is_on(z, there));
    assert_tensor(z, tern_dims(2, 3), 0, 1, 2, 3, 4, 5);
    tern_tensor *back = tern_zeros(tern_dims(3, 2));
    assert_non_null(tern_copy_(tern_transpose(back, 0, 1), z)); // strided, to the CPU
    assert_tensor(back, tern_dims(3, 2), 0, 3, 1, 4, 2, 5);
}

static void new_tensors_of_a_tensor_keep_its_dtype_and_device(void **state)
{
    (void)state;
    tern_tensor *t = tern_ones(tern_dims(2), .dtype = TERN_FLOAT64, .device = here);
    tern_tensor *const made[] = {
        tern_new_empty(t, tern_dims(3)),
        tern_new_zeros(t, tern_dims(3)),
        tern_new_ones(t, tern_dims(3)),
        tern_new_full(t, tern_dims(3), 7),
        tern_new_tensor(t, tern_dims(2), ((double[]){4, 5})),
        tern_empty_like(t),
        tern_zeros_like(t),
        tern_ones_like(t),
        tern_full_like(t, 7),
        tern_rand_like(t),
        tern_randn_like(t),
        tern_bernoulli_like(t, 0.5, NULL),
        tern_randint_like(t, 0, 5),
    };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        assert_true(is_on(made[i], here));
        assert_int_equal(tern_dtype_of(made[i]), TERN_FLOAT64);
    }
    assert_tensor(made[3], tern_dims(3), 7, 7, 7);
    assert_tensor(made[4], tern_dims(2), 4, 5);
}

// ---- half precision -----------------------------------------------------------------------------

static int64_t allocated(void)
{
    tern_cuda_memory memory;
    assert_int_equal(tern_cuda_get_memory(here.index, &memory), TERN_OK);
    return memory.allocated;
}

static void half_tensors_use_half_the_memory(void **state)
{
    (void)state;
    const int64_t before = allocated();
    tern_tensor *single = tern_zeros(tern_dims(1 << 20), .device = here);
    const int64_t of_single = allocated() - before;
    assert_non_null(single);
    static const tern_dtype halves[] = {TERN_FLOAT16, TERN_BFLOAT16};
    for (int i = 0; i < 2; i++) {
        const int64_t start = allocated();
        assert_non_null(tern_to_dtype(single, halves[i]));
        assert_int_equal(2 * (allocated() - start), of_single);
    }
    assert_int_equal(of_single, 4 << 20);
}

static void half_precision_overflows_to_infinity_and_can_be_asked(void **state)
{
    (void)state;
    const float large[] = {60000, -60000, 65504, 1};
    tern_tensor *x =
        tern_to_dtype(tern_to(tern_from_data(tern_dims(4), large), here), TERN_FLOAT16);
    tern_tensor *twice = tern_add(x, x);
    assert_int_equal(tern_dtype_of(twice), TERN_FLOAT16);
    assert_tensor(twice, tern_dims(4), INFINITY, -INFINITY, INFINITY, 2);
    assert_tensor(tern_isfinite(twice), tern_dims(4), 0, 0, 0, 1);
    assert_tensor(tern_isfinite(x), tern_dims(4), 1, 1, 1, 1);
    tern_tensor *wide = tern_to_dtype(x, TERN_BFLOAT16); // 8 bits of exponent
    assert_int_equal(
        tern_item_int(tern_all(tern_isfinite(tern_add(wide, wide)), TERN_ALL_AXES, false)), 1);
    assert_tensor(tern_sub(twice, twice), tern_dims(4), NAN, NAN, NAN, 0);
}

int main(int argc, char **argv)
{
    const int nothing = choose_devices(argc, argv);
    const struct CMUnitTest everywhere[] = {
        CHECK_TEST(results_live_where_their_operands_do),
        CHECK_TEST(operands_on_two_devices_are_an_error_that_names_them),
        CHECK_TEST(a_cpu_number_without_dimensions_may_mix),
        CHECK_TEST(copies_in_place_cross_devices),
        CHECK_TEST(new_tensors_of_a_tensor_keep_its_dtype_and_device),
        CHECK_TEST(half_precision_overflows_to_infinity_and_can_be_asked),
    };
    const struct CMUnitTest on_cuda[] = {
        CHECK_TEST(half_tensors_use_half_the_memory),
    };
    if (nothing)
        return nothing;
    RUN_DEVICE_TESTS(everywhere, on_cuda);
}
