// SPDX-License-Identifier: Apache-2.0
// The dtype of what is made without one: what PyTorch 2.15 gives after set_default_dtype(float64).
#include <pthread.h>

#include "support/tensor_check.h"

static int back_to_float32(void **state)
{
    return tern_set_default_dtype(TERN_FLOAT32) ? -1 : check_close(state);
}

static void new_tensors_and_layers_are_of_it(void **state)
{
    (void)state;
    assert_int_equal(tern_default_dtype(), TERN_FLOAT32);
    assert_int_equal(tern_set_default_dtype(TERN_FLOAT64), TERN_OK);
    tern_module *fc = tern_nn_linear(1, 1);
    tern_tensor *const floating[] = {tern_zeros(tern_dims(2)),
                                     tern_empty(tern_dims(2)),
                                     tern_ones(tern_dims(2)),
                                     tern_full(tern_dims(1), 2),
                                     tern_eye(2, 2),
                                     tern_linspace(0, 1, 3),
                                     tern_rand(tern_dims(1)),
                                     tern_randn(tern_dims(1)),
                                     tern_module_parameter(fc, "weight"),
                                     tern_forward(fc, tern_ones(tern_dims(1, 1)))};
    for (size_t i = 0; i < sizeof floating / sizeof *floating; i++)
        assert_int_equal(tern_dtype_of(floating[i]), TERN_FLOAT64);
    assert_int_equal(tern_dtype_of(tern_arange(0, 3, 1)), TERN_INT64);
    assert_int_equal(tern_dtype_of(tern_randperm(2)), TERN_INT64);
    assert_int_equal(tern_dtype_of(tern_from_data(tern_dims(1), (float[]){1})), TERN_FLOAT32);
    assert_int_equal(tern_dtype_of(tern_zeros(tern_dims(1), .dtype = TERN_FLOAT16)), TERN_FLOAT16);
    tern_module_free(fc);
}

static void integers_become_it_where_fractions_are_needed(void **state)
{
    (void)state;
    assert_int_equal(tern_set_default_dtype(TERN_FLOAT64), TERN_OK);
    tern_tensor *whole = tern_arange(1, 3, 1);
    assert_int_equal(tern_dtype_of(tern_div_scalar(whole, 2)), TERN_FLOAT64);
    assert_int_equal(tern_dtype_of(tern_div(whole, whole)), TERN_FLOAT64);
    assert_int_equal(tern_dtype_of(tern_sin(whole)), TERN_FLOAT64);
    const double third = tern_item(tern_div_scalar(tern_ones(tern_dims(), .dtype = TERN_INT64), 3));
    assert_true(third == 1.0 / 3);
    assert_int_equal(tern_dtype_of(tern_add_scalar(whole, 2)), TERN_INT64);
}

static void it_is_not_printed(void **state)
{
    (void)state;
    char text[64];
    assert_int_equal(tern_set_default_dtype(TERN_FLOAT64), TERN_OK);
    assert_true(tern_format(tern_ones(tern_dims(1)), text, sizeof text) > 0);
    assert_string_equal(text, "tensor([1.])");
    tern_tensor *single = tern_ones(tern_dims(1), .dtype = TERN_FLOAT32);
    assert_true(tern_format(single, text, sizeof text) > 0);
    assert_string_equal(text, "tensor([1.], dtype=float32)");
}

static void *ask_elsewhere(void *out)
{
    *(tern_dtype *)out = tern_default_dtype();
    return NULL;
}

static void it_is_the_threads_own(void **state)
{
    (void)state;
    tern_dtype there = TERN_DTYPE_UNSPECIFIED;
    pthread_t thread;
    assert_int_equal(tern_set_default_dtype(TERN_BFLOAT16), TERN_OK);
    assert_int_equal(pthread_create(&thread, NULL, ask_elsewhere, &there), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(there, TERN_FLOAT32);
    assert_int_equal(tern_default_dtype(), TERN_BFLOAT16);
}

static void what_is_not_floating_is_refused(void **state)
{
    (void)state;
    assert_status(tern_set_default_dtype(TERN_INT64), TERN_ERR_DTYPE,
                  "set_default_dtype: int64 is not floating");
    assert_status(tern_set_default_dtype((tern_dtype)77), TERN_ERR_DTYPE, "unknown");
    assert_int_equal(tern_default_dtype(), TERN_FLOAT32);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, check_open, back_to_float32)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(new_tensors_and_layers_are_of_it),
        TEST(integers_become_it_where_fractions_are_needed),
        TEST(it_is_not_printed),
        TEST(it_is_the_threads_own),
        TEST(what_is_not_floating_is_refused),
    };
    return cmocka_run_group_tests_name("default_dtype", tests, NULL, check_shutdown);
}
