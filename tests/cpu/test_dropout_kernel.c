// SPDX-License-Identifier: Apache-2.0
// Dropout's mask, element by element, and uniform numbers, on every instruction set.
#include "kernel_check.h"

#include "base/philox.h"
#include "device/generator.h"

#define MOST 40001

static float x[MOST], y[MOST], again[MOST];

static double bfloat_value(uint16_t bits)
{
    const uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

static void fill(void)
{
    for (int i = 0; i < MOST; i++)
        x[i] = (float)(2 + random_value());
}

static tern_dropout_args dropping(double p, uint64_t *id)
{
    return (tern_dropout_args){
        .p = p, .scale = p < 1 ? 1 / (1 - p) : 0, .shift = -0.0, .inner = 1, .id = id};
}

static tern_status drop(const tern_kernels *kernels, double p, uint64_t offset, bool replay,
                        uint64_t *id, float *to, int64_t n)
{
    const tern_strided in = VIEW(x, TERN_FLOAT32, n), out = VIEW(to, TERN_FLOAT32, n);
    tern_dropout_args args = dropping(p, id);
    args.offset = offset;
    args.replay = replay;
    return kernels->dropout(&kernel_exec, &args, &out, &in);
}

static void element_e_is_kept_by_word_e_of_its_call(void **state)
{
    (void)state;
    const int64_t lengths[] = {0, 1, 3, 4, 63, 130, 16385, MOST};
    const double chances[] = {0, 0.1, 0.5, 0.999};
    fill();
    kernel_draws = (tern_draw_state){.seed = 0x123456789abcdef0u, .base = 0xfffffffeu};
    for (int k = 0; k < 8 * 4; k++) {
        const int64_t n = lengths[k / 4];
        const double p = chances[k % 4];
        FOR_EACH_TABLE(kernels)
        {
            uint64_t id = 0;
            assert_int_equal(drop(kernels, p, 5, false, &id, y, n), 0);
            assert_true(id == 0x100000003u);
            for (int64_t e = 0; e < n; e++) {
                const tern_philox_block block = tern_philox(kernel_draws.seed, id, (uint64_t)e / 4);
                const bool kept = block.word[e % 4] * 0x1p-32 >= p;
                const double expected = kept ? (double)x[e] / (1 - p) : 0;
                assert_within(y[e], expected, expected * 0x1p-22, kernels);
            }
        }
    }
}

static void a_replay_takes_the_id_and_not_the_base(void **state)
{
    (void)state;
    fill();
    FOR_EACH_TABLE(kernels)
    {
        uint64_t id = 0;
        kernel_draws = (tern_draw_state){.seed = 3, .base = 17};
        assert_int_equal(drop(kernels, 0.5, 1, false, &id, y, MOST), 0);
        kernel_draws.base = 1000;
        assert_int_equal(drop(kernels, 0.5, 9, true, &id, again, MOST), 0);
        assert_true(id == 18);
        assert_memory_equal(y, again, sizeof y);
        assert_int_equal(drop(kernels, 0.5, 9, false, &id, again, MOST), 0);
        assert_memory_not_equal(y, again, sizeof y);
    }
}

static void everything_is_dropped_at_one_even_infinities(void **state)
{
    (void)state;
    fill();
    x[5] = INFINITY;
    x[6] = NAN;
    FOR_EACH_TABLE(kernels)
    {
        uint64_t id = 0;
        assert_int_equal(drop(kernels, 1, 0, false, &id, y, 1000), 0);
        for (int e = 0; e < 1000; e++)
            assert_within(y[e], 0, 0, kernels);
    }
}

// 40001 draws at 0.3: the share is 0.7 within five standard deviations.
static void about_the_right_share_is_kept(void **state)
{
    (void)state;
    fill();
    kernel_draws = (tern_draw_state){.seed = 11, .base = 0};
    FOR_EACH_TABLE(kernels)
    {
        uint64_t id = 0;
        int kept = 0;
        assert_int_equal(drop(kernels, 0.3, 0, false, &id, y, MOST), 0);
        for (int e = 0; e < MOST; e++)
            kept += y[e] != 0;
        assert_within((double)kept / MOST, 0.7, 5 * sqrt(0.21 / MOST), kernels);
    }
}

static void the_mask_is_the_same_for_every_dtype(void **state)
{
    (void)state;
    static double wide[MOST], wide_y[MOST];
    static uint16_t narrow[MOST], narrow_y[MOST];
    fill();
    for (int e = 0; e < MOST; e++) {
        wide[e] = (double)x[e];
        narrow[e] = 0x3f80; // 1 in bfloat16
    }
    const tern_strided in64 = VIEW(wide, TERN_FLOAT64, MOST);
    const tern_strided out64 = VIEW(wide_y, TERN_FLOAT64, MOST);
    const tern_strided in16 = VIEW(narrow, TERN_BFLOAT16, MOST);
    const tern_strided out16 = VIEW(narrow_y, TERN_BFLOAT16, MOST);
    FOR_EACH_TABLE(kernels)
    {
        uint64_t id = 0;
        tern_dropout_args args = dropping(0.25, &id);
        args.replay = true;
        assert_int_equal(drop(kernels, 0.25, 0, false, &id, y, MOST), 0);
        assert_int_equal(kernels->dropout(&kernel_exec, &args, &out64, &in64), 0);
        assert_int_equal(kernels->dropout(&kernel_exec, &args, &out16, &in16), 0);
        for (int e = 0; e < MOST; e++) {
            assert_int_equal(y[e] != 0, wide_y[e] != 0);
            assert_int_equal(narrow_y[e], y[e] != 0 ? 0x3fab : 0); // 4 / 3
        }
    }
}

// What is dropped and what is added, and one draw for several elements, across the ends of pieces.
static void elements_that_share_a_draw_have_its_word(void **state)
{
    (void)state;
    const int64_t inner[] = {1, 2, 3, 4, 49, 1000, 16385, MOST};
    const tern_strided in = VIEW(x, TERN_FLOAT32, MOST), out = VIEW(y, TERN_FLOAT32, MOST);
    fill();
    kernel_draws = (tern_draw_state){.seed = 0x9876543210u, .base = 7};
    for (size_t k = 0; k < sizeof inner / sizeof *inner; k++) {
        FOR_EACH_TABLE(kernels)
        {
            uint64_t id = 0;
            tern_dropout_args args = dropping(0.4, &id);
            args.inner = inner[k];
            args.scale = 1.5;
            args.shift = 0.25;
            args.dropped = -3;
            assert_int_equal(kernels->dropout(&kernel_exec, &args, &out, &in), 0);
            for (int64_t e = 0; e < MOST; e++) {
                const uint64_t draw = (uint64_t)(e / inner[k]);
                const uint32_t word = tern_philox(kernel_draws.seed, 7, draw / 4).word[draw % 4];
                const double kept = (double)x[e] * 1.5 + 0.25;
                assert_within(y[e], word * 0x1p-32 >= 0.4 ? kept : -3, 1e-6, kernels);
            }
        }
    }
}

static void minus_zero_stays_where_nothing_is_added(void **state)
{
    (void)state;
    fill();
    x[0] = x[1] = x[2] = x[3] = -0.0f;
    FOR_EACH_TABLE(kernels)
    {
        uint64_t id = 0;
        assert_int_equal(drop(kernels, 0, 0, false, &id, y, 1000), 0);
        for (int e = 0; e < 4; e++)
            assert_true(signbit(y[e]));
    }
}

static void uniform_numbers_are_words_between_the_bounds(void **state)
{
    (void)state;
    static double wide[MOST];
    static uint16_t narrow[MOST];
    const int64_t lengths[] = {0, 1, 3, 63, 16385, MOST};
    const tern_draw_args args = {.low = -0.5, .high = 2, .offset = 3};
    kernel_draws = (tern_draw_state){.seed = 0xfedcba9876543210u, .base = 0xffffffffu};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        const int64_t n = lengths[k];
        const tern_strided out = VIEW(y, TERN_FLOAT32, n), out64 = VIEW(wide, TERN_FLOAT64, n);
        const tern_strided out16 = VIEW(narrow, TERN_BFLOAT16, n);
        FOR_EACH_TABLE(kernels)
        {
            assert_int_equal(kernels->draw_uniform(&kernel_exec, &args, &out), 0);
            assert_int_equal(kernels->draw_uniform(&kernel_exec, &args, &out64), 0);
            assert_int_equal(kernels->draw_uniform(&kernel_exec, &args, &out16), 0);
            for (int64_t e = 0; e < n; e++) {
                const tern_philox_block block =
                    tern_philox(kernel_draws.seed, 0x100000002u, (uint64_t)e / 4);
                const double expected = -0.5 + 2.5 * (block.word[e % 4] * 0x1p-32);
                assert_within(wide[e], expected, 1e-15, kernels);
                assert_within(y[e], expected, 2e-7, kernels);
                assert_within(bfloat_value(narrow[e]), expected, 0x1p-8 * 2, kernels);
            }
        }
    }
}

// Blocks of draws are done by each instruction set, and several pieces of them by threads.
static void normal_draws_are_the_generators_on_every_instruction_set(void **state)
{
    (void)state;
    static const int64_t numels[] = {1, 2, 15, 16, 17, 31, 32, 33, 1000, 16384, 16391, 32769, MOST};
    for (size_t i = 0; i < 2 * (sizeof numels / sizeof *numels); i++) {
        const int64_t n = numels[i / 2];
        const tern_random_args args = {
            .kind = TERN_RANDOM_NORMAL, .a = i % 2 ? -1.5 : 0, .b = i % 2 ? 0.3 : 1};
        const tern_strided view = VIEW(y, TERN_FLOAT32, n);
        FOR_EACH_TABLE(kernels)
        {
            tern_generator *own = tern_generator_new(n), *other = tern_generator_new(n);
            tern_mt19937_normal_f32(&other->mt, x, n, args.a, args.b);
            assert_int_equal(kernels->random(&kernel_exec, &args, own, &view), 0);
            assert_memory_equal(y, x, (size_t)n * sizeof *y);
            assert_memory_equal(&own->mt, &other->mt, sizeof own->mt);
            tern_generator_free(own);
            tern_generator_free(other);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(element_e_is_kept_by_word_e_of_its_call),
        cmocka_unit_test(a_replay_takes_the_id_and_not_the_base),
        cmocka_unit_test(everything_is_dropped_at_one_even_infinities),
        cmocka_unit_test(about_the_right_share_is_kept),
        cmocka_unit_test(the_mask_is_the_same_for_every_dtype),
        cmocka_unit_test(elements_that_share_a_draw_have_its_word),
        cmocka_unit_test(minus_zero_stays_where_nothing_is_added),
        cmocka_unit_test(uniform_numbers_are_words_between_the_bounds),
        cmocka_unit_test(normal_draws_are_the_generators_on_every_instruction_set),
    };
    return cmocka_run_group_tests_name("dropout_kernel", tests, kernel_setup, NULL);
}
