// SPDX-License-Identifier: Apache-2.0
// A device without enough memory, and calls that fail one after the other.
#include "plugin_check.h"
#include "base/error.h"

static int roomy(void **state)
{
    (void)state;
    tern_error_clear();
    plugin.fail_none();
    assert_int_equal(plugin.cuda->empty_cache(0), TERN_OK);
    plugin.set_memory(0, (size_t)(256 * MIB));
    return 0;
}

static void the_error_says_who_holds_the_memory(void **state)
{
    (void)state;
    const int64_t own = memory_of(0).reserved; // the device's state
    piece x = take(0, 96 * MIB), y = take(0, 64 * MIB), z = take(0, 1000);
    void *block = &x;
    assert_null(plugin.device->alloc(0, 300 * MIB, &block));
    assert_ptr_equal(block, &x);
    char sentence[512];
    snprintf(sentence, sizeof sentence,
             "cuda:0 has no memory for 300.00 MiB: %.2f MiB of 256.00 MiB are free; tensors hold "
             "160.00 MiB, the biggest 96.00 MiB, 64.00 MiB, 1.00 KiB; %.2f MiB are reserved",
             (double)memory_of(0).free / (double)MIB, 162 + (double)own / (double)MIB);
    assert_error(TERN_ERR_NOMEM, sentence);
    give(&x);
    give(&y);
    give(&z);
}

static void sizes_beyond_counting_are_refused(void **state)
{
    (void)state;
    void *block;
    assert_null(plugin.device->alloc(0, INT64_MAX, &block));
    assert_error(TERN_ERR_NOMEM, "cuda:0 has no memory for 8388608.00 TiB");
    piece x = take(0, 512); // and nothing is broken
    give(&x);
}

static void kept_memory_is_given_back_before_there_is_none(void **state)
{
    (void)state;
    piece parts[5];
    for (int i = 0; i < 5; i++)
        parts[i] = take(0, 40 * MIB);
    for (int i = 0; i < 5; i++)
        give(&parts[i]);
    piece x = take(0, 200 * MIB); // no kept block is as big
    assert_true(memory_of(0).reserved < 210 * MIB);
    give(&x);
}

// y = x x, for matrices of 4 x 4.
static tern_status product_of(const piece *y, const piece *x)
{
    const tern_exec exec = exec_of(0);
    const tern_strided to = {y->data, TERN_FLOAT32, 3, {1, 4, 4}, {16, 4, 1}};
    tern_strided from = to;
    from.data = x->data;
    const tern_matmul_args args = {.y = to, .a = from, .b = from};
    return plugin.kernels->matmul(&exec, &args);
}

static void multiply(const piece *y, const piece *x)
{
    assert_int_equal(product_of(y, x), TERN_OK);
}

static void kept_memory_makes_room_for_a_first_product(void **state)
{
    (void)state;
    piece ones = take(0, 64), product = take(0, 64);
    fill(&ones, 1);
    piece most = take(0, 240 * MIB); // leaves less than cuBLAS gets to work with
    give(&most);
    multiply(&product, &ones);
    assert_near(first_of(&product), 4, 0, 0);
    tern_cuda_stream *side = plugin.cuda->stream_new(0); // with a handle of its own
    (void)plugin.cuda->stream_set(0, side);
    plugin.fail_call(TERN_SIM_BLAS_CREATE, 1, 3); // CUBLAS_STATUS_ALLOC_FAILED
    multiply(&product, &ones);
    (void)plugin.cuda->stream_set(0, NULL);
    plugin.cuda->stream_free(side);
    give(&ones);
    give(&product);
}

static void memory_that_waits_for_another_stream_is_waited_for(void **state)
{
    (void)state;
    tern_cuda_stream *side = plugin.cuda->stream_new(0);
    piece x = take(0, 150 * MIB);
    (void)plugin.cuda->stream_set(0, side);
    plugin.device->use(0, x.block);
    fill(&x, 1);
    (void)plugin.cuda->stream_set(0, NULL);
    give(&x);
    x = take(0, 200 * MIB);
    give(&x);
    plugin.cuda->stream_free(side);
}

static void a_small_device_still_serves_what_fits(void **state)
{
    (void)state;
    void *block;
    assert_null(plugin.device->alloc(0, 400 * MIB, &block));
    assert_error(TERN_ERR_NOMEM, "no memory for 400.00 MiB");
    piece x = take(0, 100 * MIB);
    fill(&x, 2);
    assert_near(first_of(&x), 2, 0, 0);
    give(&x);
}

// ---- every call fails once ----------------------------------------------------------------------

// Goes through what the host half does; false, with an error pending, where a step failed. Leaves
// nothing behind either way.
static bool go_through(void)
{
    bool done = false;
    void *block_x = NULL, *block_y = NULL, *block_host = NULL;
    float value = 1;
    tern_cuda_stream *side = NULL;
    tern_cuda_event *event = NULL;
    void *y = NULL, *host = NULL;
    void *x = plugin.device->alloc(0, 4 * MIB, &block_x);
    if (!x || !(y = plugin.device->alloc(1, 4 * MIB, &block_y)) ||
        !(host = plugin.cuda->pinned_alloc(MIB, &block_host)) ||
        !(side = plugin.cuda->stream_new(0)) || !(event = plugin.cuda->event_new(0)))
        goto out;
    (void)plugin.cuda->stream_set(0, side);
    plugin.device->use(0, block_x);
    done = !plugin.device->to_device(0, x, &value, sizeof value) &&
           !plugin.cuda->pinned_to_device(0, x, host, MIB, block_host) &&
           !plugin.cuda->event_record(event) && !plugin.cuda->event_wait(event, 1) &&
           !plugin.device->across(1, y, 0, x, 4 * MIB) &&
           !plugin.device->to_host(1, &value, y, sizeof value) && !plugin.device->synchronize(0);
    (void)plugin.cuda->stream_set(0, NULL);
out:
    plugin.device->free(0, x, 4 * MIB, block_x);
    plugin.device->free(1, y, 4 * MIB, block_y);
    plugin.cuda->pinned_free(host, MIB, block_host);
    plugin.cuda->event_free(event);
    plugin.cuda->stream_free(side);
    return done;
}

static void a_call_that_fails_is_an_error_and_leaves_nothing_behind(void **state)
{
    (void)state;
    const enum tern_sim_call calls[] = {
        TERN_SIM_MALLOC,       TERN_SIM_HOST_ALLOC,   TERN_SIM_MEMCPY, TERN_SIM_STREAM_CREATE,
        TERN_SIM_EVENT_CREATE, TERN_SIM_EVENT_RECORD, TERN_SIM_WAIT};
    const int64_t held = memory_of(0).allocated, held_too = memory_of(1).allocated;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        int failures = 0;
        for (int n = 1; n < 20; n++) {
            assert_int_equal(plugin.cuda->empty_cache(0), TERN_OK);
            assert_int_equal(plugin.cuda->empty_cache(1), TERN_OK);
            plugin.fail_call(calls[i], n, cudaErrorUnknown);
            const bool done = go_through();
            plugin.fail_none();
            assert_int_equal(done, !tern_error_pending());
            if (!done)
                assert_error(TERN_ERR_DEVICE, "cudaErrorUnknown");
            failures += !done;
            assert_true(go_through());
            assert_no_error();
            assert_int_equal(memory_of(0).allocated, held);
            assert_int_equal(memory_of(1).allocated, held_too);
        }
        assert_true(failures > 0 || calls[i] == TERN_SIM_EVENT_RECORD ||
                    calls[i] == TERN_SIM_EVENT_CREATE || calls[i] == TERN_SIM_HOST_ALLOC);
    }
}

static void memory_that_comes_at_the_second_asking_is_no_error(void **state)
{
    (void)state;
    for (int n = 1; n < 4; n++) {
        assert_int_equal(plugin.cuda->empty_cache(0), TERN_OK);
        plugin.fail_call(TERN_SIM_MALLOC, n, cudaErrorMemoryAllocation);
        assert_true(go_through());
        assert_no_error();
        plugin.fail_none();
    }
    plugin.fail_from(TERN_SIM_MALLOC, 1, cudaErrorMemoryAllocation);
    assert_int_equal(plugin.cuda->empty_cache(0), TERN_OK);
    assert_false(go_through());
    assert_error(TERN_ERR_NOMEM, "cuda:0 has no memory for 4.00 MiB");
    plugin.fail_none();
}

// Launches after a failed call must not be told of it.
static void what_failed_before_is_not_told_twice(void **state)
{
    (void)state;
    void *block;
    piece x = take(0, MIB);
    plugin.fail_from(TERN_SIM_MALLOC, 1, cudaErrorMemoryAllocation);
    assert_null(plugin.device->alloc(0, 50 * MIB, &block));
    plugin.fail_none();
    assert_error(TERN_ERR_NOMEM, "50.00 MiB");
    fill(&x, 3); // asserts that the launch worked
    plugin.fail_call(TERN_SIM_HOST_ALLOC, 1, cudaErrorMemoryAllocation);
    void *host = plugin.cuda->pinned_alloc(77 * MIB, &block);
    assert_non_null(host);
    fill(&x, 4);
    plugin.cuda->pinned_free(host, 77 * MIB, block);
    give(&x);
}

// cuBLAS works on whatever device is current, and no call of it tells that it is another one.
static void a_product_fails_where_its_device_cannot_be_made_current(void **state)
{
    (void)state;
    piece ones = take(0, 64), product = take(0, 64);
    fill(&ones, 1);
    multiply(&product, &ones); // by a handle that later products find
    int failures = 0;
    for (long n = 1; n < 20; n++) {
        (void)exec_of(1); // now that device is current
        plugin.fail_any(n, TERN_SIM_NO_MEMORY);
        failures += product_of(&product, &ones) != TERN_OK;
        plugin.fail_none();
        tern_error_clear();
        multiply(&product, &ones);
        assert_near(first_of(&product), 4, 0, 0);
    }
    assert_true(failures > 0);
    give(&ones);
    give(&product);
}

static void a_device_that_fell_ill_goes_on_saying_so(void **state)
{
    (void)state;
    piece x = take(1, MIB);
    void *block;
    float value = 0;
    plugin.break_device(1, cudaErrorIllegalAddress);
    assert_int_equal(plugin.device->synchronize(1), TERN_ERR_DEVICE);
    assert_error(TERN_ERR_DEVICE, "cudaErrorIllegalAddress");
    assert_int_equal(plugin.device->to_host(1, &value, x.data, 4), TERN_ERR_DEVICE);
    assert_error(TERN_ERR_DEVICE, "illegal memory access");
    assert_null(plugin.device->alloc(1, 100 * MIB, &block));
    assert_error(TERN_ERR_DEVICE, "cudaErrorIllegalAddress");
    give(&x); // quietly
    assert_no_error();
    assert_null(plugin.cuda->stream_new(1));
    assert_error(TERN_ERR_DEVICE, "cuda_stream_new");
    plugin.device->fault_publish(1);
    plugin.device->fault_clear(1);
    tern_error_clear();
    piece other = take(0, MIB); // the other device is well
    fill(&other, 1);
    assert_near(first_of(&other), 1, 0, 0);
    give(&other);
    plugin.break_device(1, 0);
    assert_int_equal(plugin.device->synchronize(1), TERN_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_error_says_who_holds_the_memory, roomy),
        cmocka_unit_test_setup(sizes_beyond_counting_are_refused, roomy),
        cmocka_unit_test_setup(kept_memory_is_given_back_before_there_is_none, roomy),
        cmocka_unit_test_setup(kept_memory_makes_room_for_a_first_product, roomy),
        cmocka_unit_test_setup(memory_that_waits_for_another_stream_is_waited_for, roomy),
        cmocka_unit_test_setup(a_small_device_still_serves_what_fits, roomy),
        cmocka_unit_test_setup(a_call_that_fails_is_an_error_and_leaves_nothing_behind, roomy),
        cmocka_unit_test_setup(memory_that_comes_at_the_second_asking_is_no_error, roomy),
        cmocka_unit_test_setup(what_failed_before_is_not_told_twice, roomy),
        cmocka_unit_test_setup(a_product_fails_where_its_device_cannot_be_made_current, roomy),
        cmocka_unit_test_setup(a_device_that_fell_ill_goes_on_saying_so, roomy),
    };
    return cmocka_run_group_tests(tests, open_devices, NULL);
}
