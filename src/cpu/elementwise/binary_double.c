// SPDX-License-Identifier: Apache-2.0
#include "cpu/vecmath_double.h"

#define number              double
#define ADD_OF(a, alpha, b) ((a) + (alpha) * (b))
#define SUB_OF(a, b)        ((a) - (b))
#define MUL_OF(a, b)        ((a) * (b))
#define POW_OF(a, b)        vd_pow(a, b)
#define HAS_DIV
#define PARAMS       floating
#define NUMBER_TABLE TERN_ISA_NAME(binary_double)
#include "cpu/elementwise/binary_template.h"
