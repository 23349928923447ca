// SPDX-License-Identifier: Apache-2.0
// Averages of weights in a captured step, and that their updates wait for nothing.
#include "device/device_check.h"
#include "device/sim.h"
#include "support/state_check.h"

static tern_module *make_net(void)
{
    tern_manual_seed(3);
    return tern_module_to(tern_nn_sequential(tern_nn_linear(6, 5), tern_nn_batch_norm1d(5),
                                             tern_nn_relu(), tern_nn_linear(5, 3)),
                          here);
}

typedef struct averaging {
    tern_module *net, *swa, *ema, *own;
    tern_optim *optim;
    tern_tensor *x, *y;
} averaging;

// w + (v - w) / (n + 1)^2
static tern_tensor *by_squares(tern_tensor *average, tern_tensor *value, tern_tensor *n_averaged,
                               void *user)
{
    (void)user;
    tern_tensor *next = tern_add_scalar(n_averaged, 1);
    return tern_add(average, tern_div(tern_sub(value, average), tern_mul(next, next)));
}

static averaging averaging_new(void)
{
    averaging a = {.net = make_net()};
    a.swa = tern_averaged_model_swa(a.net);
    a.ema = tern_averaged_model_ema(a.net, .decay = 0.75, .use_buffers = true);
    a.own = tern_averaged_model_avg_fn(a.net, by_squares);
    a.optim = tern_optim_adam(a.net, .lr = 0.05);
    a.x = tern_to(small_input(8), here);
    a.y = tern_to(small_labels(8), here);
    return a;
}

static void step_and_average(averaging *a)
{
    assert_int_equal(train_step(a->net, a->optim, a->x, a->y), TERN_OK);
    assert_int_equal(tern_averaged_model_update(a->swa, a->net), TERN_OK);
    assert_int_equal(tern_averaged_model_update(a->ema, a->net), TERN_OK);
    assert_int_equal(tern_averaged_model_update(a->own, a->net), TERN_OK);
}

static void check_same_averages(tern_module *a, tern_module *b)
{
    tern_state *found = tern_module_state_dict(a), *expected = tern_module_state_dict(b);
    check_states(found, expected, true);
    tern_free(found, expected);
}

static void averaging_free(averaging *a)
{
    tern_free(a->optim, a->swa, a->ema, a->own, a->net);
}

static void a_replayed_update_is_the_eager_one(void **state)
{
    (void)state;
    averaging eager = averaging_new(), graph = averaging_new();
    for (int i = 0; i < 2; i++)
        step_and_average(&graph);
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    step_and_average(&graph);
    tern_cuda_graph *captured = tern_cuda_graph_end();
    assert_non_null(captured);
    for (int i = 0; i < 4; i++)
        assert_int_equal(tern_cuda_graph_replay(captured), TERN_OK);
    for (int i = 0; i < 6; i++)
        step_and_average(&eager);
    check_same_averages(graph.swa, eager.swa);
    check_same_averages(graph.ema, eager.ema);
    check_same_averages(graph.own, eager.own);
    assert_values(tern_module_buffer(graph.swa, "n_averaged"), 6);
    tern_cuda_graph_free(captured);
    averaging_free(&eager);
    averaging_free(&graph);
}

// Its first update is captured, and copies in the first replay alone.
static void the_first_update_may_be_captured(void **state)
{
    (void)state;
    tern_module *net = tern_module_to(tern_nn_linear(2, 1, .bias = false), here);
    tern_module *average = tern_averaged_model_swa(net);
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_int_equal(tern_averaged_model_update(average, net), TERN_OK);
    tern_cuda_graph *captured = tern_cuda_graph_end();
    assert_non_null(captured);
    static const double values[] = {1, 3};
    for (int i = 0; i < 2; i++) {
        tern_no_grad
            assert_non_null(tern_fill_(tern_module_parameter(net, "weight"), values[i]));
        assert_int_equal(tern_cuda_graph_replay(captured), TERN_OK);
    }
    assert_values(tern_module_parameter(average, "module.weight"), 2, 2);
    assert_values(tern_module_buffer(average, "n_averaged"), 2);
    tern_cuda_graph_free(captured);
    tern_free(average, net);
}

static void an_average_on_the_cpu_is_not_captured(void **state)
{
    (void)state;
    tern_module *net = make_net();
    tern_module *average = tern_averaged_model_swa(net, .device = tern_cpu(0));
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_status(tern_averaged_model_update(average, net), TERN_ERR_STATE,
                  "averaged_model_update: ");
    tern_cuda_graph_free(tern_cuda_graph_end());
    tern_error_clear();
    tern_free(average, net);
}

static void an_update_waits_for_nothing(void **state)
{
    (void)state;
    if (!sim_begin())
        skip();
    averaging a = averaging_new();
    step_and_average(&a);
    sim.trace_waits();
    assert_int_equal(tern_averaged_model_update(a.swa, a.net), TERN_OK);
    assert_int_equal(tern_averaged_model_update(a.ema, a.net), TERN_OK);
    assert_int_equal(tern_averaged_model_update(a.own, a.net), TERN_OK);
    tern_sim_wait wait;
    assert_int_equal(sim.waits(&wait, 1), 0);
    averaging_free(&a);
}

int main(int argc, char **argv)
{
    const int nothing = choose_cuda(argc, argv);
    if (nothing)
        return nothing;
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_replayed_update_is_the_eager_one),
        CHECK_TEST(the_first_update_may_be_captured),
        CHECK_TEST(an_average_on_the_cpu_is_not_captured),
        CHECK_TEST(an_update_waits_for_nothing),
    };
    return cmocka_run_group_tests_name("graph_averages", tests, NULL, check_shutdown);
}
