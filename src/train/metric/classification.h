// SPDX-License-Identifier: Apache-2.0
// What predictions and targets of classes are: options, checks, and the forms that are counted.
#ifndef TERN_SRC_TRAIN_METRIC_CLASSIFICATION_H
#define TERN_SRC_TRAIN_METRIC_CLASSIFICATION_H

#include "train/metric/metric.h"

typedef struct tern_classification {
    const char *name; // of the metric's class, in messages
    tern_metric_task task;
    int64_t classes; // or labels; 1 for a binary task
    double threshold;
    int64_t top_k;
    tern_average average; // none for a binary task
    int64_t ignore_index;
} tern_classification;

// Options of the constructor `function`, checked; unless said the average is `average`.
tern_status tern_classification_make(const char *function, const char *name,
                                     const tern_metric_classification_options *o,
                                     tern_average average, tern_classification *out);
// The options that make two of them different ones.
void tern_classification_describe(const tern_classification *c, char *buffer, size_t size);

// Samples, flat: (M).
typedef struct tern_class_samples {
    tern_tensor *preds, *target; // int64
    tern_tensor *counts;         // bool: false for what is ignored or out of range
} tern_class_samples;

// Of a multiclass task.
tern_status tern_classification_classes(const tern_classification *c, tern_tensor *preds,
                                        tern_tensor *target, tern_class_samples *out);

// Samples of each label: bool (N, L, S); a binary task has one label.
typedef struct tern_truth_samples {
    tern_tensor *preds, *target, *counts;
} tern_truth_samples;

tern_status tern_classification_truths(const tern_classification *c, tern_tensor *preds,
                                       tern_tensor *target, tern_truth_samples *out);

// ---- scores -------------------------------------------------------------------------------------

// Targets of a multiclass task, int64 of their shape, 0 where they do not count, and whether they
// do; `sizes` says what shape they have to have.
tern_status tern_classification_target(const tern_classification *c, tern_tensor *target,
                                       tern_tensor **classes, tern_tensor **counts);
// Shapes of scores (N, C, ..) and target (N, ..) fit; of truths they are the same.
tern_status tern_classification_check_scores(const tern_classification *c, const tern_tensor *preds,
                                             const tern_tensor *target);
// Probabilities, at least float32: what is given where all of it are 0 to 1, else its sigmoid, or
// softmax along `dim` where that is not negative. What `counts` leaves out has no say; NULL: all.
tern_tensor *tern_classification_probabilities(tern_tensor *scores, int dim, tern_tensor *counts);

// How many samples of each class there are: int64 (bins) from indices and amounts, int64 (M).
tern_tensor *tern_classification_bincount(tern_tensor *indices, tern_tensor *amounts, int64_t bins);

#endif
