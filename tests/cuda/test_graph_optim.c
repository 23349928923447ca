// SPDX-License-Identifier: Apache-2.0
// The optimizer's side of captured work: its numbers go on between replays, and a step that would
// be another one now is refused.
#include "graph_check.h"

static tern_optim *sgd(tern_module *net)
{
    return tern_optim_sgd(net, .lr = 0.05, .momentum = 0.9);
}

static tern_optim *plain_sgd(tern_module *net)
{
    return tern_optim_sgd(net, .lr = 0.05);
}

static void set(run *r, const char *option, double value)
{
    assert_int_equal(tern_optim_set(r->optim, TERN_ALL_GROUPS, option, value), TERN_OK);
}

static void momentum_may_change_but_not_come_or_go(void **state)
{
    (void)state;
    pair p = pair_of(plain_net, sgd);
    pair_warm_up(&p);
    tern_cuda_graph *graph = capture(&p.graph, plain_step);
    for (int i = 0; i < 3; i++) {
        pair_fill(&p, 5 + i);
        set(&p.eager, "momentum", 0.5 + 0.1 * i);
        set(&p.graph, "momentum", 0.5 + 0.1 * i);
        assert_int_equal(plain_step(&p.eager), TERN_OK);
        replay(graph);
        check_same_runs(&p.graph, &p.eager);
    }
    set(&p.graph, "momentum", 0);
    assert_status(tern_cuda_graph_replay(graph), TERN_ERR_STATE,
                  "no longer needs, as it did at the capture, a momentum_buffer");
    check_same_runs(&p.graph, &p.eager);
    pair_free(&p, graph);

    p = pair_of(plain_net, plain_sgd);
    pair_warm_up(&p);
    graph = capture(&p.graph, plain_step);
    set(&p.graph, "momentum", 0.9);
    assert_status(tern_cuda_graph_replay(graph), TERN_ERR_STATE,
                  "needs, as it did not at the capture, a momentum_buffer");
    set(&p.graph, "momentum", 0);
    replay(graph);
    pair_free(&p, graph);
}

static void a_schedule_of_rate_and_momentum_goes_on_between_replays(void **state)
{
    (void)state;
    pair p = pair_of(plain_net, sgd);
    pair_warm_up(&p);
    tern_sched *eager = tern_sched_one_cycle_lr(p.eager.optim, 0.1, .total_steps = 9);
    tern_sched *replayed = tern_sched_one_cycle_lr(p.graph.optim, 0.1, .total_steps = 9);
    tern_cuda_graph *graph = capture(&p.graph, plain_step);
    for (int i = 0; i < 9; i++) {
        pair_fill(&p, 5 + i);
        assert_int_equal(plain_step(&p.eager), TERN_OK);
        replay(graph);
        check_same_runs(&p.graph, &p.eager);
        assert_int_equal(tern_sched_step(eager), TERN_OK);
        assert_int_equal(tern_sched_step(replayed), TERN_OK);
    }
    tern_free(eager, replayed);
    pair_free(&p, graph);
}

#define OPTIMIZER_WITH(name, ...)                                                                  \
    static tern_optim *name(tern_module *net)                                                      \
    {                                                                                              \
        return tern_optim_##name(net, .lr = 0.02, __VA_ARGS__);                                    \
    }
#define OPTIMIZER(name) OPTIMIZER_WITH(name, .params = NULL)
OPTIMIZER(adadelta)
OPTIMIZER(adagrad)
OPTIMIZER(adamw)
OPTIMIZER_WITH(rmsprop, .momentum = 0.9, .centered = true)
OPTIMIZER(adamax)
OPTIMIZER(radam)
OPTIMIZER(nadam)
OPTIMIZER(asgd)
OPTIMIZER(lion)
OPTIMIZER(rprop)
OPTIMIZER_WITH(schedule_free_adamw, .warmup_steps = 7)
OPTIMIZER_WITH(muon, .rest = TERN_MUON_ADAMW)
OPTIMIZER(adafactor)

// Their numbers change from step to step: RAdam's update takes another form at its sixth.
static void every_optimizer_goes_on_in_replays(void **state)
{
    (void)state;
    tern_optim *(*const optimizers[])(tern_module *) = {adadelta,
                                                        adagrad,
                                                        adamw,
                                                        rmsprop,
                                                        adamax,
                                                        radam,
                                                        nadam,
                                                        asgd,
                                                        lion,
                                                        rprop,
                                                        schedule_free_adamw,
                                                        muon,
                                                        adafactor};
    for (size_t k = 0; k < sizeof optimizers / sizeof *optimizers; k++) {
        pair p = pair_of(plain_net, optimizers[k]);
        pair_warm_up(&p);
        tern_cuda_graph *graph = capture(&p.graph, plain_step);
        for (int i = 0; i < 6; i++) {
            pair_fill(&p, 5 + i);
            assert_int_equal(plain_step(&p.eager), TERN_OK);
            replay(graph);
            check_same_runs(&p.graph, &p.eager);
        }
        pair_free(&p, graph);
    }
}

// Operations of the graph compute with them; lr and weight_decay it reads anew.
static void numbers_that_directions_are_made_with_may_not_change(void **state)
{
    (void)state;
    pair p = pair_of(plain_net, muon);
    pair_warm_up(&p);
    tern_cuda_graph *graph = capture(&p.graph, plain_step);
    set(&p.eager, "weight_decay", 0.5);
    set(&p.graph, "weight_decay", 0.5);
    assert_int_equal(plain_step(&p.eager), TERN_OK);
    replay(graph);
    check_same_runs(&p.graph, &p.eager);
    set(&p.graph, "momentum", 0.5);
    assert_status(tern_cuda_graph_replay(graph), TERN_ERR_STATE,
                  "cuda_graph_replay: momentum of the optimizer is 0.5, but was 0.95 at the "
                  "capture; capture the step again");
    set(&p.graph, "momentum", 0.95);
    assert_int_equal(plain_step(&p.eager), TERN_OK);
    replay(graph);
    check_same_runs(&p.graph, &p.eager);
    pair_free(&p, graph);
}

static void a_replay_in_evaluation_is_refused(void **state)
{
    (void)state;
    pair p = pair_of(plain_net, schedule_free_adamw);
    pair_warm_up(&p);
    tern_cuda_graph *graph = capture(&p.graph, plain_step);
    assert_int_equal(tern_optim_eval(p.graph.optim), TERN_OK);
    assert_int_equal(tern_optim_eval(p.eager.optim), TERN_OK);
    assert_status(tern_cuda_graph_replay(graph), TERN_ERR_STATE,
                  "cuda_graph_replay: the parameters of AdamWScheduleFree are at their average");
    assert_int_equal(tern_optim_train(p.graph.optim), TERN_OK);
    assert_int_equal(tern_optim_train(p.eager.optim), TERN_OK);
    assert_int_equal(plain_step(&p.eager), TERN_OK);
    replay(graph);
    check_same_runs(&p.graph, &p.eager);
    assert_true(tern_optim_get(p.graph.optim, 0, "k") == WARM + 1);
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_status(tern_optim_eval(p.graph.optim), TERN_ERR_STATE, "optim_eval: not while cuda:0");
    tern_cuda_graph_free(tern_cuda_graph_end());
    pair_free(&p, graph);
}

// Kernels change nothing while the fault record is set, and nothing would say that the parameters
// are not at the average.
static void a_bad_value_is_found_before_an_evaluation(void **state)
{
    (void)state;
    pair p = pair_of(plain_net, schedule_free_adamw);
    pair_warm_up(&p);
    int64_t labels[ROWS] = {0, 1, 2, 0, 9};
    assert_int_equal(tern_from_host(p.graph.y, labels, sizeof labels), TERN_OK);
    assert_int_equal(zero_and_learn(&p.graph), TERN_OK);
    assert_status(tern_optim_eval(p.graph.optim), TERN_ERR_INDEX, "label of sample 4 is 9");
    assert_true(tern_optim_get(p.graph.optim, 0, "train_mode") == 1);
    tern_optim_zero_grad(p.graph.optim);
    assert_int_equal(tern_optim_eval(p.graph.optim), TERN_OK);
    assert_int_equal(tern_optim_eval(p.eager.optim), TERN_OK);
    check_same(tern_module_parameter(p.graph.net, "0.weight"),
               tern_module_parameter(p.eager.net, "0.weight"), 0);
    pair_free(&p, NULL);
}

// The host counts a step in which a kernel found a bad value; z must not be 0 after it.
static void a_first_step_with_a_bad_value_leaves_the_state_begun(void **state)
{
    (void)state;
    tern_optim *(*const optimizers[])(tern_module *) = {schedule_free_adamw, rprop};
    for (int k = 0; k < 2; k++) {
        pair p = pair_of(plain_net, optimizers[k]);
        run *bad = &p.graph, *good = &p.eager;
        pair_fill(&p, 1);
        int64_t labels[ROWS] = {0, 1, 2, 0, 9};
        assert_int_equal(tern_from_host(bad->y, labels, sizeof labels), TERN_OK);
        assert_int_equal(zero_and_learn(bad), TERN_OK);
        (void)!tern_optim_step(bad->optim);
        (void)!tern_synchronize(here);
        tern_error_clear();
        pair_fill(&p, 1);
        assert_int_equal(plain_step(bad), TERN_OK);
        assert_int_equal(plain_step(good), TERN_OK);
        tern_tensor *a = tern_detach(tern_module_parameter(bad->net, "0.weight"));
        tern_tensor *b = tern_detach(tern_module_parameter(good->net, "0.weight"));
        tern_tensor *apart = tern_amax(tern_abs(tern_sub(a, b)), TERN_ALL_AXES, false);
        assert_true(tern_item(apart) < 0.05); // the rate is 0.02, weights reach 0.4
        pair_free(&p, NULL);
    }
}

// Operations of the graph read the tensor that was there.
static void state_that_was_replaced_since_the_capture_is_refused(void **state)
{
    (void)state;
    pair p = pair_of(plain_net, muon);
    pair_warm_up(&p);
    tern_cuda_graph *graph = capture(&p.graph, plain_step);
    tern_tensor *buffer = tern_optim_state(p.graph.optim, 0, "momentum_buffer");
    assert_int_equal(tern_optim_set_state(p.graph.optim, 0, "momentum_buffer", buffer), TERN_OK);
    assert_status(tern_cuda_graph_replay(graph), TERN_ERR_STATE,
                  "cuda_graph_replay: the momentum_buffer of 0.weight was replaced since the "
                  "capture; capture the step again");
    pair_free(&p, graph);
}

static void state_that_is_gone_since_the_capture_is_refused(void **state)
{
    (void)state;
    pair p = pair_of(plain_net, adamw);
    tern_state *empty = tern_optim_state_dict(p.eager.optim), *copy = tern_state_copy(empty);
    pair_warm_up(&p);
    tern_cuda_graph *graph = capture(&p.graph, plain_step);
    assert_int_equal(tern_optim_load_state_dict(p.graph.optim, copy), TERN_OK);
    assert_status(tern_cuda_graph_replay(graph), TERN_ERR_STATE,
                  "cuda_graph_replay: the exp_avg of 0.weight, which was there at the capture");
    tern_state_free(empty);
    tern_state_free(copy);
    pair_free(&p, graph);
}

static void a_group_added_since_the_capture_is_refused(void **state)
{
    (void)state;
    run r = run_new();
    tern_module *head = tern_module_to(tern_nn_linear(3, 2), here);
    warm_up(&r);
    tern_cuda_graph *graph = capture(&r, plain_step);
    replay(graph);
    assert_int_equal(tern_optim_add_group(r.optim, head), TERN_OK);
    assert_status(tern_cuda_graph_replay(graph), TERN_ERR_STATE,
                  "cuda_graph_replay: parameters were added to the optimizer since the capture");
    tern_cuda_graph_free(graph);
    tern_module_free(head);
    run_free(&r);
}

static void state_that_a_replay_would_fill_again_is_refused(void **state)
{
    (void)state;
    run r = run_new();
    warm_up(&r);
    tern_tensor *value = tern_ones_like(tern_optim_parameter_at(r.optim, 0, NULL, 0));
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_null_with(tern_optim_adagrad(r.net), TERN_ERR_STATE, "optim_adagrad: not while cuda:0");
    assert_status(tern_optim_set_state(r.optim, 0, "exp_avg", value), TERN_ERR_STATE,
                  "optim_set_state: not while cuda:0 is captured");
    tern_cuda_graph_free(tern_cuda_graph_end());
    run_free(&r);
}

static void a_refused_replay_leaves_every_optimizer_as_it_was(void **state)
{
    (void)state;
    run r = run_new();
    tern_optim *other = tern_optim_sgd(r.net, .lr = 0.1, .momentum = 0.9);
    warm_up(&r);
    assert_int_equal(tern_optim_step(other), TERN_OK);
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_int_equal(zero_and_learn(&r), TERN_OK);
    assert_int_equal(tern_optim_step(r.optim), TERN_OK);
    assert_int_equal(tern_optim_step(other), TERN_OK);
    tern_cuda_graph *graph = tern_cuda_graph_end();
    assert_int_equal(tern_optim_set(other, 0, "momentum", 0), TERN_OK);
    assert_status(tern_cuda_graph_replay(graph), TERN_ERR_STATE, "momentum_buffer");
    assert_int_equal(tern_optim_step_count(r.optim, 0), WARM);
    tern_cuda_graph_free(graph);
    tern_optim_free(other);
    run_free(&r);
}

int main(int argc, char **argv)
{
    const int nothing = choose_cuda(argc, argv);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(momentum_may_change_but_not_come_or_go),
        CHECK_TEST(a_schedule_of_rate_and_momentum_goes_on_between_replays),
        CHECK_TEST(every_optimizer_goes_on_in_replays),
        CHECK_TEST(numbers_that_directions_are_made_with_may_not_change),
        CHECK_TEST(a_replay_in_evaluation_is_refused),
        CHECK_TEST(a_bad_value_is_found_before_an_evaluation),
        CHECK_TEST(a_first_step_with_a_bad_value_leaves_the_state_begun),
        CHECK_TEST(state_that_was_replaced_since_the_capture_is_refused),
        CHECK_TEST(state_that_is_gone_since_the_capture_is_refused),
        CHECK_TEST(a_group_added_since_the_capture_is_refused),
        CHECK_TEST(state_that_a_replay_would_fill_again_is_refused),
        CHECK_TEST(a_refused_replay_leaves_every_optimizer_as_it_was),
    };
    return nothing ? nothing : cmocka_run_group_tests(tests, NULL, check_shutdown);
}
