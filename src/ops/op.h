// SPDX-License-Identifier: Apache-2.0
// For writers of operations: begin (check inputs), infer shapes, launch kernels, end (record).
//
//     tern_tensor *tern_exp(tern_tensor *x)
//     {
//         static const tern_op exp = {.name = "exp", .inputs = {"x"}, .backward = exp_backward};
//         tern_op_call call = {.op = &exp, .count = 1, .in = {x}};
//         if (tern_op_begin(&call, TERN_OP_TO_FLOATING))
//             return NULL;
//         tern_tensor *y = tern_tensor_new("exp", call.dtype, call.device, call.shape);
//         if (!y || tern_launch_unary(TERN_UNARY_EXP, 0, 0, y, call.in[0]))
//             return NULL;
//         return tern_op_end(&call, y, &y, 1);
//     }
#ifndef TERN_SRC_OPS_OP_H
#define TERN_SRC_OPS_OP_H

#include <tern/ops.h>
#include "autograd/op.h"
#include "autograd/record.h"
#include "base/error.h"
#include "device/backend.h"
#include "device/fault.h"
#include "ops/prepare.h"
#include "ops/sum_to.h"
#include "tensor/shape.h"
#include "tensor/view.h"

// A public function of one operand, whose options the static function of its name takes.
#define TERN_WITH_OPTIONS_OF(name, family, ...)                                                    \
    tern_tensor *tern_##name##_with(const tern_##family##_options *o)                              \
    {                                                                                              \
        if (o)                                                                                     \
            return name(o->x, __VA_ARGS__);                                                        \
        tern_null_error(#name, "options");                                                         \
        return NULL;                                                                               \
    }

#endif
