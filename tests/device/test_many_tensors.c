// SPDX-License-Identifier: Apache-2.0
// Updates of as many tensors as large models have.
#include "device/device_check.h"
#include "device/sim.h"

enum { NUMEL = 5 };

typedef struct many {
    tern_tensor **params;
    int count;
    tern_optim *optim;
} many;

static many many_new(int count, tern_device device)
{
    many m = {.params = calloc((size_t)count, sizeof(tern_tensor *)), .count = count};
    assert_non_null(m.params);
    tern_tensor *values = tern_linspace(-1, 1, NUMEL);
    for (int i = 0; i < count; i++) {
        tern_scope scope = tern_scope_open();
        tern_tensor *own = tern_add_scalar(values, (double)(i % 64) / 8);
        m.params[i] = tern_retain(tern_to(tern_clone(own), device));
        tern_set_requires_grad(m.params[i], true);
        assert_int_equal(
            tern_backward(tern_mul_scalar(m.params[i], 1), .gradient = tern_to(own, device)),
            TERN_OK);
        tern_scope_close(scope);
    }
    m.optim = tern_optim_adam(NULL, .params = m.params, .param_count = count, .lr = 0.01);
    return m;
}

static void many_free(many *m)
{
    tern_optim_free(m->optim);
    for (int i = 0; i < m->count; i++)
        tern_release(m->params[i]);
    free(m->params);
}

static void step_several_times(many *m, int count)
{
    for (int i = 0; i < count; i++)
        assert_int_equal(tern_optim_step(m->optim), TERN_OK);
}

static void a_step_over_10000_tensors_is_one_launch(void **state)
{
    (void)state;
    if (!sim_begin())
        skip();
    tern_sim_counts c;
    many m = many_new(10000, here);
    step_several_times(&m, 1);
    assert_int_equal(tern_synchronize(here), TERN_OK);
    sim.count_reset();
    step_several_times(&m, 1);
    sim.count(&c);
    assert_int_equal(c.launches, 1);
    assert_int_equal(c.mallocs + c.frees + c.host_allocs + c.host_frees, 0);
    assert_int_equal(c.device_waits + c.stream_waits + c.event_waits, 0);
    many_free(&m);
}

static void check_same_many(const many *m, const many *expected)
{
    for (int i = 0; i < m->count; i++) {
        float a[NUMEL], b[NUMEL];
        assert_int_equal(tern_to_host(m->params[i], a, sizeof a), TERN_OK);
        assert_int_equal(tern_to_host(expected->params[i], b, sizeof b), TERN_OK);
        for (int k = 0; k < NUMEL; k++)
            assert_near(a[k], b[k], 1e-6, 1e-6);
    }
}

static void steps_over_500_tensors_are_those_of_the_cpu(void **state)
{
    (void)state;
    many m = many_new(500, here), reference = many_new(500, tern_cpu(0));
    step_several_times(&m, 4);
    step_several_times(&reference, 4);
    check_same_many(&m, &reference);
    many_free(&m);
    many_free(&reference);
}

// Each replay has the numbers of its step.
static void replayed_steps_over_500_tensors_are_those_of_the_cpu(void **state)
{
    (void)state;
    if (kind != TERN_CUDA)
        skip();
    many m = many_new(500, here), reference = many_new(500, tern_cpu(0));
    step_several_times(&m, 1);
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    step_several_times(&m, 1);
    tern_cuda_graph *captured = tern_cuda_graph_end();
    assert_non_null(captured);
    for (int i = 0; i < 3; i++)
        assert_int_equal(tern_cuda_graph_replay(captured), TERN_OK);
    step_several_times(&reference, 4);
    check_same_many(&m, &reference);
    tern_cuda_graph_free(captured);
    many_free(&m);
    many_free(&reference);
}

int main(int argc, char **argv)
{
    const int nothing = choose_devices(argc, argv);
    if (nothing)
        return nothing;
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_step_over_10000_tensors_is_one_launch),
        CHECK_TEST(steps_over_500_tensors_are_those_of_the_cpu),
        CHECK_TEST(replayed_steps_over_500_tensors_are_those_of_the_cpu),
    };
    return cmocka_run_group_tests_name("many_tensors", tests, NULL, check_shutdown);
}
