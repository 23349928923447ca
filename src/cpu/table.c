// SPDX-License-Identifier: Apache-2.0
// The kernel table of one instruction set.
#include "cpu/isa.h"

// Kernels that are still being written leave their slot empty.
#define WEAK_SLOT(slot) extern tern_kernel_##slot TERN_ISA_NAME(slot) __attribute__((weak));
TERN_KERNEL_SLOTS(WEAK_SLOT)

#define STRING_(word) #word
#define STRING(word)  STRING_(word)
#define SLOT(slot)    .slot = TERN_ISA_NAME(slot),

const tern_kernels TERN_ISA_NAME(table) = {.name = STRING(TERN_ISA), TERN_KERNEL_SLOTS(SLOT)};
