// SPDX-License-Identifier: Apache-2.0
// Running statistics computed anew, on every kind of device.
#include "device/device_check.h"

static tern_loader *loader_of(const double *values, int64_t rows, int64_t batch_size)
{
    tern_tensor *x = tern_from_data(tern_dims(rows, 1), values, .dtype = TERN_FLOAT64);
    tern_dataset *data = tern_data_tensors(tern_to_dtype(x, TERN_FLOAT32));
    tern_loader *loader = tern_loader_new(data, .batch_size = batch_size, .device = here);
    tern_dataset_free(data);
    return loader;
}

static tern_module *net_with_norm(void)
{
    tern_module *norm = tern_nn_batch_norm1d(1, .momentum = 0.25);
    tern_module *net =
        tern_nn_sequential(tern_nn_identity(), norm, tern_nn_dropout(0.5), tern_nn_linear(1, 1));
    tern_module_eval(norm);
    tern_fill_(tern_module_buffer(net, "1.running_mean"), 7);
    tern_fill_(tern_module_buffer(net, "1.running_var"), 9);
    tern_fill_(tern_module_buffer(net, "1.num_batches_tracked"), 11);
    return tern_module_to(net, here);
}

// The modes of the children, and that a batch in training moves the mean by the momentum.
static void assert_modes_and_momentum(tern_module *net)
{
    assert_true(tern_module_is_training(net));
    assert_false(tern_module_is_training(tern_module_child_at(net, 1)));
    assert_true(tern_module_is_training(tern_module_child_at(net, 2)));
    const double before = tern_item(tern_module_buffer(net, "1.running_mean"));
    tern_module *norm = tern_module_train(tern_module_child_at(net, 1), true);
    tern_no_grad
        assert_non_null(tern_forward(norm, tern_full(tern_dims(2, 1), 0.0, .device = here)));
    assert_near(tern_item(tern_module_buffer(net, "1.running_mean")), 0.75 * before, 1e-6, 0);
}

static void statistics_are_the_mean_over_the_batches(void **state)
{
    (void)state;
    static const double values[] = {1, 3, 2, 8, 4, 6};
    tern_module *net = net_with_norm();
    tern_loader *loader = loader_of(values, 6, 2);
    assert_int_equal(tern_update_bn(net, loader), TERN_OK);
    // Means 2, 5, 5; variances 2, 18, 2.
    assert_tensor_near(tern_module_buffer(net, "1.running_mean"), 1e-6, tern_dims(1), 4);
    assert_tensor_near(tern_module_buffer(net, "1.running_var"), 1e-5, tern_dims(1), 22.0 / 3);
    assert_values(tern_module_buffer(net, "1.num_batches_tracked"), 3);
    assert_null(tern_grad(tern_module_parameter(net, "3.weight")));
    assert_modes_and_momentum(net);
    tern_free(loader, net);
}

static void a_net_without_batch_norm_reads_no_batch(void **state)
{
    (void)state;
    static const double values[] = {1, 2};
    tern_module *net = tern_nn_sequential(tern_nn_linear(1, 1), tern_nn_instance_norm1d(1),
                                          tern_nn_batch_norm1d(1, .track_running_stats = false));
    tern_loader *loader = loader_of(values, 2, 1);
    assert_int_equal(tern_update_bn(net, loader), TERN_OK);
    assert_int_equal(tern_loader_epoch(loader), 0);
    tern_free(loader, net);
}

static tern_status fail_third(tern_module *module, tern_tensors *in, void *user)
{
    int *calls = user;
    (void)module;
    if (++*calls == 3)
        in->at[0] = tern_reshape(in->at[0], tern_dims(7)); // of 2 elements
    return tern_error_code();
}

static void check_kept(tern_module *net, tern_loader *loader, tern_status code, const char *words)
{
    assert_int_equal(tern_update_bn(net, loader), code);
    assert_error(code, words);
    assert_values(tern_module_buffer(net, "1.running_mean"), 7);
    assert_values(tern_module_buffer(net, "1.running_var"), 9);
    assert_values(tern_module_buffer(net, "1.num_batches_tracked"), 11);
    assert_modes_and_momentum(net);
    tern_free(loader, net);
}

static void a_failure_leaves_statistics_modes_and_momenta(void **state)
{
    (void)state;
    static const double values[] = {1, 3, 2, 8, 4, 6};
    int calls = 0;
    tern_module *net = net_with_norm();
    assert_true(tern_module_add_forward_pre_hook(tern_module_child_at(net, 3), fail_third, &calls));
    check_kept(net, loader_of(values, 6, 2), TERN_ERR_SHAPE, "reshape");
    check_kept(net_with_norm(), loader_of(values, 5, 2), TERN_ERR_SHAPE, "one value a channel");
}

static int64_t no_samples(const tern_dataset *self)
{
    (void)self;
    return 0;
}

static tern_status no_item(const tern_dataset *self, const tern_sample_context *context,
                           int64_t index, tern_sample *out)
{
    (void)self, (void)context, (void)index, (void)out;
    return TERN_OK;
}

static void a_loader_without_a_batch_is_refused(void **state)
{
    (void)state;
    static const tern_dataset_class empty_class = {
        .name = "empty", .size = sizeof(tern_dataset), .count = no_samples, .item = no_item};
    tern_dataset *data = tern_dataset_new(&empty_class);
    tern_loader *loader = tern_loader_new(data, .batch_size = 2);
    tern_dataset_free(data);
    check_kept(net_with_norm(), loader, TERN_ERR_STATE, "the loader gave no batch");
}

static void a_capture_is_refused(void **state)
{
    (void)state;
    static const double values[] = {1, 3};
    tern_module *net = net_with_norm();
    tern_loader *loader = loader_of(values, 2, 2);
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_status(tern_update_bn(net, loader), TERN_ERR_STATE, "update_bn: not while ");
    tern_cuda_graph_free(tern_cuda_graph_end());
    tern_error_clear();
    tern_free(loader, net);
}

int main(int argc, char **argv)
{
    const int nothing = choose_devices(argc, argv);
    if (nothing)
        return nothing;
    const struct CMUnitTest everywhere[] = {
        CHECK_TEST(statistics_are_the_mean_over_the_batches),
        CHECK_TEST(a_net_without_batch_norm_reads_no_batch),
        CHECK_TEST(a_failure_leaves_statistics_modes_and_momenta),
        CHECK_TEST(a_loader_without_a_batch_is_refused),
    };
    const struct CMUnitTest on_cuda[] = {
        CHECK_TEST(a_capture_is_refused),
    };
    RUN_DEVICE_TESTS(everywhere, on_cuda);
}
