// SPDX-License-Identifier: Apache-2.0
// Numbers that meet tensors: integers are exact. The expected values are PyTorch's.
#include "support/tensor_check.h"

#define BEYOND INT64_C(9007199254740993)    // 2**53 + 1, which no double holds
#define LARGE  INT64_C(4611686018427387905) // 2**62 + 1

enum { COUNT = 5 };

// x = torch.tensor([2**53 + 1, -2**53 - 1, 2**62 + 1, 2**63 - 1, -2**63])
static tern_tensor *landmarks(void)
{
    return tern_from_data(tern_dims(COUNT),
                          (int64_t[]){BEYOND, -BEYOND, LARGE, INT64_MAX, INT64_MIN});
}

#define assert_integers(t, ...) check_integers(t, (const int64_t[COUNT]){__VA_ARGS__}, #t)
#define assert_truths(t, ...)   check_truths(t, (const bool[COUNT]){__VA_ARGS__}, #t)

static void check_integers(tern_tensor *t, const int64_t *want, const char *what)
{
    int64_t got[COUNT] = {0};
    assert_int_equal(tern_to_host(t, got, sizeof got), TERN_OK);
    for (int i = 0; i < COUNT; i++)
        if (got[i] != want[i])
            fail_msg("%s: element %d is %lld, not %lld", what, i, (long long)got[i],
                     (long long)want[i]);
}

static void check_truths(tern_tensor *t, const bool *want, const char *what)
{
    bool got[COUNT] = {0};
    assert_int_equal(tern_to_host(t, got, sizeof got), TERN_OK);
    for (int i = 0; i < COUNT; i++)
        if (got[i] != want[i])
            fail_msg("%s: element %d is %d", what, i, got[i]);
}

static void integers_fill_int64_tensors_exactly(void **state)
{
    (void)state;
    tern_tensor *x = landmarks();
    const tern_shape one = tern_dims(1);
    // torch.full((1,), 2**53 + 1, dtype=torch.int64) and likewise
    assert_true(tern_item_int(tern_full(one, BEYOND, .dtype = TERN_INT64)) == BEYOND);
    assert_true(tern_item_int(tern_full(one, INT64_MAX, .dtype = TERN_INT64)) == INT64_MAX);
    assert_true(tern_item_int(tern_full(one, INT64_MIN, .dtype = TERN_INT64)) == INT64_MIN);
    assert_true(tern_item_int(tern_new_full(x, one, BEYOND)) == BEYOND);
    assert_integers(tern_full_like(x, -BEYOND), -BEYOND, -BEYOND, -BEYOND, -BEYOND, -BEYOND);
    assert_integers(tern_fill_(tern_zeros_like(x), LARGE), LARGE, LARGE, LARGE, LARGE, LARGE);
    // x.masked_fill(x > 0, 2**53 + 1)
    assert_integers(tern_masked_fill(x, tern_gt_scalar(x, 0), BEYOND), BEYOND, -BEYOND, BEYOND,
                    BEYOND, INT64_MIN);
    // x.clamp(-2**53 - 1, 2**53 + 1)
    assert_integers(tern_clamp(x, -BEYOND, BEYOND), BEYOND, -BEYOND, BEYOND, BEYOND, -BEYOND);
    assert_integers(tern_clamp(x, -INFINITY, BEYOND), BEYOND, -BEYOND, BEYOND, BEYOND, INT64_MIN);
}

static void sums_and_products_with_integers_are_exact_and_wrap_around(void **state)
{
    (void)state;
    tern_tensor *x = landmarks();
    // x + (2**62 + 1)
    assert_integers(tern_add_scalar(x, LARGE), 4620693217682128898, 4602678819172646912,
                    -9223372036854775806, -4611686018427387904, -4611686018427387903);
    assert_integers(tern_add_scalar_(tern_clone(x), LARGE), 4620693217682128898,
                    4602678819172646912, -9223372036854775806, -4611686018427387904,
                    -4611686018427387903);
    // x - (2**62 + 1)
    assert_integers(tern_sub_scalar(x, LARGE), -4602678819172646912, -4620693217682128898, 0,
                    4611686018427387902, 4611686018427387903);
    // x - (-2**63), as an integer and as a float
    assert_integers(tern_sub_scalar(x, INT64_MIN), -9214364837600034815, 9214364837600034815,
                    -4611686018427387903, -1, 0);
    assert_integers(tern_sub_scalar(x, -0x1p63), -9214364837600034815, 9214364837600034815,
                    -4611686018427387903, -1, 0);
    // x * (2**53 + 1)
    assert_integers(tern_mul_scalar(x, BEYOND), 18014398509481985, -18014398509481985,
                    4620693217682128897, 9214364837600034815, INT64_MIN);
    assert_integers(tern_mul_scalar_(tern_clone(x), BEYOND), 18014398509481985, -18014398509481985,
                    4620693217682128897, 9214364837600034815, INT64_MIN);
    // torch.tensor([3]).pow(2**53 + 1)
    tern_tensor *three = tern_full(tern_dims(), 3, .dtype = TERN_INT64);
    assert_true(tern_item_int(tern_pow_scalar(three, BEYOND)) == 6593269854470406147);
    // torch.tensor(2**53 + 1).div(2**53 + 1)
    assert_true(tern_item(tern_div_scalar(tern_select(x, 0, 0), BEYOND)) == 1);
}

static void int64_tensors_are_compared_with_any_number_exactly(void **state)
{
    (void)state;
    tern_tensor *x = landmarks();
    // x == 2**53 + 1, and so on
    assert_truths(tern_eq_scalar(x, BEYOND), 1, 0, 0, 0, 0);
    assert_truths(tern_eq_scalar(x, BEYOND - 1), 0, 0, 0, 0, 0);
    assert_truths(tern_ne_scalar(x, INT64_MAX), 1, 1, 1, 0, 1);
    assert_truths(tern_lt_scalar(x, BEYOND), 0, 1, 0, 0, 1);
    assert_truths(tern_le_scalar(x, BEYOND - 1), 0, 1, 0, 0, 1);
    assert_truths(tern_gt_scalar(x, INT64_MAX), 0, 0, 0, 0, 0);
    assert_truths(tern_ge_scalar(x, INT64_MAX), 0, 0, 0, 1, 0);
    // x < 0.5
    assert_truths(tern_lt_scalar(x, 0.5), 0, 1, 0, 0, 1);
    // As numbers; PyTorch compares with 2.0**63 and with uint64 as if they were int64.
    assert_truths(tern_gt_scalar(x, 0x1p53), 1, 0, 1, 1, 0);
    assert_truths(tern_lt_scalar(x, 0x1p63), 1, 1, 1, 1, 1);
    assert_truths(tern_eq_scalar(x, (uint64_t)INT64_MAX + 1), 0, 0, 0, 0, 0);
    assert_truths(tern_lt_scalar(x, UINT64_MAX), 1, 1, 1, 1, 1);
}

static void ranges_of_integers_are_exact(void **state)
{
    (void)state;
    // torch.arange(2**53 + 1, 2**53 + 6, 1)
    assert_integers(tern_arange(BEYOND, BEYOND + 5, 1), BEYOND, BEYOND + 1, BEYOND + 2, BEYOND + 3,
                    BEYOND + 4);
    // torch.arange(2**63 - 6, 2**63 - 1, 1)
    assert_integers(tern_arange(INT64_MAX - 5, INT64_MAX, 1), 9223372036854775802,
                    9223372036854775803, 9223372036854775804, 9223372036854775805,
                    9223372036854775806);
    // torch.arange(2**53 + 10, 2**53 + 1, -2)
    assert_integers(tern_arange(BEYOND + 9, BEYOND, -2), BEYOND + 9, BEYOND + 7, BEYOND + 5,
                    BEYOND + 3, BEYOND + 1);
    // range(-2**63, 2**63 - 1, 2**62) of Python; PyTorch's own has none
    const int64_t quarter = INT64_C(1) << 62;
    tern_tensor *wide = tern_arange(INT64_MIN, INT64_MAX, quarter);
    assert_int_equal(tern_numel(wide), 4);
    assert_true(tern_item_int(tern_select(wide, 0, 3)) == quarter);
    assert_int_equal(tern_numel(tern_arange(BEYOND, BEYOND, 1)), 0);
    assert_int_equal(tern_numel(tern_arange(0, 2.5, 1)), 3);
    assert_int_equal(tern_numel(tern_arange(0, -2.5, -1)), 3);
    assert_null_with(tern_arange(BEYOND, BEYOND - 1, 1), TERN_ERR_ARG, "leads away from end");
    assert_null_with(tern_arange(INT64_MIN, INT64_MAX, 1), TERN_ERR_SHAPE, "too many");
}

static void an_integer_is_rounded_once_to_a_floating_tensors_type(void **state)
{
    (void)state;
    // torch.full((1,), 2**54 + 2**30 + 1): rounded to double first it would be 2**54
    const int64_t tie = (INT64_C(1) << 54) + (1 << 30) + 1;
    const double rounded = 0x1p54 + 0x1p31;
    assert_true(tern_item(tern_full(tern_dims(), tie)) == rounded);
    assert_true(tern_item(tern_add_scalar(tern_zeros(tern_dims()), tie)) == rounded);
    assert_true(tern_item(tern_sub_scalar(tern_zeros(tern_dims()), tie)) == -rounded);
    assert_true(tern_item(tern_eq_scalar(tern_full(tern_dims(), rounded), tie)) == 1);
    // torch.tensor(2.0**53, dtype=torch.float64) == 2**53 + 1
    tern_tensor *wide = tern_full(tern_dims(), 0x1p53, .dtype = TERN_FLOAT64);
    assert_true(tern_item(tern_eq_scalar(wide, BEYOND)) == 1);
    assert_true(tern_item(tern_lt_scalar(wide, BEYOND)) == 0);
    // torch.zeros(()) - (-2**63)
    assert_true(tern_item(tern_sub_scalar(tern_zeros(tern_dims()), INT64_MIN)) == 0x1p63);
    assert_true(tern_item(tern_full(tern_dims(), UINT64_MAX)) == 0x1p64);
}

static void every_number_of_c_is_a_scalar(void **state)
{
    (void)state;
    tern_tensor *x = tern_zeros(tern_dims(), .dtype = TERN_INT64);
    assert_true(tern_item_int(tern_add_scalar(x, (char)3)) == 3);
    assert_true(tern_item_int(tern_add_scalar(x, (signed char)-3)) == -3);
    assert_true(tern_item_int(tern_add_scalar(x, (uint8_t)200)) == 200);
    assert_true(tern_item_int(tern_add_scalar(x, (short)-300)) == -300);
    assert_true(tern_item_int(tern_add_scalar(x, (uint16_t)65535)) == 65535);
    assert_true(tern_item_int(tern_add_scalar(x, UINT32_MAX)) == UINT32_MAX);
    assert_true(tern_item_int(tern_add_scalar(x, (uint64_t)INT64_MAX)) == INT64_MAX);
    assert_true(tern_item_int(tern_add_scalar(x, (long long)BEYOND)) == BEYOND);
    assert_true(tern_item_int(tern_add_scalar(x, (bool)1)) == 1);
    assert_true(tern_item_int(tern_add_scalar(x, TERN_INT64)) == TERN_INT64);
    assert_true(tern_item_int(tern_add_scalar(x, 2.0F)) == 2);
    assert_true(tern_item_int(tern_add_scalar(x, 0x1p53)) == BEYOND - 1);
    assert_true(tern_item_int(tern_add_scalar(x, tern_scalar_int(BEYOND))) == BEYOND);
    assert_true(tern_item_int(tern_add_scalar(x, tern_scalar_double(4))) == 4);
    assert_true(tern_item_int((tern_add_scalar)(x, tern_scalar_uint(7))) == 7);
    assert_true(tern_item_int(tern_add_scalar(x, (tern_scalar){0})) == 0);
}

static void an_integer_that_the_dtype_does_not_hold_is_refused(void **state)
{
    (void)state;
    tern_tensor *x = tern_zeros(tern_dims(1), .dtype = TERN_INT64);
    tern_tensor *n = tern_zeros(tern_dims(1), .dtype = TERN_INT32);
    assert_null_with(tern_full(tern_dims(1), UINT64_MAX, .dtype = TERN_INT64), TERN_ERR_ARG,
                     "out of the range of int64");
    assert_null_with(tern_add_scalar(x, (uint64_t)INT64_MAX + 1), TERN_ERR_ARG,
                     "out of the range of int64");
    assert_null_with(tern_fill_(n, INT64_C(2147483648)), TERN_ERR_ARG,
                     "fill_: value 2147483648 is out of the range of int32");
    assert_null_with(tern_full_like(n, INT64_C(-2147483649)), TERN_ERR_ARG,
                     "full_like: value -2147483649 is out of the range of int32");
    assert_null_with(tern_full(tern_dims(1), 256, .dtype = TERN_UINT8), TERN_ERR_ARG,
                     "full: value 256 is out of the range of uint8");
    assert_null_with(tern_arange(INT64_C(0), BEYOND, BEYOND - 1, .dtype = TERN_INT32), TERN_ERR_ARG,
                     "arange: the last element 9007199254740992 is out of the range");
    assert_null_with(tern_pow_scalar(x, -BEYOND), TERN_ERR_ARG, "no negative powers");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(integers_fill_int64_tensors_exactly),
        CHECK_TEST(sums_and_products_with_integers_are_exact_and_wrap_around),
        CHECK_TEST(int64_tensors_are_compared_with_any_number_exactly),
        CHECK_TEST(ranges_of_integers_are_exact),
        CHECK_TEST(an_integer_is_rounded_once_to_a_floating_tensors_type),
        CHECK_TEST(every_number_of_c_is_a_scalar),
        CHECK_TEST(an_integer_that_the_dtype_does_not_hold_is_refused),
    };
    return cmocka_run_group_tests_name("scalar", tests, NULL, check_shutdown);
}
