// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/metric.h, for the site.
#include "examples.h"

// The largest error so far.
typedef struct largest {
    tern_metric base;
    tern_tensor *largest;
} largest;

static tern_status update(tern_metric *metric, tern_tensor *preds, tern_tensor *target)
{
    largest *self = (largest *)metric;
    tern_tensor *most = tern_amax(tern_abs(tern_sub(preds, target)), TERN_ALL_AXES, false);
    tern_copy_(self->largest, tern_maximum(self->largest, most));
    return tern_error_code();
}

static tern_tensor *compute(tern_metric *metric)
{
    return tern_clone(((largest *)metric)->largest);
}

static const tern_metric_class largest_class = {
    .name = "largest", .size = sizeof(largest), .update = update, .compute = compute};

static void show_metric_new(void)
{
    // [tern_metric_new]
    largest *self = (largest *)tern_metric_new(&largest_class, NULL);
    tern_status status = tern_metric_add_state((tern_metric *)self, "largest", &self->largest,
                                               tern_dims(), TERN_FLOAT32);
    // [/tern_metric_new]
    tern_tensor *x = tern_ones(tern_dims(3));
    expect(!status && !tern_metric_update(&self->base, x, tern_neg(x)));
    expect(tern_metric_value(&self->base) == 2);
    tern_metric_free(&self->base);
}

static void show_evaluate(void)
{
    tern_module *net = tern_nn_linear(4, 3), *criterion = tern_nn_cross_entropy_loss();
    tern_dataset *data =
        tern_data_tensors(tern_randn(tern_dims(10, 4)), tern_randint(0, 3, tern_dims(10)));
    tern_loader *test = tern_loader_new(data, .batch_size = 4);
    double loss;
    // [tern_evaluate]
    tern_metric_list list = tern_metrics(tern_metric_accuracy(.num_classes = 3));
    if (tern_evaluate(net, test, .criterion = criterion, .metrics = list, .loss = &loss))
        tern_error_print(stderr);
    // [/tern_evaluate]
    expect(loss > 0 && tern_metric_value(list.at[0]) <= 1);
    tern_metrics_free(list);
    tern_free(test, data, criterion, net);
}

static void show_metric_retain(void)
{
    tern_metric *accuracy = tern_metric_accuracy(.num_classes = 3);
    // [tern_metric_retain]
    tern_metric *mine = tern_metric_retain(accuracy); // stays when others give theirs back
    // [/tern_metric_retain]
    expect(mine == accuracy);
    tern_free(accuracy, mine);
}

static void show_metrics(void)
{
    // [tern_metrics]
    tern_metric_list list = tern_metrics(tern_metric_accuracy(.num_classes = 10),
                                         tern_metric_confusion_matrix(.num_classes = 10));
    // [/tern_metrics]
    expect(list.count == 2);
    tern_metrics_free(list);
}

int metric_examples(void)
{
    show_metric_new();
    show_metric_retain();
    show_evaluate();
    show_metrics();
    return failures;
}
