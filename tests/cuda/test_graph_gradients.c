// SPDX-License-Identifier: Apache-2.0
// Gradients of captured work: a replay leaves them as the step would, or is refused.
#include "graph_check.h"

static void a_graph_of_forward_and_backward_trains_with_an_eager_update(void **state)
{
    (void)state;
    pair p = pair_new();
    pair_warm_up(&p);
    tern_optim_zero_grad(p.graph.optim);
    tern_cuda_graph *graph = capture(&p.graph, learn);
    for (int i = WARM; i < WARM + 10; i++) {
        pair_fill(&p, i);
        assert_int_equal(plain_step(&p.eager), TERN_OK);
        tern_optim_zero_grad(p.graph.optim);
        replay(graph);
        assert_int_equal(update(&p.graph), TERN_OK);
        check_same_runs(&p.graph, &p.eager);
    }
    pair_free(&p, graph);
}

static void a_graph_that_overwrites_gradients_is_not_replayed_over_present_ones(void **state)
{
    (void)state;
    run r = run_new();
    warm_up(&r);
    tern_optim_zero_grad(r.optim);
    tern_cuda_graph *graph = capture(&r, learn);
    replay(graph);
    assert_status(tern_cuda_graph_replay(graph), TERN_ERR_STATE,
                  "the gradient of 0.weight is present, but was absent at the capture");
    assert_int_equal(update(&r), TERN_OK);
    tern_optim_zero_grad(r.optim);
    replay(graph);
    tern_cuda_graph_free(graph);
    run_free(&r);
}

static void a_graph_that_adds_to_gradients_accumulates(void **state)
{
    (void)state;
    pair p = pair_new();
    pair_warm_up(&p);
    tern_cuda_graph *graph = capture(&p.graph, learn); // the warm-up's gradients are there
    for (int i = 0; i < 3; i++) {
        pair_fill(&p, 10 + i);
        tern_optim_zero_grad(p.eager.optim);
        tern_optim_zero_grad(p.graph.optim);
        assert_int_equal(learn(&p.eager), TERN_OK);
        assert_int_equal(learn(&p.graph), TERN_OK);
        for (int k = 0; k < 3; k++) {
            assert_int_equal(learn(&p.eager), TERN_OK);
            replay(graph);
        }
        check_same_runs(&p.graph, &p.eager);
        assert_int_equal(update(&p.eager), TERN_OK);
        assert_int_equal(update(&p.graph), TERN_OK);
    }
    tern_optim_zero_grad(p.graph.optim);
    assert_status(tern_cuda_graph_replay(graph), TERN_ERR_STATE,
                  "is absent, but was present at the capture");
    pair_free(&p, graph);
}

static void a_graph_that_begins_with_zero_grad_takes_gradients_as_they_are(void **state)
{
    (void)state;
    pair p = pair_new();
    pair_warm_up(&p);
    tern_cuda_graph *graph = capture(&p.graph, zero_and_learn);
    for (int i = 0; i < 6; i++) {
        pair_fill(&p, 10 + i);
        if (i % 2)
            tern_optim_zero_grad(p.graph.optim);
        assert_int_equal(zero_and_learn(&p.eager), TERN_OK);
        replay(graph);
        check_same_runs(&p.graph, &p.eager);
    }
    pair_free(&p, graph);
}

static void an_update_alone_needs_the_gradients_that_it_captured(void **state)
{
    (void)state;
    pair p = pair_new();
    pair_warm_up(&p);
    tern_cuda_graph *graph = capture(&p.graph, update);
    for (int i = 0; i < 3; i++) {
        pair_fill(&p, 5 + i);
        assert_int_equal(plain_step(&p.eager), TERN_OK);
        assert_int_equal(zero_and_learn(&p.graph), TERN_OK);
        replay(graph);
        check_same_runs(&p.graph, &p.eager);
    }
    tern_optim_zero_grad(p.graph.optim); // an eager step would leave the weights alone
    assert_status(tern_cuda_graph_replay(graph), TERN_ERR_STATE, "is absent");
    pair_free(&p, graph);
}

static tern_status step_and_zero(run *r)
{
    tern_status status = learn(r);
    if (!status)
        status = update(r);
    tern_optim_zero_grad(r->optim);
    return status;
}

static void a_step_may_end_with_zero_grad(void **state)
{
    (void)state;
    pair p = pair_new();
    pair_warm_up(&p);
    tern_optim_zero_grad(p.eager.optim);
    tern_optim_zero_grad(p.graph.optim);
    tern_cuda_graph *graph = capture(&p.graph, step_and_zero);
    for (int i = 0; i < 5; i++) {
        pair_fill(&p, 5 + i);
        assert_int_equal(step_and_zero(&p.eager), TERN_OK);
        replay(graph);
        check_same_runs(&p.graph, &p.eager);
    }
    pair_free(&p, graph);
}

static void a_capture_runs_nothing_and_changes_nothing(void **state)
{
    (void)state;
    pair p = pair_new();
    pair_warm_up(&p);
    check_same_runs(&p.graph, &p.eager);
    tern_cuda_graph *graph = capture(&p.graph, plain_step);
    check_same_runs(&p.graph, &p.eager);
    tern_optim_zero_grad(p.graph.optim);
    tern_cuda_graph_free(graph);
    graph = capture(&p.graph, learn);
    assert_null(tern_grad(tern_module_parameter(p.graph.net, "0.weight")));
    tern_optim_zero_grad(p.eager.optim);
    assert_int_equal(update(&p.graph), TERN_OK); // there are no gradients
    check_same_runs(&p.graph, &p.eager);
    pair_free(&p, graph);
}

static void a_capture_that_failed_changes_nothing(void **state)
{
    (void)state;
    pair p = pair_new();
    pair_warm_up(&p);
    tern_optim_zero_grad(p.eager.optim);
    tern_optim_zero_grad(p.graph.optim);
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_int_equal(learn(&p.graph), TERN_OK);
    assert_true(isnan(tern_item(p.graph.loss)));
    assert_null_with(tern_cuda_graph_end(), TERN_ERR_STATE, "captured");
    check_same_runs(&p.graph, &p.eager);
    assert_int_equal(plain_step(&p.eager), TERN_OK);
    assert_int_equal(plain_step(&p.graph), TERN_OK);
    check_same_runs(&p.graph, &p.eager);
    pair_free(&p, NULL);
}

int main(int argc, char **argv)
{
    const int nothing = choose_cuda(argc, argv);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_graph_of_forward_and_backward_trains_with_an_eager_update),
        CHECK_TEST(a_graph_that_overwrites_gradients_is_not_replayed_over_present_ones),
        CHECK_TEST(a_graph_that_adds_to_gradients_accumulates),
        CHECK_TEST(a_graph_that_begins_with_zero_grad_takes_gradients_as_they_are),
        CHECK_TEST(an_update_alone_needs_the_gradients_that_it_captured),
        CHECK_TEST(a_step_may_end_with_zero_grad),
        CHECK_TEST(a_capture_runs_nothing_and_changes_nothing),
        CHECK_TEST(a_capture_that_failed_changes_nothing),
    };
    return nothing ? nothing : cmocka_run_group_tests(tests, NULL, check_shutdown);
}
