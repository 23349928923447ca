// SPDX-License-Identifier: Apache-2.0
// What a metric is inside the library.
#ifndef TERN_SRC_TRAIN_METRIC_METRIC_H
#define TERN_SRC_TRAIN_METRIC_METRIC_H

#include <tern/metrics.h>
#include "base/error.h"

#define TERN_METRIC_DESCRIPTION_SIZE 256

// A tensor that batches are added to, at a member of the metric's struct.
typedef struct tern_metric_state {
    char *name;
    tern_tensor **slot;
    bool kept;         // it has a row of each sample instead, or is NULL: tern_metric_keep
    int64_t count;     // of those rows; behind them there is spare memory
    tern_shape row;    // of one
    tern_dtype dtype;  // likewise
    tern_tensor *next; // what the slot is to have, while that is made
} tern_metric_state;

// Why the states are where they are.
typedef enum tern_metric_placement {
    TERN_METRIC_UNPLACED, // the next update decides
    TERN_METRIC_FOLLOWS,  // an update did
    TERN_METRIC_PLACED    // tern_metric_to did
} tern_metric_placement;

typedef struct tern_metric_private_ tern_metric_private;
struct tern_metric_private_ {
    char name[TERN_METRIC_NAME_SIZE];
    tern_metric_state *states;
    int64_t state_count, state_capacity;
    tern_device device;
    tern_metric_placement placement;
    int64_t updates;
};

// NULL follows the rule of pending errors; a freed one is found while its memory is kept.
tern_status tern_check_metric(const char *function, const tern_metric *metric);
// Every metric of the list; one that is NULL follows the rule of pending errors.
tern_status tern_check_metrics(const char *function, const tern_metric_list *list);

// What two metrics have in common that are of one kind: "accuracy(num_classes=10, top_k=1)".
void tern_metric_describe(const tern_metric *metric, char text[TERN_METRIC_DESCRIPTION_SIZE]);

// The states on a device: all of them or none.
tern_status tern_metric_move_states(tern_metric *metric, tern_device device);
void tern_metric_free_states(tern_metric *metric);

// a / b, in double precision; 0 where b is 0.
tern_tensor *tern_metric_divide(tern_tensor *a, tern_tensor *b);
// preds and target of a regression are of one shape, that of `num_outputs`.
tern_status tern_metric_check_regression(const tern_metric *metric, int64_t num_outputs,
                                         const tern_tensor *preds, const tern_tensor *target);

// ---- states of rows -----------------------------------------------------------------------------

#define TERN_METRIC_KEPT 4 // such states of a metric, at most

// A state that keeps what it is given; NULL until then. The metric's struct has it at `slot`, with
// spare rows behind.
tern_status tern_metric_add_kept(tern_metric *metric, const char *name, tern_tensor **slot,
                                 tern_shape row, tern_dtype dtype);
// The rows that it has: a view, or NULL for none.
tern_tensor *tern_metric_kept(const tern_metric *metric, tern_tensor *const *slot);
// Appends the rows of several tensors, one for each of the metric's kept states in their order, of
// one first size: to all of them or to none.
tern_status tern_metric_keep(tern_metric *metric, tern_tensor *const *rows);

#endif
