// SPDX-License-Identifier: Apache-2.0
// What the elementary functions of the CPU kernels have in common, for every instruction set of
// this machine. How exact each is, the suite `reliability` holds (R22).
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/backend.h"
#include "cpu/vecmath.h"

#define CHUNK 4093 // no multiple of a vector

static uint64_t random_state;

static uint64_t random_bits(void)
{
    random_state += 0x9e3779b97f4a7c15u;
    uint64_t z = random_state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// clang-format off
static const float landmarks[] = {
    0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN,
    0x1p-149f, -0x1p-149f, 0x1p-126f, -0x1p-126f, 0x1.fffffep127f, -0x1.fffffep127f, 88.722839f,
    88.72284f, -87.33655f, -103.97208f, -103.97209f, -104.0f, 89.0f, 0.625f,
    -0.625f, 0.5f, 2.0f, 3.0f, -2.0f, -3.0f, 0x1p20f,
    0x1.fffffep19f, 1e30f, -1e30f, 1.5707964f, 3.1415927f, -3.1415927f, 0x1p23f,
    -0x1p24f, 0x1p-25f, -0x1p-25f, 0.70710677f, 1.4142135f, -0.99999994f, 20.0f,
    -20.0f, 14.0f, -14.0f, 10.0f, -5.5f, 0x1.fffffep-1f,
};
// clang-format on
enum { LANDMARKS = sizeof landmarks / sizeof landmarks[0] };

// All bit patterns, everyday sizes, any magnitude, and the landmarks with their neighbours.
static float shaped_value(void)
{
    const uint64_t bits = random_bits();
    const double unit = (double)(bits >> 11) * 0x1p-53;
    switch (bits & 7) {
    case 0:
        return float_of((uint32_t)(bits >> 32));
    case 1:
        return (float)(unit * 2 - 1);
    case 2:
        return (float)(unit * 20 - 10);
    case 3:
        return (float)(unit * 240 - 120);
    case 4:
        return (float)(1 + (unit - 0.5) * 0x1p-5);
    case 5:
        return (float)ldexp((bits & 8) ? 1 + unit : -1 - unit, (int)(bits >> 4 & 63) - 40);
    case 6:
        return (float)(unit * 4e6 - 2e6);
    default:
        return float_of((uint32_t)((bits >> 4 & 3) - 1) +
                        vm_bits(landmarks[(bits >> 8) % LANDMARKS]));
    }
}

// Every operation that gives a number.
#define UNARY(CODE, ...) TERN_UNARY_##CODE,
#define UNARY_TEST(...)
static const tern_unary_op operations[] = {
#include "device/elementwise.def"
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static const char *const instruction_sets[] = {"portable", "avx2", "avx512"};
enum { SETS = sizeof instruction_sets / sizeof instruction_sets[0] };

static tern_strided strided(void *data, tern_dtype dtype, int64_t n)
{
    return (tern_strided){.data = data, .dtype = dtype, .rank = 1, .size = {n}, .stride = {1}};
}

// The ends of a row are computed by other instructions than its middle.
static void a_result_does_not_depend_on_its_place_in_a_row(void **state)
{
    (void)state;
    enum { LONGEST = 70 };
    float x[LONGEST], y[LONGEST], one;
    for (int s = 0; s < SETS; s++) {
        const tern_kernels *kernels = tern_cpu_kernel_table_for(instruction_sets[s]);
        if (!kernels)
            continue;
        const tern_scalar p[2] = {tern_scalar_double(1), tern_scalar_double(20)};
        for (int k = 0; k < OPERATIONS; k++) {
            const tern_unary_op op = operations[k];
            for (int i = 0; i < LONGEST; i++)
                x[i] = shaped_value();
            const tern_strided vx = strided(x, TERN_FLOAT32, LONGEST);
            const tern_strided vy = strided(y, TERN_FLOAT32, LONGEST);
            assert_int_equal(kernels->unary(NULL, op, p, &vy, &vx), TERN_OK);
            for (int i = 0; i < LONGEST; i++) {
                const tern_strided v1 = strided(&x[i], TERN_FLOAT32, 1);
                const tern_strided v2 = strided(&one, TERN_FLOAT32, 1);
                assert_int_equal(kernels->unary(NULL, op, p, &v2, &v1), TERN_OK);
                if (!isnan(one) || !isnan(y[i]))
                    assert_memory_equal(&one, &y[i], sizeof one);
            }
        }
    }
}

// The value of a float16 from its fields.
static double half_value(uint16_t h)
{
    const int exponent = h >> 10 & 31, fraction = h & 1023;
    double value = exponent == 0    ? ldexp(fraction, -24)
                   : exponent == 31 ? (fraction ? NAN : INFINITY)
                                    : ldexp(1024 + fraction, exponent - 25);
    return (h & 0x8000) ? -value : value;
}

static void the_exponential_below_0_has_the_same_bits(void **state)
{
    (void)state;
    for (int i = 0; i < 300000; i++) {
        const float x = -fabsf(i < LANDMARKS ? landmarks[i] : shaped_value());
        const float expected = vm_exp(x), actual = vm_exp_below(x);
        if (!(isnan(x) && isnan(actual)) && memcmp(&expected, &actual, sizeof actual) != 0)
            fail_msg("exp(%.9g) is %.9g, expected %.9g", (double)x, (double)actual,
                     (double)expected);
    }
}

static void every_float16_becomes_its_float32(void **state)
{
    (void)state;
    static uint16_t halves[65536];
    static float floats[65536];
    for (int i = 0; i < 65536; i++)
        halves[i] = (uint16_t)i;
    for (int s = 0; s < SETS; s++) {
        const tern_kernels *kernels = tern_cpu_kernel_table_for(instruction_sets[s]);
        if (!kernels)
            continue;
        const tern_strided from = strided(halves, TERN_FLOAT16, 65536);
        const tern_strided to = strided(floats, TERN_FLOAT32, 65536);
        assert_int_equal(kernels->copy(NULL, &to, &from), TERN_OK);
        for (int i = 0; i < 65536; i++) {
            const double value = half_value((uint16_t)i);
            const uint32_t kept =
                (uint32_t)(i & 0x8000) << 16 | 0x7fc00000u | (uint32_t)(i & 1023) << 13;
            if (isnan(value))
                assert_int_equal(vm_bits(floats[i]), kept);
            else
                assert_true(floats[i] == value && !signbit(floats[i]) == !signbit(value));
        }
    }
}

// The nearest multiple of float16's (or bfloat16's) last place, halves to even, in double.
static double rounded(double x, int digits, int lowest, double largest)
{
    if (x == 0 || isinf(x) || isnan(x))
        return x;
    int exponent;
    frexp(x, &exponent);
    const int last = exponent - digits < lowest ? lowest : exponent - digits;
    const double value = ldexp(rint(ldexp(x, -last)), last);
    return fabs(value) > largest ? copysign(INFINITY, x) : value;
}

static void float32_rounds_to_the_nearest_16_bit_value(void **state)
{
    (void)state;
    static float x[CHUNK], back[CHUNK];
    static uint16_t small[CHUNK], first[CHUNK];
    static const tern_dtype dtypes[] = {TERN_FLOAT16, TERN_BFLOAT16};
    for (int round = 0; round < 200; round++) {
        const tern_dtype dtype = dtypes[round & 1];
        for (int i = 0; i < CHUNK; i++) {
            x[i] = shaped_value();
            if (round & 2) // exact ties and their neighbours
                x[i] = float_of((vm_bits(x[i]) & ~0xfffu) + (uint32_t)(random_bits() % 3) - 1);
        }
        for (int s = 0; s < SETS; s++) {
            const tern_kernels *kernels = tern_cpu_kernel_table_for(instruction_sets[s]);
            if (!kernels)
                continue;
            const tern_strided vx = strided(x, TERN_FLOAT32, CHUNK);
            const tern_strided vs = strided(small, dtype, CHUNK);
            const tern_strided vb = strided(back, TERN_FLOAT32, CHUNK);
            assert_int_equal(kernels->copy(NULL, &vs, &vx), TERN_OK);
            assert_int_equal(kernels->copy(NULL, &vb, &vs), TERN_OK);
            for (int i = 0; i < CHUNK; i++) {
                const double exact = dtype == TERN_FLOAT16 ? rounded(x[i], 11, -24, 65504)
                                                           : rounded(x[i], 8, -133, 0x1.fep127);
                assert_true(isnan(exact) ? isnan(back[i]) : back[i] == exact);
                assert_true(isnan(exact) || !signbit(exact) == !signbit(back[i]));
            }
            if (s == 0)
                memcpy(first, small, sizeof first);
            assert_memory_equal(first, small, sizeof first);
        }
    }
}

int main(void)
{
    const char *seed = getenv("TERN_TEST_SEED");
    random_state = seed ? strtoull(seed, NULL, 10) : 20240501u;
    print_message("seed %llu\n", (unsigned long long)random_state);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_does_not_depend_on_its_place_in_a_row),
        cmocka_unit_test(the_exponential_below_0_has_the_same_bits),
        cmocka_unit_test(every_float16_becomes_its_float32),
        cmocka_unit_test(float32_rounds_to_the_nearest_16_bit_value),
    };
    return cmocka_run_group_tests_name("vecmath", tests, NULL, NULL);
}
