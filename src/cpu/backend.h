// SPDX-License-Identifier: Apache-2.0
// The CPU backend's parts, for backend.c and for tests that run every instruction set.
#ifndef TERN_SRC_CPU_BACKEND_H
#define TERN_SRC_CPU_BACKEND_H

#include "device/backend.h"

// Memory and order of the CPU devices.
extern const tern_device_table tern_cpu_device_table;

// The kernels for "portable", "avx2" or "avx512"; NULL for other words and for a set that this
// build or this machine lacks.
const tern_kernels *tern_cpu_kernel_table_for(const char *isa);

#endif
