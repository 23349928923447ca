// SPDX-License-Identifier: Apache-2.0
// Captures and graphs that are left behind: by a thread that ends, by a shutdown, by what is freed
// in the middle of a capture or before a replay.
#include <pthread.h>

#include "graph_check.h"

// ---- captures -----------------------------------------------------------------------------------

static void *leave_a_capture(void *unused)
{
    (void)unused;
    run r = run_new();
    warm_up(&r);
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_int_equal(plain_step(&r), TERN_OK);
    run_free(&r);
    return NULL;
}

static void *leave_an_empty_capture(void *unused)
{
    (void)unused;
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    return NULL;
}

// Another one, of the same device, is as if that had not been.
static void check_next_capture(void)
{
    pair p = pair_new();
    pair_warm_up(&p);
    tern_cuda_graph *graph = capture(&p.graph, plain_step);
    pair_fill(&p, 4);
    replay(graph);
    assert_int_equal(plain_step(&p.eager), TERN_OK);
    check_same_runs(&p.eager, &p.graph);
    pair_free(&p, graph);
}

static int64_t allocated(void)
{
    tern_cuda_memory memory = {.allocated = -1};
    assert_int_equal(tern_cuda_get_memory(here.index, &memory), TERN_OK);
    return memory.allocated;
}

static void a_thread_that_ends_in_a_capture_ends_it(void **state)
{
    (void)state;
    const int64_t before = allocated();
    void *(*const works[])(void *) = {leave_a_capture, leave_an_empty_capture};
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, works[i], NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(tern_synchronize(here), TERN_OK);
        assert_int_equal(allocated(), before);
        tern_scope scope = tern_scope_open();
        check_next_capture();
        tern_scope_close(scope);
        assert_int_equal(allocated(), before);
    }
}

static void a_shutdown_ends_the_capture_of_its_thread(void **state)
{
    (void)state;
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_non_null(tern_add_scalar(tern_ones(tern_dims(4), .device = here), 1));
    tern_shutdown();
    assert_no_error();
    assert_null(tern_cuda_graph_end());
    assert_error(TERN_ERR_STATE, "this thread captures nothing");
    check_scope = tern_scope_open(); // the shutdown closed that of the test
    check_live = tern_live_tensors();
    check_next_capture();
}

static void *free_stream(void *stream)
{
    tern_cuda_stream_free(stream);
    return (void *)(intptr_t)tern_error_code();
}

// As the stream that captures, as one that joined, and from another thread.
static void a_stream_whose_work_is_captured_stays(void **state)
{
    (void)state;
    static const char sentence[] = "cuda_stream_free: work of the stream is being captured";
    tern_cuda_stream *captured = tern_cuda_stream_new(here.index),
                     *joined = tern_cuda_stream_new(here.index);
    tern_cuda_event *event = tern_cuda_event_new(here.index);
    tern_tensor *x = tern_zeros(tern_dims(4), .device = here);
    assert_true(captured && joined && event);
    (void)tern_cuda_stream_set(here.index, captured);
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_int_equal(tern_cuda_event_record(event), TERN_OK);
    (void)tern_cuda_stream_set(here.index, joined);
    assert_int_equal(tern_cuda_event_wait(event, here.index), TERN_OK);
    assert_non_null(tern_add_scalar_(x, 1));
    assert_int_equal(tern_cuda_event_record(event), TERN_OK);
    (void)tern_cuda_stream_set(here.index, captured);
    assert_int_equal(tern_cuda_event_wait(event, here.index), TERN_OK);
    tern_cuda_stream_free(captured);
    assert_error(TERN_ERR_STATE, sentence);
    tern_cuda_stream_free(joined);
    assert_error(TERN_ERR_STATE, sentence);
    pthread_t thread;
    void *status = NULL;
    assert_int_equal(pthread_create(&thread, NULL, free_stream, captured), 0);
    assert_int_equal(pthread_join(thread, &status), 0);
    assert_int_equal((intptr_t)status, TERN_ERR_STATE);
    tern_cuda_graph *graph = tern_cuda_graph_end();
    assert_non_null(graph);
    (void)tern_cuda_stream_set(here.index, NULL);
    tern_cuda_stream_free(captured);
    tern_cuda_stream_free(joined);
    tern_cuda_event_free(event);
    assert_no_error();
    replay(graph);
    replay(graph);
    assert_values(x, 2, 2, 2, 2);
    tern_cuda_graph_free(graph);
}

static void a_cache_is_not_emptied_in_a_capture(void **state)
{
    (void)state;
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_int_equal(tern_cuda_empty_cache(here.index), TERN_ERR_STATE);
    tern_cuda_graph_free(tern_cuda_graph_end());
    assert_error(TERN_ERR_STATE, "memory is given back while device cuda:0");
    check_next_capture();
}

// ---- what is freed ------------------------------------------------------------------------------

static tern_loader *some_loader(tern_dataset **data)
{
    tern_tensor *x = small_input(8);
    *data = tern_data_tensors_new(1, &x);
    tern_loader *loader = tern_loader_new(*data, .batch_size = 4, .device = here);
    tern_batch batch;
    assert_true(loader && tern_loader_next(loader, &batch));
    return loader;
}

// Of what the captured work has used, and of what it has not.
static void what_is_freed_in_a_capture_stays_for_its_replays(void **state)
{
    (void)state;
    tern_dataset *data;
    pair p = pair_new(), other = pair_new();
    pair_warm_up(&p);
    pair_warm_up(&other);
    tern_loader *loader = some_loader(&data);
    tern_generator *generator = tern_generator_new(1);
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_int_equal(plain_step(&p.graph), TERN_OK);
    tern_module_retain(p.graph.net);
    tern_module_free(p.graph.net);
    tern_loader_free(loader);
    tern_dataset_free(data);
    tern_generator_free(generator);
    run_free(&other.eager);
    run_free(&other.graph);
    tern_cuda_graph *graph = tern_cuda_graph_end();
    assert_no_error();
    pair_fill(&p, 4);
    replay(graph);
    assert_int_equal(plain_step(&p.eager), TERN_OK);
    check_same_runs(&p.eager, &p.graph);
    pair_free(&p, graph);
}

static void a_graph_is_replayed_when_its_net_and_optimizer_are_freed(void **state)
{
    (void)state;
    pair p = pair_new();
    pair_warm_up(&p);
    tern_cuda_graph *graph = capture(&p.graph, plain_step);
    pair_fill(&p, 4);
    run_free(&p.graph);
    replay(graph);
    assert_int_equal(plain_step(&p.eager), TERN_OK);
    check_same(p.graph.loss, p.eager.loss, 0);
    tern_cuda_graph_free(graph);
    run_free(&p.eager);
}

int main(int argc, char **argv)
{
    const int nothing = choose_cuda(argc, argv);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_thread_that_ends_in_a_capture_ends_it),
        CHECK_TEST(a_stream_whose_work_is_captured_stays),
        CHECK_TEST(a_cache_is_not_emptied_in_a_capture),
        CHECK_TEST(what_is_freed_in_a_capture_stays_for_its_replays),
        CHECK_TEST(a_graph_is_replayed_when_its_net_and_optimizer_are_freed),
        CHECK_TEST(a_shutdown_ends_the_capture_of_its_thread),
    };
    return nothing ? nothing : cmocka_run_group_tests(tests, NULL, check_shutdown);
}
