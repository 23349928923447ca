// SPDX-License-Identifier: Apache-2.0
#include "cpu/vecmath_double.h"

#define real       double
#define MATH(name) vd_##name
#define REAL_TABLE TERN_ISA_NAME(unary_grad_double)
#include "cpu/elementwise/unary_grad_real.h"
