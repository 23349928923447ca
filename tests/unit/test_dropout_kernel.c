// SPDX-License-Identifier: Apache-2.0
// Dropout's mask, element by element, on every instruction set.
#include "kernel_check.h"

#include "base/philox.h"

#define MOST 40001

static float x[MOST], y[MOST], again[MOST];

static void fill(void)
{
    for (int i = 0; i < MOST; i++)
        x[i] = (float)(2 + random_value());
}

static tern_status drop(const tern_kernels *kernels, double p, uint64_t offset, bool replay,
                        uint64_t *id, float *to, int64_t n)
{
    const tern_strided in = VIEW(x, TERN_FLOAT32, n), out = VIEW(to, TERN_FLOAT32, n);
    const tern_dropout_args args = {.p = p, .id = id, .offset = offset, .replay = replay};
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
        const tern_dropout_args args = {.p = 0.25, .id = &id, .replay = true};
        assert_int_equal(drop(kernels, 0.25, 0, false, &id, y, MOST), 0);
        assert_int_equal(kernels->dropout(&kernel_exec, &args, &out64, &in64), 0);
        assert_int_equal(kernels->dropout(&kernel_exec, &args, &out16, &in16), 0);
        for (int e = 0; e < MOST; e++) {
            assert_int_equal(y[e] != 0, wide_y[e] != 0);
            assert_int_equal(narrow_y[e], y[e] != 0 ? 0x3fab : 0); // 4 / 3
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
    };
    return cmocka_run_group_tests_name("dropout_kernel", tests, kernel_setup, NULL);
}
