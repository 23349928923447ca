// SPDX-License-Identifier: Apache-2.0
// The kernel table of one instruction set.
#include "cpu/isa.h"

#define STRING_(word) #word
#define STRING(word)  STRING_(word)
#define SLOT(slot)    .slot = TERN_ISA_NAME(slot),

const tern_kernels TERN_ISA_NAME(table) = {.name = STRING(TERN_ISA), TERN_KERNELS(SLOT)};
