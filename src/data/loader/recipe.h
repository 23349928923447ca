// SPDX-License-Identifier: Apache-2.0
#ifndef TERN_SRC_DATA_LOADER_RECIPE_H
#define TERN_SRC_DATA_LOADER_RECIPE_H

#include <tern/loader.h>

// What batches are made of and how.
typedef struct tern_batch_recipe {
    tern_dataset *dataset;
    tern_device device; // where batches go; unspecified: they stay where the dataset makes them
    tern_collate_fn *collate; // NULL: samples are stacked
    void *user;               // of collate
} tern_batch_recipe;

#endif
