// SPDX-License-Identifier: Apache-2.0
// An entry of a log as the formats are handed it: values of the host, finished to be encoded.
#ifndef TERN_SRC_TRAIN_LOG_VALUES_H
#define TERN_SRC_TRAIN_LOG_VALUES_H

#include <tern/logger.h>

typedef enum tern_log_kind {
    TERN_ENTRY_NONE, // of a tag: it was not used yet
    TERN_ENTRY_SCALAR,
    TERN_ENTRY_HISTOGRAM,
    TERN_ENTRY_IMAGE,
    TERN_ENTRY_TEXT,
    TERN_ENTRY_MATRIX,
    TERN_ENTRY_PR_CURVE,
    TERN_ENTRY_SETTINGS, // and what follows: no tag, no step
    TERN_ENTRY_PAGE
} tern_log_kind;

typedef struct tern_log_histogram {
    double min, max, sum, sum_squares; // of the finite elements, of which there are
    int64_t count, nan, inf;
    int64_t bins;          // 0 where `count` is
    double left;           // of the first bin
    const double *limits;  // (bins), right edges
    const int64_t *counts; // (bins)
} tern_log_histogram;

typedef struct tern_log_image {
    int64_t height, width;
    int channels;
    const uint8_t *png;
    int64_t nbytes;
    const char *caption; // "" for none
} tern_log_image;

typedef struct tern_log_matrix {
    int64_t size;
    const int64_t *values;          // (size, size): targets, predictions
    const char *const *class_names; // (size), or NULL
    const uint8_t *png;             // a picture of it
    int64_t nbytes;
} tern_log_matrix;

// What add_pr_curve of SummaryWriter has for each threshold.
typedef enum tern_log_pr_row {
    TERN_PR_TRUE_POSITIVES,
    TERN_PR_FALSE_POSITIVES,
    TERN_PR_TRUE_NEGATIVES,
    TERN_PR_FALSE_NEGATIVES,
    TERN_PR_PRECISION,
    TERN_PR_RECALL,
    TERN_PR_ROWS
} tern_log_pr_row;
typedef struct tern_log_pr_curve {
    int64_t num_thresholds;
    const double *rows; // (TERN_PR_ROWS, num_thresholds)
} tern_log_pr_curve;

typedef struct tern_log_settings {
    const tern_setting *at;
    int64_t count;
} tern_log_settings;

typedef struct tern_log_record {
    tern_log_kind kind;
    const char *tag;
    int64_t step;
    double time; // Unix seconds
    union {      // by the kind
        double value;
        const char *text;
        tern_log_histogram histogram;
        tern_log_image image;
        tern_log_matrix matrix;
        tern_log_pr_curve pr_curve;
        tern_log_settings settings;
    };
} tern_log_record;

#endif
