// SPDX-License-Identifier: Apache-2.0
// Random numbers on a CUDA device: dropout has the CPU's bits, fills are made from the words of
// cuRAND's documented order.
#include "mirror.h"

#include <math.h>
#include "base/philox.h"
#include "device/generator.h"

#define N    10007
#define SEED 0x123456789abcdef0u

// ---- dropout ------------------------------------------------------------------------------------

static uint64_t id;

static tern_dropout_args dropping(double p)
{
    return (tern_dropout_args){.p = p, .scale = p < 1 ? 1 / (1 - p) : 0, .shift = -0.0, .inner = 1};
}

// Dropout of n elements from x to y, both on device 0, but for the id.
static void drop_as(tern_dropout_args args, tern_dtype dtype, void *x, void *y, int64_t n)
{
    const int64_t nbytes = n * (int64_t)tern_dtype_size(dtype);
    const tern_exec exec = exec_of(0);
    mirror from = mirror_of(x, nbytes), to = mirror_of(y, nbytes), call = mirror_of(&id, 8);
    const tern_strided in = there(&from, VIEW(x, dtype, n)), out = there(&to, VIEW(y, dtype, n));
    args.id = call.device.data;
    assert_int_equal(plugin.kernels->dropout(&exec, &args, &out, &in), TERN_OK);
    mirror_end(&call);
    mirror_end(&to);
    mirror_end(&from);
}

static void drop(double p, uint64_t offset, bool replay, tern_dtype dtype, void *x, void *y,
                 int64_t n)
{
    tern_dropout_args args = dropping(p);
    args.offset = offset;
    args.replay = replay;
    drop_as(args, dtype, x, y, n);
}

static tern_status drop_on_cpu(tern_dropout_args args, tern_draw_state state, tern_dtype dtype,
                               void *x, void *y, int64_t n)
{
    uint64_t call;
    const tern_strided in = VIEW(x, dtype, n), out = VIEW(y, dtype, n);
    const tern_exec exec = {.device = tern_cpu(0), .draws = &state};
    args.id = &call;
    return tern_cpu_backend()->kernels->dropout(&exec, &args, &out, &in);
}

static void dropout_has_the_bits_of_the_cpu(void **state)
{
    (void)state;
    static double x[N], y[N], expected[N]; // room for every dtype
    const tern_dtype dtypes[] = {TERN_FLOAT32, TERN_FLOAT64, TERN_FLOAT16, TERN_BFLOAT16};
    const int64_t lengths[] = {1, 3, 4, 1021, N};
    uint64_t random = 1;
    plugin.device->draws_write(0, (tern_draw_state){SEED, 0xfffffffeu});
    for (int k = 0; k < 4 * 5; k++) {
        const tern_dtype dtype = dtypes[k % 4];
        const tern_strided from = VIEW(x, TERN_FLOAT64, N);
        for (int i = 0; i < N; i++)
            x[i] = (double)random_below(&random, 4096) / 1024 - 2;
        static double cast[N];
        const tern_strided to = VIEW(cast, dtype, N);
        const tern_exec host = {.device = tern_cpu(0)};
        tern_cpu_backend()->kernels->copy(&host, &to, &from);
        drop(0.3, 7, false, dtype, cast, y, lengths[k / 4]);
        assert_true(id == 0x100000005u);
        drop_on_cpu(dropping(0.3), (tern_draw_state){SEED, id}, dtype, cast, expected,
                    lengths[k / 4]);
        assert_memory_equal(y, expected, (size_t)lengths[k / 4] * tern_dtype_size(dtype));
    }
}

// Vectors of one draw, and others; what is dropped and added.
static void shared_draws_have_the_bits_of_the_cpu(void **state)
{
    (void)state;
    static float x[N], y[N], expected[N];
    const int64_t inner[] = {2, 3, 4, 49, 1000, N};
    for (int i = 0; i < N; i++)
        x[i] = (float)(i % 4096) / 1024 - 2;
    for (size_t k = 0; k < sizeof inner / sizeof *inner; k++) {
        tern_dropout_args args = dropping(0.3);
        args.inner = inner[k];
        args.shift = 0.25;
        args.dropped = -3;
        plugin.device->draws_write(0, (tern_draw_state){SEED, k});
        drop_as(args, TERN_FLOAT32, x, y, N);
        drop_on_cpu(args, (tern_draw_state){SEED, k}, TERN_FLOAT32, x, expected, N);
        assert_memory_equal(y, expected, sizeof y);
        drop_as(args, TERN_FLOAT16, x, y, N);
        drop_on_cpu(args, (tern_draw_state){SEED, k}, TERN_FLOAT16, x, expected, N);
        assert_memory_equal(y, expected, N * 2);
    }
}

static void uniform_numbers_have_the_bits_of_the_cpu(void **state)
{
    (void)state;
    static double y[N], expected[N]; // room for every dtype
    const tern_dtype dtypes[] = {TERN_FLOAT32, TERN_FLOAT64, TERN_FLOAT16, TERN_BFLOAT16};
    const int64_t lengths[] = {1, 3, 4, 1021, N};
    const tern_draw_args args = {.low = 0.125, .high = 1.0 / 3, .offset = 7};
    tern_draw_state draws = {SEED, 0xfffffffeu};
    plugin.device->draws_write(0, draws);
    for (int k = 0; k < 4 * 5; k++) {
        const int64_t n = lengths[k / 4], nbytes = n * (int64_t)tern_dtype_size(dtypes[k % 4]);
        const tern_exec exec = exec_of(0), host = {.device = tern_cpu(0), .draws = &draws};
        mirror to = mirror_of(y, nbytes);
        const tern_strided out = there(&to, VIEW(y, dtypes[k % 4], n));
        const tern_strided here = VIEW(expected, dtypes[k % 4], n);
        assert_int_equal(plugin.kernels->draw_uniform(&exec, &args, &out), TERN_OK);
        mirror_end(&to);
        assert_int_equal(tern_cpu_backend()->kernels->draw_uniform(&host, &args, &here), TERN_OK);
        assert_memory_equal(y, expected, (size_t)nbytes);
    }
}

static void a_replay_takes_the_id_and_not_the_base(void **state)
{
    (void)state;
    static float x[N], first[N], again[N], other[N];
    for (int i = 0; i < N; i++)
        x[i] = 1;
    plugin.device->draws_write(0, (tern_draw_state){3, 17});
    drop(0.5, 1, false, TERN_FLOAT32, x, first, N);
    plugin.device->draws_advance(0, 1000);
    drop(0.5, 9, true, TERN_FLOAT32, x, again, N);
    assert_true(id == 18);
    assert_memory_equal(first, again, sizeof first);
    drop(0.5, 9, false, TERN_FLOAT32, x, other, N);
    assert_true(id == 1026);
    assert_memory_not_equal(first, other, sizeof first);
}

// Kept where word * 2^-32 >= p: p may be a word itself.
static void a_word_equal_to_the_probability_keeps(void **state)
{
    (void)state;
    float x[4] = {1, 1, 1, 1}, y[4];
    const tern_philox_block block = tern_philox(SEED, 0, 0);
    plugin.device->draws_write(0, (tern_draw_state){SEED, 0});
    for (int i = 0; i < 4; i++) {
        drop(block.word[i] * 0x1p-32, 0, false, TERN_FLOAT32, x, y, 4);
        assert_true(y[i] != 0);
        drop((block.word[i] + 0.5) * 0x1p-32, 0, false, TERN_FLOAT32, x, y, 4);
        assert_true(y[i] == 0);
    }
}

static void everything_is_dropped_at_one_even_infinities(void **state)
{
    (void)state;
    float x[6] = {1, INFINITY, NAN, -1, -INFINITY, 0}, y[6];
    drop(1, 0, false, TERN_FLOAT32, x, y, 6);
    for (int i = 0; i < 6; i++)
        assert_true(y[i] == 0);
}

// ---- fills --------------------------------------------------------------------------------------

// Word i of cuRAND's host generator: 65536 interleaved subsequences.
static uint32_t word(uint64_t i)
{
    const uint64_t j = i / 4;
    return tern_philox(SEED, j >> 16, j & 65535).word[i % 4];
}

static uint64_t word_pair(uint64_t i)
{
    return (uint64_t)word(2 * i) << 32 | word(2 * i + 1);
}

// Fills n elements of y with the generator at `position`; returns where it is then.
static uint64_t draw(tern_random_kind kind, double a, double b, int64_t low, int64_t high,
                     uint64_t position, tern_dtype dtype, void *y, int64_t n)
{
    tern_generator generator = {.seed = SEED, .position = position};
    const tern_exec exec = exec_of(0);
    mirror to = mirror_of(y, n * (int64_t)tern_dtype_size(dtype));
    const tern_strided view = there(&to, VIEW(y, dtype, n));
    const tern_random_args args = {kind, a, b, low, high};
    assert_int_equal(plugin.kernels->random(&exec, &args, &generator, &view), TERN_OK);
    mirror_end(&to);
    return generator.position;
}

static void uniform_numbers_are_the_high_bits_of_the_words(void **state)
{
    (void)state;
    static float y[N];
    static double wide[N];
    assert_true(draw(TERN_RANDOM_UNIFORM, 0, 1, 0, 0, 8, TERN_FLOAT32, y, N) == 8 + (N + 1));
    for (uint64_t i = 0; i < N; i++)
        assert_true(y[i] == (float)(word(8 + i) >> 8) * 0x1p-24f);
    assert_true(draw(TERN_RANDOM_UNIFORM, -3, 5, 0, 0, 0, TERN_FLOAT64, wide, N) == 2 * (N + 1));
    for (uint64_t i = 0; i < N; i++)
        assert_true(fabs(wide[i] - (-3 + 8 * ((double)(word_pair(i) >> 11) * 0x1p-53))) < 1e-15);
}

static void a_uniform_number_that_rounds_to_the_end_is_the_beginning(void **state)
{
    (void)state;
    static float y[N];
    int ends = 0;
    draw(TERN_RANDOM_UNIFORM, 0x1p24 - 3, 0x1p24 + 4, 0, 0, 0, TERN_FLOAT32, y, N);
    for (uint64_t i = 0; i < N; i++) {
        const double exact = 0x1p24 - 3 + 7 * ((double)(word(i) >> 8) * 0x1p-24);
        const float expected = (float)exact;
        assert_true(y[i] == (expected < 0x1p24f + 4 ? expected : 0x1p24f - 3));
        ends += expected == 0x1p24f + 4;
    }
    assert_true(ends > 0);
}

// To the nearest of 8 bits, even ones of two.
static float rounded_to_bfloat16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// float32's numbers: every sixteenth of the range has its share, and 1, which some round to, is 0.
static void uniform_numbers_of_16_bits_stay_below_the_end(void **state)
{
    (void)state;
    static uint16_t y[N];
    int seen[16] = {0}, ends = 0;
    draw(TERN_RANDOM_UNIFORM, 0, 1, 0, 0, 0, TERN_BFLOAT16, y, N);
    for (uint64_t i = 0; i < N; i++) {
        const uint32_t bits = (uint32_t)y[i] << 16;
        float value;
        memcpy(&value, &bits, sizeof value);
        const float expected = rounded_to_bfloat16((float)(word(i) >> 8) * 0x1p-24f);
        assert_true(value == (expected < 1 ? expected : 0));
        ends += expected == 1;
        seen[(int)(value * 16)]++;
    }
    assert_true(ends > 0);
    for (int k = 0; k < 16; k++)
        assert_in_range(seen[k], N / 16 - 120, N / 16 + 120); // five standard deviations
}

// Box and Muller in double; float's logarithm loses most near 1, where the radius is small.
static void normals_come_from_pairs_of_words(void **state)
{
    (void)state;
    static float y[N];
    const double pi = acos(-1);
    const uint64_t end = draw(TERN_RANDOM_NORMAL, 2, 3, 0, 0, 4, TERN_FLOAT32, y, N);
    assert_true(end == 4 + (N + 1));
    for (uint64_t i = 0; i < N; i++) {
        const uint64_t pair = 4 + i / 2 * 2;
        const double unit = (word(pair) + 0.5) * 0x1p-32;
        const double angle = (word(pair + 1) + 0.5) * 0x1p-32 * 2 * pi;
        const double wave = i % 2 ? cos(angle) : sin(angle);
        assert_true(fabs(y[i] - (2 + 3 * sqrt(-2 * log(unit)) * wave)) <
                    4e-5 / sqrt(1.0001 - unit));
    }
}

static void normals_of_float64_use_53_bits(void **state)
{
    (void)state;
    static double y[N];
    const double pi = acos(-1);
    assert_true(draw(TERN_RANDOM_NORMAL, 0, 1, 0, 0, 0, TERN_FLOAT64, y, N) == 2 * (N + 1));
    for (uint64_t i = 0; i < N; i++) {
        const uint64_t pair = i / 2 * 2;
        const double unit = (double)((word_pair(pair) >> 11) + 1) * 0x1p-53;
        const double angle = (double)(word_pair(pair + 1) >> 11) * 0x1p-53 * 2 * pi;
        const double wave = i % 2 ? cos(angle) : sin(angle);
        assert_true(fabs(y[i] - sqrt(-2 * log(unit)) * wave) < 1e-12);
    }
}

static void integers_are_shares_of_64_bits(void **state)
{
    (void)state;
    static int64_t y[N];
    static uint8_t bytes[N];
    int seen[7] = {0};
    draw(TERN_RANDOM_INTEGER, 0, 0, INT64_MIN, INT64_MAX, 0, TERN_INT64, y, N);
    for (uint64_t i = 0; i < N; i++) {
        __extension__ typedef unsigned __int128 wide;
        const wide product = (wide)word_pair(i) * UINT64_MAX; // the range is 2^64 - 1
        assert_true(y[i] == (int64_t)((uint64_t)(product >> 64) + (uint64_t)1 * INT64_MIN));
    }
    draw(TERN_RANDOM_INTEGER, 0, 0, 3, 10, 0, TERN_UINT8, bytes, N);
    for (int i = 0; i < N; i++) {
        assert_in_range(bytes[i], 3, 9);
        seen[bytes[i] - 3]++;
    }
    for (int k = 0; k < 7; k++)
        assert_in_range(seen[k], N / 7 - 180, N / 7 + 180); // five standard deviations
}

static void bernoulli_is_one_below_the_probability(void **state)
{
    (void)state;
    static float y[N];
    static uint8_t truths[N];
    draw(TERN_RANDOM_BERNOULLI, 0.25, 0, 0, 0, 0, TERN_FLOAT32, y, N);
    draw(TERN_RANDOM_BERNOULLI, 0.25, 0, 0, 0, 0, TERN_BOOL, truths, N);
    for (uint64_t i = 0; i < N; i++) {
        assert_true(y[i] == (float)((double)(word_pair(i) >> 11) * 0x1p-53 < 0.25));
        assert_true(truths[i] == (uint8_t)y[i]);
    }
    draw(TERN_RANDOM_BERNOULLI, 1, 0, 0, 0, 0, TERN_BOOL, truths, N);
    for (int i = 0; i < N; i++)
        assert_int_equal(truths[i], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dropout_has_the_bits_of_the_cpu),
        cmocka_unit_test(shared_draws_have_the_bits_of_the_cpu),
        cmocka_unit_test(uniform_numbers_have_the_bits_of_the_cpu),
        cmocka_unit_test(a_replay_takes_the_id_and_not_the_base),
        cmocka_unit_test(a_word_equal_to_the_probability_keeps),
        cmocka_unit_test(everything_is_dropped_at_one_even_infinities),
        cmocka_unit_test(uniform_numbers_are_the_high_bits_of_the_words),
        cmocka_unit_test(a_uniform_number_that_rounds_to_the_end_is_the_beginning),
        cmocka_unit_test(uniform_numbers_of_16_bits_stay_below_the_end),
        cmocka_unit_test(normals_come_from_pairs_of_words),
        cmocka_unit_test(normals_of_float64_use_53_bits),
        cmocka_unit_test(integers_are_shares_of_64_bits),
        cmocka_unit_test(bernoulli_is_one_below_the_probability),
    };
    return cmocka_run_group_tests_name("draws", tests, open_devices, NULL);
}
