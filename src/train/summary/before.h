// SPDX-License-Identifier: Apache-2.0
// What a forward in training mode changes, as it was before.
#ifndef TERN_SRC_TRAIN_SUMMARY_BEFORE_H
#define TERN_SRC_TRAIN_SUMMARY_BEFORE_H

#include "train/summary/table.h"

typedef struct summary_buffer summary_buffer;
typedef struct summary_generator summary_generator;

// Zero it to begin.
typedef struct summary_before {
    summary_buffer *buffers;
    int64_t buffer_count, buffer_capacity;
    summary_generator *generators;
    int64_t generator_count, generator_capacity;
} summary_before;

// Buffers of the table's modules, and the default generators of the devices in use.
tern_status tern_summary_save(summary_before *before, const summary_table *table);
// Puts back what was saved. Takes no memory; fails only where a device does.
tern_status tern_summary_restore(const summary_before *before);
void tern_summary_before_free(summary_before *before);

#endif
