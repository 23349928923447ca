// SPDX-License-Identifier: Apache-2.0
#ifndef TERN_SRC_PARALLEL_DATA_PARALLEL_H
#define TERN_SRC_PARALLEL_DATA_PARALLEL_H

#include "device/backend.h"
#include "nn/module/module.h"

// Whether the module itself was made by tern_nn_data_parallel.
bool tern_is_data_parallel(const tern_module *module);

// Where it runs, and how batches are cut.
typedef struct tern_parallel_devices {
    tern_device devices[TERN_MAX_DEVICES];
    int count; // 0: the module is called plainly
    tern_device output_device;
    int dim;
} tern_parallel_devices;
tern_parallel_devices tern_data_parallel_on(const tern_module *module);

#endif
