// SPDX-License-Identifier: Apache-2.0
// For writers of operations: check operands, infer shapes, launch kernels, record for backward.
//
//     tern_tensor *tern_exp(tern_tensor *x)
//     {
//         tern_operands in = {.op = "exp", .count = 1, .name = {"x"}, .at = {x}};
//         if (tern_op_prepare(&in, TERN_PREPARE_TO_FLOATING))
//             return NULL;
//         tern_tensor *y = tern_tensor_new("exp", in.dtype, in.device, in.shape);
//         if (!y || tern_launch_unary(TERN_UNARY_EXP, 0, 0, y, in.at[0]))
//             return NULL;
//         return tern_record_op(&exp_class, y, in.at, 1, (tern_tensor *const[]){y}, 1, NULL);
//     }
#ifndef TERN_SRC_OPS_OP_H
#define TERN_SRC_OPS_OP_H

#include <tern/ops.h>
#include "autograd/record.h"
#include "base/error.h"
#include "device/backend.h"
#include "device/fault.h"
#include "ops/prepare.h"
#include "ops/sum_to.h"
#include "tensor/shape.h"
#include "tensor/view.h"

#endif
