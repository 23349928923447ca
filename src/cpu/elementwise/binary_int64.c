// SPDX-License-Identifier: Apache-2.0
#include "base/integer.h"

#define number              int64_t
#define ADD_OF(a, alpha, b) wrap_add(a, wrap_mul(alpha, b))
#define SUB_OF(a, b)        wrap_sub(a, b)
#define MUL_OF(a, b)        wrap_mul(a, b)
#define POW_OF(a, b)        wrap_pow(a, b)
#define PARAMS              integer
#define NUMBER_TABLE        TERN_ISA_NAME(binary_int64)
#include "cpu/elementwise/binary_template.h"
