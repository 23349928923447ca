// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/philox.h"

// The known answers that the authors publish with Random123 (kat_vectors, philox4x32 10).
static void the_published_answers_come_out(void **state)
{
    (void)state;
    const struct {
        uint64_t seed, call, group;
        uint32_t words[4];
    } answers[] = {
        {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {UINT64_C(0x299f31d0a4093822),
         UINT64_C(0x85a308d3243f6a88),
         UINT64_C(0x0370734413198a2e),
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        tern_philox_block block = tern_philox(answers[i].seed, answers[i].call, answers[i].group);
        assert_memory_equal(block.word, answers[i].words, sizeof block.word);
    }
}

static void seed_call_and_group_each_change_the_words(void **state)
{
    (void)state;
    tern_philox_block base = tern_philox(1, 2, 3);
    const uint64_t high = UINT64_C(1) << 32;
    tern_philox_block others[] = {
        tern_philox(2, 2, 3),        tern_philox(1, 3, 3),        tern_philox(1, 2, 4),
        tern_philox(1 + high, 2, 3), tern_philox(1, 2 + high, 3), tern_philox(1, 2, 3 + high),
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_memory_not_equal(others[i].word, base.word, sizeof base.word);
}

static void a_threshold_takes_its_share_of_all_words(void **state)
{
    (void)state;
    assert_int_equal(tern_philox_threshold(0), 0);
    assert_int_equal(tern_philox_threshold(1), UINT64_C(1) << 32);
    assert_int_equal(tern_philox_threshold(0.5), UINT64_C(1) << 31);
    assert_int_equal(tern_philox_threshold(0x1p-32), 1);
    assert_int_equal(tern_philox_threshold(0x1.8p-32), 2); // words 0 and 1 are below 1.5
    assert_int_equal(tern_philox_threshold(0x1p-60), 1);   // word 0 is
    assert_int_equal(tern_philox_threshold(1 - 0x1p-53), UINT64_C(1) << 32);
}

// 400000 draws with p = 0.3: 5 standard deviations are 1450.
static void the_share_is_right_in_each_of_the_four_words(void **state)
{
    (void)state;
    uint64_t threshold = tern_philox_threshold(0.3);
    int below[4] = {0};
    for (uint64_t group = 0; group < 400000; group++) {
        tern_philox_block block = tern_philox(42, 7, group);
        for (int i = 0; i < 4; i++)
            below[i] += block.word[i] < threshold;
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(below[i], 120000 - 1450, 120000 + 1450);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_answers_come_out),
        cmocka_unit_test(seed_call_and_group_each_change_the_words),
        cmocka_unit_test(a_threshold_takes_its_share_of_all_words),
        cmocka_unit_test(the_share_is_right_in_each_of_the_four_words),
    };
    return cmocka_run_group_tests_name("philox", tests, NULL, NULL);
}
