// SPDX-License-Identifier: Apache-2.0
// The table of a module: what is found out about it before it is written.
#ifndef TERN_SRC_TRAIN_SUMMARY_TABLE_H
#define TERN_SRC_TRAIN_SUMMARY_TABLE_H

#include <tern/summary.h>
#include "autograd/op.h"
#include "base/pointer_map.h"
#include "base/text.h"
#include "nn/module/module.h"

// A module of the table, with what it gave when it ran last.
typedef struct summary_row {
    const tern_module *module;
    bool training; // to go back to
    bool ran;
    tern_shape output;
    int outputs;
    int64_t own;           // elements of its own parameters that did not come before
    int64_t multiply_adds; // of its own operations
    int indent;
    char name[TERN_LABEL_SIZE]; // the last part of its full name
} summary_row;

// Bytes that one training step takes.
typedef struct summary_memory {
    int64_t weights, gradients;
    int64_t optim;           // -1: there is none
    int64_t activations;     // -1: not known
    char why_not_known[128]; // the error of the forward
} summary_memory;

typedef struct summary_table {
    tern_pointer_map map;     // module -> its row
    tern_pointer_map tensors; // parameters and buffers
    summary_row *rows;
    int64_t count, capacity;
    int64_t elements, trainable; // of parameters
    int64_t multiply_adds;
    summary_memory memory;
    const char *optim_name; // NULL: there is none
} summary_table;

// Rows, parameters and bytes of weights and gradients.
tern_status tern_summary_make(summary_table *table, tern_module *module);
void tern_summary_free(summary_table *table);

// Runs the module on `x`, zeros, in evaluation mode: shapes and multiply-adds.
tern_status tern_summary_run(summary_table *table, tern_module *module, tern_tensor *x);
// Runs it in training mode: activations, or why they are not known. All is as before afterwards.
tern_status tern_summary_train(summary_table *table, tern_module *module, tern_tensor *x);
// A forward that only observers see.
tern_status tern_summary_forward(tern_module *module, tern_tensor *x, tern_tensors *out,
                                 const tern_forward_observer *modules,
                                 const tern_op_observer *operations);
// Puts the modules into evaluation or training mode, or back.
void tern_summary_set_training(const summary_table *table, bool training);
void tern_summary_restore_modes(const summary_table *table);

// What the graph of the results keeps for its backward, without parameters and buffers.
tern_status tern_summary_saved_bytes(const summary_table *table, const tern_tensors *results,
                                     int64_t *nbytes);

// Of one call of an operation.
int64_t tern_summary_multiply_adds(const tern_op_call *call, const tern_tensor *y);

// Columns of 0: as wide as what stands in the lines.
void tern_summary_write(const summary_table *table, int width, tern_writer *writer);

#endif
