// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/metrics.h, for the site.
#include "examples.h"

static tern_tensor *scores, *labels; // (4, 3): the last one is wrong

static bool updated(tern_metric *metric, tern_tensor *preds, tern_tensor *target)
{
    return !tern_metric_update(metric, preds, target);
}

static void show_accuracy(void)
{
    // [tern_metric_accuracy]
    tern_metric *accuracy = tern_metric_accuracy(.num_classes = 3);
    if (tern_metric_update(accuracy, scores, labels)) // behind each batch
        tern_error_print(stderr);
    // [/tern_metric_accuracy]
    expect(near(tern_metric_value(accuracy), 0.75));
    tern_metric_free(accuracy);
}

static void show_precision(void)
{
    // [tern_metric_precision]
    tern_metric *precision = tern_metric_precision(.num_classes = 3, .average = TERN_AVERAGE_NONE);
    // [/tern_metric_precision]
    expect(updated(precision, scores, labels));
    expect_shape(tern_metric_compute(precision), 3);
    tern_metric_free(precision);
}

static void show_recall(void)
{
    // [tern_metric_recall]
    tern_metric *recall = tern_metric_recall(.threshold = 0.3); // binary: probabilities, or logits
    // [/tern_metric_recall]
    tern_tensor *half = tern_full(tern_dims(2), 0.4);
    expect(updated(recall, half, tern_ones(tern_dims(2), .dtype = TERN_INT64)));
    expect(tern_metric_value(recall) == 1);
    tern_metric_free(recall);
}

static void show_f1(void)
{
    // [tern_metric_f1]
    tern_metric *f1 = tern_metric_f1(.num_classes = 3, .average = TERN_AVERAGE_MACRO);
    // [/tern_metric_f1]
    expect(updated(f1, scores, labels) && tern_metric_value(f1) > 0.7);
    tern_metric_free(f1);
}

static void show_confusion_matrix(void)
{
    // [tern_metric_confusion_matrix]
    tern_metric *matrix = tern_metric_confusion_matrix(.num_classes = 3);
    // [/tern_metric_confusion_matrix]
    expect(updated(matrix, scores, labels));
    expect_shape(tern_metric_compute(matrix), 3, 3);
    tern_metric_free(matrix);
}

static void show_auroc(void)
{
    // [tern_metric_auroc]
    tern_metric *auroc = tern_metric_auroc(.num_classes = 3, .average = TERN_AVERAGE_WEIGHTED);
    // [/tern_metric_auroc]
    expect(updated(auroc, scores, labels) && tern_metric_value(auroc) > 0.5);
    tern_metric_free(auroc);
}

static void show_errors(void)
{
    // [tern_metric_mean_absolute_error]
    tern_metric *absolute = tern_metric_mean_absolute_error();
    // [/tern_metric_mean_absolute_error]
    // [tern_metric_mean_squared_error]
    tern_metric *root = tern_metric_mean_squared_error(.squared = false);
    // [/tern_metric_mean_squared_error]
    // [tern_metric_r2_score]
    tern_metric *r2 = tern_metric_r2_score();
    // [/tern_metric_r2_score]
    tern_tensor *x = tern_arange(0, 5, 1), *y = tern_add_scalar(x, 2);
    expect(updated(absolute, x, y) && tern_metric_value(absolute) == 2);
    expect(updated(root, x, y) && tern_metric_value(root) == 2);
    expect(updated(r2, x, x) && tern_metric_value(r2) == 1);
    tern_free(absolute, root, r2);
}

static void show_perplexity(void)
{
    // [tern_metric_perplexity]
    tern_metric *perplexity = tern_metric_perplexity(.ignore_index = -100);
    // [/tern_metric_perplexity]
    tern_tensor *logits = tern_zeros(tern_dims(2, 5, 7)); // every word is as likely as another
    expect(updated(perplexity, logits, tern_zeros(tern_dims(2, 5), .dtype = TERN_INT64)));
    expect(near(tern_metric_value(perplexity), 7));
    tern_metric_free(perplexity);
}

static void show_mean(void)
{
    // [tern_metric_mean]
    tern_metric *loss = tern_metric_mean(.name = "loss");
    // [/tern_metric_mean]
    expect(updated(loss, tern_arange(0, 5, 1), NULL) && tern_metric_value(loss) == 2);
    // [tern_metric_standard_error]
    tern_tensor *error = tern_metric_standard_error(loss);
    // [/tern_metric_standard_error]
    expect(near(tern_item(error), sqrt(0.5)));
    tern_metric_free(loss);
}

int metrics_examples(void)
{
    labels = tern_from_data(tern_dims(4), ((int64_t[]){0, 1, 2, 2}), .dtype = TERN_INT64);
    tern_tensor *classes =
        tern_from_data(tern_dims(4), ((int64_t[]){0, 1, 2, 0}), .dtype = TERN_INT64);
    scores = tern_to_dtype(tern_one_hot(classes, 3), TERN_FLOAT32);
    show_accuracy();
    show_precision();
    show_recall();
    show_f1();
    show_confusion_matrix();
    show_auroc();
    show_errors();
    show_perplexity();
    show_mean();
    return failures;
}
