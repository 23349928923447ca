// SPDX-License-Identifier: Apache-2.0
#include "cpu/conv/conv.h"

#define real            double
#define REAL_IS_FLOAT   0
#define CONV_NAME(name) TERN_ISA_NAME(name##_f64)
#define GEMM_ARGS       tern_gemm_f64_args
#define GEMM_NAME       TERN_ISA_SUFFIX(tern_gemm_f64)
#define GEMM_ROOM       TERN_ISA_SUFFIX(tern_gemm_room_f64)
#include "cpu/conv/conv_template.h"
