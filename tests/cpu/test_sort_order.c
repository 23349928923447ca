// SPDX-License-Identifier: Apache-2.0
// Sorting keys that do not fit into words beside their positions, as where there are more than 2^32
// of them.
#include "cpu/sort/select.h"

#include "kernel_check.h"

enum { N = 5000 };
static sort_key keys[N], spare_keys[N];
static uint64_t words[N], spare[N];

// Positions of so many bits, of which few are used, leave the rest to keys.
static void check_order(int64_t n, int bits_of_positions)
{
    const key_order order = {keys, words, spare, bits_of_positions};
    sort_keys(&order, n);
    for (int64_t i = 1; i < n; i++) {
        const int64_t before = word_position(&order, words[i - 1]);
        const int64_t here = word_position(&order, words[i]);
        assert_true(before >= 0 && before < n && here >= 0 && here < n);
        assert_true(keys[before] < keys[here] || (keys[before] == keys[here] && before < here));
    }
}

static void keys_are_sorted_by_as_many_bits_as_fit_and_then_by_the_rest(void **state)
{
    (void)state;
    static const int64_t lengths[] = {1, 2, 9, 33, 129, 1000, N};
    static const sort_key masks[] = {~0u, 0xffu, 0xff000000u, 0xf000000fu, 0x00010001u, 0};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t m = 0; m < sizeof masks / sizeof *masks; m++)
            for (int bits = 32; bits <= 60; bits += 7) {
                for (int64_t k = 0; k < lengths[i]; k++)
                    keys[k] = (random_below(1u << 16) << 16 | random_below(1u << 16)) & masks[m];
                check_order(lengths[i], bits);
            }
}

static void positions_have_32_bits_and_more_where_there_are_more(void **state)
{
    (void)state;
    assert_int_equal(position_bits(1), 32);
    assert_int_equal(position_bits((int64_t)1 << 32), 32);
    assert_int_equal(position_bits(((int64_t)1 << 32) + 1), 33);
    assert_int_equal(position_bits((int64_t)1 << 40), 40);
}

static void the_kth_key_is_found_among_equal_ones(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= N; n = 3 * n + 1)
        for (uint32_t limit = 1; limit <= 1000; limit *= 10)
            for (int64_t k = 1; k <= n; k = 2 * k + 1) {
                int64_t below = 0, equal = 0;
                for (int64_t i = 0; i < n; i++)
                    keys[i] = 7000 * random_below(limit);
                const sort_key found = find_kth(keys, n, k, spare_keys);
                for (int64_t i = 0; i < n; i++) {
                    below += keys[i] < found;
                    equal += keys[i] == found;
                }
                assert_true(below < k && k <= below + equal);
            }
}

static void check_candidates(int64_t k)
{
    static sort_key kept[N];
    static int64_t positions[N];
    candidates c = {.keys = kept, .spare = spare_keys, .positions = positions, .k = k};
    const sort_key kth = find_kth(keys, N, k, spare_keys);
    int64_t last = -1, below = 0;
    for (int64_t i = 0; i < N; i += 1000)
        add_candidates(&c, keys + i, 1000, i);
    if (c.count > k)
        drop_candidates(&c);
    assert_int_equal(c.count, k);
    for (int64_t i = 0; i < k; i++) {
        assert_true(kept[i] <= kth && kept[i] == keys[positions[i]]);
        assert_true(kept[i] < kth || positions[i] > last);
        last = kept[i] == kth ? positions[i] : last;
    }
    for (int64_t i = 0; i <= last; i++)
        below += keys[i] == kth;
    for (int64_t i = 0; i < k; i++)
        below -= kept[i] == kth;
    assert_int_equal(below, 0); // of the equal ones those that came first stay
}

static void the_first_of_equal_candidates_stay(void **state)
{
    (void)state;
    for (uint32_t limit = 1; limit <= 10000; limit *= 10) {
        for (int64_t i = 0; i < N; i++)
            keys[i] = random_below(limit);
        for (int64_t k = 1; k <= N / 3; k = 2 * k + 1)
            check_candidates(k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(keys_are_sorted_by_as_many_bits_as_fit_and_then_by_the_rest,
                               kernel_setup),
        cmocka_unit_test(positions_have_32_bits_and_more_where_there_are_more),
        cmocka_unit_test_setup(the_kth_key_is_found_among_equal_ones, kernel_setup),
        cmocka_unit_test_setup(the_first_of_equal_candidates_stay, kernel_setup),
    };
    return cmocka_run_group_tests_name("order of keys", tests, NULL, NULL);
}
