// SPDX-License-Identifier: Apache-2.0
// Reporting a value that only a kernel can see to be wrong.
#ifndef TERN_SRC_CPU_FAULT_H
#define TERN_SRC_CPU_FAULT_H

#include "device/kernels.h"

// Writes the device's fault record, from any thread of the kernel. The first location stays; within
// it the smallest element.
void tern_cpu_fault(const tern_exec *exec, int64_t element, int64_t value);

#endif
