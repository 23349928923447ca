// SPDX-License-Identifier: Apache-2.0
// Capture and graphs: the codes that CUDA's manual gives, and replays that compute what an eager
// run does. The simulation runs nodes in every order: a missing edge shows in one of them.
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

// The capture goes on; CUDA's manual does not say whether it does after the call before.
static void assert_goes_on(cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    cudaError_t answer = cudaStreamEndCapture(stream, &graph);
    (void)cudaGetLastError();
    if (!simulated && answer == cudaErrorStreamCaptureInvalidated) {
        print_message("the capture was invalidated\n");
        return;
    }
    assert_int_equal(answer, cudaSuccess);
    assert_done(cudaGraphDestroy(graph));
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
    launch(exec, f->stream);
    assert_true(value_now(f->y) == 15);
    assert_done(cudaGraphExecDestroy(exec));
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
    assert_done(cudaGetLastError());
}

// CUDA's manual calls some calls unsafe and names few of them.
static void waiting_for_another_stream_counts_as_unsafe(void **state)
{
    fixture *f = *state;
    assert_done(cudaStreamBeginCapture(f->stream, local));
    cudaError_t answer = cudaStreamSynchronize(f->other);
    (void)cudaGetLastError();
    print_message("it is %s\n", cudaGetErrorName(answer));
    if (!simulated && answer == cudaSuccess) {
        assert_goes_on(f->stream);
    } else {
        assert_int_equal(answer, cudaErrorStreamCaptureUnsupported);
        assert_end(f->stream, cudaErrorStreamCaptureInvalidated);
    }
}

static void an_event_of_a_capture_cannot_be_waited_for(void **state)
{
    fixture *f = *state;
    assert_done(cudaStreamBeginCapture(f->stream, local));
    assert_done(cudaEventRecord(f->fork, f->stream));
    assert_answer(cudaEventSynchronize(f->fork), cudaErrorCapturedEvent);
    assert_end(f->stream, cudaErrorStreamCaptureInvalidated);
    assert_answer(cudaEventQuery(f->fork), cudaErrorCapturedEvent);
    assert_refused(cudaStreamWaitEvent(f->other, f->fork, 0), cudaErrorCapturedEvent);
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
    cudaGraph_t graph;
    assert_done(cudaStreamBeginCapture(f->stream, local));
    assert_done(cudaEventRecord(f->fork, f->stream));
    assert_done(cudaStreamWaitEvent(f->other, f->fork, 0));
    assert_answer(cudaStreamEndCapture(f->other, &graph), cudaErrorStreamCaptureUnmatched);
    assert_goes_on(f->stream);
}

static void a_capture_begins_once_and_ends_once(void **state)
{
    fixture *f = *state;
    cudaGraph_t graph;
    assert_done(cudaStreamBeginCapture(f->stream, local));
    assert_refused(cudaStreamBeginCapture(f->stream, local), cudaErrorIllegalState);
    assert_goes_on(f->stream);
    assert_refused(cudaStreamEndCapture(f->stream, &graph), cudaErrorIllegalState);
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
    assert_refused(cudaMemcpy(f->x, host, sizeof host, cudaMemcpyHostToDevice),
                   cudaErrorStreamCaptureImplicit);
    assert_end(blocking, cudaErrorStreamCaptureInvalidated);
    assert_done(cudaStreamDestroy(blocking));
    assert_refused(cudaStreamBeginCapture(NULL, local), cudaErrorStreamCaptureUnsupported);
}

static void the_legacy_stream_is_free_while_another_kind_captures(void **state)
{
    fixture *f = *state;
    cudaGraph_t graph;
    assert_done(cudaStreamBeginCapture(f->stream, local));
    launch_scale_and_add(NULL, f->x, 1, 1);
    assert_done(cudaGetLastError());
    assert_done(cudaStreamEndCapture(f->stream, &graph));
    assert_done(cudaGraphDestroy(graph));
    assert_done(cudaDeviceSynchronize());
    assert_true(value_now(f->x) == 2);
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

static cudaGraphExec_t instance_of_one_launch(fixture *f)
{
    cudaGraph_t graph;
    assert_done(cudaStreamBeginCapture(f->stream, local));
    launch_scale_and_add(f->stream, f->x, 1, 1);
    assert_done(cudaStreamEndCapture(f->stream, &graph));
    return instance_of(graph);
}

static void a_graph_is_not_launched_into_a_capture(void **state)
{
    fixture *f = *state;
    cudaGraph_t graph;
    cudaGraphExec_t exec = instance_of_one_launch(f);
    assert_done(cudaStreamBeginCapture(f->stream, local));
    assert_refused(cudaGraphLaunch(exec, f->stream), cudaErrorStreamCaptureUnsupported);
    if (cudaStreamEndCapture(f->stream, &graph) == cudaSuccess)
        assert_done(cudaGraphDestroy(graph));
    (void)cudaGetLastError();
    assert_done(cudaGraphExecDestroy(exec));
    assert_true(value_now(f->x) == 1);
}

static void a_relaxed_thread_destroys_a_graph_beside_its_capture(void **state)
{
    fixture *f = *state;
    cudaGraph_t graph;
    cudaGraphExec_t exec = instance_of_one_launch(f);
    assert_done(cudaStreamBeginCapture(f->stream, local));
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    assert_done(cudaThreadExchangeStreamCaptureMode(&mode));
    assert_done(cudaGraphExecDestroy(exec));
    assert_done(cudaThreadExchangeStreamCaptureMode(&mode));
    assert_done(cudaStreamEndCapture(f->stream, &graph));
    assert_done(cudaGraphDestroy(graph));
}

typedef struct elsewhere { // what another thread does, and the answer
    void *data;
    cudaStream_t stream;
    cudaError_t answer;
} elsewhere;

static void *allocate_elsewhere(void *what)
{
    elsewhere *e = what;
    e->answer = cudaMalloc(&e->data, 256);
    return NULL;
}

static void *free_elsewhere(void *what)
{
    elsewhere *e = what;
    e->answer = cudaFree(e->data);
    return NULL;
}

static void *end_elsewhere(void *what)
{
    elsewhere *e = what;
    cudaGraph_t graph;
    e->answer = cudaStreamEndCapture(e->stream, &graph);
    return NULL;
}

static cudaError_t in_thread(void *(*body)(void *), elsewhere *what)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, body, what), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return what->answer;
}

static void a_global_capture_forbids_other_threads_too(void **state)
{
    fixture *f = *state;
    elsewhere what = {0};
    assert_done(cudaStreamBeginCapture(f->stream, cudaStreamCaptureModeGlobal));
    assert_answer(in_thread(allocate_elsewhere, &what), cudaErrorStreamCaptureUnsupported);
    assert_end(f->stream, cudaErrorStreamCaptureInvalidated);
}

static void other_threads_allocate_and_free_while_one_captures(void **state)
{
    fixture *f = *state;
    cudaGraph_t graph;
    elsewhere what = {0};
    void *(*const calls[])(void *) = {allocate_elsewhere, free_elsewhere};
    for (int i = 0; i < 2; i++) {
        assert_done(cudaStreamBeginCapture(f->stream, local));
        assert_done(in_thread(calls[i], &what));
        assert_done(cudaStreamEndCapture(f->stream, &graph));
        assert_done(cudaGraphDestroy(graph));
    }
}

static void a_capture_ends_in_the_thread_that_began_it(void **state)
{
    fixture *f = *state;
    elsewhere what = {.stream = f->stream};
    assert_done(cudaStreamBeginCapture(f->stream, local));
    assert_answer(in_thread(end_elsewhere, &what), cudaErrorStreamCaptureWrongThread);
    assert_goes_on(f->stream);
}

static void the_status_of_a_capture_is_told(void **state)
{
    fixture *f = *state;
    enum cudaStreamCaptureStatus status;
    assert_done(cudaStreamIsCapturing(f->stream, &status));
    assert_int_equal(status, cudaStreamCaptureStatusNone);
    assert_done(cudaStreamBeginCapture(f->stream, local));
    assert_done(cudaStreamIsCapturing(f->stream, &status));
    assert_int_equal(status, cudaStreamCaptureStatusActive);
    (void)cudaStreamSynchronize(f->stream);
    assert_done(cudaStreamIsCapturing(f->stream, &status));
    assert_int_equal(status, cudaStreamCaptureStatusInvalidated);
    assert_end(f->stream, cudaErrorStreamCaptureInvalidated);
}

// CUDA loads a kernel when it is first launched; that should not happen in a capture.
static int load_kernels(void **state)
{
    (void)state;
    float *x = new_buffer(0), *y = new_buffer(0);
    launch_scale_and_add(NULL, x, 1, 1);
    launch_copy(NULL, y, x);
    return cudaDeviceSynchronize() || cudaFree(x) || cudaFree(y);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(captured_work_runs_when_its_graph_is_launched),
        CASE(a_forked_stream_captures_along_until_it_is_joined),
        CASE(work_that_was_not_joined_is_904),
        CASE(waiting_is_900_and_the_end_901),
        CASE(waiting_for_another_stream_counts_as_unsafe),
        CASE(an_event_of_a_capture_cannot_be_waited_for),
        CASE(an_event_from_outside_is_905),
        CASE(joining_two_captures_is_902),
        CASE(only_the_stream_that_began_a_capture_ends_it),
        CASE(a_capture_begins_once_and_ends_once),
        CASE(the_legacy_stream_is_906_while_a_blocking_stream_captures),
        CASE(the_legacy_stream_is_free_while_another_kind_captures),
        CASE(a_graph_reads_pinned_memory_at_each_launch),
        CASE(allocating_is_900_unless_the_thread_is_relaxed),
        CASE(a_graph_is_not_launched_into_a_capture),
        CASE(a_relaxed_thread_destroys_a_graph_beside_its_capture),
        CASE(a_global_capture_forbids_other_threads_too),
        CASE(other_threads_allocate_and_free_while_one_captures),
        CASE(a_capture_ends_in_the_thread_that_began_it),
        CASE(the_status_of_a_capture_is_told),
    };
    return run_cases(tests, load_kernels, NULL);
}
