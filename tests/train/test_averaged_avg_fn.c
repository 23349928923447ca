// SPDX-License-Identifier: Apache-2.0
// Averages by a function of one's own on every kind of device. That the numbers are PyTorch's is
// tests/golden's.
#include "averaged_test.h"

typedef enum wrong_return {
    RIGHT,
    NOTHING,
    ERROR,
    LEFT_ERROR,
    SHAPE,
    DEVICE,
    WRONG_RETURNS
} wrong_return;

typedef struct calls {
    int count, wrong_from;
    wrong_return wrong;
    bool recorded;
} calls;

// w + (v - w) / (n + 1)^2
static tern_tensor *by_squares(tern_tensor *average, tern_tensor *value, tern_tensor *n_averaged,
                               void *user)
{
    calls *c = user;
    const wrong_return wrong = c->count++ >= c->wrong_from ? c->wrong : RIGHT;
    c->recorded |= tern_grad_enabled() || tern_requires_grad(average);
    assert_true(tern_dtype_of(average) == tern_dtype_of(value));
    assert_true(is_on(value, tern_device_of(average)) &&
                is_on(n_averaged, tern_device_of(average)));
    assert_true(tern_dtype_of(n_averaged) == TERN_INT64 && tern_numel(n_averaged) == 1);
    tern_tensor *next = tern_add_scalar(n_averaged, 1);
    tern_tensor *made = tern_add(average, tern_div(tern_sub(value, average), tern_mul(next, next)));
    if (wrong == ERROR || wrong == LEFT_ERROR)
        assert_null(tern_neg(NULL));
    return wrong == NOTHING || wrong == ERROR ? NULL
           : wrong == SHAPE                   ? tern_sum_all(made)
           : wrong == DEVICE                  ? tern_to(made, is_on(made, here) ? there : here)
                                              : made;
}

static void a_function_averages(void **state)
{
    (void)state;
    static const tern_dtype dtypes[] = {TERN_FLOAT32, TERN_FLOAT64, TERN_BFLOAT16, TERN_FLOAT16};
    for (int i = 0; i < 4; i++) {
        calls c = {.wrong = RIGHT};
        tern_module *net = one_weight(dtypes[i]);
        tern_module *average = tern_averaged_model_avg_fn(net, by_squares, .user = &c);
        update_three_times(average, net); // 1, then 1 + 2 / 4, then 1.5 + 6.5 / 9; -8, -6, ...
        assert_tensor_near(tern_module_parameter(average, "module.weight"), i < 2 ? 1e-6 : 0.05,
                           tern_dims(1, 2), 1.5 + 6.5 / 9, -6 + 26.0 / 9);
        assert_int_equal(c.count, 3);
        assert_false(c.recorded);
        assert_true(tern_dtype_of(tern_module_parameter(average, "module.weight")) == dtypes[i]);
        assert_counted(average, 3);
        tern_free(average, net);
    }
}

static void a_function_averages_buffers_where_they_are(void **state)
{
    (void)state;
    calls c = {.wrong = RIGHT};
    tern_module *net = make_with_buffers();
    tern_module *average = tern_averaged_model_avg_fn(net, by_squares, .user = &c);
    update_buffers(average, net);
    assert_int_equal(c.count, 0);
    assert_values(tern_module_buffer(average, "module.mean"), 10);
    tern_module_free(average);
    average = tern_averaged_model_avg_fn(net, by_squares, .user = &c, .use_buffers = true,
                                         .device = tern_cpu(0));
    tern_module *copy = tern_module_copy(average); // has the function too
    update_buffers(average, net);
    update_buffers(copy, net);
    assert_int_equal(c.count, 2 * 3 * 3);
    tern_module *const both[] = {average, copy};
    for (int i = 0; i < 2; i++) { // 1; 1.75; 1.75 + 8.25 / 9, and 1; 1; 2
        const double mean = (double)(float)(1.75 + 8.25 / 9);
        assert_tensor_near(tern_module_buffer(both[i], "module.mean"), 1e-6, tern_dims(1), mean);
        assert_values(tern_module_buffer(both[i], "module.count"), 2);
        assert_tensor_near(tern_module_buffer(both[i], "module.columns"), 1e-6, tern_dims(2, 2),
                           mean, mean, mean, mean);
    }
    tern_free(average, copy, net);
}

// What a function makes of the first update, and of what was there before, does not count.
static void the_first_update_copies_whatever_the_function_returns(void **state)
{
    (void)state;
    calls c = {.wrong = RIGHT};
    tern_module *net = one_weight(TERN_FLOAT32);
    set_weight(net, INFINITY, NAN);
    tern_module *average = tern_averaged_model_avg_fn(net, by_squares, .user = &c);
    set_weight(net, 0.1, -0.0);
    assert_int_equal(tern_averaged_model_update(average, net), TERN_OK);
    check_same(tern_module_parameter(average, "module.weight"),
               tern_module_parameter(net, "weight"), 0);
    assert_true(signbit(value_at(tern_module_parameter(average, "module.weight"), 1)));
    tern_free(average, net);
}

// It fails at the second of two weights.
static void a_function_that_fails_changes_nothing(void **state)
{
    (void)state;
    static const struct {
        tern_status code;
        const char *words;
    } expected[WRONG_RETURNS] = {
        [NOTHING] = {TERN_ERR_NULL, "averaged_model_update: what avg_fn returned is NULL"},
        [ERROR] = {TERN_ERR_NULL, "neg: "},
        [LEFT_ERROR] = {TERN_ERR_NULL, "neg: "},
        [SHAPE] = {TERN_ERR_SHAPE, "averaged_model_update: avg_fn returned float32 ()"},
        [DEVICE] = {TERN_ERR_DEVICE, "averaged_model_update: avg_fn returned float32 (1, 2)"},
    };
    for (int wrong = NOTHING; wrong < WRONG_RETURNS; wrong++) {
        calls c = {.wrong = (wrong_return)wrong, .wrong_from = 3};
        tern_module *net = tern_nn_module_list(one_weight(TERN_FLOAT32), one_weight(TERN_FLOAT32));
        tern_module *average = tern_averaged_model_avg_fn(net, by_squares, .user = &c);
        assert_int_equal(tern_averaged_model_update(average, net), TERN_OK);
        set_weight(tern_module_child_at(net, 0), 5, 5);
        refuses(average, net, expected[wrong].code, expected[wrong].words);
        assert_int_equal(c.count, 4);
        tern_free(average, net);
    }
}

static tern_tensor *freeing(tern_tensor *average, tern_tensor *value, tern_tensor *n_averaged,
                            void *user)
{
    tern_module **module = user;
    (void)average;
    (void)n_averaged;
    tern_module_free(*module);
    *module = NULL;
    return tern_mul_scalar(value, 2);
}

static void a_function_may_free_the_average(void **state)
{
    (void)state;
    tern_module *net = one_weight(TERN_FLOAT32);
    tern_module *average = NULL;
    average = tern_averaged_model_avg_fn(net, freeing, .user = &average);
    assert_int_equal(tern_averaged_model_update(average, net), TERN_OK);
    assert_null(average);
    tern_module_free(net);
}

int main(int argc, char **argv)
{
    const int nothing = choose_devices(argc, argv);
    if (nothing)
        return nothing;
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_function_averages),
        CHECK_TEST(a_function_averages_buffers_where_they_are),
        CHECK_TEST(the_first_update_copies_whatever_the_function_returns),
        CHECK_TEST(a_function_that_fails_changes_nothing),
        CHECK_TEST(a_function_may_free_the_average),
    };
    return cmocka_run_group_tests_name("averaged_avg_fn", tests, NULL, check_shutdown);
}
