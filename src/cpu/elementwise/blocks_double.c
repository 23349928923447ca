// SPDX-License-Identifier: Apache-2.0
#include "cpu/vecmath_double.h"

#define real         double
#define R_(name)     vd_##name
#define PARAMS       floating
#define BLOCKS(name) TERN_ISA_NAME(name##_double)
#include "cpu/elementwise/blocks.h"
