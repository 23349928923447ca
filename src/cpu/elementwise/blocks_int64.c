// SPDX-License-Identifier: Apache-2.0
// Integers and bool.
#define real int64_t
#define WHOLE
#define PARAMS       integer
#define BLOCKS(name) TERN_ISA_NAME(name##_int64)
#include "cpu/elementwise/blocks.h"
