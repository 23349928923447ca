// SPDX-License-Identifier: Apache-2.0
#include "cpu/product/gemm.h"
#include "cpu/isa.h"

#define real          float
#define REAL_IS_FLOAT 1
#define GEMM_ARGS     tern_gemm_f32_args
#define GEMM_NAME     TERN_ISA_SUFFIX(tern_gemm_f32)
#define GEMM_ROOM     TERN_ISA_SUFFIX(tern_gemm_room_f32)
#include "cpu/product/gemm_template.h"
