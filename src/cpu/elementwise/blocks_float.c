// SPDX-License-Identifier: Apache-2.0
#include "cpu/vecmath.h"

#define real         float
#define R_(name)     vm_##name
#define PARAMS       floating
#define BLOCKS(name) TERN_ISA_NAME(name##_float)
#include "cpu/elementwise/blocks.h"
