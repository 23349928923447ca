// SPDX-License-Identifier: Apache-2.0
#ifndef TERN_SRC_CUDA_HOST_TABLE_H
#define TERN_SRC_CUDA_HOST_TABLE_H

#include "device/backend.h"

extern const tern_backend tern_plugin_backend;

#endif
