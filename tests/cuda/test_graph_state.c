// SPDX-License-Identifier: Apache-2.0
// The host's side of captured work, but for gradients: what a replay restores, and what is refused
// because a step would do something else now.
#include "graph_check.h"

// ---- draws --------------------------------------------------------------------------------------

// Twelve losses of a net with dropout: forward and backward from a graph, or not, with some eager
// ones and updates between.
static void losses_with_dropout(bool replayed, float *losses)
{
    run r = run_new();
    tern_cuda_graph *graph = NULL;
    warm_up(&r);
    if (replayed)
        graph = capture(&r, zero_and_learn);
    for (int i = 0; i < 12; i++) {
        fill_batch(&r, 1); // one batch: the losses differ by their masks
        if (graph && i % 4 != 3)
            replay(graph);
        else
            assert_int_equal(zero_and_learn(&r), TERN_OK);
        losses[i] = loss_of(&r);
        if (i % 3 == 2)
            assert_int_equal(update(&r), TERN_OK);
    }
    tern_cuda_graph_free(graph);
    run_free(&r);
}

static void masks_are_new_in_each_replay_without_an_update_too(void **state)
{
    (void)state;
    float eager[12], replayed[12];
    losses_with_dropout(false, eager);
    losses_with_dropout(true, replayed);
    for (int i = 0; i < 12; i++)
        assert_memory_equal(&replayed[i], &eager[i], sizeof *eager);
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < i; k++)
            assert_true(eager[i] != eager[k]);
}

static void seeding_in_a_capture_is_refused(void **state)
{
    (void)state;
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    tern_manual_seed(1);
    assert_error(TERN_ERR_STATE, "manual_seed: not while cuda:0 is captured");
    tern_cuda_manual_seed(1);
    assert_error(TERN_ERR_STATE, "cuda_manual_seed: not while");
    tern_cuda_manual_seed_all(1);
    assert_error(TERN_ERR_STATE, "cuda_manual_seed_all: not while");
    tern_cuda_graph_free(tern_cuda_graph_end());
}

// ---- running statistics -------------------------------------------------------------------------

static tern_module *net_with_batch_norm(void)
{
    tern_manual_seed(3);
    return tern_nn_sequential(tern_nn_linear(6, 16), tern_nn_batch_norm1d(16, .momentum = NAN),
                              tern_nn_relu(), tern_nn_linear(16, 3));
}

static void running_statistics_follow_in_each_replay(void **state)
{
    (void)state;
    static const char *const names[] = {"1.running_mean", "1.running_var"};
    pair p = pair_of(net_with_batch_norm, adam);
    pair_warm_up(&p);
    tern_cuda_graph *graph = capture(&p.graph, plain_step);
    for (int i = 0; i < 3; i++) {
        pair_fill(&p, 5 + i);
        assert_int_equal(plain_step(&p.eager), TERN_OK);
        replay(graph);
        check_same_runs(&p.graph, &p.eager);
        for (int k = 0; k < 2; k++)
            check_same(tern_module_buffer(p.graph.net, names[k]),
                       tern_module_buffer(p.eager.net, names[k]), 0);
    }
    assert_int_equal(tern_item_int(tern_module_buffer(p.graph.net, "1.num_batches_tracked")),
                     WARM + 3);
    pair_free(&p, graph);
}

// ---- what is trained ----------------------------------------------------------------------------

static void parameters_frozen_or_freed_since_are_refused(void **state)
{
    (void)state;
    run r = run_new();
    warm_up(&r);
    tern_cuda_graph *graph = capture(&r, plain_step);
    tern_tensor *weight = tern_module_parameter(r.net, "0.weight");
    assert_non_null(tern_set_requires_grad(weight, false));
    assert_status(tern_cuda_graph_replay(graph), TERN_ERR_STATE,
                  "weight no longer requires a gradient since the capture");
    assert_non_null(tern_set_requires_grad(weight, true));
    replay(graph);
    tern_cuda_graph_free(graph);

    assert_non_null(tern_set_requires_grad(weight, false));
    tern_optim_zero_grad(r.optim);
    graph = capture(&r, plain_step);
    replay(graph);
    assert_non_null(tern_set_requires_grad(weight, true));
    assert_status(tern_cuda_graph_replay(graph), TERN_ERR_STATE,
                  "weight requires a gradient since the capture");
    tern_cuda_graph_free(graph);
    run_free(&r);
}

static void a_replay_leaves_alone_what_its_work_does_not_concern(void **state)
{
    (void)state;
    run r = run_new();
    warm_up(&r);
    tern_tensor *weight = tern_module_parameter(r.net, "0.weight");
    tern_cuda_graph *updating = capture(&r, update);
    assert_non_null(tern_set_requires_grad(weight, false));
    replay(updating);
    assert_false(tern_requires_grad(weight));
    tern_cuda_graph *learning = capture(&r, learn); // adds to gradients; this one is frozen
    tern_zero_grad(weight);
    replay(learning);
    assert_null(tern_grad(weight));
    tern_cuda_graph_free(learning);
    tern_cuda_graph_free(updating);
    run_free(&r);
}

// As a game of two nets does: one is frozen while the other learns from it.
static tern_status learn_half_frozen(run *r)
{
    tern_tensor *weight = tern_module_parameter(r->net, "0.weight");
    tern_optim_zero_grad(r->optim);
    if (!tern_set_requires_grad(weight, false))
        return tern_error_code();
    tern_status status = learn(r);
    if (!status)
        status = update(r);
    if (!tern_set_requires_grad(weight, true))
        return tern_error_code();
    return status ? status : plain_step(r);
}

static void what_is_frozen_within_the_captured_work_is_no_change(void **state)
{
    (void)state;
    pair p = pair_new();
    pair_warm_up(&p);
    tern_cuda_graph *graph = capture(&p.graph, learn_half_frozen);
    for (int i = 0; i < 3; i++) {
        pair_fill(&p, 5 + i);
        assert_int_equal(learn_half_frozen(&p.eager), TERN_OK);
        replay(graph);
        check_same_runs(&p.graph, &p.eager);
    }
    pair_free(&p, graph);
}

static tern_status evaluate(run *r)
{
    tern_scope scope = tern_scope_open();
    tern_status status = TERN_OK;
    tern_module_eval(r->net);
    tern_no_grad {
        tern_tensor *loss = tern_cross_entropy(tern_forward(r->net, r->x), r->y);
        if (!tern_copy_(r->norm, loss))
            status = tern_error_code();
    }
    tern_module_train(r->net, true);
    tern_scope_close(scope);
    return status;
}

static void a_training_and_an_evaluating_graph_take_turns(void **state)
{
    (void)state;
    float expected[6], replayed[6];
    run eager = run_new();
    warm_up(&eager);
    for (int i = 0; i < 6; i++) {
        fill_batch(&eager, 5 + i);
        assert_int_equal(plain_step(&eager), TERN_OK);
        assert_int_equal(evaluate(&eager), TERN_OK);
        assert_int_equal(tern_to_host(eager.norm, &expected[i], sizeof *expected), TERN_OK);
    }
    run r = run_new();
    warm_up(&r);
    tern_cuda_graph *training = capture(&r, plain_step), *evaluating = capture(&r, evaluate);
    for (int i = 0; i < 6; i++) {
        fill_batch(&r, 5 + i);
        replay(training);
        assert_non_null(tern_module_requires_grad_(r.net, false)); // nothing to an evaluation
        replay(evaluating);
        assert_non_null(tern_module_requires_grad_(r.net, true));
        assert_int_equal(tern_to_host(r.norm, &replayed[i], sizeof *replayed), TERN_OK);
    }
    assert_memory_equal(replayed, expected, sizeof expected);
    check_same_runs(&r, &eager);
    tern_cuda_graph_free(training);
    tern_cuda_graph_free(evaluating);
    run_free(&eager);
    run_free(&r);
}

static void a_net_that_moved_is_found_by_any_graph_of_it(void **state)
{
    (void)state;
    run r = run_new();
    warm_up(&r);
    tern_cuda_graph *evaluating = capture(&r, evaluate);
    assert_non_null(tern_module_to(r.net, tern_cpu(0)));
    assert_non_null(tern_module_to(r.net, here));
    assert_status(tern_cuda_graph_replay(evaluating), TERN_ERR_STATE,
                  "weight moved since the capture");
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_null_with(tern_module_to(r.net, tern_cpu(0)), TERN_ERR_STATE,
                     "module_to: not while cuda:0 is captured");
    assert_null_with(tern_module_to_dtype(r.net, TERN_FLOAT64), TERN_ERR_STATE, "module_to_dtype");
    tern_cuda_graph_free(tern_cuda_graph_end());
    tern_cuda_graph_free(evaluating);
    run_free(&r);
}

static void nothing_is_exchanged_or_copied_in_a_capture(void **state)
{
    (void)state;
    run r = run_new();
    tern_tensor *weight = tern_module_parameter(r.net, "0.weight");
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    const char *part = ": not while cuda:0 is captured";
    assert_status(tern_module_set_parameter(r.net, "0.weight", weight), TERN_ERR_STATE, part);
    assert_status(tern_module_tie(r.net, "0.weight", r.net, "0.weight"), TERN_ERR_STATE, part);
    assert_status(tern_module_set_child(r.net, "0", tern_nn_relu()), TERN_ERR_STATE, part);
    assert_status(tern_module_reset_parameters(r.net, NULL), TERN_ERR_STATE, part);
    assert_null_with(tern_module_copy(r.net), TERN_ERR_STATE, part);
    tern_cuda_graph_free(tern_cuda_graph_end());
    assert_ptr_equal(tern_module_parameter(r.net, "0.weight"), weight);
    tern_module *criterion = tern_nn_cross_entropy_loss(.weight = tern_ones(tern_dims(3)));
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_status(tern_module_set_buffer(criterion, "weight", r.x), TERN_ERR_STATE, part);
    tern_cuda_graph_free(tern_cuda_graph_end());
    tern_module_free(criterion);
    run_free(&r);
}

static void a_copy_is_on_the_device_of_the_original(void **state)
{
    (void)state;
    run r = run_new();
    tern_module *copy = tern_module_copy(r.net);
    tern_tensor *weight = tern_module_parameter(r.net, "0.weight");
    tern_tensor *copied = tern_module_parameter(copy, "0.weight");
    assert_true(tern_device_equal(tern_device_of(copied), here));
    assert_true(tern_item(tern_sum(tern_abs(tern_sub(weight, copied)), TERN_ALL_AXES, false)) == 0);
    tern_no_grad {
        assert_non_null(tern_fill_(weight, 0));
    }
    assert_true(tern_item(tern_sum(tern_abs(copied), TERN_ALL_AXES, false)) > 0);
    assert_int_equal(tern_module_reset_parameters(copy, NULL), TERN_OK);
    tern_module_free(copy);
    run_free(&r);
}

// ---- errors that a step has to do with ----------------------------------------------------------

static void a_replay_clears_a_fault_where_its_step_would(void **state)
{
    (void)state;
    run r = run_new();
    warm_up(&r);
    tern_cuda_graph *graph = capture(&r, plain_step), *rest = capture(&r, update);
    int64_t labels[ROWS] = {0, 1, 2, 0, 9};
    assert_int_equal(tern_from_host(r.y, labels, sizeof labels), TERN_OK);
    replay(graph);
    assert_status(tern_synchronize(here), TERN_ERR_INDEX, "label of sample 4 is 9");
    assert_status(tern_cuda_graph_replay(rest), TERN_ERR_STATE, "was not dealt with");
    fill_batch(&r, 1);
    replay(graph); // begins with zero_grad
    assert_int_equal(tern_synchronize(here), TERN_OK);
    tern_cuda_graph_free(rest);
    tern_cuda_graph_free(graph);
    run_free(&r);
}

static void a_replay_between_forward_and_backward_is_a_change_in_place(void **state)
{
    (void)state;
    run r = run_new();
    warm_up(&r);
    tern_tensor *scale = tern_ones(tern_dims(3), .device = here);
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_non_null(tern_mul_scalar_(scale, 2));
    tern_cuda_graph *graph = tern_cuda_graph_end();
    tern_tensor *loss = tern_sum(tern_mul(tern_forward(r.net, r.x), scale), TERN_ALL_AXES, false);
    replay(graph);
    assert_status(tern_backward(loss), TERN_ERR_STATE, "changed in place after the forward");
    tern_optim_zero_grad(r.optim);
    tern_cuda_graph_free(graph);
    run_free(&r);
}

int main(int argc, char **argv)
{
    const int nothing = choose_cuda(argc, argv);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(masks_are_new_in_each_replay_without_an_update_too),
        CHECK_TEST(seeding_in_a_capture_is_refused),
        CHECK_TEST(running_statistics_follow_in_each_replay),
        CHECK_TEST(parameters_frozen_or_freed_since_are_refused),
        CHECK_TEST(a_replay_leaves_alone_what_its_work_does_not_concern),
        CHECK_TEST(what_is_frozen_within_the_captured_work_is_no_change),
        CHECK_TEST(a_training_and_an_evaluating_graph_take_turns),
        CHECK_TEST(a_net_that_moved_is_found_by_any_graph_of_it),
        CHECK_TEST(nothing_is_exchanged_or_copied_in_a_capture),
        CHECK_TEST(a_copy_is_on_the_device_of_the_original),
        CHECK_TEST(a_replay_clears_a_fault_where_its_step_would),
        CHECK_TEST(a_replay_between_forward_and_backward_is_a_change_in_place),
    };
    return nothing ? nothing : cmocka_run_group_tests(tests, NULL, check_shutdown);
}
