// SPDX-License-Identifier: Apache-2.0
// The stream against PyTorch's own output (tests/golden/make_random.py); the published words are
// held by the suite `reliability` (R28).
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mt19937.h"
#include "golden/golden.h"

#define ASSERT_SAME_BITS(a, b) assert_memory_equal(a, b, sizeof(b))

static const void *stored(const char *name, tern_dtype dtype, int64_t numel)
{
    return golden_values(golden_find("random", "draws"), name, dtype, numel);
}

// The elements from the first on are those that are stored by this name.
static void assert_stored(const void *first, size_t size, const char *name)
{
    const golden_array *g = golden_find_array(golden_find("random", "draws"), name);
    assert_non_null(g);
    assert_true(g->numel > 0);
    assert_int_equal(tern_dtype_size(g->dtype), size);
    assert_memory_equal(first, g->data, (size_t)g->numel * size);
}
#define ASSERT_STORED_BITS(values, name) assert_stored(values, sizeof *(values), name)

static tern_mt19937 generator;

static int seeded_with_0(void **state)
{
    (void)state;
    tern_mt19937_seed(&generator, 0);
    return 0;
}

static double largest_difference_f32(const float *a, const float *b, int64_t numel)
{
    double largest = 0;
    for (int64_t i = 0; i < numel; i++)
        largest = fmax(largest, isnan(a[i]) ? INFINITY : fabs((double)a[i] - (double)b[i]));
    return largest;
}

static double largest_difference_f64(const double *a, const double *b, int64_t numel)
{
    double largest = 0;
    for (int64_t i = 0; i < numel; i++)
        largest = fmax(largest, isnan(a[i]) ? INFINITY : fabs(a[i] - b[i]));
    return largest;
}

static void rand_has_the_bits_of_pytorch(void **state)
{
    (void)state;
    float x[2000];
    double y[1000];
    tern_mt19937_uniform_f32(&generator, x, 2000, 0, 1);
    ASSERT_STORED_BITS(x + 2000 - 8, "rand_seed_0");
    tern_mt19937_uniform_f64(&generator, y, 1000, 0, 1);
    ASSERT_STORED_BITS(y + 1000 - 8, "rand_f64_after_it");
}

static void only_the_low_32_bits_of_a_seed_matter(void **state)
{
    (void)state;
    float x[4];
    tern_mt19937_seed(&generator, (UINT64_C(1) << 40) + 5);
    tern_mt19937_uniform_f32(&generator, x, 4, 0, 1);
    ASSERT_STORED_BITS(x, "rand_seed_2_40_plus_5");
    tern_mt19937_seed(&generator, UINT64_MAX);
    tern_mt19937_uniform_f32(&generator, x, 4, 0, 1);
    ASSERT_STORED_BITS(x, "rand_seed_2_64_minus_1");
}

static void uniform_has_the_bits_of_pytorch(void **state)
{
    (void)state;
    float x[24];
    double y[24];
    tern_mt19937_seed(&generator, 7);
    tern_mt19937_uniform_f32(&generator, x, 24, -0.3, 0.9);
    ASSERT_STORED_BITS(x, "uniform_7");
    tern_mt19937_uniform_f64(&generator, y, 24, -1.0 / 28, 1.0 / 28);
    ASSERT_STORED_BITS(y, "uniform_f64_after_it");
    int64_t words[4];
    tern_mt19937_seed(&generator, 10); // the draws of 32 and 64 bits that come before them
    tern_mt19937_randint(&generator, words, 4, -3, (1 << 28) - 4);
    ASSERT_STORED_BITS(words, "randint_2_28_less_1");
    tern_mt19937_randint(&generator, words, 4, -3, (1 << 28) - 3);
    ASSERT_STORED_BITS(words, "randint_2_28");
    tern_mt19937_uniform_f32(&generator, x, 24, 0x1p24 - 3, 0x1p24 + 4);
    ASSERT_STORED_BITS(x, "uniform_to_the_end");
    tern_mt19937_uniform_f64(&generator, y, 24, 0x1p53 - 3, 0x1p53 + 4);
    ASSERT_STORED_BITS(y, "uniform_f64_to_the_end");
}

static void bernoulli_gives_the_masks_of_pytorch(void **state)
{
    (void)state;
    float x[40];
    tern_mt19937_seed(&generator, 3);
    for (int i = 0; i < 40; i++)
        x[i] = tern_mt19937_bernoulli(&generator, 0.4);
    ASSERT_STORED_BITS(x, "bernoulli_3");
    for (int i = 0; i < 40; i++)
        x[i] = tern_mt19937_bernoulli(&generator, 0);
    for (int i = 0; i < 40; i++)
        assert_true(x[i] == 0 && tern_mt19937_bernoulli(&generator, 1));
}

static void integers_and_permutations_are_those_of_pytorch(void **state)
{
    (void)state;
    int64_t x[16], words[4], order[50];
    tern_mt19937_seed(&generator, 9);
    tern_mt19937_randint(&generator, x, 16, 3, 17);
    ASSERT_STORED_BITS(x, "randint_3_17");
    tern_mt19937_randint(&generator, x, 4, 0, UINT32_MAX);
    ASSERT_STORED_BITS(x, "randint_32_bits_less_1");
    tern_mt19937_randint(&generator, x, 4, 0, INT64_C(1) << 32);
    ASSERT_STORED_BITS(x, "randint_32_bits");
    tern_mt19937_randint(&generator, x, 4, INT64_MIN, INT64_MAX);
    ASSERT_STORED_BITS(x, "randint_wide");
    for (int i = 0; i < 4; i++)
        words[i] = tern_mt19937_random63(&generator);
    ASSERT_STORED_BITS(words, "random63");
    tern_mt19937_randperm(&generator, order, 50);
    ASSERT_STORED_BITS(order, "randperm_50");
}

static void a_permutation_of_nothing_draws_nothing(void **state)
{
    (void)state;
    int64_t order[1] = {7};
    tern_mt19937 before = generator;
    tern_mt19937_randperm(&generator, order, 0);
    assert_int_equal(order[0], 7);
    tern_mt19937_randperm(&generator, order, 1);
    assert_int_equal(order[0], 0);
    assert_int_equal(tern_mt19937_u32(&generator), tern_mt19937_u32(&before));
}

// Small float32 and float64 fills share the waiting half of a pair; a fill by blocks passes it by.
static void small_normal_fills_draw_pairs(void **state)
{
    (void)state;
    float x[16];
    double y[4];
    tern_mt19937_seed(&generator, 11);
    tern_mt19937_normal_f32(&generator, x, 5, 0, 1);
    assert_true(largest_difference_f32(x, stored("normal_first_5", TERN_FLOAT32, 5), 5) <= 2e-7);
    tern_mt19937_normal_f64(&generator, y, 4, 0, 1);
    assert_true(largest_difference_f64(y, stored("normal_next_4_f64", TERN_FLOAT64, 4), 4) <=
                2e-15);
    tern_mt19937_normal_f32(&generator, x, 3, 2, 3);
    assert_true(largest_difference_f32(x, stored("normal_scaled_3", TERN_FLOAT32, 3), 3) <= 1e-6);
    tern_mt19937_normal_f32(&generator, x, 16, 0, 1);
    assert_true(largest_difference_f32(x, stored("normal_16", TERN_FLOAT32, 16), 16) <= 2e-6);
    tern_mt19937_normal_f32(&generator, x, 2, 0, 1);
    assert_true(largest_difference_f32(x, stored("normal_after_16", TERN_FLOAT32, 2), 2) <= 2e-7);
}

static void large_normal_fills_draw_blocks_of_16(void **state)
{
    (void)state;
    float x[40];
    double y[40];
    tern_mt19937_seed(&generator, 4);
    tern_mt19937_normal_f32(&generator, x, 40, 0, 1);
    assert_true(largest_difference_f32(x, stored("normal_40", TERN_FLOAT32, 40), 40) <= 2e-6);
    tern_mt19937_normal_f32(&generator, x, 33, -1, 0.02);
    assert_true(largest_difference_f32(x, stored("normal_scaled_33", TERN_FLOAT32, 33), 33) <=
                2e-7);
    tern_mt19937_normal_f64(&generator, y, 40, 0, 1);
    assert_true(largest_difference_f64(y, stored("normal_f64_40", TERN_FLOAT64, 40), 40) <= 2e-15);
    tern_mt19937_normal_f64(&generator, y, 17, 5, 0.5);
    assert_true(largest_difference_f64(y, stored("normal_f64_scaled_17", TERN_FLOAT64, 17), 17) <=
                5e-15);
}

static void seeding_forgets_a_waiting_normal_draw(void **state)
{
    (void)state;
    double first[2], again[2];
    tern_mt19937_normal_f64(&generator, first, 2, 0, 1);
    tern_mt19937_normal_f64(&generator, again, 1, 0, 1);
    tern_mt19937_seed(&generator, 0);
    tern_mt19937_normal_f64(&generator, again, 2, 0, 1);
    ASSERT_SAME_BITS(again, first);
}

static void a_copy_goes_on_like_the_original(void **state)
{
    (void)state;
    double x[5], y[5];
    tern_mt19937_normal_f64(&generator, x, 3, 0, 1);
    tern_mt19937 copy = generator;
    tern_mt19937_normal_f64(&generator, x, 5, 0, 1);
    tern_mt19937_normal_f64(&copy, y, 5, 0, 1);
    ASSERT_SAME_BITS(x, y);
}

// A DataLoader draws a base seed, then the seed of a generator that makes the permutation.
static void the_shuffle_order_of_a_loader_can_be_had(void **state)
{
    (void)state;
    int64_t order[10];
    (void)tern_mt19937_random63(&generator);
    tern_mt19937 shuffle;
    tern_mt19937_seed(&shuffle, (uint64_t)tern_mt19937_random63(&generator));
    tern_mt19937_randperm(&shuffle, order, 10);
    ASSERT_STORED_BITS(order, "loader_order_seed_0");
}

// Of every 61st value that a draw can be; all 2^24 agree as well.
static void logarithms_and_angles_are_rounded_correctly(void **state)
{
    (void)state;
    for (int32_t k = 0; k < 1 << 24; k += 61) {
        const float x = (float)k * 0x1p-24f, angle = 6.283185307179586476925f * x;
        float sine, cosine;
        tern_mt19937_turn(angle, &sine, &cosine);
        assert_true(tern_mt19937_log(1 - x) == (float)log((double)(1 - x)));
        assert_true(sine == (float)sin((double)angle));
        assert_true(cosine == (float)cos((double)angle));
    }
}

// Means of a million draws: 5 standard errors.
static void moments_are_right(void **state)
{
    (void)state;
    int64_t numel = 1000000;
    float *x = malloc((size_t)numel * sizeof *x);
    assert_non_null(x);
    double sum = 0, squares = 0;
    tern_mt19937_normal_f32(&generator, x, numel, 3, 2);
    for (int64_t i = 0; i < numel; i++) {
        sum += x[i];
        squares += ((double)x[i] - 3) * ((double)x[i] - 3);
    }
    free(x);
    assert_true(fabs(sum / 1e6 - 3) < 5 * 2 / 1e3);
    assert_true(fabs(squares / 1e6 - 4) < 5 * 4 * sqrt(2) / 1e3);
}

#define TEST(name) cmocka_unit_test_setup(name, seeded_with_0)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rand_has_the_bits_of_pytorch),
        TEST(only_the_low_32_bits_of_a_seed_matter),
        TEST(uniform_has_the_bits_of_pytorch),
        TEST(bernoulli_gives_the_masks_of_pytorch),
        TEST(integers_and_permutations_are_those_of_pytorch),
        TEST(a_permutation_of_nothing_draws_nothing),
        TEST(small_normal_fills_draw_pairs),
        TEST(large_normal_fills_draw_blocks_of_16),
        TEST(seeding_forgets_a_waiting_normal_draw),
        TEST(a_copy_goes_on_like_the_original),
        TEST(the_shuffle_order_of_a_loader_can_be_had),
        TEST(logarithms_and_angles_are_rounded_correctly),
        TEST(moments_are_right),
    };
    return cmocka_run_group_tests_name("mt19937", tests, NULL, NULL);
}
