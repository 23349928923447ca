// SPDX-License-Identifier: Apache-2.0
// Division by invariant sizes against the processor's own, at and around every multiple that it may
// get wrong.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
extern "C" {
#include <cmocka.h>
}
#include "cuda/fast_divide.cuh"

// A SplitMix64 generator (G. L. Steele, D. Lea, C. H. Flood, 2014).
static uint64_t random_word(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void expect_place(int64_t n, int64_t size, const int64_divisor &divisor)
{
    int64_t rest = n;
    const int64_t quotient = fast_divmod(&rest, divisor);
    if (quotient != n / size || rest != n % size)
        fail_msg("%lld / %lld", (long long)n, (long long)size);
}

// Every bit length of n and of the size; n is random, then a multiple, then the last before it.
static void places_are_divided_exactly(void **)
{
    uint64_t state = 1;
    for (int64_t round = 0; round < 200000; round++) {
        const int64_t size = (int64_t)(random_word(&state) >> (2 + round % 62)) + 1;
        const int64_t n = (int64_t)(random_word(&state) >> (1 + round / 62 % 63));
        const int64_divisor divisor = make_int64_divisor(size);
        expect_place(n, size, divisor);
        expect_place(n / size * size, size, divisor);
        if (n / size > 0)
            expect_place(n / size * size - 1, size, divisor);
        expect_place(INT64_MAX, size, divisor);
        expect_place(INT64_MAX - INT64_MAX % size, size, divisor);
    }
}

static void expect_word(uint32_t n, uint32_t size, const divisor<uint32_t> &divisor)
{
    uint32_t rest = n;
    const uint32_t quotient = fast_divmod(&rest, divisor);
    if (quotient != n / size || rest != n % size)
        fail_msg("%u / %u", n, size);
}

static void words_are_divided_exactly(void **)
{
    uint64_t state = 2;
    for (uint32_t round = 0; round < 200000; round++) {
        const uint32_t size = (uint32_t)(random_word(&state) >> (33 + round % 31)) + 1;
        const uint32_t n = (uint32_t)(random_word(&state) >> (33 + round / 31 % 31));
        const divisor<uint32_t> divisor = make_divisor(size);
        expect_word(n, size, divisor);
        expect_word(n / size * size, size, divisor);
        if (n / size > 0)
            expect_word(n / size * size - 1, size, divisor);
        expect_word(INT32_MAX, size, divisor);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_divided_exactly),
        cmocka_unit_test(words_are_divided_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
