// SPDX-License-Identifier: Apache-2.0
// Averages and statistics where there is no memory: each allocation fails once, and what a call was
// to change is as before.
#include "support/memory_hook.h"
#include "support/state_check.h"
#include "support/tensor_check.h"

static tern_module *make_net(void)
{
    return tern_nn_sequential(tern_nn_linear(3, 4), tern_nn_batch_norm1d(4), tern_nn_linear(4, 2));
}

typedef struct averaging {
    tern_module *net, *average;
    tern_loader *loader;
} averaging;

static tern_tensor *difference(tern_tensor *average, tern_tensor *value, tern_tensor *n_averaged,
                               void *user)
{
    (void)n_averaged;
    (void)user;
    return tern_sub(value, average);
}

static averaging averaging_new(bool by_function)
{
    averaging a = {.net = make_net()};
    a.average = by_function ? tern_averaged_model_avg_fn(a.net, difference, .use_buffers = true)
                            : tern_averaged_model_swa(a.net, .use_buffers = true);
    tern_dataset *data = tern_data_tensors(tern_randn(tern_dims(6, 3)));
    a.loader = tern_loader_new(data, .batch_size = 3);
    tern_dataset_free(data);
    assert_int_equal(tern_averaged_model_update(a.average, a.net), TERN_OK);
    tern_no_grad
        tern_fill_(tern_module_parameter(a.net, "0.weight"), 3);
    return a;
}

static tern_status update(averaging *a)
{
    return tern_averaged_model_update(a->average, a->net);
}

static tern_status update_bn(averaging *a)
{
    return tern_update_bn(a->average, a->loader);
}

static tern_status make_another(averaging *a)
{
    tern_module *another = tern_averaged_model_ema(a->net);
    tern_module_free(another);
    return another ? TERN_OK : tern_error_code();
}

// Whether the call went through because there were no more allocations to fail.
static bool check_nth(averaging *a, tern_status (*call)(averaging *), int64_t n)
{
    tern_state *own = tern_module_state_dict(a->average), *before = tern_state_copy(own);
    fail_nth_allocation(n);
    const tern_status status = call(a);
    const bool failed = memory.failed > 0;
    fail_nth_allocation(0);
    assert_int_equal(status, failed ? TERN_ERR_NOMEM : TERN_OK);
    tern_error_clear();
    if (failed)
        check_states(own, before, true);
    tern_free(own, before);
    return !failed;
}

static void check_each(tern_status (*call)(averaging *), bool by_function)
{
    averaging a = averaging_new(by_function);
    int64_t n = 1;
    while (!check_nth(&a, call, n))
        n++;
    assert_true(n > 5);
    assert_true(tern_module_is_training(a.average));
    tern_free(a.loader, a.average, a.net);
}

static void an_update_changes_nothing(void **state)
{
    (void)state;
    check_each(update, false);
    check_each(update, true);
}

static void statistics_are_as_before(void **state)
{
    (void)state;
    check_each(update_bn, false);
}

static void a_constructor_leaves_nothing(void **state)
{
    (void)state;
    check_each(make_another, false);
}

int main(void)
{
    setenv("TERN_CACHE", "0", 1); // so that the allocator sees everything
    if (use_memory_hook())
        return 1;
    const struct CMUnitTest tests[] = {
        CHECK_TEST(an_update_changes_nothing),
        CHECK_TEST(statistics_are_as_before),
        CHECK_TEST(a_constructor_leaves_nothing),
    };
    const int failed = cmocka_run_group_tests_name("averages without memory", tests, NULL, NULL);
    return failed ? failed : all_given_back();
}
