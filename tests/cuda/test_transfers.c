// SPDX-License-Identifier: Apache-2.0
// Copies between the host and devices, page-locked memory, the fault record and the draws.
#include "plugin_check.h"

static int calm(void **state)
{
    (void)state;
    tern_error_clear();
    return 0;
}

// Device 0 as when it is opened, with no more page-locked memory than every device takes.
static int fresh_device(void **state)
{
    assert_true(plugin.device->close(0));
    assert_int_equal(plugin.device->open(0, (tern_draw_state){.seed = 0}), TERN_OK);
    return calm(state);
}

static void up(const piece *x, const void *host)
{
    assert_int_equal(plugin.device->to_device(x->index, x->data, host, x->nbytes), TERN_OK);
}

static void down(void *host, const piece *x)
{
    assert_int_equal(plugin.device->to_host(x->index, host, x->data, x->nbytes), TERN_OK);
}

static void values_come_back_as_they_went(void **state)
{
    (void)state;
    const int64_t sizes[] = {0, 1, 100, 64 * KIB, 64 * KIB + 1, MIB, MIB + 1, 4 * MIB, 13 * MIB};
    const int64_t most = 13 * MIB;
    char *host = test_malloc((size_t)most), *back = test_malloc((size_t)most);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int64_t j = 0; j < sizes[i]; j++)
            host[j] = (char)(j * 31 + (int64_t)i);
        memset(back, 0x55, (size_t)most);
        piece x = take(1, sizes[i]);
        up(&x, host);
        down(back, &x);
        assert_memory_equal(back, host, (size_t)sizes[i]);
        assert_int_equal(back[sizes[i] < most ? sizes[i] : 0], sizes[i] < most ? 0x55 : host[0]);
        give(&x);
    }
    test_free(host);
    test_free(back);
}

static void host_memory_may_be_reused_when_a_copy_returns(void **state)
{
    (void)state;
    const int64_t sizes[] = {4, 2 * KIB, MIB, 4 * MIB, 9 * MIB};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int64_t nbytes = sizes[i];
        float *host = test_calloc((size_t)nbytes, 1);
        piece x = take(0, nbytes);
        host[0] = host[nbytes / 4 - 1] = 1;
        up(&x, host);
        host[0] = host[nbytes / 4 - 1] = 2;
        assert_near(first_of(&x), 1, 0, 0);
        down(host, &x);
        assert_near(host[nbytes / 4 - 1], 1, 0, 0);
        give(&x);
        test_free(host);
    }
}

static void small_copies_to_a_device_do_not_wait(void **state)
{
    (void)state;
    piece x = take(0, 64 * KIB);
    char *host = test_calloc(64, (size_t)KIB);
    assert_int_equal(plugin.device->synchronize(0), TERN_OK);
    plugin.trace_waits();
    for (int i = 0; i < 32; i++)
        up(&x, host);
    assert_int_equal(plugin.waits(NULL, 0), 0);
    test_free(host);
    give(&x);
}

// What copies of these bytes to device 0 ask of CUDA.
static void expect_pieces(int64_t nbytes, long pieces, long host_allocs)
{
    char *host = test_malloc((size_t)nbytes), *back = test_malloc((size_t)nbytes);
    for (int64_t i = 0; i < nbytes; i++)
        host[i] = (char)(i * 7 + (i >> 12));
    piece x = take(0, nbytes);
    const tern_sim_counts before = counts();
    up(&x, host);
    const tern_sim_counts after = counts();
    assert_int_equal(after.copies_to_device - before.copies_to_device, pieces);
    assert_int_equal(after.host_allocs - before.host_allocs, host_allocs);
    down(back, &x);
    assert_memory_equal(back, host, (size_t)nbytes);
    give(&x);
    test_free(host);
    test_free(back);
}

static void small_copies_take_no_more_page_locked_memory(void **state)
{
    (void)state;
    expect_pieces(4, 1, 0);
    expect_pieces(64 * KIB, 1, 0);
    expect_pieces(64 * KIB + 1, 2, 0);
    expect_pieces(MIB, 16, 0);
}

static void large_copies_go_in_few_pieces_through_memory_taken_once(void **state)
{
    (void)state;
    expect_pieces(MIB + 1, 1, 1);
    expect_pieces(4 * MIB, 1, 0);
    expect_pieces(4 * MIB + 1, 2, 0);
    expect_pieces(13 * MIB, 4, 0);
}

static void without_page_locked_memory_large_copies_go_in_small_pieces(void **state)
{
    (void)state;
    plugin.fail_call(TERN_SIM_HOST_ALLOC, 1, cudaErrorMemoryAllocation);
    expect_pieces(3 * MIB, 48, 0);
    plugin.fail_none();
    assert_no_error();
    piece x = take(0, MIB);
    fill(&x, 3); // its launch is not told of what failed
    assert_near(first_of(&x), 3, 0, 0);
    give(&x);
    expect_pieces(3 * MIB, 1, 1); // there is memory again
}

// What is copied to one device is no part of what the thread captures on another.
static void a_large_copy_takes_its_memory_while_another_device_is_captured(void **state)
{
    (void)state;
    assert_int_equal(plugin.cuda->capture_begin(1), TERN_OK);
    float *host = test_calloc(2, (size_t)MIB);
    piece x = take(0, 2 * MIB);
    host[0] = 4;
    up(&x, host);
    void *graph = plugin.cuda->capture_end(1, false);
    assert_no_error();
    assert_near(first_of(&x), 4, 0, 0);
    plugin.cuda->graph_free(graph);
    test_free(host);
    give(&x);
}

static void two_large_copies_to_a_device_do_not_wait(void **state)
{
    (void)state;
    piece x = take(0, 4 * MIB);
    char *host = test_calloc(4, (size_t)MIB);
    up(&x, host);
    assert_int_equal(plugin.device->synchronize(0), TERN_OK);
    plugin.trace_waits();
    up(&x, host);
    up(&x, host);
    assert_int_equal(plugin.waits(NULL, 0), 0);
    test_free(host);
    give(&x);
}

static void more_small_copies_than_may_be_under_way_arrive_whole(void **state)
{
    (void)state;
    piece pieces[100];
    for (int i = 0; i < 100; i++) {
        const float value = (float)i;
        pieces[i] = take(0, sizeof value);
        up(&pieces[i], &value);
    }
    for (int i = 0; i < 100; i++) {
        assert_near(first_of(&pieces[i]), i, 0, 0);
        give(&pieces[i]);
    }
}

// ---- between devices ----------------------------------------------------------------------------

static void devices_copy_from_each_other_and_only_they_wait(void **state)
{
    (void)state;
    piece a = take(0, MIB), b = take(1, MIB), c = take(0, MIB);
    copy(&b, &a); // peer access is asked for once
    assert_int_equal(plugin.device->synchronize(0), TERN_OK);
    plugin.trace_waits();
    fill(&a, 5);
    fill(&b, 6);
    copy(&b, &a);
    fill(&a, 7); // after the copy, in the order of the source's stream
    copy(&c, &b);
    tern_sim_wait waits[16];
    const size_t count = plugin.waits(waits, 16);
    assert_true(count > 0 && count <= 16);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(waits[i].waiter, TERN_SIM_STREAM_ON_EVENT);
        assert_int_not_equal(waits[i].device, waits[i].on_device);
    }
    assert_near(first_of(&b), 5, 0, 0);
    assert_near(first_of(&c), 5, 0, 0);
    assert_near(first_of(&a), 7, 0, 0);
    give(&a);
    give(&b);
    give(&c);
}

static void a_device_uses_what_it_was_sent_when_it_has_come(void **state)
{
    (void)state;
    piece a = take(0, MIB), b = take(1, MIB), c = take(1, MIB);
    fill(&a, 5);
    fill(&b, 6);
    copy(&b, &a);
    copy(&c, &b); // on the device that was sent it
    fill(&b, 7);
    assert_int_equal(plugin.device->synchronize(0), TERN_OK); // the sender is done first
    assert_near(first_of(&c), 5, 0, 0);
    assert_near(first_of(&b), 7, 0, 0);
    give(&a);
    give(&b);
    give(&c);
}

static void devices_that_exchange_nothing_wait_for_nothing(void **state)
{
    (void)state;
    piece a = take(0, MIB), b = take(1, MIB);
    plugin.trace_waits();
    for (int i = 0; i < 5; i++) {
        fill(&a, 1);
        fill(&b, 2);
    }
    assert_int_equal(plugin.waits(NULL, 0), 0);
    give(&a);
    give(&b);
}

// ---- page-locked memory -------------------------------------------------------------------------

static void page_locked_memory_is_copied_without_waiting(void **state)
{
    (void)state;
    void *block, *block_back;
    float *host = plugin.cuda->pinned_alloc(MIB, &block);
    float *back = plugin.cuda->pinned_alloc(MIB, &block_back);
    assert_true(host && back);
    piece x = take(0, MIB);
    for (int i = 0; i < MIB / 4; i++)
        host[i] = (float)i;
    plugin.trace_waits();
    assert_int_equal(plugin.cuda->pinned_to_device(0, x.data, host, MIB, block), TERN_OK);
    assert_int_equal(plugin.cuda->pinned_to_host(0, back, x.data, MIB, block_back), TERN_OK);
    assert_int_equal(plugin.waits(NULL, 0), 0);
    assert_int_equal(plugin.device->synchronize(0), TERN_OK);
    assert_memory_equal(back, host, (size_t)MIB);
    plugin.cuda->pinned_free(host, MIB, block);
    plugin.cuda->pinned_free(back, MIB, block_back);
    give(&x);
}

static void page_locked_memory_is_used_again_when_its_copies_are_done(void **state)
{
    (void)state;
    piece x = take(0, 100 * KIB);
    void *block, *first = plugin.cuda->pinned_alloc(100 * KIB, &block);
    memset(first, 1, (size_t)(100 * KIB));
    assert_int_equal(plugin.cuda->pinned_to_device(0, x.data, first, 100 * KIB, block), TERN_OK);
    plugin.cuda->pinned_free(first, 100 * KIB, block);
    void *block_too, *second = plugin.cuda->pinned_alloc(100 * KIB, &block_too);
    memset(second, 2, (size_t)(100 * KIB));
    char value = 0;
    assert_int_equal(plugin.device->to_host(0, &value, x.data, 1), TERN_OK);
    assert_int_equal(value, 1);
    plugin.cuda->pinned_free(second, 100 * KIB, block_too);
    const long allocs = counts().host_allocs;
    for (int i = 0; i < 10; i++) {
        void *again = plugin.cuda->pinned_alloc(100 * KIB - i, &block);
        plugin.cuda->pinned_free(again, 100 * KIB - i, block);
    }
    assert_int_equal(counts().host_allocs, allocs);
    give(&x);
}

static void page_locked_memory_that_nobody_uses_is_given_back_when_there_is_no_more(void **state)
{
    (void)state;
    void *block, *data = plugin.cuda->pinned_alloc(100 * KIB, &block);
    plugin.cuda->pinned_free(data, 100 * KIB, block);
    const long frees = counts().host_frees;
    plugin.fail_call(TERN_SIM_HOST_ALLOC, 1, cudaErrorMemoryAllocation);
    data = plugin.cuda->pinned_alloc(5 * MIB, &block); // at the second attempt
    plugin.fail_none();
    assert_true(data && counts().host_frees > frees);
    plugin.cuda->pinned_free(data, 5 * MIB, block);
}

// ---- state --------------------------------------------------------------------------------------

static void a_fault_is_seen_when_it_was_published(void **state)
{
    (void)state;
    const tern_fault planted = {.set = 1, .location = 7, .element = 42, .value = -3};
    const tern_exec exec = exec_of(0);
    tern_fault found = {0};
    assert_int_equal(plugin.device->to_device(0, exec.fault, &planted, sizeof planted), TERN_OK);
    assert_false(plugin.device->fault_seen(0));
    plugin.trace_waits();
    plugin.device->fault_publish(0);
    assert_int_equal(plugin.waits(NULL, 0), 0);
    assert_int_equal(plugin.device->synchronize(0), TERN_OK);
    assert_true(plugin.device->fault_seen(0));
    assert_false(plugin.device->fault_seen(1));
    assert_int_equal(plugin.device->fault_read(0, &found), TERN_OK);
    assert_memory_equal(&found, &planted, sizeof planted);
    plugin.device->fault_publish(0); // still under way when it is cleared
    plugin.device->fault_clear(0);
    assert_false(plugin.device->fault_seen(0));
    assert_int_equal(plugin.device->fault_read(0, &found), TERN_OK);
    assert_int_equal(found.set, 0);
    assert_false(plugin.device->fault_seen(0));
}

static void draws_are_written_and_moved_on_in_order(void **state)
{
    (void)state;
    tern_draw_state found = {0};
    plugin.device->draws_write(0, (tern_draw_state){.seed = 11, .base = 5});
    plugin.device->draws_advance(0, 7);
    plugin.device->draws_write(1, (tern_draw_state){.seed = 12});
    assert_int_equal(plugin.device->draws_read(0, &found), TERN_OK);
    assert_int_equal(found.seed, 11);
    assert_int_equal(found.base, 12);
    assert_int_equal(plugin.device->draws_read(1, &found), TERN_OK);
    assert_int_equal(found.seed, 12);
    assert_int_equal(found.base, 0);
}

static void a_device_says_what_it_is(void **state)
{
    (void)state;
    tern_cuda_properties properties = {.major = -1};
    assert_int_equal(plugin.cuda->properties(1, &properties), TERN_OK);
    assert_string_equal(properties.name, "tern simulated device");
    assert_int_equal(properties.major, 9);
    assert_int_equal(properties.minor, 0);
    assert_true(properties.multiprocessors > 0);
    assert_int_equal(properties.total_memory, memory_of(1).total);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(values_come_back_as_they_went, calm),
        cmocka_unit_test_setup(host_memory_may_be_reused_when_a_copy_returns, calm),
        cmocka_unit_test_setup(small_copies_to_a_device_do_not_wait, calm),
        cmocka_unit_test_setup(small_copies_take_no_more_page_locked_memory, fresh_device),
        cmocka_unit_test_setup(large_copies_go_in_few_pieces_through_memory_taken_once,
                               fresh_device),
        cmocka_unit_test_setup(without_page_locked_memory_large_copies_go_in_small_pieces,
                               fresh_device),
        cmocka_unit_test_setup(a_large_copy_takes_its_memory_while_another_device_is_captured,
                               fresh_device),
        cmocka_unit_test_setup(two_large_copies_to_a_device_do_not_wait, calm),
        cmocka_unit_test_setup(more_small_copies_than_may_be_under_way_arrive_whole, calm),
        cmocka_unit_test_setup(devices_copy_from_each_other_and_only_they_wait, calm),
        cmocka_unit_test_setup(a_device_uses_what_it_was_sent_when_it_has_come, calm),
        cmocka_unit_test_setup(devices_that_exchange_nothing_wait_for_nothing, calm),
        cmocka_unit_test_setup(page_locked_memory_is_copied_without_waiting, calm),
        cmocka_unit_test_setup(page_locked_memory_is_used_again_when_its_copies_are_done, calm),
        cmocka_unit_test_setup(
            page_locked_memory_that_nobody_uses_is_given_back_when_there_is_no_more, calm),
        cmocka_unit_test_setup(a_fault_is_seen_when_it_was_published, calm),
        cmocka_unit_test_setup(draws_are_written_and_moved_on_in_order, calm),
        cmocka_unit_test_setup(a_device_says_what_it_is, calm),
    };
    return cmocka_run_group_tests(tests, open_devices, NULL);
}
