// SPDX-License-Identifier: Apache-2.0
// Streams and events, as CUDA's manual says; eager or lazy, as the environment says.
#include "check_sim.h"

static void a_lazy_stream_works_when_it_is_waited_for(void **state)
{
    (void)state;
    float *x = new_buffer(1);
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    launch_scale_and_add(stream, x, 1, 1);
    assert_true(value_now(x) == (is_lazy() ? 1 : 2));
    assert_done(cudaStreamSynchronize(stream));
    assert_true(value_now(x) == 2);
    assert_done(cudaStreamDestroy(stream));
    assert_done(cudaFree(x));
}

static void an_event_orders_another_stream_after_it(void **state)
{
    (void)state;
    float *x = new_buffer(1), *y = new_buffer(0);
    cudaStream_t first = new_stream(cudaStreamNonBlocking);
    cudaStream_t second = new_stream(cudaStreamNonBlocking);
    cudaEvent_t event = new_event();
    launch_scale_and_add(first, x, 1, 1);
    assert_done(cudaEventRecord(event, first));
    launch_scale_and_add(first, x, 1, 10); // after the event: nobody waits for it
    assert_done(cudaStreamWaitEvent(second, event, 0));
    launch_copy(second, y, x);
    assert_done(cudaStreamSynchronize(second));
    assert_true(value_now(y) == (is_lazy() ? 2 : 12));
    assert_done(cudaStreamSynchronize(first));
    assert_true(value_now(x) == 12);
    assert_done(cudaEventDestroy(event));
    assert_done(cudaStreamDestroy(first));
    assert_done(cudaStreamDestroy(second));
    assert_done(cudaFree(x));
    assert_done(cudaFree(y));
}

static void waiting_takes_the_record_of_that_time(void **state)
{
    (void)state;
    float *x = new_buffer(1), *y = new_buffer(0);
    cudaStream_t first = new_stream(cudaStreamNonBlocking);
    cudaStream_t second = new_stream(cudaStreamNonBlocking);
    cudaEvent_t event = new_event();
    launch_scale_and_add(first, x, 1, 1);
    assert_done(cudaEventRecord(event, first));
    assert_done(cudaStreamWaitEvent(second, event, 0));
    assert_done(cudaEventDestroy(event)); // what was asked for stays
    launch_copy(second, y, x);
    assert_done(cudaStreamSynchronize(second));
    assert_true(value_now(y) == 2);
    assert_done(cudaStreamDestroy(first));
    assert_done(cudaStreamDestroy(second));
    assert_done(cudaFree(x));
    assert_done(cudaFree(y));
}

static void an_event_that_was_never_recorded_holds_nobody_back(void **state)
{
    (void)state;
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    cudaEvent_t event = new_event();
    assert_done(cudaStreamWaitEvent(stream, event, 0));
    assert_done(cudaEventQuery(event));
    assert_done(cudaEventSynchronize(event));
    assert_done(cudaStreamSynchronize(stream));
    assert_done(cudaEventDestroy(event));
    assert_done(cudaStreamDestroy(stream));
}

static void queries_come_to_an_end(void **state)
{
    (void)state;
    float *x = new_buffer(1);
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    cudaEvent_t event = new_event();
    for (int i = 0; i < 3; i++)
        launch_scale_and_add(stream, x, 1, 1);
    assert_done(cudaEventRecord(event, stream));
    launch_scale_and_add(stream, x, 1, 1);
    int not_ready = 0;
    for (; cudaEventQuery(event) == cudaErrorNotReady; not_ready++)
        ;
    assert_int_equal(not_ready, is_lazy() ? 4 : 0);
    assert_done(cudaPeekAtLastError()); // "not ready" is no error to remember
    for (; cudaStreamQuery(stream) == cudaErrorNotReady; not_ready++)
        ;
    assert_int_equal(not_ready, is_lazy() ? 5 : 0);
    assert_true(value_now(x) == 5);
    assert_done(cudaEventDestroy(event));
    assert_done(cudaStreamDestroy(stream));
    assert_done(cudaFree(x));
}

static void work_of_a_destroyed_stream_goes_on(void **state)
{
    (void)state;
    float *x = new_buffer(1);
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    launch_scale_and_add(stream, x, 1, 1);
    assert_done(cudaStreamDestroy(stream));
    assert_true(value_now(x) == (is_lazy() ? 1 : 2));
    assert_done(cudaDeviceSynchronize());
    assert_true(value_now(x) == 2);
    assert_done(cudaFree(x));
}

// What both kinds of stream, and the legacy one in turn, make of 1, 2, 3, ...: value * 2 + 1.
static float after_legacy_between(unsigned flags)
{
    float *x = new_buffer(1), *y = new_buffer(0);
    cudaStream_t stream = new_stream(flags);
    launch_scale_and_add(stream, x, 2, 1); // 3
    launch_scale_and_add(NULL, x, 10, 0);  // 30 after it, 10 before it
    launch_scale_and_add(stream, x, 2, 1); // 61 after all
    launch_copy(stream, y, x);
    assert_done(cudaStreamSynchronize(stream));
    float value = value_now(y);
    assert_done(cudaDeviceSynchronize());
    assert_done(cudaStreamDestroy(stream));
    assert_done(cudaFree(x));
    assert_done(cudaFree(y));
    return value;
}

static void the_legacy_stream_orders_blocking_streams(void **state)
{
    (void)state;
    assert_true(after_legacy_between(cudaStreamDefault) == 61);
    assert_true(after_legacy_between(cudaStreamNonBlocking) == (is_lazy() ? 7 : 61));
}

static void a_synchronous_copy_waits_for_blocking_streams(void **state)
{
    (void)state;
    float *x = new_buffer(1), host[floats];
    cudaStream_t stream = new_stream(cudaStreamDefault);
    launch_scale_and_add(stream, x, 1, 1);
    assert_done(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    assert_true(host[0] == 2);
    assert_done(cudaStreamDestroy(stream));
    assert_done(cudaFree(x));
}

static void pageable_memory_is_read_when_the_copy_is_asked_for(void **state)
{
    (void)state;
    float *x = new_buffer(0), host[floats];
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    for (int i = 0; i < floats; i++)
        host[i] = 1;
    assert_done(cudaMemcpyAsync(x, host, sizeof host, cudaMemcpyHostToDevice, stream));
    memset(host, 0, sizeof host);
    assert_done(cudaStreamSynchronize(stream));
    assert_true(value_now(x) == 1);
    assert_done(cudaStreamDestroy(stream));
    assert_done(cudaFree(x));
}

static void pinned_memory_is_read_when_the_stream_comes_to_it(void **state)
{
    (void)state;
    float *x = new_buffer(1);
    void *pinned;
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    assert_done(cudaHostAlloc(&pinned, floats * sizeof(float), cudaHostAllocDefault));
    memset(pinned, 0, floats * sizeof(float));
    assert_done(cudaMemcpyAsync(x, pinned, floats * sizeof(float), cudaMemcpyDefault, stream));
    for (int i = 0; i < floats; i++)
        ((float *)pinned)[i] = 5;
    assert_done(cudaStreamSynchronize(stream));
    assert_true(value_now(x) == (is_lazy() ? 5 : 0));
    assert_done(cudaFreeHost(pinned));
    assert_done(cudaStreamDestroy(stream));
    assert_done(cudaFree(x));
}

static void note_place(void *data)
{
    int *places = data, place = places[0]++;
    places[place] = place;
}

static void host_functions_run_in_their_place(void **state)
{
    (void)state;
    int places[4] = {1};
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    for (int i = 0; i < 3; i++)
        assert_done(cudaLaunchHostFunc(stream, note_place, places));
    assert_int_equal(places[0], is_lazy() ? 1 : 4);
    assert_done(cudaStreamSynchronize(stream));
    assert_int_equal(places[0], 4);
    assert_done(cudaStreamDestroy(stream));
}

static void time_passes_between_two_events(void **state)
{
    (void)state;
    cudaEvent_t start, end, untimed = new_event();
    float milliseconds = -1;
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    assert_done(cudaEventCreate(&start));
    assert_done(cudaEventCreate(&end));
    assert_answer(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorInvalidResourceHandle);
    assert_done(cudaEventRecord(start, stream));
    assert_done(cudaEventRecord(end, stream));
    assert_done(cudaEventRecord(untimed, stream));
    if (is_lazy())
        assert_answer(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorNotReady);
    assert_done(cudaEventSynchronize(end));
    assert_done(cudaEventElapsedTime(&milliseconds, start, end));
    assert_true(milliseconds >= 0);
    assert_answer(cudaEventElapsedTime(&milliseconds, start, untimed),
                  cudaErrorInvalidResourceHandle);
    assert_done(cudaEventDestroy(start));
    assert_done(cudaEventDestroy(end));
    assert_done(cudaEventDestroy(untimed));
    assert_done(cudaStreamDestroy(stream));
}

static void waits_are_noted_with_who_waits_for_whom(void **state)
{
    (void)state;
    cudaStream_t here = new_stream(cudaStreamNonBlocking), there;
    assert_done(cudaSetDevice(1));
    there = new_stream(cudaStreamNonBlocking);
    assert_done(cudaSetDevice(0));
    cudaEvent_t event = new_event();
    tern_sim_trace_waits();
    assert_int_equal(tern_sim_waits(NULL, 0), 0);
    assert_done(cudaEventRecord(event, here));
    assert_done(cudaStreamWaitEvent(there, event, 0));
    assert_done(cudaStreamSynchronize(there));
    tern_sim_wait waits[3];
    assert_int_equal(tern_sim_waits(waits, 3), 2);
    assert_int_equal(waits[0].waiter, TERN_SIM_STREAM_ON_EVENT);
    assert_int_equal(waits[0].device, 1);
    assert_ptr_equal(waits[0].stream, there);
    assert_int_equal(waits[0].on_device, 0);
    assert_ptr_equal(waits[0].on_stream, here);
    assert_int_equal(waits[1].waiter, TERN_SIM_HOST_ON_STREAM);
    assert_int_equal(waits[1].device, -1);
    assert_ptr_equal(waits[1].on_stream, there);
    assert_done(cudaEventDestroy(event));
    assert_done(cudaStreamDestroy(here));
    assert_done(cudaStreamDestroy(there));
}

static void streams_and_events_of_another_device_are_refused(void **state)
{
    (void)state;
    float *x = new_buffer(1);
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    cudaEvent_t event = new_event();
    assert_done(cudaSetDevice(1));
    launch_scale_and_add(stream, x, 1, 1);
    assert_answer(cudaGetLastError(), cudaErrorInvalidResourceHandle);
    cudaStream_t other = new_stream(cudaStreamNonBlocking);
    assert_answer(cudaEventRecord(event, other), cudaErrorInvalidResourceHandle);
    assert_done(cudaSetDevice(0));
    assert_true(value_now(x) == 1);
    assert_done(cudaEventDestroy(event));
    assert_done(cudaStreamDestroy(stream));
    assert_done(cudaStreamDestroy(other));
    assert_done(cudaFree(x));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lazy_stream_works_when_it_is_waited_for),
        cmocka_unit_test(an_event_orders_another_stream_after_it),
        cmocka_unit_test(waiting_takes_the_record_of_that_time),
        cmocka_unit_test(an_event_that_was_never_recorded_holds_nobody_back),
        cmocka_unit_test(queries_come_to_an_end),
        cmocka_unit_test(work_of_a_destroyed_stream_goes_on),
        cmocka_unit_test(the_legacy_stream_orders_blocking_streams),
        cmocka_unit_test(a_synchronous_copy_waits_for_blocking_streams),
        cmocka_unit_test(pageable_memory_is_read_when_the_copy_is_asked_for),
        cmocka_unit_test(pinned_memory_is_read_when_the_stream_comes_to_it),
        cmocka_unit_test(host_functions_run_in_their_place),
        cmocka_unit_test(time_passes_between_two_events),
        cmocka_unit_test(waits_are_noted_with_who_waits_for_whom),
        cmocka_unit_test(streams_and_events_of_another_device_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
