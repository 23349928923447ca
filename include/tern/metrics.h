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
#include <tern/ops/loss.h>

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

/// `tern_metric_accuracy(.num_classes = 10)`.
typedef struct tern_metric_classification_options {
    tern_metric_task task; ///< unless said by the next two
    int64_t num_classes;   ///< >= 2; 0: not multiclass
    int64_t num_labels;    ///< >= 2; 0: not multilabel
    double threshold;      ///< 0 to 1
    int64_t top_k;         ///< of multiclass: a sample whose target is among so many largest scores
                           ///< is predicted as that, another one as the largest; 1 to num_classes
    tern_average average;  ///< micro unless said
    int64_t ignore_index;  ///< a target that does not count; unless said all do
    const char *name;      ///< instead of "accuracy", "top5_accuracy", ..; or NULL
    char reserved_;
} tern_metric_classification_options;
#define TERN_METRIC_CLASSIFICATION_DEFAULTS_                                                       \
    .task = TERN_TASK_UNSPECIFIED, .num_classes = 0, .num_labels = 0, .threshold = 0.5,            \
    .top_k = 1, .average = TERN_AVERAGE_UNSPECIFIED,                                               \
    .ignore_index = TERN_IGNORE_INDEX_UNSPECIFIED, .name = NULL
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

/// What counts of a confusion matrix are divided by; by 0 they give 0.
typedef enum tern_confusion_normalize {
    TERN_CONFUSION_UNSPECIFIED = 0, ///< nothing: counts, int64
    TERN_CONFUSION_TRUE,            ///< their sum over the predictions: rows sum to 1
    TERN_CONFUSION_PRED,            ///< their sum over the targets
    TERN_CONFUSION_ALL              ///< the sum of all of them, of each label
} tern_confusion_normalize;

/// `tern_metric_confusion_matrix(.num_classes = 10)`.
typedef struct tern_metric_confusion_matrix_options {
    tern_metric_task task;              ///< as above
    int64_t num_classes;                ///< likewise
    int64_t num_labels;                 ///< likewise
    double threshold;                   ///< likewise
    tern_confusion_normalize normalize; ///< what counts are divided by
    int64_t ignore_index;               ///< as above
    const char *name;                   ///< instead of "confusion_matrix", or NULL
    char reserved_;
} tern_metric_confusion_matrix_options;
#define TERN_METRIC_CONFUSION_MATRIX_DEFAULTS_                                                     \
    .task = TERN_TASK_UNSPECIFIED, .num_classes = 0, .num_labels = 0, .threshold = 0.5,            \
    .normalize = TERN_CONFUSION_UNSPECIFIED, .ignore_index = TERN_IGNORE_INDEX_UNSPECIFIED,        \
    .name = NULL
#define TERN_METRIC_CONFUSION_MATRIX_FIELDS_ 0, 0, (), ()
TERN_API tern_metric_confusion_matrix_options tern_metric_confusion_matrix_defaults(void);
/// How often each target [row] was predicted as each class [column]: (C, C), of a binary task
/// (2, 2), of a multilabel one (L, 2, 2).
TERN_API tern_metric *tern_metric_confusion_matrix_with(
    const tern_metric_confusion_matrix_options *options);
#define tern_metric_confusion_matrix(...)                                                          \
    TERN_WITH_(tern_metric_confusion_matrix, tern_metric_confusion_matrix,                         \
               TERN_METRIC_CONFUSION_MATRIX, __VA_ARGS__)

/// `tern_metric_auroc(.num_classes = 10)`.
typedef struct tern_metric_auroc_options {
    tern_metric_task task; ///< as above
    int64_t num_classes;   ///< likewise
    int64_t num_labels;    ///< likewise
    tern_average average;  ///< macro unless said; micro of multilabel tasks alone
    int64_t ignore_index;  ///< as above
    const char *name;      ///< instead of "auroc", or NULL
    char reserved_;
} tern_metric_auroc_options;
#define TERN_METRIC_AUROC_DEFAULTS_                                                                \
    .task = TERN_TASK_UNSPECIFIED, .num_classes = 0, .num_labels = 0,                              \
    .average = TERN_AVERAGE_UNSPECIFIED, .ignore_index = TERN_IGNORE_INDEX_UNSPECIFIED,            \
    .name = NULL
#define TERN_METRIC_AUROC_FIELDS_ 0, 0, (), ()
TERN_API tern_metric_auroc_options tern_metric_auroc_defaults(void);
/// The area under the receiver operating characteristic curve, exactly: how often a sample that is
/// so has a larger score than one that is not, equal ones counting half; of each class against the
/// others. 0 where all samples, or none, are so. () or (C). Preds are scores, not classes; where
/// those of a batch are not all 0 to 1, their softmax, of truths their sigmoid, is taken. They are
/// kept, as float32, and the targets beside them, on the device: 4 C + 8 bytes a sample, and up to
/// twice that as it grows. Updates cannot be captured (TERN_ERR_STATE).
TERN_API tern_metric *tern_metric_auroc_with(const tern_metric_auroc_options *options);
#define tern_metric_auroc(...)                                                                     \
    TERN_WITH_(tern_metric_auroc, tern_metric_auroc, TERN_METRIC_AUROC, __VA_ARGS__)

// ---- regression ---------------------------------------------------------------------------------
//
// preds and target are of one shape and of any dtype but bool. With .num_outputs = O > 1 that is
// (N, O), and what is computed is (O), or the mean over them.

/// `tern_metric_mean_absolute_error()`.
typedef struct tern_metric_mean_absolute_error_options {
    int64_t num_outputs; ///< >= 1
    const char *name;    ///< instead of "mean_absolute_error", or NULL
    char reserved_;
} tern_metric_mean_absolute_error_options;
#define TERN_METRIC_MEAN_ABSOLUTE_ERROR_DEFAULTS_ .num_outputs = 1, .name = NULL
#define TERN_METRIC_MEAN_ABSOLUTE_ERROR_FIELDS_   0, 0, (), ()
TERN_API tern_metric_mean_absolute_error_options tern_metric_mean_absolute_error_defaults(void);
/// The mean of |preds - target|: () or (O).
TERN_API tern_metric *tern_metric_mean_absolute_error_with(
    const tern_metric_mean_absolute_error_options *options);
#define tern_metric_mean_absolute_error(...)                                                       \
    TERN_WITH_(tern_metric_mean_absolute_error, tern_metric_mean_absolute_error,                   \
               TERN_METRIC_MEAN_ABSOLUTE_ERROR, __VA_ARGS__)

/// `tern_metric_mean_squared_error(.squared = false)`.
typedef struct tern_metric_mean_squared_error_options {
    bool squared;        ///< false: its square root
    int64_t num_outputs; ///< >= 1
    const char *name;    ///< instead of "mean_squared_error" and "root_mean_squared_error", or NULL
    char reserved_;
} tern_metric_mean_squared_error_options;
#define TERN_METRIC_MEAN_SQUARED_ERROR_DEFAULTS_ .squared = true, .num_outputs = 1, .name = NULL
#define TERN_METRIC_MEAN_SQUARED_ERROR_FIELDS_   0, 0, (), ()
TERN_API tern_metric_mean_squared_error_options tern_metric_mean_squared_error_defaults(void);
/// The mean of (preds - target)^2, or its root: () or (O).
TERN_API tern_metric *tern_metric_mean_squared_error_with(
    const tern_metric_mean_squared_error_options *options);
#define tern_metric_mean_squared_error(...)                                                        \
    TERN_WITH_(tern_metric_mean_squared_error, tern_metric_mean_squared_error,                     \
               TERN_METRIC_MEAN_SQUARED_ERROR, __VA_ARGS__)

/// What is made of several outputs' scores.
typedef enum tern_multioutput {
    TERN_MULTIOUTPUT_UNSPECIFIED = 0,  ///< their mean
    TERN_MULTIOUTPUT_UNIFORM_AVERAGE,  ///< likewise
    TERN_MULTIOUTPUT_RAW_VALUES,       ///< nothing: (O)
    TERN_MULTIOUTPUT_VARIANCE_WEIGHTED ///< their mean weighted by the variances of the targets
} tern_multioutput;

/// `tern_metric_r2_score()`.
typedef struct tern_metric_r2_score_options {
    int64_t num_outputs;          ///< >= 1
    int64_t adjusted;             ///< >= 0: so many regressors, k below; 0: not adjusted
    tern_multioutput multioutput; ///< of several outputs
    const char *name;             ///< instead of "r2_score", or NULL
    char reserved_;
} tern_metric_r2_score_options;
#define TERN_METRIC_R2_SCORE_DEFAULTS_                                                             \
    .num_outputs = 1, .adjusted = 0, .multioutput = TERN_MULTIOUTPUT_UNSPECIFIED, .name = NULL
#define TERN_METRIC_R2_SCORE_FIELDS_ 0, 0, (), ()
TERN_API tern_metric_r2_score_options tern_metric_r2_score_defaults(void);
/// The coefficient of determination, R2 = 1 - sum (target - preds)^2 / sum (target - mean)^2, for
/// one output (N) or (N, 1). Sums up to 1e-4 count as 0: 1 where both are, 0 where only the second
/// is. Adjusted: 1 - (1 - R2) (n - 1) / (n - k - 1), where n > k + 1. NaN of less than two samples.
/// Deviations are added up as in Chan et al. 1979, so that a large mean costs no digits.
TERN_API tern_metric *tern_metric_r2_score_with(const tern_metric_r2_score_options *options);
#define tern_metric_r2_score(...)                                                                  \
    TERN_WITH_(tern_metric_r2_score, tern_metric_r2_score, TERN_METRIC_R2_SCORE, __VA_ARGS__)

// ---- text and values ----------------------------------------------------------------------------

/// `tern_metric_perplexity(.ignore_index = 0)`.
typedef struct tern_metric_perplexity_options {
    int64_t ignore_index; ///< a target that does not count; unless said all do
    const char *name;     ///< instead of "perplexity", or NULL
    char reserved_;
} tern_metric_perplexity_options;
#define TERN_METRIC_PERPLEXITY_DEFAULTS_ .ignore_index = TERN_IGNORE_INDEX_UNSPECIFIED, .name = NULL
#define TERN_METRIC_PERPLEXITY_FIELDS_   0, 0, (), ()
TERN_API tern_metric_perplexity_options tern_metric_perplexity_defaults(void);
/// exp of the mean of -log softmax(preds)[target]: (). preds are logits (N, L, V), or (.., V), and
/// target integers (N, L), or (..).
TERN_API tern_metric *tern_metric_perplexity_with(const tern_metric_perplexity_options *options);
#define tern_metric_perplexity(...)                                                                \
    TERN_WITH_(tern_metric_perplexity, tern_metric_perplexity, TERN_METRIC_PERPLEXITY, __VA_ARGS__)

/// `tern_metric_mean(.name = "loss")`.
typedef struct tern_metric_mean_options {
    bool ignore_nan;  ///< values that are NaN do not count; else the mean is NaN
    const char *name; ///< instead of "mean", or NULL
    char reserved_;
} tern_metric_mean_options;
#define TERN_METRIC_MEAN_DEFAULTS_ .ignore_nan = false, .name = NULL
#define TERN_METRIC_MEAN_FIELDS_   0, 0, (), ()
TERN_API tern_metric_mean_options tern_metric_mean_defaults(void);
/// The mean of all values that it is updated with, of any shape, each as often as its weight says:
/// `tern_metric_update(mean, values, weights)`. The weights broadcast to the values; NULL: 1 each.
/// Where all weights are 0, NaN.
TERN_API tern_metric *tern_metric_mean_with(const tern_metric_mean_options *options);
#define tern_metric_mean(...)                                                                      \
    TERN_WITH_(tern_metric_mean, tern_metric_mean, TERN_METRIC_MEAN, __VA_ARGS__)
/// The standard error of such a mean, s / sqrt(n), a temporary: (). s^2 is the unbiased variance,
/// and n the number of values, or, of other weights, (sum w)^2 / sum w^2 (Kish 1965). NaN of one
/// value. NULL on failure, as tern_metric_compute, and with TERN_ERR_ARG for another metric.
TERN_API tern_tensor *tern_metric_standard_error(tern_metric *metric);

TERN_END_DECLS

#endif
