// SPDX-License-Identifier: Apache-2.0
// metrics.h
#include "errors.h"

static tern_status update(tern_metric *metric, tern_tensor *preds, tern_tensor *target)
{
    const tern_status status = tern_metric_update(metric, preds, target);
    tern_metric_free(metric);
    return status;
}

// What all four refuse of their options.
#define CLASSIFICATION(kind)                                                                       \
    REFUSES(tern_metric_##kind##_with, "options that are NULL", TERN_ERR_NULL,                     \
            "metric_" #kind ": options is NULL", tern_metric_##kind##_with(NULL))                  \
    REFUSES(tern_metric_##kind##_with, "a task that is none", TERN_ERR_ARG,                        \
            "metric_" #kind ": there is no task 4",                                                \
            tern_metric_##kind(.task = (tern_metric_task)4))                                       \
    REFUSES(tern_metric_##kind##_with, "one class", TERN_ERR_ARG,                                  \
            "metric_" #kind ": num_classes is 1, but must be 2 or more",                           \
            tern_metric_##kind(.num_classes = 1))                                                  \
    REFUSES(tern_metric_##kind##_with, "one label", TERN_ERR_ARG,                                  \
            "metric_" #kind ": num_labels is 1, but must be 2 or more",                            \
            tern_metric_##kind(.num_labels = 1))                                                   \
    REFUSES(tern_metric_##kind##_with, "classes of a binary task", TERN_ERR_ARG,                   \
            "metric_" #kind ": num_classes is 3, but the task is not multiclass",                  \
            tern_metric_##kind(.task = TERN_TASK_BINARY, .num_classes = 3))                        \
    REFUSES(tern_metric_##kind##_with, "labels of classes", TERN_ERR_ARG,                          \
            "metric_" #kind ": num_labels is 3, but the task is not multilabel",                   \
            tern_metric_##kind(.num_classes = 3, .num_labels = 3))                                 \
    REFUSES(tern_metric_##kind##_with, "a threshold above 1", TERN_ERR_ARG,                        \
            "metric_" #kind ": threshold is 1.5, but must be 0 to 1",                              \
            tern_metric_##kind(.threshold = 1.5))                                                  \
    REFUSES(tern_metric_##kind##_with, "a top_k of truths", TERN_ERR_ARG,                          \
            "metric_" #kind ": top_k is 2, but only multiclass tasks have more than one",          \
            tern_metric_##kind(.top_k = 2))                                                        \
    REFUSES(tern_metric_##kind##_with, "a top_k above num_classes", TERN_ERR_ARG,                  \
            "metric_" #kind ": top_k is 4, but must be 1 to num_classes, 3",                       \
            tern_metric_##kind(.num_classes = 3, .top_k = 4))                                      \
    REFUSES(tern_metric_##kind##_with, "an average that is none", TERN_ERR_ARG,                    \
            "metric_" #kind ": there is no average 5",                                             \
            tern_metric_##kind(.average = (tern_average)5))                                        \
    REFUSES(tern_metric_##kind##_with, "an empty name", TERN_ERR_ARG,                              \
            "metric_new: the name of a metric has 1 to 63 bytes", tern_metric_##kind(.name = ""))
CLASSIFICATION(accuracy)
CLASSIFICATION(precision)
CLASSIFICATION(recall)
CLASSIFICATION(f1)

// ---- preds and target ---------------------------------------------------------------------------

REFUSES(tern_metric_accuracy_with, "scores of other classes", TERN_ERR_SHAPE,
        "metric_update: accuracy: preds is (2, 3) and target (2,), but preds must be (2, 4)",
        update(tern_metric_accuracy(.num_classes = 4), f->x, f->labels))
REFUSES(tern_metric_accuracy_with, "scores without num_classes", TERN_ERR_SHAPE,
        "metric_update: accuracy: preds is (2, 3) and target (2,), but preds must be (2,); "
        ".num_classes says that there are several classes",
        update(tern_metric_accuracy(), f->x, f->labels))
REFUSES(tern_metric_accuracy_with, "classes of another shape", TERN_ERR_SHAPE,
        "metric_update: accuracy: preds is (2,) and target (3,), but must be (N, 3, ..) and (N, "
        "..), or of one shape",
        update(tern_metric_accuracy(.num_classes = 3), f->labels,
               tern_zeros(tern_dims(3), .dtype = TERN_INT64)))
REFUSES(tern_metric_accuracy_with, "scores that are integers", TERN_ERR_DTYPE,
        "metric_update: accuracy: preds is int64 (2, 3)|but scores are floating",
        update(tern_metric_accuracy(.num_classes = 3), f->ints, f->labels))
REFUSES(tern_metric_accuracy_with, "classes that are floating", TERN_ERR_DTYPE,
        "metric_update: accuracy: target is float32|but classes are integers",
        update(tern_metric_accuracy(.num_classes = 3), f->x, tern_zeros(tern_dims(2))))
REFUSES(tern_metric_accuracy_with, "predictions that are floating", TERN_ERR_DTYPE,
        "metric_update: accuracy: preds is float32|of target's shape, but classes are integers",
        update(tern_metric_accuracy(.num_classes = 3), tern_zeros(tern_dims(2)), f->labels))
REFUSES(tern_metric_accuracy_with, "a top_k of classes", TERN_ERR_SHAPE,
        "metric_update: accuracy: preds is int64|but top_k needs scores (N, 3, ..)",
        update(tern_metric_accuracy(.num_classes = 3, .top_k = 2), f->labels, f->labels))
REFUSES(tern_metric_accuracy_with, "a label out of range", TERN_ERR_INDEX,
        "accuracy: label of sample 1 is 2, but must be 0 to 1",
        update(tern_metric_accuracy(.num_classes = 2), f->labels, f->labels))
REFUSES(tern_metric_recall_with, "labels that are not num_labels", TERN_ERR_SHAPE,
        "metric_update: recall: target is (2, 3), but must be (N, 2, ..)",
        update(tern_metric_recall(.num_labels = 2), f->x, f->x))
REFUSES(tern_metric_recall_with, "truths of another shape", TERN_ERR_SHAPE,
        "metric_update: recall: preds is (2, 3) and target (2,), but both must be (N, ..)",
        update(tern_metric_recall(), f->bools, f->labels))
REFUSES(tern_metric_recall_with, "truths without dimensions", TERN_ERR_SHAPE,
        "metric_update: recall: target is float32 ()|must have 1 to 7 dimensions",
        update(tern_metric_recall(), f->scalar, f->scalar))

// ---- the others ---------------------------------------------------------------------------------

#define NO_OPTIONS(name)                                                                           \
    REFUSES(tern_metric_##name##_with, "options that are NULL", TERN_ERR_NULL,                     \
            "metric_" #name ": options is NULL", tern_metric_##name##_with(NULL))
NO_OPTIONS(confusion_matrix)
NO_OPTIONS(auroc)
NO_OPTIONS(mean_absolute_error)
NO_OPTIONS(mean_squared_error)
NO_OPTIONS(r2_score)
NO_OPTIONS(perplexity)
NO_OPTIONS(mean)

REFUSES(tern_metric_confusion_matrix_with, "a normalize that is none", TERN_ERR_ARG,
        "metric_confusion_matrix: there is no normalize 4",
        tern_metric_confusion_matrix(.normalize = (tern_confusion_normalize)4))
REFUSES(tern_metric_confusion_matrix_with, "one class", TERN_ERR_ARG,
        "metric_confusion_matrix: num_classes is 1, but must be 2 or more",
        tern_metric_confusion_matrix(.num_classes = 1))
REFUSES(tern_metric_auroc_with, "a micro average of classes", TERN_ERR_ARG,
        "metric_auroc: there is no micro average over classes",
        tern_metric_auroc(.num_classes = 3, .average = TERN_AVERAGE_MICRO))
REFUSES(tern_metric_auroc_with, "classes instead of scores", TERN_ERR_DTYPE,
        "metric_update: auroc: preds is int64|but scores are floating",
        update(tern_metric_auroc(), f->labels, f->labels))
REFUSES(tern_metric_mean_absolute_error_with, "no output", TERN_ERR_ARG,
        "metric_mean_absolute_error: num_outputs is 0, not 1 or more",
        tern_metric_mean_absolute_error(.num_outputs = 0))
REFUSES(tern_metric_mean_squared_error_with, "no output", TERN_ERR_ARG,
        "metric_mean_squared_error: num_outputs is -1, not 1 or more",
        tern_metric_mean_squared_error(.num_outputs = -1))
REFUSES(tern_metric_mean_squared_error_with, "other shapes", TERN_ERR_SHAPE,
        "metric_update: mean_squared_error: preds is (2, 3) and target (3,), but must be of one "
        "shape",
        update(tern_metric_mean_squared_error(), f->x, f->vector))
REFUSES(tern_metric_mean_squared_error_with, "other outputs", TERN_ERR_SHAPE,
        "metric_update: root_mean_squared_error: target is (2, 3), but must be (N, 2)",
        update(tern_metric_mean_squared_error(.num_outputs = 2, .squared = false), f->x, f->x))
REFUSES(tern_metric_mean_absolute_error_with, "truths", TERN_ERR_DTYPE,
        "metric_update: mean_absolute_error: preds is bool and target bool, but must be numbers",
        update(tern_metric_mean_absolute_error(), f->bools, f->bools))
REFUSES(tern_metric_r2_score_with, "no output", TERN_ERR_ARG,
        "metric_r2_score: num_outputs is 0, not 1 or more", tern_metric_r2_score(.num_outputs = 0))
REFUSES(tern_metric_r2_score_with, "a negative adjusted", TERN_ERR_ARG,
        "metric_r2_score: adjusted is -1, not 0 or more", tern_metric_r2_score(.adjusted = -1))
REFUSES(tern_metric_r2_score_with, "a multioutput that is none", TERN_ERR_ARG,
        "metric_r2_score: there is no multioutput 4",
        tern_metric_r2_score(.multioutput = (tern_multioutput)4))
REFUSES(tern_metric_r2_score_with, "outputs that were not said", TERN_ERR_SHAPE,
        "metric_update: r2_score: target is (2, 3), but must be (N), or (N, 1)",
        update(tern_metric_r2_score(), f->x, f->x))
REFUSES(tern_metric_perplexity_with, "tokens of another shape", TERN_ERR_SHAPE,
        "metric_update: perplexity: preds is (2, 3) and target (2, 3), but must be (N, L, V) and "
        "(N, L)",
        update(tern_metric_perplexity(), f->x, f->ints))
REFUSES(tern_metric_perplexity_with, "logits that are integers", TERN_ERR_DTYPE,
        "metric_update: perplexity: preds is int64|but logits are floating",
        update(tern_metric_perplexity(), f->ints, f->labels))
REFUSES(tern_metric_mean_with, "weights that do not broadcast", TERN_ERR_SHAPE, "(3,)|(2,)",
        update(tern_metric_mean(), f->vector, f->labels))
REFUSES(tern_metric_mean_with, "weights of more dimensions", TERN_ERR_SHAPE,
        "metric_update: mean: weights (2, 3) do not broadcast to values (3,)",
        update(tern_metric_mean(), f->vector, f->x))
REFUSES(tern_metric_mean_with, "truths", TERN_ERR_DTYPE,
        "metric_update: mean: values and weights must be numbers, not bool",
        update(tern_metric_mean(), f->bools, NULL))

static tern_tensor *error_of(tern_metric *metric)
{
    tern_tensor *error = tern_metric_standard_error(metric);
    tern_metric_free(metric);
    return error;
}
REFUSES(tern_metric_standard_error, "a metric that is NULL", TERN_ERR_NULL,
        "metric_standard_error: metric is NULL", tern_metric_standard_error(NULL))
REFUSES(tern_metric_standard_error, "another kind", TERN_ERR_ARG,
        "metric_standard_error: accuracy has none; tern_metric_mean has",
        error_of(tern_metric_accuracy()))
REFUSES(tern_metric_standard_error, "a mean without updates", TERN_ERR_STATE,
        "metric_standard_error: mean has not been updated since it was made or reset",
        error_of(tern_metric_mean()))
