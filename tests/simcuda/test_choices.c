// SPDX-License-Identifier: Apache-2.0
// What the simulated device does where CUDA leaves a choice: streams are eager or lazy, as the
// environment says; copies, allocations and the memory they give are as strict as they may be.
#include "check_sim.h"

#include <curand.h>

static bool is_lazy(void)
{
    const char *streams = getenv("TERN_SIM_STREAMS");
    return streams && !strcmp(streams, "lazy");
}

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

static void a_lazy_stream_works_no_further_than_the_event(void **state)
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

static void each_query_of_a_lazy_stream_lets_it_do_one_thing(void **state)
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

static void a_lazy_stream_that_is_destroyed_still_waits(void **state)
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

static void the_legacy_stream_passes_a_lazy_one_that_does_not_block(void **state)
{
    (void)state;
    float *x = new_buffer(1);
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    launch_scale_and_add(stream, x, 2, 1); // 3
    launch_scale_and_add(NULL, x, 10, 0);  // 30 after it, 10 before it
    launch_scale_and_add(stream, x, 2, 1); // 61 after all
    assert_done(cudaStreamSynchronize(stream));
    assert_true(value_now(x) == (is_lazy() ? 7 : 61));
    assert_done(cudaDeviceSynchronize());
    assert_done(cudaStreamDestroy(stream));
    assert_done(cudaFree(x));
}

static void assert_read_late(float *host)
{
    float *x = new_buffer(1);
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    memset(host, 0, floats * sizeof(float));
    assert_done(cudaMemcpyAsync(x, host, floats * sizeof(float), cudaMemcpyDefault, stream));
    for (int i = 0; i < floats; i++)
        host[i] = 5;
    assert_done(cudaStreamSynchronize(stream));
    assert_true(value_now(x) == (is_lazy() ? 5 : 0));
    assert_done(cudaStreamDestroy(stream));
    assert_done(cudaFree(x));
}

// CUDA promises it of no kind of memory that it was read when the call returns.
static void host_memory_is_read_when_the_stream_comes_to_it(void **state)
{
    (void)state;
    void *pinned;
    float pageable[floats];
    assert_done(cudaHostAlloc(&pinned, floats * sizeof(float), cudaHostAllocDefault));
    assert_read_late(pinned);
    assert_read_late(pageable);
    assert_done(cudaFreeHost(pinned));
}

static void a_copy_to_pageable_memory_is_there_when_the_call_returns(void **state)
{
    (void)state;
    float *x = new_buffer(1), host[floats] = {0};
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    launch_scale_and_add(stream, x, 1, 1);
    assert_done(cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDefault, stream));
    assert_true(host[0] == 2 && host[floats - 1] == 2);
    assert_done(cudaStreamDestroy(stream));
    assert_done(cudaFree(x));
}

static void add_one(void *count)
{
    ++*(int *)count;
}

static void host_functions_of_a_lazy_stream_run_when_it_is_waited_for(void **state)
{
    (void)state;
    int count = 0;
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    for (int i = 0; i < 3; i++)
        assert_done(cudaLaunchHostFunc(stream, add_one, &count));
    assert_int_equal(count, is_lazy() ? 0 : 3);
    assert_done(cudaStreamSynchronize(stream));
    assert_int_equal(count, 3);
    assert_done(cudaStreamDestroy(stream));
}

static void what_is_queued_on_a_device_never_runs_after_a_fault(void **state)
{
    (void)state;
    float *x = new_buffer(1), *y = new_buffer(2);
    const size_t nbytes = floats * sizeof *x;
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    assert_done(cudaMemcpyAsync(y, x, nbytes, cudaMemcpyDeviceToDevice, stream));
    tern_sim_break_device(0, cudaErrorLaunchFailure);
    assert_done(cudaSetDevice(1)); // calls are asked about the stream's device, too
    assert_answer(cudaMemcpyAsync(x, y, nbytes, cudaMemcpyDeviceToDevice, stream),
                  cudaErrorLaunchFailure);
    assert_done(cudaSetDevice(0));
    tern_sim_break_device(0, cudaSuccess);
    assert_done(cudaStreamSynchronize(stream));
    assert_true(value_now(x) == 1);
    assert_true(value_now(y) == (is_lazy() ? 2 : 1));
    assert_done(cudaStreamDestroy(stream));
    assert_done(cudaFree(x));
    assert_done(cudaFree(y));
}

static void no_time_has_passed_on_a_lazy_stream(void **state)
{
    (void)state;
    cudaEvent_t event;
    float milliseconds = -1;
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    assert_done(cudaEventCreate(&event));
    assert_done(cudaEventRecord(event, stream));
    assert_answer(cudaEventElapsedTime(&milliseconds, event, event),
                  is_lazy() ? cudaErrorNotReady : cudaSuccess);
    assert_done(cudaStreamSynchronize(stream));
    assert_done(cudaEventDestroy(event));
    assert_done(cudaStreamDestroy(stream));
}

static void pageable_memory_is_900_in_a_capture(void **state)
{
    (void)state;
    float *x = new_buffer(1), host[floats] = {0};
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    cudaGraph_t graph;
    for (int to_host = 0; to_host < 2; to_host++) {
        assert_done(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        assert_answer(cudaMemcpyAsync(to_host ? host : x, to_host ? x : host, sizeof host,
                                      cudaMemcpyDefault, stream),
                      cudaErrorStreamCaptureUnsupported);
        assert_answer(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    }
    assert_done(cudaStreamDestroy(stream));
    assert_done(cudaFree(x));
}

static void a_capture_has_a_number(void **state)
{
    (void)state;
    enum cudaStreamCaptureStatus status;
    unsigned long long id = 0;
    cudaGraph_t graph;
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    assert_done(cudaStreamGetCaptureInfo(stream, &status, &id, NULL, NULL, NULL, NULL));
    assert_int_equal(status, cudaStreamCaptureStatusNone);
    assert_int_equal(id, 0);
    assert_done(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    assert_done(cudaStreamGetCaptureInfo(stream, &status, &id, NULL, NULL, NULL, NULL));
    assert_int_equal(status, cudaStreamCaptureStatusActive);
    assert_int_not_equal(id, 0);
    assert_done(cudaStreamEndCapture(stream, &graph));
    assert_done(cudaGraphDestroy(graph));
    assert_done(cudaStreamDestroy(stream));
}

static void a_launch_that_is_under_way_outlives_its_graph(void **state)
{
    (void)state;
    float *x = new_buffer(1);
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    assert_done(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    launch_scale_and_add(stream, x, 1, 1);
    assert_done(cudaStreamEndCapture(stream, &graph));
    assert_done(cudaGraphInstantiate(&exec, graph, 0));
    assert_done(cudaGraphDestroy(graph));
    assert_done(cudaGraphLaunch(exec, stream));
    assert_done(cudaGraphExecDestroy(exec));
    assert_done(cudaStreamSynchronize(stream));
    assert_true(value_now(x) == 2);
    assert_done(cudaStreamDestroy(stream));
    assert_done(cudaFree(x));
}

static void an_allocation_that_gives_nothing_gives_null(void **state)
{
    (void)state;
    void *data = &data;
    cudaStream_t stream = new_stream(cudaStreamNonBlocking);
    cudaGraph_t graph;
    assert_done(cudaMalloc(&data, 0));
    assert_null(data);
    assert_done(cudaFreeHost(NULL));
    data = &data;
    assert_answer(cudaMalloc(&data, SIZE_MAX), cudaErrorMemoryAllocation);
    assert_null(data);
    data = &data;
    assert_done(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    assert_answer(cudaMalloc(&data, 256), cudaErrorStreamCaptureUnsupported);
    assert_null(data);
    assert_answer(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    assert_done(cudaStreamDestroy(stream));
}

static void new_device_memory_is_not_a_number(void **state)
{
    (void)state;
    for (size_t nbytes = 1; nbytes < 3000; nbytes += 333) {
        void *data;
        unsigned char byte = 0;
        assert_done(cudaMalloc(&data, nbytes));
        assert_done(cudaMemcpy(&byte, (char *)data + nbytes - 1, 1, cudaMemcpyDeviceToHost));
        assert_int_equal(byte, 0xff);
        assert_done(cudaFree(data));
    }
}

static void there_is_one_kind_of_random_numbers(void **state)
{
    (void)state;
    curandGenerator_t generator;
    const int xorwow = 101;
    assert_int_equal(curandCreateGenerator(&generator, (curandRngType_t)xorwow),
                     CURAND_STATUS_TYPE_ERROR);
    assert_int_equal(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10), 0);
    assert_int_equal(curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_SEEDED),
                     CURAND_STATUS_OUT_OF_RANGE);
    assert_int_equal(curandDestroyGenerator(generator), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lazy_stream_works_when_it_is_waited_for),
        cmocka_unit_test(a_lazy_stream_works_no_further_than_the_event),
        cmocka_unit_test(each_query_of_a_lazy_stream_lets_it_do_one_thing),
        cmocka_unit_test(a_lazy_stream_that_is_destroyed_still_waits),
        cmocka_unit_test(the_legacy_stream_passes_a_lazy_one_that_does_not_block),
        cmocka_unit_test(host_memory_is_read_when_the_stream_comes_to_it),
        cmocka_unit_test(a_copy_to_pageable_memory_is_there_when_the_call_returns),
        cmocka_unit_test(host_functions_of_a_lazy_stream_run_when_it_is_waited_for),
        cmocka_unit_test(what_is_queued_on_a_device_never_runs_after_a_fault),
        cmocka_unit_test(no_time_has_passed_on_a_lazy_stream),
        cmocka_unit_test(pageable_memory_is_900_in_a_capture),
        cmocka_unit_test(a_capture_has_a_number),
        cmocka_unit_test(a_launch_that_is_under_way_outlives_its_graph),
        cmocka_unit_test(an_allocation_that_gives_nothing_gives_null),
        cmocka_unit_test(new_device_memory_is_not_a_number),
        cmocka_unit_test(there_is_one_kind_of_random_numbers),
    };
    return run_cases(tests, NULL, NULL);
}
