// SPDX-License-Identifier: Apache-2.0
// Several streams on one device: memory that crosses from one to another, and events. Run with
// streams that work only when something waits for them, a missing wait shows as a wrong value.
#include <pthread.h>
#include "plugin_check.h"

static tern_cuda_stream *new_stream(void)
{
    tern_cuda_stream *stream = plugin.cuda->stream_new(0);
    assert_no_error();
    assert_non_null(stream);
    return stream;
}

static void on(tern_cuda_stream *stream)
{
    (void)plugin.cuda->stream_set(0, stream);
}

static int no_stream(void **state)
{
    (void)state;
    tern_error_clear();
    on(NULL);
    return 0;
}

static void each_thread_has_its_own_current_stream(void **state)
{
    (void)state;
    tern_cuda_stream *stream = new_stream();
    assert_null(plugin.cuda->stream_set(0, stream));
    assert_ptr_equal(plugin.cuda->stream_set(0, stream), stream);
    assert_int_equal(plugin.cuda->stream_index(stream), 0);
    assert_null(plugin.cuda->stream_set(1, NULL));
    assert_ptr_equal(plugin.cuda->stream_set(0, NULL), stream);
    plugin.cuda->stream_free(stream);
    plugin.cuda->stream_free(NULL);
}

// Memory that the side stream copies from is given back and taken again. Without events the host
// waits.
static void reuse_what_is_copied(tern_cuda_stream *side, bool has_events)
{
    piece x = take(0, 4 * MIB), y = take(0, 4 * MIB);
    fill(&x, 1);
    on(side);
    plugin.device->use(0, x.block);
    plugin.device->use(0, y.block);
    copy(&y, &x);
    on(NULL);
    if (!has_events) {
        plugin.fail_from(TERN_SIM_EVENT_CREATE, 1, cudaErrorMemoryAllocation);
        plugin.fail_from(TERN_SIM_EVENT_RECORD, 1, cudaErrorMemoryAllocation);
    }
    give(&x);
    if (!has_events)
        plugin.fail_none();
    piece z = take(0, 4 * MIB);
    fill(&z, 2);
    assert_int_equal(plugin.device->synchronize(0), TERN_OK);
    assert_near(first_of(&y), 1, 0, 0);
    assert_near(first_of(&z), 2, 0, 0);
    give(&y);
    give(&z);
}

static void a_block_used_on_another_stream_is_not_written_before_that_one_is_done(void **state)
{
    (void)state;
    tern_cuda_stream *side = new_stream();
    for (int round = 0; round < 4; round++)
        reuse_what_is_copied(side, true);
    plugin.cuda->stream_free(side);
}

static void without_an_event_a_block_is_not_written_before_its_user_is_done(void **state)
{
    (void)state;
    tern_cuda_stream *side = new_stream();
    reuse_what_is_copied(side, false);
    plugin.cuda->stream_free(side);
}

static void a_block_waits_for_every_stream_that_used_it(void **state)
{
    (void)state;
    tern_cuda_stream *sides[] = {new_stream(), new_stream(), new_stream()};
    piece x = take(0, 4 * MIB), y[3];
    fill(&x, 1);
    for (int i = 0; i < 3; i++) {
        y[i] = take(0, 4 * MIB);
        on(sides[i]);
        plugin.device->use(0, x.block);
        plugin.device->use(0, y[i].block);
        copy(&y[i], &x);
        on(NULL);
    }
    give(&x);
    piece z = take(0, 4 * MIB);
    fill(&z, 2);
    assert_int_equal(plugin.device->synchronize(0), TERN_OK);
    for (int i = 0; i < 3; i++) {
        assert_near(first_of(&y[i]), 1, 0, 0);
        give(&y[i]);
        plugin.cuda->stream_free(sides[i]);
    }
    give(&z);
}

static void using_a_block_waits_for_the_stream_that_used_it_last(void **state)
{
    (void)state;
    tern_cuda_stream *side = new_stream();
    piece x = take(0, MIB);
    fill(&x, 1);
    on(side);
    plugin.device->use(0, x.block);
    fill(&x, 2);
    on(NULL);
    plugin.device->use(0, x.block);
    assert_near(first_of(&x), 2, 0, 0);
    give(&x);
    plugin.cuda->stream_free(side);
}

static void work_on_one_stream_waits_for_nothing(void **state)
{
    (void)state;
    piece x = take(0, MIB), y = take(0, MIB);
    plugin.trace_waits();
    const tern_sim_counts before = counts();
    for (int i = 0; i < 10; i++) {
        plugin.device->use(0, x.block);
        plugin.device->use(0, y.block);
        fill(&x, 1);
        copy(&y, &x);
        piece z = take(0, 100);
        fill(&z, 1);
        give(&z);
    }
    assert_int_equal(plugin.waits(NULL, 0), 0);
    assert_int_equal(counts().records, before.records);
    give(&x);
    give(&y);
}

// The host is far ahead of the device: the stream waits, memory does not grow.
static void a_repeated_crossing_takes_no_more_memory(void **state)
{
    (void)state;
    tern_cuda_stream *side = new_stream();
    int64_t taken = 0;
    assert_int_equal(plugin.cuda->empty_cache(0), TERN_OK);
    for (int round = 0; round < 8; round++) {
        piece x = take(0, 4 * MIB);
        fill(&x, (float)round);
        on(side);
        plugin.device->use(0, x.block);
        fill(&x, -1);
        on(NULL);
        give(&x);
        if (round == 1)
            taken = memory_of(0).device_allocs;
    }
    assert_int_equal(memory_of(0).device_allocs, taken);
    plugin.cuda->stream_free(side);
}

static void a_stream_that_ends_leaves_its_memory_to_the_device(void **state)
{
    (void)state;
    tern_cuda_stream *side = new_stream();
    on(side);
    piece kept = take(0, 20 * MIB), held = take(0, 22 * MIB);
    void *expected = kept.data, *expected_too = held.data;
    give(&kept);
    on(NULL);
    plugin.cuda->stream_free(side);
    kept = take(0, 20 * MIB);
    assert_ptr_equal(kept.data, expected);
    give(&held);
    held = take(0, 22 * MIB);
    assert_ptr_equal(held.data, expected_too);
    give(&held);
    give(&kept);
}

static void there_are_64_streams_on_a_device(void **state)
{
    (void)state;
    tern_cuda_stream *streams[63];
    for (int i = 0; i < 63; i++)
        streams[i] = new_stream();
    assert_null(plugin.cuda->stream_new(0));
    assert_error(TERN_ERR_UNSUPPORTED, "cuda:0 has 64 streams already");
    plugin.cuda->stream_free(streams[17]);
    streams[17] = new_stream();
    for (int i = 0; i < 63; i++)
        plugin.cuda->stream_free(streams[i]);
}

// ---- events -------------------------------------------------------------------------------------

static void a_stream_waits_for_an_event_of_another(void **state)
{
    (void)state;
    tern_cuda_stream *side = new_stream();
    tern_cuda_event *event = plugin.cuda->event_new(0);
    assert_non_null(event);
    piece x = take(0, MIB), y = take(0, MIB);
    on(side); // without use: the event alone orders
    fill(&x, 3);
    assert_int_equal(plugin.cuda->event_record(event), TERN_OK);
    on(NULL);
    assert_int_equal(plugin.cuda->event_wait(event, 0), TERN_OK);
    copy(&y, &x);
    assert_near(first_of(&y), 3, 0, 0);
    give(&x);
    give(&y);
    plugin.cuda->event_free(event);
    plugin.cuda->event_free(NULL);
    plugin.cuda->stream_free(side);
}

static void the_time_between_events_needs_both_recorded(void **state)
{
    (void)state;
    tern_cuda_event *start = plugin.cuda->event_new(0), *end = plugin.cuda->event_new(0);
    assert_int_equal(plugin.cuda->event_record(start), TERN_OK);
    assert_true(isnan(plugin.cuda->event_elapsed(start, end)));
    assert_error(TERN_ERR_STATE, "cuda_event_elapsed: end was not recorded");
    assert_int_equal(plugin.cuda->event_record(end), TERN_OK);
    assert_true(plugin.cuda->event_elapsed(start, end) >= 0);
    assert_int_equal(plugin.cuda->event_synchronize(end), TERN_OK);
    plugin.cuda->event_free(start);
    plugin.cuda->event_free(end);
}

// ---- threads ------------------------------------------------------------------------------------

static void *take_and_give(void *failed)
{
    tern_cuda_stream *stream = plugin.cuda->stream_new(0);
    (void)plugin.cuda->stream_set(0, stream);
    for (int i = 0; i < 500; i++) {
        void *block, *data = plugin.device->alloc(0, 1000 + i * 37, &block);
        if (!data)
            *(bool *)failed = true;
        plugin.device->use(0, block);
        plugin.device->free(0, data, 1000 + i * 37, block);
    }
    (void)plugin.cuda->stream_set(0, NULL);
    plugin.cuda->stream_free(stream);
    return NULL;
}

static void threads_take_and_give_memory_at_once(void **state)
{
    (void)state;
    pthread_t threads[4];
    bool failed[4] = {false};
    const int64_t before = memory_of(0).allocated;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_give, &failed[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_false(failed[i]);
    }
    assert_int_equal(memory_of(0).allocated, before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_thread_has_its_own_current_stream, no_stream),
        cmocka_unit_test_setup(
            a_block_used_on_another_stream_is_not_written_before_that_one_is_done, no_stream),
        cmocka_unit_test_setup(without_an_event_a_block_is_not_written_before_its_user_is_done,
                               no_stream),
        cmocka_unit_test_setup(a_block_waits_for_every_stream_that_used_it, no_stream),
        cmocka_unit_test_setup(using_a_block_waits_for_the_stream_that_used_it_last, no_stream),
        cmocka_unit_test_setup(work_on_one_stream_waits_for_nothing, no_stream),
        cmocka_unit_test_setup(a_repeated_crossing_takes_no_more_memory, no_stream),
        cmocka_unit_test_setup(a_stream_that_ends_leaves_its_memory_to_the_device, no_stream),
        cmocka_unit_test_setup(there_are_64_streams_on_a_device, no_stream),
        cmocka_unit_test_setup(a_stream_waits_for_an_event_of_another, no_stream),
        cmocka_unit_test_setup(the_time_between_events_needs_both_recorded, no_stream),
        cmocka_unit_test_setup(threads_take_and_give_memory_at_once, no_stream),
    };
    return cmocka_run_group_tests(tests, open_devices, NULL);
}
