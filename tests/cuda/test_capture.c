// SPDX-License-Identifier: Apache-2.0
// Graphs: what is captured, what other threads may do beside it, and what is refused meanwhile.
#include <pthread.h>
#include "capture_check.h"
#include "device/generator.h"

static void captured_work_runs_when_it_is_replayed(void **state)
{
    (void)state;
    piece x = take(0, MIB), y = take(0, MIB);
    fill(&x, 1);
    fill(&y, 0);
    begin();
    copy(&y, &x);
    void *graph = end();
    assert_near(first_of(&y), 0, 0, 0);
    for (int i = 2; i < 5; i++) {
        fill(&x, (float)i);
        replay(graph);
        assert_near(first_of(&y), i, 0, 0);
    }
    plugin.cuda->graph_free(graph);
    plugin.cuda->graph_free(NULL);
    give(&x);
    give(&y);
}

static void a_graph_outlives_the_stream_that_it_was_captured_on(void **state)
{
    (void)state;
    piece x = take(0, MIB);
    fill(&x, 0);
    assert_int_equal(plugin.device->synchronize(0), TERN_OK);
    tern_cuda_stream *side = plugin.cuda->stream_new(0);
    assert_null(plugin.cuda->stream_set(0, side));
    begin();
    piece inner = take(0, MIB);
    fill(&inner, 4);
    copy(&x, &inner);
    give(&inner);
    void *graph = end();
    (void)plugin.cuda->stream_set(0, NULL);
    plugin.cuda->stream_free(side);
    piece others[3] = {take(0, MIB), take(0, MIB), take(0, MIB)};
    for (int i = 0; i < 3; i++)
        fill(&others[i], 8);
    replay(graph);
    assert_near(first_of(&x), 4, 0, 0);
    for (int i = 0; i < 3; i++) {
        assert_near(first_of(&others[i]), 8, 0, 0);
        give(&others[i]);
    }
    plugin.cuda->graph_free(graph);
    give(&x);
}

// ---- what is not captured -----------------------------------------------------------------------

static void a_copy_to_another_device_holds_its_page_locked_memory(void **state)
{
    (void)state;
    piece x = take(1, 4096);
    void *block, *block_too;
    float *host = plugin.cuda->pinned_alloc(x.nbytes, &block);
    host[0] = 1;
    begin();
    assert_int_equal(plugin.cuda->pinned_to_device(1, x.data, host, x.nbytes, block), TERN_OK);
    plugin.cuda->pinned_free(host, x.nbytes, block);
    host = plugin.cuda->pinned_alloc(x.nbytes, &block_too);
    host[0] = 2;
    void *graph = end();
    assert_near(first_of(&x), 1, 0, 0);
    plugin.cuda->pinned_free(host, x.nbytes, block_too);
    plugin.cuda->graph_free(graph);
    give(&x);
}

static tern_strided matrix(const piece *x)
{
    return (tern_strided){x->data, TERN_FLOAT32, 3, {1, 4, 4}, {16, 4, 1}};
}

// y = x x, for matrices of 4 x 4.
static void square(const piece *y, const piece *x)
{
    const tern_exec exec = exec_of(y->index);
    const tern_matmul_args args = {.y = matrix(y), .a = matrix(x), .b = matrix(x)};
    assert_int_equal(plugin.kernels->matmul(&exec, &args), TERN_OK);
}

static void draw(const piece *y)
{
    const tern_exec exec = exec_of(y->index);
    const tern_strided view = {y->data, TERN_FLOAT32, 1, {y->nbytes / 4}, {1}};
    tern_generator generator = {.seed = 1};
    const tern_random_args args = {.kind = TERN_RANDOM_UNIFORM, .a = 0, .b = 1};
    assert_int_equal(plugin.kernels->random(&exec, &args, &generator, &view), TERN_OK);
}

// Handles, generators and peers are made when they are first needed: elsewhere, in a capture too.
static void what_is_first_used_elsewhere_does_not_end_a_capture(void **state)
{
    (void)state;
    piece x = take(0, 64), ones = take(1, 64), product = take(1, 64), drawn = take(1, 64);
    tern_cuda_stream *side = plugin.cuda->stream_new(0);
    assert_non_null(side);
    begin();
    void *first = end();
    begin();
    fill(&x, 5);
    fill(&ones, 1);
    square(&product, &ones);
    draw(&drawn);
    plugin.cuda->graph_free(first);
    plugin.cuda->stream_free(side);
    void *graph = end();
    assert_near(first_of(&product), 4, 0, 0);
    assert_near(first_of(&drawn), 0.5, 0, 0.5);
    replay(graph);
    assert_near(first_of(&x), 5, 0, 0);
    plugin.cuda->graph_free(graph);
    give(&x);
    give(&ones);
    give(&product);
    give(&drawn);
}

static void wait_for_stream(tern_cuda_stream *from, tern_cuda_stream *to)
{
    tern_cuda_event *event = plugin.cuda->event_new(0);
    (void)plugin.cuda->stream_set(0, from);
    assert_int_equal(plugin.cuda->event_record(event), TERN_OK);
    (void)plugin.cuda->stream_set(0, to);
    assert_int_equal(plugin.cuda->event_wait(event, 0), TERN_OK);
    plugin.cuda->event_free(event);
}

// A graph would go on using its workspace when the stream is gone, or multiplies for others.
static void a_stream_that_joined_a_capture_does_not_multiply(void **state)
{
    (void)state;
    piece x = take(0, 64), ones = take(0, 64), product = take(0, 64);
    tern_cuda_stream *side = plugin.cuda->stream_new(0);
    const tern_matmul_args args = {.y = matrix(&product), .a = matrix(&ones), .b = matrix(&ones)};
    fill(&ones, 1);
    begin();
    wait_for_stream(NULL, side);
    fill(&x, 3);
    const tern_exec exec = exec_of(0);
    assert_int_equal(plugin.kernels->matmul(&exec, &args), TERN_ERR_UNSUPPORTED);
    assert_error(TERN_ERR_UNSUPPORTED, "on the stream that the capture began on");
    wait_for_stream(side, NULL);
    square(&product, &ones);
    void *graph = end();
    replay(graph);
    assert_near(first_of(&x), 3, 0, 0);
    assert_near(first_of(&product), 4, 0, 0);
    plugin.cuda->graph_free(graph);
    plugin.cuda->stream_free(side);
    give(&x);
    give(&ones);
    give(&product);
}

static tern_cuda_stream *stream_with_a_handle(void)
{
    tern_cuda_stream *stream = plugin.cuda->stream_new(0);
    assert_non_null(stream);
    (void)plugin.cuda->stream_set(0, stream);
    piece ones = take(0, 64), product = take(0, 64);
    fill(&ones, 1);
    square(&product, &ones);
    assert_near(first_of(&product), 4, 0, 0);
    give(&ones);
    give(&product);
    (void)plugin.cuda->stream_set(0, NULL);
    return stream;
}

static void *free_stream(void *stream)
{
    plugin.cuda->stream_free(stream);
    return NULL;
}

static void another_thread_frees_a_stream_while_one_captures(void **state)
{
    (void)state;
    pthread_t thread;
    tern_cuda_stream *stream = stream_with_a_handle();
    begin();
    assert_int_equal(pthread_create(&thread, NULL, free_stream, stream), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    plugin.cuda->graph_free(end());
}

static void *replay_once(void *graph)
{
    if (plugin.cuda->graph_launch(graph))
        tern_error_print(stderr);
    return NULL;
}

// That it captures into another one does not keep a thread from waiting.
static void freeing_a_graph_waits_for_replays_of_other_threads(void **state)
{
    (void)state;
    pthread_t thread;
    tern_sim_wait wait;
    begin();
    void *graph = end();
    begin();
    assert_int_equal(pthread_create(&thread, NULL, replay_once, graph), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    plugin.trace_waits();
    plugin.cuda->graph_free(graph);
    assert_true(plugin.waits(&wait, 1) >= 1);
    assert_int_equal(wait.waiter, TERN_SIM_HOST_ON_STREAM);
    assert_int_equal(wait.on_device, 0);
    plugin.cuda->graph_free(end());
}

static void a_handle_serves_the_next_stream(void **state)
{
    (void)state;
    plugin.cuda->stream_free(stream_with_a_handle());
    const long created = plugin.calls(TERN_SIM_BLAS_CREATE);
    for (int i = 0; i < 100; i++)
        plugin.cuda->stream_free(stream_with_a_handle());
    assert_int_equal(plugin.calls(TERN_SIM_BLAS_CREATE), created);
}

// ---- what is refused ----------------------------------------------------------------------------

static void waiting_while_a_device_is_captured_is_an_error(void **state)
{
    (void)state;
    piece x = take(0, MIB);
    tern_cuda_event *event = plugin.cuda->event_new(0);
    float value = 3;
    tern_fault fault;
    fill(&x, 0);
    begin();
    fill(&x, 6);
    assert_int_equal(plugin.device->to_host(0, &value, x.data, 4), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "a value is read while device cuda:0 is being captured");
    assert_int_equal(plugin.device->to_device(0, x.data, &value, 4), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "host memory is copied to the device while device cuda:0");
    assert_int_equal(plugin.device->synchronize(0), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "it is waited for while device cuda:0");
    assert_int_equal(plugin.device->fault_read(0, &fault), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "the fault record is read while device cuda:0");
    assert_int_equal(plugin.cuda->empty_cache(0), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "memory is given back while device cuda:0");
    assert_int_equal(plugin.cuda->event_synchronize(event), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "an event is waited for while device cuda:0");
    assert_int_equal(plugin.cuda->capture_begin(0), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "this thread captures cuda:0 already");
    assert_int_equal(plugin.device->synchronize(1), TERN_OK); // another device may be waited for
    void *graph = end();                                      // none of that ended the capture
    replay(graph);
    assert_near(first_of(&x), 6, 0, 0);
    plugin.cuda->graph_free(graph);
    plugin.cuda->event_free(event);
    give(&x);
}

static void ending_without_beginning_is_an_error(void **state)
{
    (void)state;
    assert_null(plugin.cuda->capture_end(0, false));
    assert_error(TERN_ERR_STATE, "this thread does not capture cuda:0");
}

// Each call that a capture makes fails once: the error is told, and the next capture works.
static void a_capture_that_fails_leaves_the_device_usable(void **state)
{
    (void)state;
    const enum tern_sim_call calls[] = {TERN_SIM_MALLOC, TERN_SIM_CAPTURE, TERN_SIM_LAUNCH,
                                        TERN_SIM_GRAPH_INSTANTIATE, TERN_SIM_GRAPH_LAUNCH};
    piece x = take(0, MIB);
    const int64_t before = memory_of(0).allocated;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        plugin.fail_call(calls[i], 1, cudaErrorUnknown);
        const tern_exec exec = exec_of(0);
        const tern_strided view = {x.data, TERN_FLOAT32, 1, {MIB / 4}, {1}};
        void *graph = NULL;
        if (!plugin.cuda->capture_begin(0)) {
            bool failed = plugin.kernels->fill(&exec, &view, tern_scalar_int(1));
            graph = plugin.cuda->capture_end(0, failed);
        }
        assert_true(!graph || plugin.cuda->graph_launch(graph));
        assert_error(TERN_ERR_DEVICE, "cudaErrorUnknown");
        plugin.cuda->graph_free(graph);
        plugin.fail_none();
        begin();
        fill(&x, (float)i);
        graph = end();
        replay(graph);
        assert_near(first_of(&x), i, 0, 0);
        plugin.cuda->graph_free(graph);
        assert_int_equal(plugin.cuda->empty_cache(0), TERN_OK);
        assert_int_equal(memory_of(0).allocated, before);
    }
    give(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(captured_work_runs_when_it_is_replayed, calm),
        cmocka_unit_test_setup(a_graph_outlives_the_stream_that_it_was_captured_on, calm),
        cmocka_unit_test_setup(a_copy_to_another_device_holds_its_page_locked_memory, calm),
        cmocka_unit_test_setup(what_is_first_used_elsewhere_does_not_end_a_capture, calm),
        cmocka_unit_test_setup(a_stream_that_joined_a_capture_does_not_multiply, calm),
        cmocka_unit_test_setup(another_thread_frees_a_stream_while_one_captures, calm),
        cmocka_unit_test_setup(freeing_a_graph_waits_for_replays_of_other_threads, calm),
        cmocka_unit_test_setup(a_handle_serves_the_next_stream, calm),
        cmocka_unit_test_setup(waiting_while_a_device_is_captured_is_an_error, calm),
        cmocka_unit_test_setup(ending_without_beginning_is_an_error, calm),
        cmocka_unit_test_setup(a_capture_that_fails_leaves_the_device_usable, calm),
    };
    return cmocka_run_group_tests(tests, open_devices, NULL);
}
