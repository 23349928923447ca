// SPDX-License-Identifier: Apache-2.0
// Memory of a device on one stream: sizes, reuse, splitting and merging, statistics.
#include "plugin_check.h"

// Nothing is held and nothing kept, so that a test knows what is taken from the device.
static int empty(void **state)
{
    (void)state;
    tern_error_clear();
    plugin.fail_none();
    assert_int_equal(plugin.cuda->empty_cache(0), TERN_OK);
    plugin.cuda->reset_peak(0);
    assert_int_equal(memory_of(0).allocated, 0);
    return 0;
}

static void blocks_are_aligned_and_rounded(void **state)
{
    (void)state;
    const struct {
        int64_t asked, held;
    } cases[] = {
        {0, 512},       {1, 512},       {512, 512},         {513, 1024},
        {MIB - 1, MIB}, {MIB, 2 * MIB}, {2 * MIB, 2 * MIB}, {2 * MIB + 1, 4 * MIB},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        piece x = take(0, cases[i].asked);
        assert_int_equal((uintptr_t)x.data % 256, 0);
        assert_int_equal(memory_of(0).allocated, cases[i].held);
        give(&x);
        assert_int_equal(memory_of(0).allocated, 0);
    }
}

static void a_freed_block_is_used_again_without_asking_the_device(void **state)
{
    (void)state;
    piece x = take(0, 5 * MIB);
    void *first = x.data;
    const int64_t taken = memory_of(0).device_allocs;
    for (int i = 0; i < 10; i++) {
        give(&x);
        x = take(0, 5 * MIB);
        assert_ptr_equal(x.data, first);
    }
    assert_int_equal(memory_of(0).device_allocs, taken);
    give(&x);
}

static void small_blocks_share_a_segment(void **state)
{
    (void)state;
    const int64_t before = memory_of(0).device_allocs;
    piece pieces[100];
    for (int i = 0; i < 100; i++)
        pieces[i] = take(0, 1000);
    assert_int_equal(memory_of(0).device_allocs - before, 1);
    assert_int_equal(memory_of(0).allocated, 100 * 1024);
    for (int i = 0; i < 100; i++)
        for (int j = 0; j < i; j++)
            assert_true(labs((char *)pieces[i].data - (char *)pieces[j].data) >= 1024);
    for (int i = 0; i < 100; i++)
        give(&pieces[i]);
}

static void freed_neighbours_become_one_block(void **state)
{
    (void)state;
    piece whole = take(0, 12 * MIB);
    char *start = whole.data;
    const int64_t taken = memory_of(0).device_allocs;
    give(&whole);
    piece parts[3];
    for (int i = 0; i < 3; i++)
        parts[i] = take(0, 4 * MIB);
    assert_int_equal(memory_of(0).device_allocs, taken);
    const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        for (int j = 0; j < 3; j++)
            give(&parts[orders[i][j]]);
        whole = take(0, 12 * MIB);
        assert_ptr_equal(whole.data, start);
        give(&whole);
        for (int j = 0; j < 3; j++)
            parts[j] = take(0, 4 * MIB);
    }
    assert_int_equal(memory_of(0).device_allocs, taken);
    for (int j = 0; j < 3; j++)
        give(&parts[j]);
}

static void the_smallest_block_that_fits_is_taken(void **state)
{
    (void)state;
    piece big = take(0, 16 * MIB), wall = take(0, 2 * MIB), medium = take(0, 6 * MIB);
    void *expected = medium.data;
    give(&big);
    give(&medium);
    piece x = take(0, 6 * MIB);
    assert_ptr_equal(x.data, expected);
    give(&x);
    give(&wall);
}

static void statistics_say_what_is_held_and_what_is_kept(void **state)
{
    (void)state;
    const tern_cuda_memory start = memory_of(0);
    piece x = take(0, 4 * MIB), y = take(0, 8 * MIB);
    give(&x);
    const tern_cuda_memory now = memory_of(0);
    assert_int_equal(now.allocated, 8 * MIB);
    assert_int_equal(now.allocated_peak, 12 * MIB);
    assert_int_equal(now.reserved - start.reserved, 12 * MIB);
    assert_int_equal(now.device_allocs - start.device_allocs, 2);
    assert_int_equal(start.free - now.free, 12 * MIB);
    assert_true(now.total >= now.free);
    plugin.cuda->reset_peak(0);
    assert_int_equal(memory_of(0).allocated_peak, 8 * MIB);
    give(&y);
}

static void emptying_the_cache_gives_back_what_nobody_holds(void **state)
{
    (void)state;
    const tern_cuda_memory start = memory_of(0);
    piece x = take(0, 4 * MIB), y = take(0, 8 * MIB);
    give(&x);
    assert_int_equal(plugin.cuda->empty_cache(0), TERN_OK);
    assert_int_equal(memory_of(0).reserved - start.reserved, 8 * MIB);
    give(&y);
    assert_int_equal(plugin.cuda->empty_cache(0), TERN_OK);
    assert_int_equal(memory_of(0).reserved, start.reserved);
    assert_int_equal(memory_of(0).free, start.free);
}

static void the_biggest_blocks_come_first(void **state)
{
    (void)state;
    piece pieces[] = {take(0, 4 * MIB), take(0, 512), take(0, 16 * MIB), take(0, 8 * MIB)};
    int64_t sizes[8] = {0};
    assert_int_equal(plugin.cuda->biggest(0, sizes, 2), 2);
    assert_int_equal(sizes[0], 16 * MIB);
    assert_int_equal(sizes[1], 8 * MIB);
    assert_int_equal(plugin.cuda->biggest(0, sizes, 8), 4);
    assert_int_equal(sizes[2], 4 * MIB);
    assert_int_equal(sizes[3], 512);
    for (int i = 0; i < 4; i++)
        give(&pieces[i]);
}

static void random_sizes_never_overlap(void **state)
{
    (void)state;
    enum { HELD = 64, ROUNDS = 4000 };
    piece held[HELD] = {{0}};
    uint64_t seed = 88172645463325252u;
    for (int round = 0; round < ROUNDS; round++) {
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        piece *x = &held[seed % HELD];
        if (x->data)
            give(x);
        else
            *x = take(0, (int64_t)(seed >> 8) % (seed & 64 ? 4 * MIB : 8 * KIB));
        for (int i = 0; x->data && i < HELD; i++) {
            const char *a = x->data, *b = held[i].data;
            if (b && a != b)
                assert_true(a + x->nbytes <= b || b + held[i].nbytes <= a);
        }
    }
    for (int i = 0; i < HELD; i++)
        if (held[i].data)
            give(&held[i]);
    assert_int_equal(memory_of(0).allocated, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(blocks_are_aligned_and_rounded, empty),
        cmocka_unit_test_setup(a_freed_block_is_used_again_without_asking_the_device, empty),
        cmocka_unit_test_setup(small_blocks_share_a_segment, empty),
        cmocka_unit_test_setup(freed_neighbours_become_one_block, empty),
        cmocka_unit_test_setup(the_smallest_block_that_fits_is_taken, empty),
        cmocka_unit_test_setup(statistics_say_what_is_held_and_what_is_kept, empty),
        cmocka_unit_test_setup(emptying_the_cache_gives_back_what_nobody_holds, empty),
        cmocka_unit_test_setup(the_biggest_blocks_come_first, empty),
        cmocka_unit_test_setup(random_sizes_never_overlap, empty),
    };
    return cmocka_run_group_tests(tests, open_devices, NULL);
}
