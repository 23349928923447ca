// SPDX-License-Identifier: Apache-2.0
// How draws are taken from Philox; the published words are held by the suite `reliability` (R28).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/philox.h"

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
        cmocka_unit_test(seed_call_and_group_each_change_the_words),
        cmocka_unit_test(a_threshold_takes_its_share_of_all_words),
        cmocka_unit_test(the_share_is_right_in_each_of_the_four_words),
    };
    return cmocka_run_group_tests_name("philox", tests, NULL, NULL);
}
