// SPDX-License-Identifier: Apache-2.0
// Containers.
#ifndef TERN_SRC_NN_CONTAINER_LIST_H
#define TERN_SRC_NN_CONTAINER_LIST_H

#include "nn/layer/layer.h"

// Children are named "0", "1", ... Takes over the caller's references to them, also on failure.
tern_module *tern_nn_list_new(const char *function, const tern_module_class *module_class,
                              int64_t count, tern_module *const *children);

#endif
