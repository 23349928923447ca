// SPDX-License-Identifier: Apache-2.0
// The kernel table of one instruction set.
#include "cpu/isa.h"

// Kernels that are still being written leave their slot empty; a kernel's line goes when it lands.
#define WEAK(slot) extern tern_kernel_##slot TERN_ISA_NAME(slot) __attribute__((weak));
WEAK(cross_entropy)
WEAK(cross_entropy_grad)

#define STRING_(word) #word
#define STRING(word)  STRING_(word)
#define SLOT(slot)    .slot = TERN_ISA_NAME(slot),

const tern_kernels TERN_ISA_NAME(table) = {.name = STRING(TERN_ISA), TERN_KERNEL_SLOTS(SLOT)};
