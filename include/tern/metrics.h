// SPDX-License-Identifier: Apache-2.0
/// @file
/// The kinds of metrics: names, defaults and numbers are those of torchmetrics.
///
///     tern_metric *top5 = tern_metric_accuracy(.num_classes = 1000, .top_k = 5);
///     tern_metric *f1 = tern_metric_f1(.num_classes = 10, .average = TERN_AVERAGE_MACRO);
///     tern_metric *matrix = tern_metric_confusion_matrix(.num_classes = 10);
///
/// Each constructor gives a metric (metric.h), to be freed with tern_metric_free; NULL on failure
/// (TERN_ERR_ARG for an option that is out of its range, TERN_ERR_NOMEM). States are int64 counts
/// and float64 sums, and what is computed of them is float64 but for counts. Updates fail with
/// TERN_ERR_SHAPE and TERN_ERR_DTYPE for tensors that do not fit. Threads: as metrics.
#ifndef TERN_METRICS_H
#define TERN_METRICS_H

#include <tern/metric.h>

TERN_BEGIN_DECLS

// ---- classification -----------------------------------------------------------------------------
//
// What is predicted is one of several classes (multiclass; .num_classes says how many), whether
// something is so (binary), or that for each of several labels (multilabel; .num_labels). Shapes of
// preds and target, and what they are:
//
// multiclass: preds (N, C, ..), scores of any floating dtype, of which the largest counts, and the
// first of equal ones, or classes (N, ..), integers; target the classes (N, ..), integers.
// binary: preds and target of one shape (N, ..). Floating preds are probabilities where all of a
// batch are 0 to 1, else logits, whose sigmoid is one; above .threshold they are true. Others are 0
// or 1, and so are targets, of any dtype.
// multilabel: likewise (N, L, ..).
//
// Classes and truths out of range are TERN_ERR_INDEX, which names the sample. Elements whose target
// is .ignore_index do not count.

/// What is predicted.
typedef enum tern_metric_task {
    TERN_TASK_UNSPECIFIED = 0, ///< multiclass with .num_classes, multilabel with .num_labels, else
                               ///< binary
    TERN_TASK_BINARY,          ///< yes or no
    TERN_TASK_MULTICLASS,      ///< one of .num_classes
    TERN_TASK_MULTILABEL       ///< yes or no for each of .num_labels
} tern_metric_task;

/// What is made of several classes or labels; of no matter to binary tasks.
typedef enum tern_average {
    TERN_AVERAGE_UNSPECIFIED = 0, ///< the metric's default
    TERN_AVERAGE_MICRO,           ///< of the counts of all of them together
    TERN_AVERAGE_MACRO,           ///< the mean over them; classes that are nowhere do not count
    TERN_AVERAGE_WEIGHTED,        ///< the mean weighted by how many targets each has
    TERN_AVERAGE_NONE             ///< each of them: (C)
} tern_average;

/// For .ignore_index: every target counts.
#define TERN_IGNORE_NOTHING INT64_MIN

/// `tern_metric_accuracy(.num_classes = 10)`.
typedef struct tern_metric_classification_options {
    tern_metric_task task; ///< unless said by the next two
    int64_t num_classes;   ///< >= 2; 0: not multiclass
    int64_t num_labels;    ///< >= 2; 0: not multilabel
    double threshold;      ///< 0 to 1
    int64_t top_k;         ///< of multiclass: a sample whose target is among so many largest scores
                           ///< is predicted as that, another one as the largest; 1 to num_classes
    tern_average average;  ///< micro unless said
    int64_t ignore_index;  ///< a target that does not count, or TERN_IGNORE_NOTHING
    const char *name;      ///< instead of "accuracy", "top5_accuracy", ..; or NULL
    char reserved_;
} tern_metric_classification_options;
#define TERN_METRIC_CLASSIFICATION_DEFAULTS_                                                       \
    .task = TERN_TASK_UNSPECIFIED, .num_classes = 0, .num_labels = 0, .threshold = 0.5,            \
    .top_k = 1, .average = TERN_AVERAGE_UNSPECIFIED, .ignore_index = TERN_IGNORE_NOTHING,          \
    .name = NULL
#define TERN_METRIC_CLASSIFICATION_FIELDS_ 0, 0, (), ()
TERN_API tern_metric_classification_options tern_metric_classification_defaults(void);
/// The share of predictions that are right: of a class tp / (tp + fn), of a label, and of a binary
/// task, (tp + tn) / all. tp are true positives, fn false negatives, and so on. () or (C); 0 where
/// it divides by 0, here and in the next three.
TERN_API tern_metric *tern_metric_accuracy_with(const tern_metric_classification_options *options);
#define tern_metric_accuracy(...)                                                                  \
    TERN_WITH_(tern_metric_accuracy, tern_metric_classification, TERN_METRIC_CLASSIFICATION,       \
               __VA_ARGS__)
/// Of what is predicted the share that is so: tp / (tp + fp).
TERN_API tern_metric *tern_metric_precision_with(const tern_metric_classification_options *options);
#define tern_metric_precision(...)                                                                 \
    TERN_WITH_(tern_metric_precision, tern_metric_classification, TERN_METRIC_CLASSIFICATION,      \
               __VA_ARGS__)
/// Of what is so the share that is predicted: tp / (tp + fn).
TERN_API tern_metric *tern_metric_recall_with(const tern_metric_classification_options *options);
#define tern_metric_recall(...)                                                                    \
    TERN_WITH_(tern_metric_recall, tern_metric_classification, TERN_METRIC_CLASSIFICATION,         \
               __VA_ARGS__)
/// The harmonic mean of both: 2 tp / (2 tp + fp + fn).
TERN_API tern_metric *tern_metric_f1_with(const tern_metric_classification_options *options);
#define tern_metric_f1(...)                                                                        \
    TERN_WITH_(tern_metric_f1, tern_metric_classification, TERN_METRIC_CLASSIFICATION, __VA_ARGS__)

TERN_END_DECLS

#endif
