// SPDX-License-Identifier: Apache-2.0
// Pipelines of micro-batches: the bits of a loop over them, in an order in which devices overlap.
#include "parallel_check.h"
#include "device/sim.h"

// ---- a model that is split ----------------------------------------------------------------------

typedef struct split_net {
    tern_module base;
    tern_module *stages[3];
    tern_device at[3];
    int count;
} split_net;

static tern_status call_split(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    split_net *self = (split_net *)module;
    tern_tensor *x = in->at[0];
    for (int i = 0; i < self->count; i++)
        x = tern_forward(self->stages[i], tern_to(x, self->at[i]));
    out->at[out->count++] = x;
    return tern_error_code();
}

static const tern_module_class split_class = {
    .name = "Split", .size = sizeof(split_net), .call = call_split};

// On as many devices as there are, three at most; the norm keeps running statistics.
static tern_module *split_new(void)
{
    split_net *self = (split_net *)tern_module_new(&split_class);
    assert_non_null(self);
    tern_manual_seed(9);
    tern_module *stages[] = {tern_nn_sequential(tern_nn_linear(6, 12), tern_nn_relu()),
                             tern_nn_sequential(tern_nn_batch_norm1d(12), tern_nn_dropout(0.2)),
                             tern_nn_linear(12, 3)};
    static const char *const names[] = {"front", "middle", "back"};
    self->count = 3;
    for (int i = 0; i < 3; i++) {
        self->at[i] = devices[i < device_count ? i : device_count - 1];
        tern_module_to(stages[i], self->at[i]);
        tern_module_add_child(&self->base, names[i], &self->stages[i], stages[i]);
    }
    return tern_module_done(&self->base);
}

// ---- the loop it stands for ---------------------------------------------------------------------

static double loop(tern_module *net, tern_module *criterion, tern_tensor *x, tern_tensor *y,
                   int64_t each, bool mean)
{
    const int64_t size = tern_size(x, 0);
    double sum = 0;
    for (int64_t begin = 0; begin < size; begin += each) {
        const int64_t rows = size - begin < each ? size - begin : each;
        tern_tensor *output = tern_forward(net, tern_narrow(x, 0, begin, rows));
        tern_tensor *target = tern_to(tern_narrow(y, 0, begin, rows), tern_device_of(output));
        tern_tensor *loss = tern_loss(criterion, output, target);
        const double share = mean ? (double)rows / (double)size : 1;
        loss = tern_mul_scalar(loss, share);
        sum += tern_item(loss);
        assert_int_equal(tern_backward(loss), TERN_OK);
    }
    return sum;
}

static void check_same_state(tern_module *a, tern_module *b)
{
    for (int64_t i = 0; i < tern_module_num_parameters(a); i++) {
        tern_tensor *p = tern_module_parameter_at(a, i, NULL, 0);
        tern_tensor *q = tern_module_parameter_at(b, i, NULL, 0);
        check_same(p, q, 0);
        check_same(tern_grad(p), tern_grad(q), 0);
    }
    check_same(tern_module_buffer(a, "middle.0.running_var"),
               tern_module_buffer(b, "middle.0.running_var"), 0);
}

static void train_both(tern_module *criterion, int64_t rows, int micro_batches, bool mean)
{
    tern_module *net = split_new(), *one = tern_module_copy(net);
    tern_module_to(criterion, devices[device_count < 3 ? device_count - 1 : 2]);
    tern_optim *optims[] = {tern_optim_adam(net, .lr = 0.05), tern_optim_adam(one, .lr = 0.05)};
    tern_tensor *x = tern_to(small_input(rows), devices[0]), *y = small_labels(rows);
    const int64_t each = (rows + micro_batches - 1) / micro_batches;
    for (int step = 0; step < 5; step++) {
        const tern_reduction reduction = mean ? TERN_REDUCTION_MEAN : TERN_REDUCTION_SUM;
        tern_optim_zero_grad(optims[0]);
        tern_optim_zero_grad(optims[1]);
        tern_manual_seed((uint64_t)step); // of dropout
        tern_tensor *loss = tern_pipeline(net, criterion, x, y, .micro_batches = micro_batches,
                                          .reduction = reduction);
        assert_non_null(loss);
        assert_false(tern_requires_grad(loss));
        tern_manual_seed((uint64_t)step);
        const double expected = loop(one, criterion, x, y, each, mean);
        assert_true(fabs(tern_item(loss) - expected) <= 1e-6 * fabs(expected));
        check_same_state(net, one);
        assert_int_equal(tern_optim_step(optims[0]), TERN_OK);
        assert_int_equal(tern_optim_step(optims[1]), TERN_OK);
    }
    tern_optim_free(optims[0]);
    tern_optim_free(optims[1]);
    tern_module_free(criterion);
    tern_module_free(net);
    tern_module_free(one);
}

static void steps_have_the_bits_of_a_loop_over_micro_batches(void **state)
{
    (void)state;
    train_both(tern_nn_cross_entropy_loss(), 24, 4, true);
    train_both(tern_nn_cross_entropy_loss(), 22, 4, true); // the last one is shorter
    train_both(tern_nn_cross_entropy_loss(.reduction = TERN_REDUCTION_SUM), 22, 4, false);
    train_both(tern_nn_cross_entropy_loss(), 24, 1, true);
    train_both(tern_nn_cross_entropy_loss(), 12, 6, true);
}

static void more_micro_batches_than_samples_are_one_sample_each(void **state)
{
    (void)state;
    tern_module *net = tern_module_to(small_net(), devices[0]), *one = tern_module_copy(net);
    tern_module *criterion = tern_nn_cross_entropy_loss();
    tern_tensor *x = tern_to(small_input(3), devices[0]);
    tern_tensor *y = tern_to(small_labels(3), devices[0]);
    assert_non_null(tern_pipeline(net, criterion, x, y, .micro_batches = 100));
    (void)loop(one, criterion, x, y, 1, true);
    check_same(tern_grad(tern_module_parameter(net, "0.weight")),
               tern_grad(tern_module_parameter(one, "0.weight")), 0);
    tern_module_free(criterion);
    tern_module_free(net);
    tern_module_free(one);
}

static void what_cannot_be_cut_is_refused(void **state)
{
    (void)state;
    tern_module *net = tern_module_to(small_net(), devices[0]);
    tern_module *criterion = tern_nn_cross_entropy_loss();
    tern_tensor *x = tern_to(small_input(6), devices[0]), *y = small_labels(6);
    assert_null_with(
        tern_pipeline(net, criterion, x, small_labels(5)), TERN_ERR_SHAPE,
        "pipeline: x has 6 elements along dimension 0 and y 5: they are not one batch");
    assert_null_with(tern_pipeline(net, criterion, x, y, .micro_batches = 0), TERN_ERR_ARG,
                     "pipeline: .micro_batches is 0, but must be at least 1");
    assert_null_with(tern_pipeline(net, criterion, x, y, .dim = 1), TERN_ERR_ARG,
                     "has no dimension 1 to be cut along");
    tern_tensor *nothing = tern_zeros(tern_dims(0, 6), .device = devices[0]);
    assert_null_with(tern_pipeline(net, criterion, nothing, tern_zeros(tern_dims(0))),
                     TERN_ERR_SHAPE, "pipeline: the batch is empty");
    tern_no_grad {
        assert_null_with(tern_pipeline(net, criterion, x, y), TERN_ERR_STATE, "tern_no_grad");
    }
    assert_null_with(tern_pipeline(net, criterion, x, y, .reduction = TERN_REDUCTION_NONE),
                     TERN_ERR_ARG, "pipeline: .reduction must be the mean or the sum");
    tern_module *apart = tern_nn_cross_entropy_loss(.reduction = TERN_REDUCTION_NONE);
    y = tern_to(y, devices[0]);
    assert_null_with(tern_pipeline(net, apart, x, y), TERN_ERR_SHAPE,
                     "pipeline: the criterion gives a loss of shape (2,), but it must be 0-dim");
    tern_module_free(apart);
    tern_module_free(criterion);
    tern_module_free(net);
}

// ---- on simulated devices -----------------------------------------------------------------------

static void nothing_waits_for_the_host(void **state)
{
    (void)state;
    tern_module *net = split_new();
    tern_module *criterion =
        tern_module_to(tern_nn_cross_entropy_loss(), devices[device_count < 3 ? 1 : 2]);
    tern_tensor *x = tern_to(small_input(24), devices[0]);
    tern_tensor *y = tern_to(small_labels(24), devices[device_count < 3 ? 1 : 2]);
    tern_sim_counts c;
    assert_non_null(tern_pipeline(net, criterion, x, y));
    tern_module_zero_grad(net);
    sim.count_reset();
    assert_non_null(tern_pipeline(net, criterion, x, y));
    sim.count(&c);
    assert_int_equal(c.device_waits + c.stream_waits + c.event_waits, 0);
    assert_int_equal(c.copy_waits + c.free_waits, 0);
    tern_module_free(criterion);
    tern_module_free(net);
}

int main(int argc, char **argv)
{
    const int nothing = choose_parallel_devices(argc, argv);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(steps_have_the_bits_of_a_loop_over_micro_batches),
        CHECK_TEST(more_micro_batches_than_samples_are_one_sample_each),
        CHECK_TEST(what_cannot_be_cut_is_refused),
    };
    const struct CMUnitTest on_simulated[] = {CHECK_TEST(nothing_waits_for_the_host)};
    if (nothing)
        return nothing;
    if (kind == TERN_CUDA && tern_zeros(tern_dims(1), .device = here) && sim_begin() &&
        cmocka_run_group_tests(on_simulated, NULL, NULL))
        return 1;
    return cmocka_run_group_tests(tests, NULL, check_shutdown);
}
