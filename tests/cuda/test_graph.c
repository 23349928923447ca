// SPDX-License-Identifier: Apache-2.0
// A training step that is captured once and replayed does what the step does.
#include <pthread.h>
#include <stdatomic.h>
#include "graph_check.h"
#include "device/sim.h"

enum { BATCHES = 20 };

// With clipping.
static tern_status step(run *r)
{
    tern_scope scope = tern_scope_open();
    tern_status status = zero_and_learn(r);
    tern_tensor *norm = status ? NULL : tern_clip_grad_norm(r->net, 0.2);
    if (!norm || tern_optim_step(r->optim) || !tern_copy_(r->norm, norm))
        status = tern_error_code();
    tern_scope_close(scope);
    return status;
}

static tern_cuda_graph *captured(run *r)
{
    return capture(r, step);
}

// The losses of every batch; eagerly, or replayed after the first WARM.
static void train(run *r, bool replay, float *losses)
{
    tern_cuda_graph *graph = NULL;
    for (int i = 0; i < WARM + BATCHES; i++) {
        fill_batch(r, i);
        if (replay && i == WARM)
            graph = captured(r);
        assert_int_equal(graph ? tern_cuda_graph_replay(graph) : step(r), TERN_OK);
        assert_int_equal(tern_to_host(r->loss, &losses[i], sizeof losses[i]), TERN_OK);
    }
    tern_cuda_graph_free(graph);
}

static void a_replayed_step_is_the_step_bit_for_bit(void **state)
{
    (void)state;
    run eager = run_new();
    float expected[WARM + BATCHES], losses[WARM + BATCHES];
    train(&eager, false, expected);
    run replayed = run_new(); // seeds anew
    train(&replayed, true, losses);
    for (int i = 0; i < WARM + BATCHES; i++)
        assert_memory_equal(&losses[i], &expected[i], sizeof losses[i]);
    check_same(tern_module_parameter(replayed.net, "0.weight"),
               tern_module_parameter(eager.net, "0.weight"), 0);
    check_same(tern_optim_state(replayed.optim, 3, "exp_avg_sq"),
               tern_optim_state(eager.optim, 3, "exp_avg_sq"), 0);
    check_same(replayed.norm, eager.norm, 0);
    assert_int_equal(tern_optim_step_count(replayed.optim, 0), WARM + BATCHES);
    assert_true(expected[WARM] != expected[WARM + 1]); // the batches differ
    run_free(&eager);
    run_free(&replayed);
}

static void a_captured_step_goes_on_eagerly_where_it_ended(void **state)
{
    (void)state;
    run eager = run_new();
    float expected[WARM + BATCHES], unused[WARM + BATCHES], loss[2];
    train(&eager, false, expected);
    fill_batch(&eager, 40);
    assert_int_equal(step(&eager), TERN_OK);
    assert_int_equal(tern_to_host(eager.loss, &loss[0], sizeof loss[0]), TERN_OK);
    run replayed = run_new();
    train(&replayed, true, unused);
    fill_batch(&replayed, 40);
    assert_int_equal(step(&replayed), TERN_OK);
    assert_int_equal(tern_to_host(replayed.loss, &loss[1], sizeof loss[1]), TERN_OK);
    assert_memory_equal(&loss[0], &loss[1], sizeof loss[0]);
    run_free(&eager);
    run_free(&replayed);
}

static void a_replay_is_one_launch(void **state)
{
    (void)state;
    run r = run_new();
    for (int i = 0; i < WARM; i++)
        assert_int_equal(step(&r), TERN_OK);
    tern_cuda_graph *graph = captured(&r);
    if (sim_begin()) {
        tern_sim_counts c;
        sim.count_reset();
        assert_int_equal(tern_cuda_graph_replay(graph), TERN_OK);
        assert_int_equal(tern_cuda_graph_replay(graph), TERN_OK);
        sim.count(&c);
        assert_int_equal(c.graph_launches, 2);
        assert_int_equal(c.mallocs + c.stream_waits + c.device_waits + c.event_waits, 0);
        assert_true(c.launches <= 4); // what writes the optimizer's numbers
    }
    assert_int_equal(tern_synchronize(here), TERN_OK);
    tern_cuda_graph_free(graph);
    run_free(&r);
}

static void memory_of_a_graph_goes_back_with_it(void **state)
{
    (void)state;
    run r = run_new();
    for (int i = 0; i < WARM; i++)
        assert_int_equal(step(&r), TERN_OK);
    tern_cuda_memory before, after;
    assert_int_equal(tern_synchronize(here), TERN_OK);
    assert_int_equal(tern_cuda_get_memory(here.index, &before), TERN_OK);
    for (int i = 0; i < 3; i++)
        tern_cuda_graph_free(captured(&r));
    assert_int_equal(tern_cuda_empty_cache(here.index), TERN_OK);
    assert_int_equal(tern_cuda_get_memory(here.index, &after), TERN_OK);
    assert_int_equal(after.allocated, before.allocated);
    assert_true(after.reserved <= before.reserved);
    run_free(&r);
}

// ---- beside a capture ---------------------------------------------------------------------------

typedef struct bystander {
    atomic_bool stop;
    atomic_int rounds;
    bool failed;
} bystander;

// Takes memory of the device and gives it back, computes, waits, reads.
static void *work_on_the_device(void *argument)
{
    bystander *b = argument;
    for (int64_t n = 1000; !atomic_load(&b->stop); n += 1000) {
        tern_scope scope = tern_scope_open();
        tern_tensor *x = tern_full(tern_dims(n), 0.5, .device = here);
        const double sum = tern_item(tern_sum(tern_add(x, x), TERN_ALL_AXES, false));
        tern_scope_close(scope);
        b->failed |= sum != (double)n || tern_cuda_empty_cache(here.index) || tern_error_pending();
        atomic_fetch_add(&b->rounds, 1);
    }
    tern_error_print(stderr);
    return NULL;
}

static void wait_for_rounds(bystander *b, int count)
{
    const int end = atomic_load(&b->rounds) + count;
    while (atomic_load(&b->rounds) < end)
        sched_yield();
}

static void another_thread_uses_the_device_while_one_captures(void **state)
{
    (void)state;
    run eager = run_new();
    float expected[WARM + 1], losses[WARM + 1];
    for (int i = 0; i <= WARM; i++) {
        fill_batch(&eager, i);
        assert_int_equal(step(&eager), TERN_OK);
        assert_int_equal(tern_to_host(eager.loss, &expected[i], sizeof expected[i]), TERN_OK);
    }
    run replayed = run_new();
    for (int i = 0; i < WARM; i++) {
        fill_batch(&replayed, i);
        assert_int_equal(step(&replayed), TERN_OK);
    }
    fill_batch(&replayed, WARM);
    bystander other = {.failed = false};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, work_on_the_device, &other), 0);
    wait_for_rounds(&other, 1);
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    wait_for_rounds(&other, 2);
    assert_int_equal(step(&replayed), TERN_OK);
    wait_for_rounds(&other, 2);
    tern_cuda_graph *graph = tern_cuda_graph_end();
    assert_no_error();
    assert_int_equal(tern_cuda_graph_replay(graph), TERN_OK);
    assert_int_equal(tern_to_host(replayed.loss, &losses[WARM], sizeof losses[WARM]), TERN_OK);
    atomic_store(&other.stop, true);
    pthread_join(thread, NULL);
    assert_false(other.failed);
    assert_memory_equal(&losses[WARM], &expected[WARM], sizeof losses[WARM]);
    tern_cuda_graph_free(graph);
    run_free(&eager);
    run_free(&replayed);
}

// ---- mistakes -----------------------------------------------------------------------------------

static void a_value_cannot_be_read_in_a_capture(void **state)
{
    (void)state;
    run r = run_new();
    for (int i = 0; i < WARM; i++)
        assert_int_equal(step(&r), TERN_OK);
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_int_equal(step(&r), TERN_OK);
    assert_true(isnan(tern_item(r.loss)));
    assert_null(tern_cuda_graph_end());
    assert_error(TERN_ERR_STATE, "captur");
    assert_int_equal(step(&r), TERN_OK); // all goes on
    assert_int_equal(tern_synchronize(here), TERN_OK);
    tern_cuda_graph_free(captured(&r));
    run_free(&r);
}

static void a_first_step_cannot_be_captured(void **state)
{
    (void)state;
    run r = run_new();
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_int_equal(step(&r), TERN_ERR_STATE);
    assert_null(tern_cuda_graph_end());
    assert_error(TERN_ERR_STATE, "run a step before capturing one");
    tern_optim_zero_grad(r.optim);
    assert_int_equal(step(&r), TERN_OK);
    run_free(&r);
}

static void captures_begin_once_and_end_once(void **state)
{
    (void)state;
    assert_null_with(tern_cuda_graph_end(), TERN_ERR_STATE, "captures nothing");
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_status(tern_cuda_graph_begin(here.index), TERN_ERR_STATE, "already");
    tern_cuda_graph *empty = tern_cuda_graph_end();
    assert_no_error();
    assert_int_equal(tern_cuda_graph_replay(empty), TERN_OK);
    tern_cuda_graph_free(empty);
}

static void a_graph_is_not_replayed_in_a_capture(void **state)
{
    (void)state;
    run r = run_new();
    for (int i = 0; i < WARM; i++)
        assert_int_equal(step(&r), TERN_OK);
    tern_cuda_graph *graph = captured(&r);
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_int_equal(tern_cuda_graph_replay(graph), TERN_ERR_STATE);
    assert_null(tern_cuda_graph_end());
    assert_error(TERN_ERR_STATE,
                 "not while cuda:0 is captured: a graph cannot become part of another");
    assert_int_equal(tern_cuda_graph_replay(graph), TERN_OK); // all goes on
    tern_cuda_graph_free(graph);
    run_free(&r);
}

static tern_tensor *is_called(void *user)
{
    *(bool *)user = true;
    return NULL;
}

static void an_optimizer_that_looks_at_losses_is_not_captured(void **state)
{
    (void)state;
    run r = run_new();
    tern_optim *lbfgs = tern_optim_lbfgs(r.net);
    bool called = false;
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_null_with(tern_optim_step_closure(lbfgs, is_called, &called), TERN_ERR_STATE,
                     "optim_step_closure: not while cuda:0 is captured: LBFGS looks at each loss");
    assert_false(called);
    tern_cuda_graph_free(tern_cuda_graph_end());
    tern_optim_free(lbfgs);
    run_free(&r);
}

static void a_moved_parameter_is_found_at_the_replay(void **state)
{
    (void)state;
    run r = run_new();
    for (int i = 0; i < WARM; i++)
        assert_int_equal(step(&r), TERN_OK);
    tern_cuda_graph *graph = captured(&r);
    assert_non_null(tern_module_to(r.net, tern_cpu(0)));
    assert_status(tern_cuda_graph_replay(graph), TERN_ERR_STATE, "moved since the capture");
    tern_cuda_graph_free(graph);
    run_free(&r);
}

int main(int argc, char **argv)
{
    const int nothing = choose_cuda(argc, argv);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_replayed_step_is_the_step_bit_for_bit),
        CHECK_TEST(a_captured_step_goes_on_eagerly_where_it_ended),
        CHECK_TEST(a_replay_is_one_launch),
        CHECK_TEST(memory_of_a_graph_goes_back_with_it),
        CHECK_TEST(another_thread_uses_the_device_while_one_captures),
        CHECK_TEST(a_value_cannot_be_read_in_a_capture),
        CHECK_TEST(a_first_step_cannot_be_captured),
        CHECK_TEST(captures_begin_once_and_end_once),
        CHECK_TEST(a_graph_is_not_replayed_in_a_capture),
        CHECK_TEST(an_optimizer_that_looks_at_losses_is_not_captured),
        CHECK_TEST(a_moved_parameter_is_found_at_the_replay),
    };
    return nothing ? nothing : cmocka_run_group_tests(tests, NULL, check_shutdown);
}
