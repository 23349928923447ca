// SPDX-License-Identifier: Apache-2.0
// A net over an epoch: its loss and metrics, and that nothing of it is otherwise afterwards.
#include "device/device_check.h"
#include "metric_test.h"

// ---- a net, a loader and a criterion ------------------------------------------------------------

// 10 samples, in batches of 4, 4 and 2.
static tern_loader *loader_new(void)
{
    tern_dataset *data = tern_data_tensors(small_input(10), small_labels(10));
    tern_loader *loader = tern_loader_new(data, .batch_size = 4, .device = here);
    tern_dataset_free(data);
    return loader;
}

// With a part that is never trained.
static tern_module *net_new(void)
{
    tern_manual_seed(7);
    tern_module *net = tern_nn_sequential(tern_nn_linear(6, 8), tern_nn_dropout(0.5),
                                          tern_nn_batch_norm1d(8), tern_nn_linear(8, 3));
    tern_module_eval(tern_module_child_at(net, 2));
    return tern_module_to(net, here);
}

static void assert_modes(const tern_module *net)
{
    assert_true(tern_module_is_training(net));
    assert_true(tern_module_is_training(tern_module_child_at(net, 1)));
    assert_false(tern_module_is_training(tern_module_child_at(net, 2)));
    assert_true(tern_grad_enabled());
}

// All samples as one batch in evaluation mode.
static tern_tensor *whole_logits(tern_module *net)
{
    tern_tensor *out = NULL;
    tern_module_eval(net);
    tern_no_grad
        out = tern_forward(net, tern_to(small_input(10), here));
    tern_module_train(net, true);
    tern_module_eval(tern_module_child_at(net, 2));
    return out;
}

static double whole_loss(tern_module *net)
{
    return tern_item(tern_cross_entropy(whole_logits(net), tern_to(small_labels(10), here)));
}

// ---- what it gives ------------------------------------------------------------------------------

static void the_loss_is_the_mean_over_the_samples(void **state)
{
    (void)state;
    static const tern_reduction reductions[] = {TERN_REDUCTION_MEAN, TERN_REDUCTION_SUM,
                                                TERN_REDUCTION_NONE};
    tern_module *net = net_new();
    tern_loader *loader = loader_new();
    for (int i = 0; i < 3; i++) {
        double loss = 0;
        tern_module *criterion = tern_nn_cross_entropy_loss(.reduction = reductions[i]);
        assert_int_equal(tern_evaluate(net, loader, .criterion = criterion, .loss = &loss,
                                       .reduction = reductions[i]),
                         TERN_OK);
        assert_near(loss, whole_loss(net), 1e-6, 0);
        tern_module_free(criterion);
    }
    assert_modes(net);
    tern_free(loader, net);
}

static void metrics_are_those_of_the_epoch_alone(void **state)
{
    (void)state;
    tern_module *net = net_new();
    tern_loader *loader = loader_new();
    tern_metric *accuracy = tern_metric_accuracy(.num_classes = 3);
    tern_metric *whole = tern_metric_accuracy(.num_classes = 3);
    assert_int_equal(tern_metric_update(whole, whole_logits(net), tern_to(small_labels(10), here)),
                     TERN_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tern_evaluate(net, loader, .metrics = tern_metrics(accuracy)), TERN_OK);
        assert_int_equal(tern_metric_updates(accuracy), 3);
        assert_near(tern_metric_value(accuracy), tern_metric_value(whole), 1e-15, 0);
    }
    assert_null(tern_grad(tern_module_parameter(net, "0.weight")));
    tern_metric_free(whole);
    tern_metrics_free(tern_metrics(accuracy));
    tern_free(loader, net);
}

static void an_evaluation_in_a_loop_leaves_its_epoch(void **state)
{
    (void)state;
    tern_module *net = net_new();
    tern_loader *loader = loader_new();
    int64_t seen = 0;
    tern_each_batch (b, loader) {
        assert_int_equal(tern_evaluate(net, loader), TERN_OK);
        seen += tern_size(b.x, 0);
    }
    assert_int_equal(seen, 10);
    tern_free(loader, net);
}

static void a_net_over_several_devices_is_evaluated_alike(void **state)
{
    (void)state;
    NEEDS_TWO_DEVICES();
    double loss = 0, parallel_loss = 0;
    tern_module *net = net_new(), *criterion = tern_nn_cross_entropy_loss();
    tern_loader *loader = loader_new();
    tern_module *parallel = tern_nn_data_parallel(
        tern_module_retain(net), .devices = (tern_device[]){here, there}, .count = 2);
    tern_metric *accuracy = tern_metric_accuracy(.num_classes = 3);
    assert_int_equal(tern_evaluate(net, loader, .criterion = criterion, .loss = &loss), TERN_OK);
    assert_int_equal(tern_evaluate(parallel, loader, .criterion = criterion, .loss = &parallel_loss,
                                   .metrics = tern_metrics(accuracy)),
                     TERN_OK);
    assert_near(parallel_loss, loss, 1e-6, 0);
    assert_true(is_on(tern_metric_compute(accuracy), here));
    assert_modes(net);
    tern_free(accuracy, parallel, loader, criterion, net);
}

// ---- failures -----------------------------------------------------------------------------------

static tern_status fail_third(tern_module *module, tern_tensors *in, void *user)
{
    int *calls = user;
    (void)module;
    if (++*calls == 3)
        in->at[0] = tern_reshape(in->at[0], tern_dims(7)); // of 16 elements
    return tern_error_code();
}

static void a_failure_leaves_the_modes(void **state)
{
    (void)state;
    int calls = 0;
    double loss = 0;
    tern_module *net = net_new(), *criterion = tern_nn_cross_entropy_loss();
    tern_loader *loader = loader_new();
    assert_true(tern_module_add_forward_pre_hook(tern_module_child_at(net, 3), fail_third, &calls));
    assert_status(tern_evaluate(net, loader, .criterion = criterion, .loss = &loss), TERN_ERR_SHAPE,
                  "reshape");
    assert_true(isnan(loss));
    assert_modes(net);
    assert_true(tern_module_is_training(criterion));
    tern_free(loader, criterion, net);
}

static void a_metric_that_does_not_fit_is_said_once(void **state)
{
    (void)state;
    tern_module *net = net_new();
    tern_loader *loader = loader_new();
    tern_metric *accuracy = tern_metric_accuracy(.num_classes = 5);
    assert_status(tern_evaluate(net, loader, .metrics = tern_metrics(accuracy)), TERN_ERR_SHAPE,
                  "metric_update: accuracy: preds is (4, 3) and target (4,), but preds must be "
                  "(4, 5)");
    assert_modes(net);
    tern_free(accuracy, loader, net);
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
    double loss = 0;
    tern_module *net = net_new(), *criterion = tern_nn_cross_entropy_loss();
    tern_dataset *data = tern_dataset_new(&empty_class);
    tern_loader *loader = tern_loader_new(data, .batch_size = 2);
    assert_sentence(tern_evaluate(net, loader, .criterion = criterion, .loss = &loss),
                    TERN_ERR_STATE, "evaluate: the loader gave no batch");
    assert_true(isnan(loss));
    assert_modes(net);
    tern_free(loader, data, criterion, net);
}

static void samples_without_y_need_nothing_that_takes_it(void **state)
{
    (void)state;
    tern_module *net = net_new(), *criterion = tern_nn_cross_entropy_loss();
    tern_dataset *data = tern_data_tensors(small_input(10));
    tern_loader *loader = tern_loader_new(data, .batch_size = 4, .device = here);
    tern_metric *mean = tern_metric_mean();
    assert_int_equal(tern_evaluate(net, loader, .metrics = tern_metrics(mean)), TERN_OK);
    assert_near(tern_metric_value(mean), tern_item(tern_mean_all(whole_logits(net))), 1e-5, 1e-6);
    assert_status(tern_evaluate(net, loader, .criterion = criterion), TERN_ERR_STATE,
                  "evaluate: the loader's batches have no y");
    tern_free(mean, loader, data, criterion, net);
}

static void a_capture_is_refused(void **state)
{
    (void)state;
    tern_module *net = net_new();
    tern_loader *loader = loader_new();
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_status(tern_evaluate(net, loader), TERN_ERR_STATE, "evaluate: not while ");
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
        CHECK_TEST(the_loss_is_the_mean_over_the_samples),
        CHECK_TEST(metrics_are_those_of_the_epoch_alone),
        CHECK_TEST(an_evaluation_in_a_loop_leaves_its_epoch),
        CHECK_TEST(a_net_over_several_devices_is_evaluated_alike),
        CHECK_TEST(a_failure_leaves_the_modes),
        CHECK_TEST(a_metric_that_does_not_fit_is_said_once),
        CHECK_TEST(a_loader_without_a_batch_is_refused),
        CHECK_TEST(samples_without_y_need_nothing_that_takes_it),
    };
    const struct CMUnitTest on_cuda[] = {
        CHECK_TEST(a_capture_is_refused),
    };
    RUN_DEVICE_TESTS(everywhere, on_cuda);
}
