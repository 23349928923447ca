// SPDX-License-Identifier: Apache-2.0
// The memory of graphs: what is theirs, what they keep, and what they give back.
#include "capture_check.h"

static void replaying_waits_for_nothing_and_takes_nothing(void **state)
{
    (void)state;
    piece x = take(0, MIB);
    begin();
    piece inner = take(0, MIB);
    fill(&inner, 1);
    copy(&x, &inner);
    give(&inner);
    void *graph = end();
    const int64_t taken = memory_of(0).device_allocs;
    plugin.trace_waits();
    for (int i = 0; i < 5; i++)
        replay(graph);
    assert_int_equal(plugin.waits(NULL, 0), 0);
    assert_int_equal(memory_of(0).device_allocs, taken);
    plugin.cuda->graph_free(graph);
    give(&x);
}

static void memory_of_a_graph_is_its_own_until_it_is_freed(void **state)
{
    (void)state;
    piece result = take(0, 4 * MIB);
    begin();
    piece inner = take(0, 4 * MIB);
    void *place = inner.data;
    fill(&inner, 1);
    copy(&result, &inner);
    give(&inner);
    inner = take(0, 4 * MIB); // within the graph it is used again
    assert_ptr_equal(inner.data, place);
    give(&inner);
    void *graph = end();
    piece others[4];
    for (int i = 0; i < 4; i++) {
        others[i] = take(0, 4 * MIB);
        assert_ptr_not_equal(others[i].data, place);
        fill(&others[i], 9);
    }
    assert_int_equal(plugin.cuda->empty_cache(0), TERN_OK); // not the graph's
    replay(graph);
    assert_near(first_of(&result), 1, 0, 0);
    for (int i = 0; i < 4; i++) {
        assert_near(first_of(&others[i]), 9, 0, 0);
        give(&others[i]);
    }
    assert_int_equal(plugin.cuda->empty_cache(0), TERN_OK);
    plugin.cuda->graph_free(graph);
    piece again = take(0, 4 * MIB);
    assert_ptr_equal(again.data, place);
    give(&again);
    give(&result);
}

static void a_graph_takes_what_its_stream_has_free(void **state)
{
    (void)state;
    piece x = take(0, 30 * MIB);
    char *start = x.data;
    give(&x);
    begin();
    const int64_t taken = memory_of(0).device_allocs;
    x = take(0, 10 * MIB);
    assert_ptr_equal(x.data, start);
    assert_int_equal(memory_of(0).device_allocs, taken);
    give(&x);
    void *graph = end();
    x = take(0, 20 * MIB); // the rest stayed with the stream
    assert_ptr_equal(x.data, start + 10 * MIB);
    give(&x);
    plugin.cuda->graph_free(graph);
    x = take(0, 30 * MIB); // and both are one again
    assert_ptr_equal(x.data, start);
    give(&x);
}

static void a_tensor_freed_meanwhile_is_kept_for_the_graph(void **state)
{
    (void)state;
    piece x = take(0, 4 * MIB), y = take(0, 4 * MIB);
    void *place = x.data;
    fill(&x, 1);
    begin();
    copy(&y, &x);
    give(&x);
    void *graph = end();
    piece other = take(0, 4 * MIB);
    assert_ptr_not_equal(other.data, place);
    fill(&other, 2);
    replay(graph);
    assert_near(first_of(&y), 1, 0, 0);
    plugin.cuda->graph_free(graph);
    give(&other);
    give(&y);
}

static void what_a_graph_made_may_be_freed_before_and_after_it(void **state)
{
    (void)state;
    const int64_t before = memory_of(0).allocated;
    begin();
    piece x = take(0, 4 * MIB), y = take(0, 4 * MIB);
    fill(&x, 1);
    fill(&y, 2);
    void *graph = end();
    replay(graph);
    assert_near(first_of(&x), 1, 0, 0);
    give(&x);
    piece other = take(0, 4 * MIB);
    fill(&other, 5);
    replay(graph);
    assert_near(first_of(&other), 5, 0, 0);
    plugin.cuda->graph_free(graph);
    assert_near(first_of(&y), 2, 0, 0);
    give(&y);
    give(&other);
    assert_int_equal(memory_of(0).allocated, before);
}

// What the host writes between replays, before the launch, no kernel of the graph may overwrite.
static void memory_from_outside_is_no_memory_of_the_graph(void **state)
{
    (void)state;
    piece result = take(0, 4 * MIB), outside = {.index = 0, .nbytes = 4 * MIB};
    begin();
    piece inner = take(0, 4 * MIB);
    fill(&inner, 1);
    give(&inner);
    outside.data = plugin.cuda->alloc_outside(0, outside.nbytes, &outside.block);
    assert_non_null(outside.data);
    copy(&result, &outside);
    void *graph = end();
    for (int i = 0; i < 3; i++) {
        fill(&outside, (float)i);
        replay(graph);
        assert_near(first_of(&result), i, 0, 0);
    }
    plugin.cuda->graph_free(graph);
    give(&outside);
    give(&result);
}

// A wait for a block that another stream still uses would become part of the graph.
static void memory_from_outside_waits_for_no_stream(void **state)
{
    (void)state;
    piece x = take(0, 4 * MIB), outside = {.index = 0, .nbytes = 4 * MIB};
    tern_cuda_stream *side = plugin.cuda->stream_new(0);
    fill(&x, 1);
    (void)plugin.cuda->stream_set(0, side);
    plugin.device->use(0, x.block);
    fill(&x, 2);
    (void)plugin.cuda->stream_set(0, NULL);
    void *place = x.data;
    begin();
    give(&x);
    outside.data = plugin.cuda->alloc_outside(0, outside.nbytes, &outside.block);
    assert_non_null(outside.data);
    assert_ptr_not_equal(outside.data, place);
    plugin.cuda->graph_free(end());
    give(&outside);
    plugin.cuda->stream_free(side);
}

static void a_discarded_capture_gives_its_memory_back(void **state)
{
    (void)state;
    const tern_cuda_memory before = memory_of(0);
    begin();
    piece x = take(0, 4 * MIB);
    fill(&x, 1);
    give(&x);
    assert_null(plugin.cuda->capture_end(0, true));
    assert_no_error();
    assert_false(plugin.cuda->capturing(0));
    assert_int_equal(plugin.cuda->empty_cache(0), TERN_OK);
    assert_int_equal(memory_of(0).allocated, before.allocated);
    x = take(0, MIB);
    fill(&x, 2);
    assert_near(first_of(&x), 2, 0, 0);
    give(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(replaying_waits_for_nothing_and_takes_nothing, calm),
        cmocka_unit_test_setup(memory_of_a_graph_is_its_own_until_it_is_freed, calm),
        cmocka_unit_test_setup(a_graph_takes_what_its_stream_has_free, calm),
        cmocka_unit_test_setup(a_tensor_freed_meanwhile_is_kept_for_the_graph, calm),
        cmocka_unit_test_setup(what_a_graph_made_may_be_freed_before_and_after_it, calm),
        cmocka_unit_test_setup(memory_from_outside_is_no_memory_of_the_graph, calm),
        cmocka_unit_test_setup(memory_from_outside_waits_for_no_stream, calm),
        cmocka_unit_test_setup(a_discarded_capture_gives_its_memory_back, calm),
    };
    return cmocka_run_group_tests(tests, open_devices, NULL);
}
