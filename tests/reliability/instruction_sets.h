// SPDX-License-Identifier: Apache-2.0
// Runs a test under every instruction set of this machine within one process: the program is linked
// with --wrap=tern_cpu_backend, so that the library asks here for its kernels.
#ifndef TERN_TESTS_RELIABILITY_INSTRUCTION_SETS_H
#define TERN_TESTS_RELIABILITY_INSTRUCTION_SETS_H

#include <stdbool.h>

#include "device/kernels.h"

// Takes the kernels of set `index` from now on: true, or false where this machine lacks it. Index 0
// is always there.
bool use_instruction_set(int index);
// Its name.
const char *instruction_set_name(int index);

// Takes these kernels from now on.
void use_kernels(const tern_kernels *kernels);

// Runs the statement that follows once for each set of this machine.
#define INSTRUCTION_SETS 3
#define FOR_EACH_INSTRUCTION_SET(index)                                                            \
    for (int index = 0; index < INSTRUCTION_SETS; index++)                                         \
        if (use_instruction_set(index))

#endif
