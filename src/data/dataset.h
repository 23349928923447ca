// SPDX-License-Identifier: Apache-2.0
#ifndef TERN_SRC_DATA_DATASET_H
#define TERN_SRC_DATA_DATASET_H

#include <tern/data.h>
#include "base/error.h"

// tern_dataset_get in the name of `op`; the numbers are known to be in range.
tern_status tern_dataset_fetch(const char *op, tern_dataset *dataset, const int64_t *index,
                               int64_t count, tern_batch *out);

// NULL follows the rule of pending errors; a freed one is found while its memory is kept.
tern_status tern_check_dataset(const char *function, const tern_dataset *dataset);

// For messages; never NULL.
const char *tern_dataset_name(const tern_dataset *dataset);

// A reference of a loader, or of a call in progress, which users cannot give back.
tern_dataset *tern_dataset_hold(tern_dataset *dataset);
void tern_dataset_drop(tern_dataset *dataset);

// Holds the tensors on another device instead, or fails and changes nothing; waits.
tern_status tern_dataset_move(tern_tensor **slots, int count, tern_device device);

// tern_dataset_size in the name of `op`: the number of samples, or -1 with an error.
int64_t tern_dataset_size_for(const char *op, const tern_dataset *dataset);

#endif
