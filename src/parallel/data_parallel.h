// SPDX-License-Identifier: Apache-2.0
#ifndef TERN_SRC_PARALLEL_DATA_PARALLEL_H
#define TERN_SRC_PARALLEL_DATA_PARALLEL_H

#include "nn/module/module.h"

// Whether the module itself was made by tern_nn_data_parallel.
bool tern_is_data_parallel(const tern_module *module);

#endif
