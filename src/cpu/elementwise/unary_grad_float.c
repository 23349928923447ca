// SPDX-License-Identifier: Apache-2.0
#include "cpu/vecmath.h"

#define real       float
#define MATH(name) vm_##name
#define REAL_TABLE TERN_ISA_NAME(unary_grad_float)
#include "cpu/elementwise/unary_grad_real.h"
