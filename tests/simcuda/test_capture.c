// SPDX-License-Identifier: Apache-2.0
// Capture and graphs: the codes that CUDA's manual gives, and replays that compute what an eager
// run does. Run in every order: a missing edge shows in one of them.
#include <pthread.h>

#include "check_sim.h"

static const enum cudaStreamCaptureMode local = cudaStreamCaptureModeThreadLocal;

typedef struct fixture {
    cudaStream_t stream, other; // of device 0, non-blocking
    cudaEvent_t fork, join;
    float *x, *y;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    if (!f)
        return 1;
    f->stream = new_stream(cudaStreamNonBlocking);
    f->other = new_stream(cudaStreamNonBlocking);
    f->fork = new_event();
    f->join = new_event();
    f->x = new_buffer(1);
    f->y = new_buffer(0);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    assert_done(cudaEventDestroy(f->fork));
    assert_done(cudaEventDestroy(f->join));
    assert_done(cudaStreamDestroy(f->stream));
    assert_done(cudaStreamDestroy(f->other));
    assert_done(cudaFree(f->x));
    assert_done(cudaFree(f->y));
    free(f);
    return 0;
}

static cudaGraphExec_t instance_of(cudaGraph_t graph)
{
    cudaGraphExec_t exec;
    assert_done(cudaGraphInstantiate(&exec, graph, 0));
    assert_done(cudaGraphDestroy(graph));
    return exec;
}

static void launch(cudaGraphExec_t exec, cudaStream_t stream)
{
    assert_done(cudaGraphLaunch(exec, stream));
    assert_done(cudaStreamSynchronize(stream));
}

// The capture that is under way ends with this code, without a graph.
static void assert_end(cudaStream_t stream, cudaError_t code)
{
    cudaGraph_t graph = (cudaGraph_t)stream;
    assert_answer(cudaStreamEndCapture(stream, &graph), code);
    assert_null(graph);
}

static void captured_work_runs_when_its_graph_is_launched(void **state)
{
    fixture *f = *state;
    cudaGraph_t graph;
    assert_done(cudaStreamBeginCapture(f->stream, local));
    launch_scale_and_add(f->stream, f->x, 2, 0);
    launch_scale_and_add(f->stream, f->x, 1, 1);
    assert_done(
        cudaMemcpyAsync(f->y, f->x, floats * sizeof(float), cudaMemcpyDeviceToDevice, f->stream));
    assert_done(cudaStreamEndCapture(f->stream, &graph));
    assert_true(value_now(f->x) == 1);
    size_t nodes = 0;
    assert_done(cudaGraphGetNodes(graph, NULL, &nodes));
    assert_int_equal(nodes, 3);
    cudaGraphExec_t exec = instance_of(graph);
    launch(exec, f->stream);
    assert_true(value_now(f->y) == 3);
    launch(exec, f->other); // on any stream, again and again
    assert_true(value_now(f->y) == 7);
    assert_done(cudaGraphLaunch(exec, f->stream));
    assert_done(cudaGraphExecDestroy(exec)); // the launch that is under way is not touched
    assert_done(cudaStreamSynchronize(f->stream));
    assert_true(value_now(f->y) == 15);
}

static void a_forked_stream_captures_along_until_it_is_joined(void **state)
{
    fixture *f = *state;
    cudaGraph_t graph;
    enum cudaStreamCaptureStatus status;
    assert_done(cudaStreamBeginCapture(f->stream, local));
    launch_scale_and_add(f->stream, f->x, 1, 1); // 2
    assert_done(cudaEventRecord(f->fork, f->stream));
    assert_done(cudaStreamWaitEvent(f->other, f->fork, 0));
    assert_done(cudaStreamIsCapturing(f->other, &status));
    assert_int_equal(status, cudaStreamCaptureStatusActive);
    launch_copy(f->other, f->y, f->x);           // 2
    launch_scale_and_add(f->other, f->y, 10, 0); // 20
    assert_done(cudaEventRecord(f->join, f->other));
    assert_done(cudaStreamWaitEvent(f->stream, f->join, 0));
    launch_copy(f->stream, f->x, f->y); // 20
    assert_done(cudaStreamEndCapture(f->stream, &graph));
    assert_done(cudaStreamIsCapturing(f->other, &status));
    assert_int_equal(status, cudaStreamCaptureStatusNone);
    cudaGraphExec_t exec = instance_of(graph);
    launch(exec, f->stream);
    assert_true(value_now(f->x) == 20);
    launch(exec, f->stream);
    assert_true(value_now(f->x) == 210);
    assert_done(cudaGraphExecDestroy(exec));
}

static void work_that_was_not_joined_is_904(void **state)
{
    fixture *f = *state;
    assert_done(cudaStreamBeginCapture(f->stream, local));
    assert_done(cudaEventRecord(f->fork, f->stream));
    assert_done(cudaStreamWaitEvent(f->other, f->fork, 0));
    launch_scale_and_add(f->other, f->x, 1, 1);
    assert_end(f->stream, cudaErrorStreamCaptureUnjoined);
    launch_scale_and_add(f->other, f->x, 1, 1); // captures no more
    assert_done(cudaStreamSynchronize(f->other));
    assert_true(value_now(f->x) == 2);
}

static void waiting_is_900_and_the_end_901(void **state)
{
    fixture *f = *state;
    cudaError_t (*const waits[])(cudaStream_t) = {cudaStreamSynchronize, cudaStreamQuery};
    for (size_t i = 0; i < 2; i++) {
        assert_done(cudaStreamBeginCapture(f->stream, local));
        assert_answer(waits[i](f->stream), cudaErrorStreamCaptureUnsupported);
        launch_scale_and_add(f->stream, f->x, 1, 1);
        assert_answer(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
        assert_end(f->stream, cudaErrorStreamCaptureInvalidated);
    }
    assert_done(cudaStreamBeginCapture(f->stream, local));
    assert_answer(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
    assert_end(f->stream, cudaErrorStreamCaptureInvalidated);
    assert_done(cudaStreamBeginCapture(f->stream, local));
    assert_answer(cudaStreamSynchronize(f->other), cudaErrorStreamCaptureUnsupported);
    assert_end(f->stream, cudaErrorStreamCaptureInvalidated);
    assert_done(cudaGetLastError());
}

static void an_event_of_a_capture_cannot_be_waited_for(void **state)
{
    fixture *f = *state;
    assert_done(cudaStreamBeginCapture(f->stream, local));
    assert_done(cudaEventRecord(f->fork, f->stream));
    assert_answer(cudaEventSynchronize(f->fork), cudaErrorCapturedEvent);
    assert_end(f->stream, cudaErrorStreamCaptureInvalidated);
    assert_answer(cudaEventQuery(f->fork), cudaErrorCapturedEvent);
    assert_answer(cudaStreamWaitEvent(f->other, f->fork, 0), cudaErrorCapturedEvent);
}

static void an_event_from_outside_is_905(void **state)
{
    fixture *f = *state;
    assert_done(cudaEventRecord(f->fork, f->other));
    assert_done(cudaStreamBeginCapture(f->stream, local));
    assert_answer(cudaStreamWaitEvent(f->stream, f->fork, 0), cudaErrorStreamCaptureIsolation);
    assert_end(f->stream, cudaErrorStreamCaptureInvalidated);
}

static void joining_two_captures_is_902(void **state)
{
    fixture *f = *state;
    assert_done(cudaStreamBeginCapture(f->stream, local));
    assert_done(cudaStreamBeginCapture(f->other, local));
    assert_done(cudaEventRecord(f->fork, f->stream));
    assert_answer(cudaStreamWaitEvent(f->other, f->fork, 0), cudaErrorStreamCaptureMerge);
    assert_end(f->stream, cudaErrorStreamCaptureInvalidated);
    assert_end(f->other, cudaErrorStreamCaptureInvalidated);
}

static void only_the_stream_that_began_a_capture_ends_it(void **state)
{
    fixture *f = *state;
    assert_done(cudaStreamBeginCapture(f->stream, local));
    assert_answer(cudaStreamBeginCapture(f->stream, local), cudaErrorIllegalState);
    assert_done(cudaEventRecord(f->fork, f->stream));
    assert_done(cudaStreamWaitEvent(f->other, f->fork, 0));
    cudaGraph_t graph;
    assert_answer(cudaStreamEndCapture(f->other, &graph), cudaErrorStreamCaptureUnmatched);
    assert_done(cudaStreamEndCapture(f->stream, &graph));
    assert_done(cudaGraphDestroy(graph));
    assert_answer(cudaStreamEndCapture(f->stream, &graph), cudaErrorIllegalState);
}

static void the_legacy_stream_is_906_while_a_blocking_stream_captures(void **state)
{
    fixture *f = *state;
    float host[floats] = {0};
    cudaStream_t blocking = new_stream(cudaStreamDefault);
    assert_done(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed));
    launch_scale_and_add(NULL, f->x, 1, 1);
    assert_answer(cudaGetLastError(), cudaErrorStreamCaptureImplicit);
    assert_end(blocking, cudaErrorStreamCaptureInvalidated);
    assert_done(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed));
    assert_answer(cudaMemcpy(f->x, host, sizeof host, cudaMemcpyHostToDevice),
                  cudaErrorStreamCaptureImplicit);
    assert_end(blocking, cudaErrorStreamCaptureInvalidated);
    assert_done(cudaStreamDestroy(blocking));
    assert_answer(cudaStreamBeginCapture(NULL, local), cudaErrorStreamCaptureUnsupported);

    cudaGraph_t graph;
    assert_done(cudaStreamBeginCapture(f->stream, local)); // not a blocking one
    launch_scale_and_add(NULL, f->x, 1, 1);
    assert_done(cudaGetLastError());
    assert_done(cudaStreamEndCapture(f->stream, &graph));
    assert_done(cudaGraphDestroy(graph));
    assert_done(cudaDeviceSynchronize());
}

static void pageable_memory_is_900(void **state)
{
    fixture *f = *state;
    float host[floats] = {0};
    assert_done(cudaStreamBeginCapture(f->stream, local));
    assert_answer(cudaMemcpyAsync(f->x, host, sizeof host, cudaMemcpyHostToDevice, f->stream),
                  cudaErrorStreamCaptureUnsupported);
    assert_end(f->stream, cudaErrorStreamCaptureInvalidated);
    assert_done(cudaStreamBeginCapture(f->stream, local));
    assert_answer(cudaMemcpyAsync(host, f->x, sizeof host, cudaMemcpyDeviceToHost, f->stream),
                  cudaErrorStreamCaptureUnsupported);
    assert_end(f->stream, cudaErrorStreamCaptureInvalidated);
}

static void a_graph_reads_pinned_memory_at_each_launch(void **state)
{
    fixture *f = *state;
    cudaGraph_t graph;
    void *pinned;
    assert_done(cudaMallocHost(&pinned, floats * sizeof(float)));
    assert_done(cudaStreamBeginCapture(f->stream, local));
    assert_done(
        cudaMemcpyAsync(f->x, pinned, floats * sizeof(float), cudaMemcpyHostToDevice, f->stream));
    assert_done(cudaStreamEndCapture(f->stream, &graph));
    cudaGraphExec_t exec = instance_of(graph);
    for (int value = 5; value < 8; value++) {
        for (int i = 0; i < floats; i++)
            ((float *)pinned)[i] = (float)value;
        launch(exec, f->stream);
        assert_true(value_now(f->x) == (float)value);
    }
    assert_done(cudaGraphExecDestroy(exec));
    assert_done(cudaFreeHost(pinned));
}

static void allocating_is_900_unless_the_thread_is_relaxed(void **state)
{
    fixture *f = *state;
    void *data;
    cudaGraph_t graph;
    assert_done(cudaStreamBeginCapture(f->stream, local));
    assert_answer(cudaMalloc(&data, 256), cudaErrorStreamCaptureUnsupported);
    assert_null(data);
    assert_end(f->stream, cudaErrorStreamCaptureInvalidated);

    assert_done(cudaStreamBeginCapture(f->stream, local));
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    assert_done(cudaThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, cudaStreamCaptureModeGlobal);
    assert_done(cudaMalloc(&data, 256));
    assert_done(cudaThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, cudaStreamCaptureModeRelaxed);
    assert_done(cudaStreamEndCapture(f->stream, &graph));
    assert_done(cudaGraphDestroy(graph));
    assert_done(cudaFree(data));

    assert_done(cudaStreamBeginCapture(f->stream, cudaStreamCaptureModeRelaxed));
    assert_done(cudaMalloc(&data, 256));
    assert_done(cudaStreamEndCapture(f->stream, &graph));
    assert_done(cudaGraphDestroy(graph));
    assert_done(cudaFree(data));
}

static void *allocate_elsewhere(void *answer)
{
    void *data;
    *(cudaError_t *)answer = cudaMalloc(&data, 256);
    if (data)
        (void)cudaFree(data);
    return NULL;
}

static void *end_elsewhere(void *words)
{
    void **both = words;
    cudaGraph_t graph;
    *(cudaError_t *)both[1] = cudaStreamEndCapture(both[0], &graph);
    return NULL;
}

static void in_thread(void *(*body)(void *), void *argument)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, body, argument), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void a_global_capture_forbids_other_threads_too(void **state)
{
    fixture *f = *state;
    cudaGraph_t graph;
    cudaError_t answer;
    assert_done(cudaStreamBeginCapture(f->stream, cudaStreamCaptureModeGlobal));
    in_thread(allocate_elsewhere, &answer);
    assert_int_equal(answer, cudaErrorStreamCaptureUnsupported);
    assert_end(f->stream, cudaErrorStreamCaptureInvalidated);

    assert_done(cudaStreamBeginCapture(f->stream, local));
    in_thread(allocate_elsewhere, &answer);
    assert_int_equal(answer, cudaSuccess);
    void *words[2] = {f->stream, &answer};
    in_thread(end_elsewhere, words);
    assert_int_equal(answer, cudaErrorStreamCaptureWrongThread);
    assert_done(cudaStreamEndCapture(f->stream, &graph));
    assert_done(cudaGraphDestroy(graph));
}

static void the_status_of_a_capture_is_told(void **state)
{
    fixture *f = *state;
    enum cudaStreamCaptureStatus status;
    unsigned long long id = 0;
    assert_done(cudaStreamGetCaptureInfo(f->stream, &status, &id, NULL, NULL, NULL, NULL));
    assert_int_equal(status, cudaStreamCaptureStatusNone);
    assert_int_equal(id, 0);
    assert_done(cudaStreamBeginCapture(f->stream, local));
    assert_done(cudaStreamGetCaptureInfo(f->stream, &status, &id, NULL, NULL, NULL, NULL));
    assert_int_equal(status, cudaStreamCaptureStatusActive);
    assert_int_not_equal(id, 0);
    (void)cudaStreamSynchronize(f->stream);
    assert_done(cudaStreamIsCapturing(f->stream, &status));
    assert_int_equal(status, cudaStreamCaptureStatusInvalidated);
    assert_end(f->stream, cudaErrorStreamCaptureInvalidated);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(captured_work_runs_when_its_graph_is_launched),
        CASE(a_forked_stream_captures_along_until_it_is_joined),
        CASE(work_that_was_not_joined_is_904),
        CASE(waiting_is_900_and_the_end_901),
        CASE(an_event_of_a_capture_cannot_be_waited_for),
        CASE(an_event_from_outside_is_905),
        CASE(joining_two_captures_is_902),
        CASE(only_the_stream_that_began_a_capture_ends_it),
        CASE(the_legacy_stream_is_906_while_a_blocking_stream_captures),
        CASE(pageable_memory_is_900),
        CASE(a_graph_reads_pinned_memory_at_each_launch),
        CASE(allocating_is_900_unless_the_thread_is_relaxed),
        CASE(a_global_capture_forbids_other_threads_too),
        CASE(the_status_of_a_capture_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
