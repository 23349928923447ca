// SPDX-License-Identifier: Apache-2.0
#include "cpu/conv/conv.h"

#define real            float
#define REAL_IS_FLOAT   1
#define CONV_NAME(name) TERN_ISA_NAME(name##_f32)
#include "cpu/conv/conv_template.h"
