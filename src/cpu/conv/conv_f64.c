// SPDX-License-Identifier: Apache-2.0
#include "cpu/conv/conv.h"

#define real            double
#define REAL_IS_FLOAT   0
#define CONV_NAME(name) TERN_ISA_NAME(name##_f64)
#include "cpu/conv/conv_template.h"
