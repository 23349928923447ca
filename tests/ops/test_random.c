// SPDX-License-Identifier: Apache-2.0
// Random tensors against PyTorch's (tests/golden/make_random.py), and generators.
#include <pthread.h>

#include "base/mt19937.h"
#include "device/backend.h"
#include "device/draws.h"
#include "golden/golden.h"
#include "support/tensor_check.h"

static void check_stored(tern_tensor *t, const char *name, double tolerance, int line)
{
    const golden_array *g = golden_find_array(golden_find("random", "draws"), name);
    double values[64];
    assert_non_null(g);
    assert_in_range(g->numel, 1, 64);
    for (int64_t i = 0; i < g->numel; i++)
        values[i] = (double)array_element(g->dtype, g->data, i);
    check_close_to(t, tern_dims(g->numel), values, g->numel, tolerance, __FILE__, line);
}

// The elements of a 1-dim tensor are those that are stored by this name.
#define assert_list(t, name, tolerance) check_stored(t, #name, tolerance, __LINE__)

static void before_a_seed_the_stream_is_pytorchs(void **state)
{
    (void)state;
    assert_list(tern_rand(tern_dims(4)), rand_unseeded, 0);
}

static void a_shutdown_goes_back_to_it(void **state)
{
    (void)state;
    tern_manual_seed(1);
    assert_non_null(tern_rand(tern_dims(2)));
    tern_shutdown(); // closes the test's scope too
    check_scope = tern_scope_open();
    assert_list(tern_rand(tern_dims(4)), rand_unseeded, 0);
}

// Kernels with fused multiply-add draw what the plain code draws: products and sums are in double
// and both round to the same float.
static void instruction_sets_draw_the_same_normal_numbers(void **state)
{
    (void)state;
    const int64_t numel = 1 << 22;
    tern_mt19937 plain;
    float *expected = malloc((size_t)numel * sizeof *expected);
    assert_non_null(expected);
    tern_mt19937_seed(&plain, 7);
    tern_mt19937_normal_f32(&plain, expected, numel, 0, 1);
    tern_manual_seed(7);
    tern_tensor *drawn = tern_randn(tern_dims(numel));
    assert_non_null(drawn);
    assert_memory_equal(tern_data(drawn), expected, (size_t)numel * sizeof *expected);
    free(expected);
}

static void the_values_of_the_specification(void **state)
{
    (void)state;
    tern_manual_seed(0);
    assert_tensor_near(tern_rand(tern_dims(3)), 1e-10, tern_dims(3), 0.4962565899, 0.7682217956,
                       0.0884774327);
    tern_manual_seed(0);
    assert_tensor_near(tern_randn(tern_dims(3)), 2e-6, tern_dims(3), 1.5409960747, -0.2934288979,
                       -2.1787893772);
    tern_manual_seed(0);
    assert_tensor(tern_randperm(8), tern_dims(8), 4, 0, 7, 3, 2, 5, 1, 6);
}

static void uniform_draws_are_the_same_bits(void **state)
{
    (void)state;
    tern_manual_seed(0);
    tern_tensor *t = tern_rand(tern_dims(20, 100));
    assert_list(tern_narrow(tern_flatten(t, 0, 1), 0, 1992, 8), rand_seed_0, 0);
    t = tern_rand(tern_dims(1000), .dtype = TERN_FLOAT64);
    assert_list(tern_narrow(t, 0, 992, 8), rand_f64_after_it, 0);
    tern_manual_seed(((uint64_t)1 << 40) + 5);
    assert_list(tern_rand(tern_dims(4)), rand_seed_2_40_plus_5, 0);
    tern_manual_seed(UINT64_MAX);
    assert_list(tern_rand_like(tern_empty(tern_dims(4))), rand_seed_2_64_minus_1, 0);
    tern_manual_seed(7);
    assert_list(tern_uniform_(tern_empty(tern_dims(24)), -0.3, 0.9, NULL), uniform_7, 0);
    t = tern_empty(tern_dims(24), .dtype = TERN_FLOAT64);
    assert_list(tern_uniform_(t, -1.0 / 28, 1.0 / 28, NULL), uniform_f64_after_it, 0);
}

static void normal_draws_agree_to_2e_6(void **state)
{
    (void)state;
    tern_manual_seed(11);
    assert_list(tern_randn(tern_dims(5)), normal_first_5, 2e-6);
    assert_list(tern_randn(tern_dims(4), .dtype = TERN_FLOAT64), normal_next_4_f64, 1e-14);
    assert_list(tern_normal_(tern_empty(tern_dims(3)), 2, 3, NULL), normal_scaled_3, 6e-6);
    assert_list(tern_randn_like(tern_empty(tern_dims(16))), normal_16, 2e-6);
    assert_list(tern_randn(tern_dims(2)), normal_after_16, 2e-6);
    tern_manual_seed(4);
    assert_list(tern_randn(tern_dims(40)), normal_40, 2e-6);
    assert_list(tern_normal_(tern_empty(tern_dims(33)), -1, 0.02, NULL), normal_scaled_33, 2e-6);
    tern_tensor *t = tern_randn(tern_dims(40), .dtype = TERN_FLOAT64);
    assert_list(t, normal_f64_40, 1e-14);
}

static void integers_and_permutations_are_the_same(void **state)
{
    (void)state;
    tern_manual_seed(9);
    assert_list(tern_randint(3, 17, tern_dims(16)), randint_3_17, 0);
    assert_list(tern_randint(0, 4294967295, tern_dims(4)), randint_32_bits_less_1, 0);
    assert_list(tern_randint(0, 4294967296, tern_dims(4)), randint_32_bits, 0);
    const int64_t *expected =
        golden_values(golden_find("random", "draws"), "randint_wide", TERN_INT64, 4);
    tern_tensor *wide = tern_randint(INT64_MIN, INT64_MAX, tern_dims(4));
    for (int i = 0; i < 4; i++)
        assert_true(tern_item_int(tern_select(wide, 0, i)) == expected[i]);
    tern_manual_seed(10);
    assert_list(tern_randint(-3, 268435452, tern_dims(4)), randint_2_28_less_1, 0);
    assert_list(tern_randint(-3, 268435453, tern_dims(4)), randint_2_28, 0);
    tern_manual_seed(9);
    tern_tensor *again = tern_randint_like(tern_zeros(tern_dims(16), .dtype = TERN_INT32), 3, 17);
    assert_list(again, randint_3_17, 0);
    assert_int_equal(tern_dtype_of(again), TERN_INT32);
    assert_empty(tern_randperm(0), tern_dims(0));
    assert_tensor(tern_randperm(1), tern_dims(1), 0);
}

static void bernoulli_draws_are_the_same(void **state)
{
    (void)state;
    tern_manual_seed(3);
    tern_tensor *t = tern_empty(tern_dims(40));
    assert_list(tern_bernoulli_(t, 0.4, NULL), bernoulli_3, 0);
}

static void other_dtypes_draw_as_in_pytorch(void **state)
{
    (void)state;
#define HALF(dtype_, name, close)                                                                  \
    do {                                                                                           \
        tern_manual_seed(0);                                                                       \
        assert_list(tern_rand(tern_dims(6), .dtype = dtype_), rand_##name, 0);                     \
        tern_tensor *empty = tern_empty(tern_dims(5), .dtype = dtype_);                            \
        assert_list(tern_uniform_(empty, -0.3, 0.9, NULL), uniform_##name, 0);                     \
        assert_list(tern_randn(tern_dims(5), .dtype = dtype_), randn_5_##name, close / 16);        \
        assert_list(tern_randn(tern_dims(35), .dtype = dtype_), randn_35_##name, close);           \
        assert_list(tern_rand(tern_dims(1)), after_##name, 0);                                     \
        empty = tern_empty(tern_dims(16), .dtype = dtype_);                                        \
        assert_list(tern_normal_(empty, 2, 3, NULL), randn_16_##name, close * 4);                  \
        empty = tern_empty(tern_dims(24), .dtype = dtype_);                                        \
        assert_list(tern_uniform_(empty, 1000, 1003, NULL), to_the_end_##name, 0);                 \
    } while (0)
    HALF(TERN_FLOAT16, float16, 0.004);
    HALF(TERN_BFLOAT16, bfloat16, 0.04);
    tern_manual_seed(0);
    assert_list(tern_randint(3, 17, tern_dims(6), .dtype = TERN_FLOAT16), randint_float16, 0);
    assert_list(tern_randint(0, 256, tern_dims(6), .dtype = TERN_UINT8), randint_uint8, 0);
    assert_list(tern_randint(-2147483648, 2147483647, tern_dims(4), .dtype = TERN_INT32),
                randint_int32, 0);
    tern_tensor *like = tern_empty(tern_dims(12), .dtype = TERN_FLOAT64);
    assert_list(tern_bernoulli_like(like, 0.3, NULL), bernoulli_float64, 0);
    like = tern_empty(tern_dims(12), .dtype = TERN_UINT8);
    assert_list(tern_bernoulli_like(like, 0.7, NULL), bernoulli_uint8, 0);
    assert_list(tern_bernoulli_(tern_empty(tern_dims(12), .dtype = TERN_BOOL), 0.5, NULL),
                bernoulli_bool, 0);
    assert_list(tern_randperm(9, .dtype = TERN_FLOAT32), randperm_float32, 0);
}

static void fills_of_views_take_the_same_draws_in_row_major_order(void **state)
{
    (void)state;
    tern_tensor *base = tern_full(tern_dims(3, 4), 9);
    tern_manual_seed(0);
    tern_tensor *expected = tern_rand(tern_dims(4, 2));
    tern_manual_seed(0);
    tern_tensor *view = tern_slice(tern_transpose(base, 0, 1), 1, 0, 3, 2);
    assert_ptr_equal(tern_uniform_(view, 0, 1, NULL), view);
    assert_true(tern_item_int(tern_all(tern_eq(view, expected), TERN_ALL_AXES, false)));
    assert_tensor(tern_select(base, 0, 1), tern_dims(4), 9, 9, 9, 9);
    assert_empty(tern_normal_(tern_empty(tern_dims(0)), 0, 1, NULL), tern_dims(0));
    assert_true(isfinite(tern_item(tern_randn(tern_dims()))));
}

static void a_generator_of_ones_own_is_a_stream_of_its_own(void **state)
{
    (void)state;
    tern_generator *g = tern_generator_new(0);
    tern_manual_seed(5);
    tern_tensor *a = tern_rand(tern_dims(3), .generator = g);
    assert_tensor_near(a, 1e-10, tern_dims(3), 0.4962565899, 0.7682217956, 0.0884774327);
    tern_tensor *from_default = tern_rand(tern_dims(3));
    tern_manual_seed(5);
    assert_true(tern_item_int(
        tern_all(tern_eq(from_default, tern_rand(tern_dims(3))), TERN_ALL_AXES, false)));
    assert_int_equal(tern_generator_seed(g, 0), TERN_OK);
    assert_tensor(tern_randperm(8, .generator = g), tern_dims(8), 4, 0, 7, 3, 2, 5, 1, 6);
    tern_tensor *far = tern_rand(tern_dims(2), .generator = g, .device = tern_cpu(1));
    assert_true(tern_device_equal(tern_device_of(far), tern_cpu(1)));
    tern_generator_free(g);
    tern_generator_free(NULL);
    assert_status(tern_generator_seed(NULL, 1), TERN_ERR_NULL, "generator_seed: generator is NULL");
}

static void every_device_has_a_default_generator(void **state)
{
    (void)state;
    tern_manual_seed(3);
    tern_tensor *near = tern_rand(tern_dims(4));
    tern_tensor *far = tern_rand(tern_dims(4), .device = tern_cpu(1));
    assert_true(
        tern_item_int(tern_all(tern_eq(near, tern_to(far, tern_cpu(0))), TERN_ALL_AXES, false)));
    tern_generator *g = tern_default_generator(tern_cpu(1));
    assert_non_null(g);
    assert_ptr_equal(tern_default_generator(tern_cpu(1)), g);
    assert_ptr_not_equal(tern_default_generator(tern_cpu(0)), g);
    assert_null_with(tern_default_generator(tern_cpu(9)), TERN_ERR_DEVICE, "default_generator");
    tern_generator_free(g); // the library's: nothing happens
    assert_ptr_equal(tern_default_generator(tern_cpu(1)), g);
}

static void a_saved_state_brings_the_stream_back(void **state)
{
    (void)state;
    tern_manual_seed(8);
    tern_generator *g = tern_default_generator(tern_cpu(0));
    assert_non_null(tern_randn(tern_dims(3))); // leaves half of a pair waiting
    (void)tern_draw_next(tern_cpu(0));
    size_t size = tern_generator_state_size();
    unsigned char *saved = malloc(size);
    assert_non_null(saved);
    assert_int_equal(tern_generator_save(g, saved, size), TERN_OK);
    tern_tensor *next = tern_randn(tern_dims(5));
    tern_manual_seed(1);
    assert_int_equal(tern_generator_load(g, saved, size), TERN_OK);
    assert_true(
        tern_item_int(tern_all(tern_eq(next, tern_randn(tern_dims(5))), TERN_ALL_AXES, false)));
    tern_exec exec = tern_exec_of(tern_cpu(0)); // and so is dropout
    assert_int_equal(exec.draws->seed, 8);
    assert_int_equal(exec.draws->base, 1);
    assert_int_equal(tern_draw_next(tern_cpu(0)), 0);
    free(saved);
}

static void bytes_that_are_no_state_change_nothing(void **state)
{
    (void)state;
    tern_generator *g = tern_generator_new(1), *same = tern_generator_new(1);
    size_t size = tern_generator_state_size();
    unsigned char *saved = malloc(size);
    assert_non_null(saved);
    assert_int_equal(tern_generator_save(tern_default_generator(tern_cpu(0)), saved, size),
                     TERN_OK);
    for (size_t i = 0; i < size; i += i < 64 || i > size - 16 ? 1 : 97) {
        saved[i] ^= 1;
        assert_status(tern_generator_load(g, saved, size), TERN_ERR_FORMAT, "generator_load: ");
        saved[i] ^= 1;
    }
    assert_status(tern_generator_load(g, saved, size - 1), TERN_ERR_ARG, "generator_load: a state");
    assert_status(tern_generator_save(g, saved, 10), TERN_ERR_ARG, "generator_save: a state has");
    assert_status(tern_generator_save(g, NULL, size), TERN_ERR_NULL, "generator_save: state");
    assert_status(tern_generator_load(NULL, saved, size), TERN_ERR_NULL, "generator_load");
    tern_tensor *a = tern_rand(tern_dims(5), .generator = g);
    tern_tensor *b = tern_rand(tern_dims(5), .generator = same);
    assert_true(tern_item_int(tern_all(tern_eq(a, b), TERN_ALL_AXES, false)));
    free(saved);
    tern_generator_free(g);
    tern_generator_free(same);
}

static void seeding_starts_the_draws_inside_steps_anew(void **state)
{
    (void)state;
    tern_manual_seed(77);
    assert_int_equal(tern_draw_next(tern_cpu(1)), 0);
    assert_int_equal(tern_draw_next(tern_cpu(1)), 1);
    tern_draw_advance(tern_cpu(1));
    assert_int_equal(tern_exec_of(tern_cpu(1)).draws->base, 2);
    tern_manual_seed(78);
    assert_int_equal(tern_exec_of(tern_cpu(1)).draws->seed, 78);
    assert_int_equal(tern_exec_of(tern_cpu(1)).draws->base, 0);
}

static void wrong_arguments_are_named(void **state)
{
    (void)state;
    tern_tensor *t = tern_zeros(tern_dims(2)), *n = tern_zeros(tern_dims(2), .dtype = TERN_INT64);
    assert_null_with(tern_rand(tern_dims(2), .dtype = TERN_INT64), TERN_ERR_DTYPE,
                     "rand: dtype is int64, but must be a floating one");
    assert_null_with(tern_randn(tern_dims(-2)), TERN_ERR_SHAPE, "randn");
    assert_null_with(tern_randn_like(n), TERN_ERR_DTYPE, "randn_like");
    assert_null_with(tern_rand_with(NULL), TERN_ERR_NULL, "rand: options");
    assert_null_with(tern_randint_with(NULL), TERN_ERR_NULL, "randint: options");
    assert_null_with(tern_randperm_with(NULL), TERN_ERR_NULL, "randperm: options");
    assert_null_with(tern_randint(3, 3, tern_dims(2)), TERN_ERR_ARG, "low 3 is not below high 3");
    assert_null_with(tern_randint(0, 257, tern_dims(2), .dtype = TERN_UINT8), TERN_ERR_ARG,
                     "high - 1 256 is out of the range of uint8");
    assert_null_with(tern_randperm(-1), TERN_ERR_SHAPE, "randperm: n -1");
    assert_null_with(tern_randperm(257, .dtype = TERN_UINT8), TERN_ERR_ARG, "uint8");
    assert_null_with(tern_randperm(2, .dtype = TERN_BOOL), TERN_ERR_DTYPE, "bool");
    assert_null_with(tern_randperm(2, .requires_grad = true), TERN_ERR_DTYPE, "gradient");
    assert_null_with(tern_uniform_(t, 1, 0, NULL), TERN_ERR_ARG, "uniform_: low 1 and high 0");
    assert_null_with(tern_uniform_(t, -3e38, 3e38, NULL), TERN_ERR_ARG,
                     "uniform_: low -3e+38, high 3e+38 or their difference is beyond float32");
    assert_null_with(tern_uniform_(t, 0, 1e39, NULL), TERN_ERR_ARG, "beyond float32");
    assert_null_with(tern_uniform_(t, -1e39, 0, NULL), TERN_ERR_ARG, "beyond float32");
    tern_tensor *half = tern_zeros(tern_dims(9), .dtype = TERN_FLOAT16);
    assert_null_with(tern_uniform_(half, -4e4, 4e4, NULL), TERN_ERR_ARG, "beyond float16");
    assert_true(tern_item(tern_amax(tern_abs(tern_uniform_(half, -3e4, 3e4, NULL)), TERN_ALL_AXES,
                                    false)) <= 3e4);
    tern_tensor *doubles = tern_zeros(tern_dims(9), .dtype = TERN_FLOAT64);
    assert_null_with(tern_uniform_(doubles, -1e308, 1e308, NULL), TERN_ERR_ARG, "beyond float64");
    assert_null_with(tern_uniform_(n, 0, 1, NULL), TERN_ERR_DTYPE, "uniform_: dtype is int64");
    assert_null_with(tern_normal_(t, 0, -1, NULL), TERN_ERR_ARG, "normal_");
    assert_null_with(tern_normal_(NULL, 0, 1, NULL), TERN_ERR_NULL, "normal_: t is NULL");
    assert_null_with(tern_bernoulli_(t, 1.5, NULL), TERN_ERR_ARG, "bernoulli_: p is 1.5");
    assert_null_with(tern_bernoulli_like(t, NAN, NULL), TERN_ERR_ARG, "bernoulli_like: p is");
    tern_tensor *leaf = tern_rand(tern_dims(2), .requires_grad = true);
    assert_true(tern_requires_grad(leaf));
    assert_null_with(tern_normal_(leaf, 0, 1, NULL), TERN_ERR_STATE, "normal_");
    tern_tensor *wide = tern_expand(tern_zeros(tern_dims(1)), tern_dims(2));
    assert_null_with(tern_uniform_(wide, 0, 1, NULL), TERN_ERR_STATE, "uniform_");
}

static void bernoulli_meets_its_ends(void **state)
{
    (void)state;
    tern_tensor *t = tern_empty(tern_dims(100));
    assert_true(tern_item(tern_sum(tern_bernoulli_like(t, 0, NULL), TERN_ALL_AXES, false)) == 0);
    assert_true(tern_item(tern_sum(tern_bernoulli_like(t, 1, NULL), TERN_ALL_AXES, false)) == 100);
}

#define DRAWERS 4
static void *draw_many(void *sum)
{
    for (int i = 0; i < 200; i++) {
        tern_tensor *t = tern_randint(0, 1000, tern_dims(50));
        for (int k = 0; t && k < 50; k++)
            *(int64_t *)sum += ((const int64_t *)tern_data(t))[k];
    }
    return NULL;
}

// Threads share the stream: together they draw the same numbers as one would.
static void threads_draw_from_one_locked_stream(void **state)
{
    (void)state;
    pthread_t threads[DRAWERS];
    int64_t sums[DRAWERS] = {0}, total = 0, expected = 0;
    tern_manual_seed(1);
    for (int i = 0; i < DRAWERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, draw_many, &sums[i]), 0);
    for (int i = 0; i < DRAWERS; i++) {
        pthread_join(threads[i], NULL);
        total += sums[i];
    }
    tern_manual_seed(1);
    for (int i = 0; i < DRAWERS; i++)
        draw_many(&expected);
    assert_true(total == expected);
}

int main(void)
{
    setenv("TERN_CPU_DEVICES", "2", 1);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(before_a_seed_the_stream_is_pytorchs),
        CHECK_TEST(a_shutdown_goes_back_to_it),
        CHECK_TEST(instruction_sets_draw_the_same_normal_numbers),
        CHECK_TEST(the_values_of_the_specification),
        CHECK_TEST(uniform_draws_are_the_same_bits),
        CHECK_TEST(normal_draws_agree_to_2e_6),
        CHECK_TEST(integers_and_permutations_are_the_same),
        CHECK_TEST(bernoulli_draws_are_the_same),
        CHECK_TEST(other_dtypes_draw_as_in_pytorch),
        CHECK_TEST(fills_of_views_take_the_same_draws_in_row_major_order),
        CHECK_TEST(a_generator_of_ones_own_is_a_stream_of_its_own),
        CHECK_TEST(every_device_has_a_default_generator),
        CHECK_TEST(a_saved_state_brings_the_stream_back),
        CHECK_TEST(bytes_that_are_no_state_change_nothing),
        CHECK_TEST(seeding_starts_the_draws_inside_steps_anew),
        CHECK_TEST(wrong_arguments_are_named),
        CHECK_TEST(bernoulli_meets_its_ends),
        CHECK_TEST(threads_draw_from_one_locked_stream),
    };
    return cmocka_run_group_tests_name("random", tests, NULL, check_shutdown);
}
