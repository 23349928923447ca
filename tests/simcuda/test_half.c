// SPDX-License-Identifier: Apache-2.0
// The 16-bit types: every value is what its bits say, and every conversion takes the nearest, ties
// to even; and they are the toolkit's, bit for bit, where there is one.
#include "check_sim.h"

#include <sim_half.h>

#if HAVE_TOOLKIT
#include "toolkit_half.h"
#endif

typedef struct format {
    const char *name;
    int mantissa_bits, smallest_exponent; // the smallest subnormal is 2^that
    uint16_t infinity;
    float (*widen)(uint16_t bits);
    uint16_t (*narrow)(float value);
    uint16_t (*narrow_double)(double value);
} format;

static const format formats[] = {
    {"half", 10, -24, 0x7c00, tern_sim_half_to_float, tern_sim_float_to_half, half_of_double},
    {"bfloat16", 7, -133, 0x7f80, tern_sim_bfloat16_to_float, tern_sim_float_to_bfloat16,
     bfloat16_of_double},
};

// What IEEE 754 says of the bits of a positive finite number.
static double value_of(const format *f, unsigned bits)
{
    unsigned exponent = bits >> f->mantissa_bits;
    unsigned mantissa = bits & ((1u << f->mantissa_bits) - 1);
    if (exponent == 0)
        return ldexp(mantissa, f->smallest_exponent);
    return ldexp((1u << f->mantissa_bits) + mantissa, f->smallest_exponent + (int)exponent - 1);
}

static void every_value_is_what_its_bits_say(void **state)
{
    (void)state;
    for (const format *f = formats; f < formats + 2; f++) {
        for (unsigned bits = 0; bits < f->infinity; bits++) {
            assert_true(f->widen((uint16_t)bits) == value_of(f, bits));
            assert_true(f->widen((uint16_t)(bits | 0x8000)) == -value_of(f, bits));
        }
        assert_true(signbit(f->widen(0x8000)));
        assert_true(f->widen(f->infinity) == INFINITY);
        for (unsigned bits = f->infinity + 1u; bits < 0x8000; bits++)
            assert_true(isnan(f->widen((uint16_t)bits)));
    }
}

// Between each two neighbours: the middle goes to the even one, everything else to the nearer.
static void every_conversion_takes_the_nearest(void **state)
{
    (void)state;
    for (const format *f = formats; f < formats + 2; f++)
        for (unsigned bits = 0; bits < f->infinity; bits++) {
            unsigned above = bits + 1u, even = bits & 1 ? above : bits;
            // past the largest number stands the one that would come next
            double low = value_of(f, bits), high = value_of(f, above), middle = (low + high) / 2;
            assert_int_equal(f->narrow((float)low), bits);
            assert_int_equal(f->narrow((float)middle), even);
            assert_int_equal(f->narrow((float)-middle), even | 0x8000);
            assert_int_equal(f->narrow(nextafterf((float)middle, 0)), bits);
            assert_int_equal(f->narrow(nextafterf((float)middle, INFINITY)), above);
            assert_int_equal(f->narrow_double(middle), even);
            assert_int_equal(f->narrow_double(nextafter(middle, 0)), bits);
            assert_int_equal(f->narrow_double(nextafter(-middle, -INFINITY)), above | 0x8000);
        }
}

static void what_is_no_number_becomes_the_one_nan(void **state)
{
    (void)state;
    for (const format *f = formats; f < formats + 2; f++) {
        assert_int_equal(f->narrow(NAN), 0x7fff);
        assert_int_equal(f->narrow(-NAN), 0x7fff);
        assert_int_equal(f->narrow_double((double)NAN), 0x7fff);
        assert_int_equal(f->narrow(INFINITY), f->infinity);
        assert_int_equal(f->narrow(-INFINITY), f->infinity | 0x8000);
        assert_int_equal(f->narrow_double(1e300), f->infinity);
        assert_int_equal(f->narrow_double(1e-300), 0);
        assert_int_equal(f->narrow(-0.0f), 0x8000);
    }
}

static void arithmetic_goes_through_float(void **state)
{
    (void)state;
    for (unsigned a = 1; a < 0x7c00; a += 97) {
        double product = value_of(&formats[0], a) * value_of(&formats[0], 0x3c01);
        assert_int_equal(half_arithmetic((uint16_t)a, 0x3c01), half_of_double(product));
    }
}

static void conversions_are_the_toolkits(void **state)
{
    (void)state;
#if HAVE_TOOLKIT
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        uint16_t b = (uint16_t)bits;
        float half = tern_sim_half_to_float(b), theirs = toolkit_half_to_float(b);
        assert_memory_equal(&half, &theirs, sizeof half);
        float bfloat16 = tern_sim_bfloat16_to_float(b);
        theirs = toolkit_bfloat16_to_float(b);
        assert_memory_equal(&bfloat16, &theirs, sizeof bfloat16);
    }
    for (uint64_t bits = 0; bits < (uint64_t)1 << 32; bits += 4093) {
        float x = tern_sim_float_of_bits((uint32_t)bits);
        double wide = (double)x * (1 + 1e-9);
        assert_int_equal(tern_sim_float_to_half(x), toolkit_float_to_half(x));
        assert_int_equal(tern_sim_float_to_bfloat16(x), toolkit_float_to_bfloat16(x));
        assert_int_equal(half_of_double(wide), toolkit_double_to_half(wide));
        assert_int_equal(bfloat16_of_double(wide), toolkit_double_to_bfloat16(wide));
    }
#else
    print_message("no CUDA toolkit\n");
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_is_what_its_bits_say),
        cmocka_unit_test(every_conversion_takes_the_nearest),
        cmocka_unit_test(what_is_no_number_becomes_the_one_nan),
        cmocka_unit_test(arithmetic_goes_through_float),
        cmocka_unit_test(conversions_are_the_toolkits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
