// SPDX-License-Identifier: Apache-2.0
// With TERN_CACHE=0 each block is the device's own, of the very size that was asked for, so that a
// tool sees every access beyond it and every use after it was freed.
#include "plugin_check.h"

static void a_freed_block_goes_back_to_the_device(void **state)
{
    (void)state;
    const tern_sim_counts before = counts();
    const tern_cuda_memory start = memory_of(0);
    piece x = take(0, 1000), y = take(0, 3 * MIB + 7);
    assert_int_equal(counts().mallocs - before.mallocs, 2);
    assert_int_equal(memory_of(0).allocated - start.allocated, 1000 + 3 * MIB + 7);
    give(&x);
    assert_int_equal(counts().frees - before.frees, 1);
    give(&y);
    assert_int_equal(counts().frees - before.frees, 2);
    assert_int_equal(memory_of(0).reserved, start.reserved);
    assert_int_equal(counts().live_bytes, before.live_bytes);
}

static void work_that_is_queued_on_a_freed_block_is_done_first(void **state)
{
    (void)state;
    piece x = take(0, MIB), y = take(0, MIB);
    fill(&x, 5);
    copy(&y, &x);
    give(&x);
    assert_near(first_of(&y), 5, 0, 0);
    give(&y);
}

static void a_graph_keeps_its_blocks_until_it_is_freed(void **state)
{
    (void)state;
    const tern_cuda_memory start = memory_of(0);
    piece x = take(0, MIB);
    assert_int_equal(plugin.cuda->capture_begin(0), TERN_OK);
    piece inner = take(0, MIB);
    fill(&inner, 3);
    copy(&x, &inner);
    give(&inner);
    void *graph = plugin.cuda->capture_end(0, false);
    assert_non_null(graph);
    assert_int_equal(plugin.cuda->graph_launch(graph), TERN_OK);
    assert_near(first_of(&x), 3, 0, 0);
    plugin.cuda->graph_free(graph);
    give(&x);
    assert_int_equal(memory_of(0).reserved, start.reserved);
}

static void page_locked_memory_goes_back_too(void **state)
{
    (void)state;
    const tern_sim_counts before = counts();
    void *block, *host = plugin.cuda->pinned_alloc(5000, &block);
    plugin.cuda->pinned_free(host, 5000, block);
    assert_int_equal(counts().host_frees - before.host_frees, 1);
}

static void page_locked_memory_goes_back_in_a_capture_too(void **state)
{
    (void)state;
    void *block, *host = plugin.cuda->pinned_alloc(5000, &block);
    assert_int_equal(plugin.cuda->capture_begin(0), TERN_OK);
    plugin.cuda->pinned_free(host, 5000, block);
    void *graph = plugin.cuda->capture_end(0, false);
    assert_no_error();
    plugin.cuda->graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_freed_block_goes_back_to_the_device),
        cmocka_unit_test(work_that_is_queued_on_a_freed_block_is_done_first),
        cmocka_unit_test(a_graph_keeps_its_blocks_until_it_is_freed),
        cmocka_unit_test(page_locked_memory_goes_back_too),
        cmocka_unit_test(page_locked_memory_goes_back_in_a_capture_too),
    };
    return cmocka_run_group_tests(tests, open_devices, NULL);
}
