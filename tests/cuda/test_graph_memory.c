// SPDX-License-Identifier: Apache-2.0
// The memory that a graph uses, of the device and of the host, and the order of its replays; and
// work of other devices, which no replay would repeat.
#include "graph_check.h"
#include "device/sim.h"

#define MIB ((int64_t)1 << 20)

static tern_tensor *filled(int64_t numel, double value)
{
    return tern_full(tern_dims(numel), value, .device = here);
}

static double first_of(tern_tensor *t)
{
    float *values = malloc((size_t)tern_numel(t) * sizeof *values);
    assert_non_null(values);
    assert_int_equal(tern_to_host(t, values, (size_t)tern_numel(t) * sizeof *values), TERN_OK);
    const double first = values[0];
    for (int64_t i = 1; i < tern_numel(t); i++)
        assert_true(values[i] == values[0]);
    free(values);
    return first;
}

static void begin(void)
{
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
}

static tern_cuda_graph *end(void)
{
    tern_cuda_graph *graph = tern_cuda_graph_end();
    assert_no_error();
    assert_non_null(graph);
    return graph;
}

// ---- what is held -------------------------------------------------------------------------------

static void an_input_that_was_released_stays_with_its_graph(void **state)
{
    (void)state;
    enum { NUMEL = 3000 };
    tern_tensor *y = filled(NUMEL, 0);
    tern_scope scope = tern_scope_open();
    tern_tensor *x = filled(NUMEL, 3);
    begin();
    assert_non_null(tern_copy_(y, tern_mul_scalar(x, 2)));
    tern_cuda_graph *graph = end();
    tern_scope_close(scope); // x dies
    tern_tensor *others[8];
    for (int i = 0; i < 8; i++)
        others[i] = filled(NUMEL, 50 + i);
    replay(graph);
    assert_true(first_of(y) == 6);
    for (int i = 0; i < 8; i++)
        assert_true(first_of(others[i]) == 50 + i);
    tern_cuda_graph_free(graph);
}

static int64_t allocated(void)
{
    tern_cuda_memory m;
    assert_int_equal(tern_cuda_get_memory(here.index, &m), TERN_OK);
    return m.allocated;
}

static void a_graph_lets_go_of_what_it_holds(void **state)
{
    (void)state;
    const int64_t before = allocated();
    tern_scope scope = tern_scope_open();
    tern_tensor *x = filled(1000, 3);
    begin();
    assert_non_null(tern_add_scalar_(x, 1));
    tern_cuda_graph *graph = end();
    tern_scope_close(scope);
    assert_true(allocated() > before);
    tern_cuda_graph_free(graph);
    assert_int_equal(allocated(), before);
}

// What captured work makes and lets go of is the next one's memory, and is not held by the graph.
static void values_that_come_and_go_in_a_capture_take_turns_in_its_memory(void **state)
{
    (void)state;
    tern_tensor *x = filled(MIB, 1), *y = filled(MIB, 0);
    const int64_t before = allocated();
    begin();
    for (int i = 0; i < 10; i++) {
        tern_scope scope = tern_scope_open();
        assert_non_null(tern_add_(y, tern_mul_scalar(x, 2), 1));
        tern_scope_close(scope);
        assert_int_equal(allocated(), before);
    }
    tern_cuda_graph *graph = end();
    replay(graph);
    assert_true(first_of(y) == 20);
    tern_cuda_graph_free(graph);
}

static void a_page_locked_input_is_filled_anew_for_each_replay(void **state)
{
    (void)state;
    tern_tensor *host = tern_retain(tern_pin_memory(tern_zeros(tern_dims(100))));
    tern_tensor *y = filled(100, 0);
    float *values = tern_data(host);
    begin();
    assert_non_null(tern_copy_(y, tern_to_non_blocking(host, here)));
    tern_cuda_graph *graph = end();
    for (int i = 1; i < 4; i++) {
        for (int k = 0; k < 100; k++)
            values[k] = (float)i;
        replay(graph);
        assert_true(first_of(y) == i);
    }
    tern_release(host);
    for (int i = 0; i < 8; i++) {
        tern_tensor *other = tern_pin_memory(tern_full(tern_dims(100), 9));
        assert_true(tern_data(other) != (void *)values);
    }
    replay(graph);
    assert_true(first_of(y) == 3);
    tern_cuda_graph_free(graph);
}

static void a_batch_of_a_captured_loader_is_the_same_in_every_replay(void **state)
{
    (void)state;
    float rows[12][5];
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 5; k++)
            rows[i][k] = (float)(10 + i / 4);
    tern_dataset *data = tern_data_tensors(tern_from_data(tern_dims(12, 5), &rows[0][0]));
    tern_loader *loader = tern_loader_new(data, .batch_size = 4, .device = here);
    tern_tensor *y = tern_zeros(tern_dims(4, 5), .device = here);
    tern_batch b;
    assert_true(tern_loader_next(loader, &b));
    begin();
    assert_true(tern_loader_next(loader, &b));
    assert_non_null(tern_copy_(y, b.x));
    tern_cuda_graph *graph = end();
    for (int i = 0; i < 4; i++) {
        while (tern_loader_next(loader, &b)) // takes page-locked memory as it did
            assert_non_null(b.x);
        tern_tensor *other = tern_pin_memory(tern_full(tern_dims(4, 5), 99));
        replay(graph);
        assert_true(first_of(y) == 11);
        assert_true(*(float *)tern_data(other) == 99);
    }
    assert_no_error();
    tern_cuda_graph_free(graph);
    tern_loader_free(loader);
    tern_dataset_free(data);
}

static void a_capture_may_need_new_memory(void **state)
{
    (void)state;
    tern_cuda_stream *own = tern_cuda_stream_new(here.index);
    tern_tensor *y = filled(1000, 0), *big = filled(4 * MIB, 0);
    assert_int_equal(tern_synchronize(here), TERN_OK);
    (void)tern_cuda_stream_set(here.index, own);
    begin();
    for (int i = 1; i <= 5; i++) // small blocks, and segments
        assert_non_null(tern_add_(y, filled(1000, i), 1));
    assert_non_null(tern_copy_(big, filled(4 * MIB, 7)));
    tern_cuda_graph *graph = end();
    replay(graph);
    replay(graph);
    assert_true(first_of(y) == 30);
    assert_true(first_of(big) == 7);
    tern_cuda_graph_free(graph);
    (void)tern_cuda_stream_set(here.index, NULL);
    tern_cuda_stream_free(own);
}

static void graphs_of_a_device_share_a_workspace(void **state)
{
    (void)state;
    enum { GRAPHS = 4 };
    tern_cuda_graph *graphs[GRAPHS];
    tern_cuda_memory before, after;
    tern_tensor *x = tern_ones(tern_dims(8, 8), .device = here), *y = tern_matmul(x, x);
    assert_int_equal(tern_cuda_empty_cache(here.index), TERN_OK);
    for (int i = 0; i < GRAPHS; i++) {
        begin();
        assert_non_null(tern_copy_(y, tern_matmul(x, x)));
        graphs[i] = end();
        assert_int_equal(tern_cuda_get_memory(here.index, i == 0 ? &before : &after), TERN_OK);
    }
    assert_true(after.reserved - before.reserved < 16 * MIB);
    for (int i = 0; i < GRAPHS; i++)
        tern_cuda_graph_free(graphs[i]);
    assert_int_equal(tern_cuda_empty_cache(here.index), TERN_OK);
    assert_int_equal(tern_cuda_get_memory(here.index, &after), TERN_OK);
    assert_true(after.reserved < before.reserved - 16 * MIB);
}

// ---- streams ------------------------------------------------------------------------------------

static tern_cuda_stream *const *streams_new(void)
{
    static tern_cuda_stream *streams[3]; // the first is the device's own
    for (int i = 1; i < 3; i++)
        streams[i] = tern_cuda_stream_new(here.index);
    return streams;
}

static void streams_free(tern_cuda_stream *const *streams)
{
    (void)tern_cuda_stream_set(here.index, NULL);
    for (int i = 1; i < 3; i++)
        tern_cuda_stream_free(streams[i]);
}

// Nobody waits for an event here: what a replay uses, and what it made, is in order on any stream.
static void replays_and_other_work_are_in_order_on_any_stream(void **state)
{
    (void)state;
    enum { NUMEL = 2000, ROUNDS = 27 };
    tern_cuda_stream *const *streams = streams_new();
    tern_tensor *x = filled(NUMEL, 1), *y = filled(NUMEL, 0), *copies[ROUNDS];
    begin();
    tern_tensor *twice = tern_mul_scalar(x, 2); // the graph's own memory, read outside
    assert_non_null(tern_add_(y, twice, 1));
    tern_cuda_graph *graph = end();
    double sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        (void)tern_cuda_stream_set(here.index, streams[i % 3]);
        assert_non_null(tern_fill_(x, i));
        (void)tern_cuda_stream_set(here.index, streams[i / 3 % 3]);
        replay(graph);
        (void)tern_cuda_stream_set(here.index, streams[i / 9 % 3]);
        copies[i] = tern_clone(twice); // before the next replay overwrites it
        sum += 2 * i;
    }
    assert_true(first_of(y) == sum);
    for (int i = ROUNDS - 1; i >= 0; i--)
        assert_true(first_of(copies[i]) == 2 * i);
    tern_cuda_graph_free(graph);
    streams_free(streams);
}

// y = x x, of tensors that nothing else uses, on the current stream.
static tern_cuda_graph *product(void)
{
    tern_tensor *x = tern_ones(tern_dims(8, 8), .device = here), *y = tern_matmul(x, x);
    begin();
    assert_non_null(tern_copy_(y, tern_matmul(x, x)));
    return end();
}

static void replays_that_share_the_workspace_do_not_overlap(void **state)
{
    (void)state;
    tern_sim_wait waits[64];
    size_t ordered = 0;
    if (!sim_begin())
        skip(); // the simulated device tells who waits for whom
    tern_cuda_stream *const *streams = streams_new();
    tern_cuda_graph *one = product();
    (void)tern_cuda_stream_set(here.index, streams[1]);
    tern_cuda_graph *two = product();
    replay(two);
    (void)tern_cuda_stream_set(here.index, NULL);
    replay(one);
    (void)tern_cuda_stream_set(here.index, streams[1]);
    sim.trace_waits();
    replay(two);
    const size_t count = sim.waits(waits, 64);
    for (size_t i = 0; i < count && i < 64; i++)
        ordered += waits[i].waiter == TERN_SIM_STREAM_ON_EVENT;
    assert_int_equal(ordered, 1);
    tern_cuda_graph_free(one);
    tern_cuda_graph_free(two);
    streams_free(streams);
}

static void a_stream_that_takes_no_part_in_a_capture_is_refused(void **state)
{
    (void)state;
    tern_cuda_stream *const *streams = streams_new();
    tern_cuda_event *event = tern_cuda_event_new(here.index);
    tern_tensor *x = filled(100, 1), *y = filled(100, 0);
    assert_int_equal(tern_synchronize(here), TERN_OK);
    begin();
    (void)tern_cuda_stream_set(here.index, streams[1]);
    assert_null_with(tern_add_scalar_(y, 1), TERN_ERR_STATE,
                     "the current stream of cuda:0 is not part of the capture");
    assert_null_with(tern_mul(x, x), TERN_ERR_STATE, "not part of the capture");
    (void)tern_cuda_stream_set(here.index, NULL);
    assert_int_equal(tern_cuda_event_record(event), TERN_OK);
    (void)tern_cuda_stream_set(here.index, streams[1]);
    assert_int_equal(tern_cuda_event_wait(event, here.index), TERN_OK);
    assert_non_null(tern_add_(y, x, 1)); // now it is
    assert_int_equal(tern_cuda_event_record(event), TERN_OK);
    (void)tern_cuda_stream_set(here.index, NULL);
    assert_int_equal(tern_cuda_event_wait(event, here.index), TERN_OK);
    tern_cuda_graph *graph = end();
    replay(graph);
    replay(graph);
    assert_true(first_of(y) == 2);
    tern_cuda_graph_free(graph);
    tern_cuda_event_free(event);
    streams_free(streams);
}

// ---- other devices ------------------------------------------------------------------------------

static void work_of_a_second_device_is_refused_in_a_capture(void **state)
{
    (void)state;
    NEEDS_TWO_DEVICES();
    tern_module *net = tern_nn_linear(6, 3), *far = tern_nn_linear(6, 3);
    assert_non_null(tern_module_to(net, here));
    assert_non_null(tern_module_to(far, there));
    tern_optim *optim = tern_optim_sgd(far, .lr = 0.1);
    tern_tensor *x = tern_ones(tern_dims(2, 6), .device = here);
    tern_tensor *z = tern_ones(tern_dims(2, 6), .device = there);
    tern_tensor *loss = tern_sum(tern_forward(far, z), TERN_ALL_AXES, false);
    const char *refused = "cannot work while this thread captures cuda:0";
    begin();
    assert_null_with(tern_forward(far, z), TERN_ERR_STATE, refused);
    assert_null_with(tern_to(x, there), TERN_ERR_STATE, refused);
    assert_null_with(tern_to(z, here), TERN_ERR_STATE, refused);
    assert_null_with(tern_copy_(x, z), TERN_ERR_STATE, refused);
    assert_null_with(tern_copy_(z, x), TERN_ERR_STATE, refused);
    assert_null_with(tern_zero_(z), TERN_ERR_STATE, refused);
    assert_null_with(tern_zeros(tern_dims(2), .device = there), TERN_ERR_STATE, refused);
    assert_status(tern_backward(loss), TERN_ERR_STATE, refused);
    assert_status(tern_optim_step(optim), TERN_ERR_STATE, refused);
    assert_null_with(tern_clip_grad_norm(far, 1), TERN_ERR_STATE, refused);
    assert_status(tern_clip_grad_value(far, 1), TERN_ERR_STATE, refused);
    assert_status(tern_from_host(z, (float[12]){0}, 48), TERN_ERR_STATE, refused);
    assert_non_null(tern_forward(net, x)); // and its own work goes on
    tern_cuda_graph *graph = end();
    assert_int_equal(tern_backward(loss), TERN_OK); // none of that spoiled anything
    assert_int_equal(tern_optim_step(optim), TERN_OK);
    tern_cuda_graph_free(graph);
    tern_optim_free(optim);
    tern_module_free(net);
    tern_module_free(far);
}

static void training_on_the_cpu_is_refused_in_a_capture(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(6, 3);
    tern_optim *optim = tern_optim_sgd(net, .lr = 0.1);
    tern_tensor *x = tern_ones(tern_dims(2, 6));
    tern_tensor *loss = tern_sum(tern_forward(net, x), TERN_ALL_AXES, false);
    const char *refused = "cpu cannot work while this thread captures cuda:0";
    begin();
    assert_null_with(tern_forward(net, x), TERN_ERR_STATE, refused);
    assert_status(tern_backward(loss), TERN_ERR_STATE, refused);
    assert_status(tern_optim_step(optim), TERN_ERR_STATE, refused);
    assert_null_with(tern_clip_grad_norm(net, 1), TERN_ERR_STATE, refused);
    assert_non_null(tern_add(x, x)); // the host's work is done now, once
    tern_cuda_graph *graph = end();
    assert_int_equal(tern_backward(loss), TERN_OK);
    tern_cuda_graph_free(graph);
    tern_optim_free(optim);
    tern_module_free(net);
}

int main(int argc, char **argv)
{
    const int nothing = choose_cuda(argc, argv);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(an_input_that_was_released_stays_with_its_graph),
        CHECK_TEST(a_graph_lets_go_of_what_it_holds),
        CHECK_TEST(values_that_come_and_go_in_a_capture_take_turns_in_its_memory),
        CHECK_TEST(a_page_locked_input_is_filled_anew_for_each_replay),
        CHECK_TEST(a_batch_of_a_captured_loader_is_the_same_in_every_replay),
        CHECK_TEST(a_capture_may_need_new_memory),
        CHECK_TEST(graphs_of_a_device_share_a_workspace),
        CHECK_TEST(replays_and_other_work_are_in_order_on_any_stream),
        CHECK_TEST(replays_that_share_the_workspace_do_not_overlap),
        CHECK_TEST(a_stream_that_takes_no_part_in_a_capture_is_refused),
        CHECK_TEST(work_of_a_second_device_is_refused_in_a_capture),
        CHECK_TEST(training_on_the_cpu_is_refused_in_a_capture),
    };
    return nothing ? nothing : cmocka_run_group_tests(tests, NULL, check_shutdown);
}
