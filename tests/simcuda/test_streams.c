// SPDX-License-Identifier: Apache-2.0
// Streams and events, as CUDA's manual says: what is ordered, and what a wait waits for.
#include "check_sim.h"

static void pause_briefly(void *unused)
{
    (void)unused;
    usleep(10000);
}

// On a device what comes next in the stream is late: whoever does not wait for it is found out.
static void hold_back(cudaStream_t stream)
{
    assert_done(cudaLaunchHostFunc(stream, pause_briefly, NULL));
}

static void a_stream_has_worked_when_it_was_waited_for(void **state)
{
    (void)state;
    float *x = new_buffer(1);
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    hold_back(stream);
    launch_scale_and_add(stream, x, 1, 1);
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
    hold_back(first);
    launch_scale_and_add(first, x, 1, 1);
    assert_done(cudaEventRecord(event, first));
    assert_done(cudaStreamWaitEvent(second, event, 0));
    launch_copy(second, y, x);
    assert_done(cudaStreamSynchronize(second));
    assert_true(value_now(y) == 2);
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
    hold_back(first);
    launch_scale_and_add(first, x, 1, 1);
    assert_done(cudaEventRecord(event, first));
    assert_done(cudaStreamWaitEvent(second, event, 0));
    assert_done(cudaEventRecord(event, second)); // neither this nor the end of the event matters
    assert_done(cudaEventDestroy(event));
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
    hold_back(stream);
    for (int i = 0; i < 3; i++)
        launch_scale_and_add(stream, x, 1, 1);
    assert_done(cudaEventRecord(event, stream));
    cudaError_t answer;
    while ((answer = cudaEventQuery(event)) == cudaErrorNotReady)
        ;
    assert_int_equal(answer, cudaSuccess);
    assert_true(value_now(x) == 4);
    launch_scale_and_add(stream, x, 1, 1);
    while ((answer = cudaStreamQuery(stream)) == cudaErrorNotReady)
        ;
    assert_int_equal(answer, cudaSuccess);
    assert_true(value_now(x) == 5);
    print_message("afterwards the last error is %s\n", cudaGetErrorName(cudaGetLastError()));
    assert_done(cudaEventDestroy(event));
    assert_done(cudaStreamDestroy(stream));
    assert_done(cudaFree(x));
}

static void work_of_a_destroyed_stream_goes_on(void **state)
{
    (void)state;
    float *x = new_buffer(1);
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    hold_back(stream);
    launch_scale_and_add(stream, x, 1, 1);
    assert_done(cudaStreamDestroy(stream));
    assert_done(cudaDeviceSynchronize());
    assert_true(value_now(x) == 2);
    assert_done(cudaFree(x));
}

static void the_legacy_stream_orders_blocking_streams(void **state)
{
    (void)state;
    float *x = new_buffer(1);
    cudaStream_t stream = new_stream(cudaStreamDefault);
    hold_back(stream);
    launch_scale_and_add(stream, x, 2, 1); // 3
    launch_scale_and_add(NULL, x, 10, 0);  // 30
    hold_back(NULL);
    launch_scale_and_add(stream, x, 2, 1); // 61
    assert_done(cudaStreamSynchronize(stream));
    assert_true(value_now(x) == 61);
    assert_done(cudaStreamDestroy(stream));
    assert_done(cudaFree(x));
}

static void a_synchronous_copy_waits_for_blocking_streams(void **state)
{
    (void)state;
    float *x = new_buffer(1), host[floats];
    cudaStream_t stream = new_stream(cudaStreamDefault);
    hold_back(stream);
    launch_scale_and_add(stream, x, 1, 1);
    assert_done(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    assert_true(host[0] == 2);
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
    hold_back(stream);
    for (int i = 0; i < 3; i++)
        assert_done(cudaLaunchHostFunc(stream, note_place, places));
    assert_done(cudaStreamSynchronize(stream));
    for (int i = 0; i < 4; i++)
        assert_int_equal(places[i], i ? i : 4);
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
    assert_done(cudaEventSynchronize(end));
    assert_done(cudaEventElapsedTime(&milliseconds, start, end));
    assert_true(milliseconds >= 0);
    assert_done(cudaStreamSynchronize(stream));
    assert_answer(cudaEventElapsedTime(&milliseconds, start, untimed),
                  cudaErrorInvalidResourceHandle);
    assert_done(cudaEventDestroy(start));
    assert_done(cudaEventDestroy(end));
    assert_done(cudaEventDestroy(untimed));
    assert_done(cudaStreamDestroy(stream));
}

static void streams_and_events_of_another_device_are_refused(void **state)
{
    (void)state;
    need_two_devices();
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
        cmocka_unit_test(a_stream_has_worked_when_it_was_waited_for),
        cmocka_unit_test(an_event_orders_another_stream_after_it),
        cmocka_unit_test(waiting_takes_the_record_of_that_time),
        cmocka_unit_test(an_event_that_was_never_recorded_holds_nobody_back),
        cmocka_unit_test(queries_come_to_an_end),
        cmocka_unit_test(work_of_a_destroyed_stream_goes_on),
        cmocka_unit_test(the_legacy_stream_orders_blocking_streams),
        cmocka_unit_test(a_synchronous_copy_waits_for_blocking_streams),
        cmocka_unit_test(host_functions_run_in_their_place),
        cmocka_unit_test(time_passes_between_two_events),
        cmocka_unit_test(streams_and_events_of_another_device_are_refused),
    };
    return run_cases(tests, NULL, NULL);
}
