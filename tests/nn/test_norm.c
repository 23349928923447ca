// SPDX-License-Identifier: Apache-2.0
// Normalisation beside its numbers: what follows the batches and when, dtypes that mix, states.
// The numbers are looked at in tests/conformance and tests/golden.
#include "support/memory_hook.h"
#include "state/state.h"
#include "support/tensor_check.h"

// Channel 0 holds m - d and m + d: mean m, unbiased variance 2 d^2. Channel 1 likewise, times 10.
static tern_tensor *batch_of(double m, double d)
{
    const double x[] = {m - d, 10 * (m - d), m + d, 10 * (m + d)};
    return tern_to_dtype(tern_from_data(tern_dims(2, 2), x, .dtype = TERN_FLOAT64), TERN_FLOAT32);
}

static tern_tensor *buffer(tern_module *m, const char *name)
{
    return tern_module_buffer(m, name);
}

static void check_buffers(tern_module *m, double mean, double var, int64_t batches)
{
    assert_no_error();
    assert_near(value_at(buffer(m, "running_mean"), 0), mean, 1e-6, 0);
    assert_near(value_at(buffer(m, "running_mean"), 1), 10 * mean, 1e-6, 0);
    assert_near(value_at(buffer(m, "running_var"), 0), var, 1e-6, 0);
    assert_int_equal(tern_item_int(buffer(m, "num_batches_tracked")), batches);
}

static void run(tern_module *m, tern_tensor *x)
{
    assert_non_null(tern_forward(m, x));
    assert_no_error();
}

static void running_statistics_follow_by_the_momentum(void **state)
{
    (void)state;
    tern_module *m = tern_nn_batch_norm1d(2, .momentum = 0.25);
    run(m, batch_of(1, 1));
    check_buffers(m, 0.25, 0.75 + 0.25 * 2, 1);
    run(m, batch_of(3, 2));
    check_buffers(m, 0.75 * 0.25 + 0.25 * 3, 0.75 * 1.25 + 0.25 * 8, 2);
    tern_module_free(m);
}

static void without_a_momentum_they_are_the_mean_of_all_batches(void **state)
{
    (void)state;
    tern_module *m = tern_nn_batch_norm1d(2, .momentum = NAN);
    for (int i = 1; i <= 3; i++)
        run(m, batch_of(i, i));
    check_buffers(m, 2, (2.0 + 8 + 18) / 3, 3);
    tern_module_free(m);
}

static void with_momentum_0_they_stay_and_batches_count(void **state)
{
    (void)state;
    tern_module *m = tern_nn_batch_norm1d(2, .momentum = 0);
    run(m, batch_of(5, 2));
    check_buffers(m, 0, 1, 1);
    tern_module_free(m);
}

static void an_empty_batch_counts_and_changes_nothing_else(void **state)
{
    (void)state;
    tern_module *m = tern_nn_batch_norm1d(2);
    tern_tensor *x = tern_zeros(tern_dims(0, 2), .requires_grad = true);
    tern_tensor *y = tern_forward(m, x);
    assert_int_equal(tern_numel(y), 0);
    check_buffers(m, 0, 1, 1);
    assert_int_equal(tern_backward(tern_sum_all(y)), TERN_OK);
    assert_values(tern_grad(tern_module_parameter(m, "weight")), 0, 0);
    assert_values(tern_grad(tern_module_parameter(m, "bias")), 0, 0);
    tern_module_free(m);
}

// Every way to the statistics: rows and columns, of one chunk and of several.
static void constants_far_from_0_have_no_variance(void **state)
{
    (void)state;
    static const double constants[] = {1e6 + 0.3, 123456.7, 3.3e6, 1.7e9, 10000.1, -0.1};
    static const int64_t lengths[] = {1, 3, 31, 33, 850, 5000};
    for (int i = 0; i < 36; i++) {
        const double constant = constants[i / 6];
        const int64_t n = lengths[i % 6];
        tern_tensor *x = tern_full(tern_dims(4, 2, n), constant, .dtype = TERN_FLOAT32);
        tern_tensor *mean = tern_zeros(tern_dims(2)), *var = tern_ones(tern_dims(2));
        tern_tensor *y[] = {tern_layer_norm(x, tern_dims(n)), tern_group_norm(x, 1),
                            tern_batch_norm(x, .training = true, .running_mean = mean,
                                            .running_var = var, .momentum = 1)};
        for (int k = 0; k < 3; k++)
            assert_true(tern_item(tern_sum_all(tern_abs(y[k]))) == 0);
        assert_true(tern_item(tern_sum_all(tern_abs(var))) == 0);
        assert_near(value_at(mean, 0), (float)constant, 0, 0);
    }
}

static void running_statistics_may_lie_side_by_side(void **state)
{
    (void)state;
    tern_tensor *both = tern_zeros(tern_dims(4));
    assert_non_null(tern_batch_norm(batch_of(1, 1), .training = true, .momentum = 1,
                                    .running_mean = tern_narrow(both, 0, 0, 2),
                                    .running_var = tern_narrow(both, 0, 2, 2)));
    assert_near(value_at(both, 1), 10, 1e-6, 0);
    assert_near(value_at(both, 2), 2, 1e-6, 0);
}

static void evaluation_is_by_the_running_statistics_which_stay(void **state)
{
    (void)state;
    tern_module *m = tern_nn_batch_norm1d(2, .momentum = 1, .eps = 0);
    run(m, batch_of(1, 1)); // mean 1, variance 2
    tern_module_eval(m);
    tern_tensor *y = tern_forward(m, batch_of(7, 3));
    assert_near(value_at(y, 0), (4 - 1) / sqrt(2), 1e-6, 0);
    assert_near(value_at(y, 2), (10 - 1) / sqrt(2), 1e-6, 0);
    check_buffers(m, 1, 2, 1);
    tern_module_free(m);
}

static void without_tracking_evaluation_is_by_the_batch(void **state)
{
    (void)state;
    tern_module *m = tern_nn_batch_norm1d(2, .track_running_stats = false, .eps = 0);
    tern_module_eval(m);
    tern_tensor *y = tern_forward(m, batch_of(7, 3));
    assert_near(value_at(y, 0), -1, 1e-6, 0);
    assert_int_equal(tern_module_num_buffers(m), 0);
    tern_module_free(m);
}

static void two_forwards_before_a_backward_are_fine(void **state)
{
    (void)state;
    tern_module *m = tern_nn_batch_norm1d(2);
    tern_tensor *x = batch_of(1, 1);
    tern_tensor *first = tern_sum_all(tern_mul(tern_forward(m, x), x));
    run(m, batch_of(2, 2));
    assert_int_equal(tern_backward(first), TERN_OK);
    tern_module_free(m);
}

static void a_use_of_running_statistics_in_a_graph_sees_that_they_changed(void **state)
{
    (void)state;
    tern_module *m = tern_nn_batch_norm1d(2);
    tern_tensor *x = tern_ones(tern_dims(2), .requires_grad = true);
    tern_tensor *used = tern_sum_all(tern_mul(x, buffer(m, "running_mean")));
    run(m, batch_of(2, 2));
    assert_int_equal(tern_backward(used), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "was changed in place");
    tern_module_free(m);
}

// A forward in which the nth allocation and all later ones fail, until it needs none of them.
static void check_failures(tern_module *m, tern_tensor *x)
{
    for (int64_t nth = 1;; nth++) {
        tern_scope scope = tern_scope_open();
        fail_allocations_from(nth);
        const tern_tensor *y = tern_forward(m, x);
        const bool failed = memory.failed > 0;
        fail_nth_allocation(0);
        tern_error_clear();
        if (!y)
            check_buffers(m, 0, 1, 0);
        tern_scope_close(scope);
        tern_memory_trim();
        if (!failed)
            break;
    }
}

static void a_forward_that_fails_leaves_running_statistics_as_they_were(void **state)
{
    (void)state;
    tern_module *batch = tern_nn_batch_norm1d(2);
    tern_module *instance = tern_nn_instance_norm1d(2, .track_running_stats = true);
    tern_tensor *x = tern_rand(tern_dims(700, 2), .requires_grad = true);
    tern_memory_trim();
    check_failures(batch, x);
    check_failures(instance, tern_reshape(x, tern_dims(1, 2, 700)));
    assert_true(tern_item_int(buffer(batch, "num_batches_tracked")) > 0);
    assert_true(value_at(buffer(instance, "running_mean"), 0) != 0);
    tern_module_free(instance);
    tern_module_free(batch);
}

static void sums_keep_their_digits_far_from_0(void **state)
{
    (void)state;
    tern_tensor *x = tern_add_scalar(tern_mul_scalar(tern_rand(tern_dims(64, 3, 41)), 0.5), 4096);
    tern_tensor *exact = tern_to_dtype(x, TERN_FLOAT64);
    tern_tensor *mean = tern_mean(exact, tern_axes(0, 2), true);
    tern_tensor *var = tern_var(exact, tern_axes(0, 2), 0, true);
    tern_tensor *want = tern_mul(tern_sub(exact, mean), tern_rsqrt(var));
    tern_tensor *y = tern_batch_norm(x, .training = true, .eps = 0);
    tern_tensor *off = tern_amax(tern_abs(tern_sub(y, want)), TERN_ALL_AXES, false);
    assert_true(tern_item(off) < 2e-3); // 1 ulp of the mean, 2^-12, in deviations of 0.14
}

// ---- dtypes -------------------------------------------------------------------------------------

static void half_goes_with_parameters_of_float32(void **state)
{
    (void)state;
    static const tern_dtype halves[] = {TERN_FLOAT16, TERN_BFLOAT16};
    for (int i = 0; i < 2; i++) {
        tern_module *m = tern_nn_batch_norm1d(2);
        tern_tensor *x = tern_to_dtype(batch_of(0.5, 0.25), halves[i]);
        tern_set_requires_grad(x, true);
        tern_tensor *y = tern_forward(m, x);
        assert_int_equal(tern_dtype_of(y), halves[i]);
        assert_near(value_at(y, 2), 0.25 / sqrt(0.0625 + 1e-5), 4e-3, 0);
        check_buffers(m, 0.05, 0.9 + 0.1 * 0.125, 1);
        assert_int_equal(tern_backward(tern_sum_all(tern_mul(y, y))), TERN_OK);
        assert_int_equal(tern_dtype_of(tern_grad(x)), halves[i]);
        tern_tensor *dweight = tern_grad(tern_module_parameter(m, "weight"));
        assert_int_equal(tern_dtype_of(dweight), TERN_FLOAT32);
        assert_near(value_at(dweight, 0), 4, 1e-2, 0); // 2 (y^2 + y^2)
        tern_module_free(m);
    }
}

static void a_cast_module_counts_in_int64(void **state)
{
    (void)state;
    tern_module *m = tern_nn_batch_norm1d(2);
    assert_non_null(tern_module_to_dtype(m, TERN_FLOAT16));
    assert_int_equal(tern_dtype_of(buffer(m, "running_var")), TERN_FLOAT16);
    assert_int_equal(tern_dtype_of(buffer(m, "num_batches_tracked")), TERN_INT64);
    run(m, tern_to_dtype(batch_of(1, 1), TERN_FLOAT16));
    assert_int_equal(tern_item_int(buffer(m, "num_batches_tracked")), 1);
    assert_near(value_at(buffer(m, "running_mean"), 0), 0.1, 1e-3, 0);
    tern_module_free(m);
}

static void rms_norm_has_the_eps_of_what_it_computes_in(void **state)
{
    (void)state;
    static const struct {
        tern_dtype dtype;
        double eps;
    } rows[] = {{TERN_FLOAT32, 0x1p-23}, {TERN_BFLOAT16, 0x1p-23}, {TERN_FLOAT64, 0x1p-52}};
    for (int i = 0; i < 3; i++) {
        const double tiny = sqrt(rows[i].eps) / 2; // its square is eps / 4
        tern_tensor *x = tern_full(tern_dims(4), tiny, .dtype = rows[i].dtype);
        tern_tensor *y = tern_rms_norm(x, tern_dims(4));
        assert_near(value_at(y, 0), 1 / sqrt(5), 1e-2, 0);
    }
}

// A 16-bit backward computes with float32 copies: they go back to the cache.
static void a_backward_in_16_bits_keeps_no_copies(void **state)
{
    (void)state;
    tern_tensor *x = tern_ones(tern_dims(4, 2, 30), .dtype = TERN_BFLOAT16);
    tern_set_requires_grad(x, true);
    int64_t before = 0;
    for (int i = 0; i < 2; i++) {
        tern_scope scope = tern_scope_open();
        tern_tensor *y = tern_batch_norm(x, .training = true);
        assert_int_equal(tern_backward(tern_sum_all(y)), TERN_OK);
        tern_scope_close(scope);
        tern_memory_trim();
        if (i == 0)
            before = memory.bytes;
    }
    assert_true(memory.bytes == before);
}

// ---- instance norm ------------------------------------------------------------------------------

static void instance_norm_follows_the_mean_of_the_samples(void **state)
{
    (void)state;
    const float x[] = {0, 2, 5, 9}; // means 1 and 7, unbiased variances 2 and 8
    tern_module *m = tern_nn_instance_norm1d(1, .track_running_stats = true, .momentum = 0.5);
    run(m, tern_from_data(tern_dims(2, 1, 2), x));
    assert_near(value_at(buffer(m, "running_mean"), 0), 0.5 * 4, 1e-6, 0);
    assert_near(value_at(buffer(m, "running_var"), 0), 0.5 + 0.5 * 5, 1e-6, 0);
    assert_int_equal(tern_item_int(buffer(m, "num_batches_tracked")), 0);
    tern_module_free(m);
}

// PyTorch's instance norm makes NaN of them, its batch norm keeps them.
static void no_samples_keep_the_running_statistics(void **state)
{
    (void)state;
    tern_module *const kinds[] = {tern_nn_instance_norm1d(3, .track_running_stats = true),
                                  tern_nn_batch_norm1d(3)};
    for (int i = 0; i < 2; i++) {
        run(kinds[i], tern_zeros(tern_dims(0, 3, 4)));
        for (int k = 0; k < 3; k++) {
            assert_true(value_at(buffer(kinds[i], "running_mean"), k) == 0);
            assert_true(value_at(buffer(kinds[i], "running_var"), k) == 1);
        }
        tern_module_free(kinds[i]);
    }
}

// ---- in a Sequential ----------------------------------------------------------------------------

static tern_status look(tern_module *module, const tern_tensors *in, tern_tensors *out, void *user)
{
    (void)module;
    (void)in;
    (void)out;
    ++*(int *)user;
    return TERN_OK;
}

// The output of a run and its gradients.
static void learn(tern_module *net, tern_tensor *x, tern_tensor *result[3])
{
    tern_tensor *y = tern_forward(net, x);
    tern_zero_grad(x);
    tern_module_zero_grad(net);
    assert_int_equal(tern_backward(tern_sum_all(tern_mul(y, y))), TERN_OK);
    result[0] = tern_detach(y);
    result[1] = tern_clone(tern_grad(x));
    result[2] = tern_clone(tern_grad(tern_module_parameter(net, "0.weight")));
}

static void a_relu_behind_it_gives_the_same_bits_in_one_pass(void **state)
{
    (void)state;
    static const int64_t lengths[] = {3, 45};
    for (int i = 0; i < 2; i++) {
        tern_tensor *x = tern_randn(tern_dims(4, 3, lengths[i]), .requires_grad = true);
        tern_tensor *both[3], *apart[3];
        int looks = 0;
        tern_module *net = tern_nn_sequential(tern_nn_batch_norm1d(3), tern_nn_relu());
        learn(net, x, both);
        tern_module_add_forward_hook(tern_module_child(net, "0"), look, &looks);
        learn(net, x, apart);
        assert_int_equal(looks, 1);
        for (int k = 0; k < 3; k++) {
            tern_tensor *off = tern_abs(tern_sub(both[k], apart[k]));
            assert_true(tern_item(tern_amax(off, TERN_ALL_AXES, false)) == 0);
        }
        tern_module_free(net);
    }
}

// ---- states -------------------------------------------------------------------------------------

static tern_state *state_without_count(tern_module *m)
{
    tern_state *own = tern_module_state_dict(m), *state = tern_state_copy(own);
    assert_int_equal(tern_state_remove(state, "0.num_batches_tracked"), TERN_OK);
    tern_state_free(own);
    return state;
}

static tern_module *counted_net(void)
{
    tern_module *net = tern_nn_sequential(tern_nn_batch_norm1d(2));
    for (int i = 0; i < 3; i++)
        run(net, batch_of(1, 1));
    return net;
}

static void an_older_state_leaves_the_number_of_batches_as_it_is(void **state)
{
    (void)state;
    tern_module *net = counted_net(), *copy = tern_module_copy(net);
    tern_state *old = state_without_count(net);
    run(copy, batch_of(4, 2));
    assert_int_equal(tern_module_load_state_dict(copy, old), TERN_OK);
    assert_int_equal(tern_item_int(buffer(copy, "0.num_batches_tracked")), 4);
    assert_near(value_at(buffer(copy, "0.running_mean"), 0),
                value_at(buffer(net, "0.running_mean"), 0), 0, 0);
    tern_state_free(old);
    tern_module_free(copy);
    tern_module_free(net);
}

static void in_a_state_of_version_2_the_number_of_batches_is_missing(void **state)
{
    (void)state;
    tern_module *net = counted_net();
    tern_state *newer = state_without_count(net);
    assert_int_equal(tern_state_set_version(newer, "0", 2), TERN_OK);
    assert_int_equal(tern_module_load_state_dict(net, newer), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "missing 1: \"0.num_batches_tracked\"");
    tern_state_free(newer);
    tern_module_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(running_statistics_follow_by_the_momentum),
        CHECK_TEST(without_a_momentum_they_are_the_mean_of_all_batches),
        CHECK_TEST(with_momentum_0_they_stay_and_batches_count),
        CHECK_TEST(an_empty_batch_counts_and_changes_nothing_else),
        CHECK_TEST(constants_far_from_0_have_no_variance),
        CHECK_TEST(running_statistics_may_lie_side_by_side),
        CHECK_TEST(evaluation_is_by_the_running_statistics_which_stay),
        CHECK_TEST(without_tracking_evaluation_is_by_the_batch),
        CHECK_TEST(two_forwards_before_a_backward_are_fine),
        CHECK_TEST(a_use_of_running_statistics_in_a_graph_sees_that_they_changed),
        CHECK_TEST(a_forward_that_fails_leaves_running_statistics_as_they_were),
        CHECK_TEST(sums_keep_their_digits_far_from_0),
        CHECK_TEST(half_goes_with_parameters_of_float32),
        CHECK_TEST(a_cast_module_counts_in_int64),
        CHECK_TEST(rms_norm_has_the_eps_of_what_it_computes_in),
        CHECK_TEST(a_backward_in_16_bits_keeps_no_copies),
        CHECK_TEST(instance_norm_follows_the_mean_of_the_samples),
        CHECK_TEST(no_samples_keep_the_running_statistics),
        CHECK_TEST(a_relu_behind_it_gives_the_same_bits_in_one_pass),
        CHECK_TEST(an_older_state_leaves_the_number_of_batches_as_it_is),
        CHECK_TEST(in_a_state_of_version_2_the_number_of_batches_is_missing),
    };
    if (use_memory_hook())
        return 1;
    return cmocka_run_group_tests(tests, NULL, check_shutdown);
}
