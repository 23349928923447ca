// SPDX-License-Identifier: Apache-2.0
// The begin of every call of an operation on several tensors: where its inputs meet.
#ifndef TERN_SRC_OPS_PREPARE_H
#define TERN_SRC_OPS_PREPARE_H

#include "autograd/op.h"

typedef enum tern_op_flags {
    TERN_OP_PLAIN = 0,         // NULL, dead, device only; dtype is the first operand's
    TERN_OP_BROADCAST = 1,     // shapes broadcast
    TERN_OP_PROMOTE = 2,       // dtypes promote, operands are cast (differentiably)
    TERN_OP_SAME_DTYPE = 4,    // dtypes must agree
    TERN_OP_TO_FLOATING = 8,   // integers and bool become float32
    TERN_OP_ONLY_FLOATING = 16 // integers and bool are TERN_ERR_DTYPE
} tern_op_flags;

// Checks NULL, life and devices (a 0-dim CPU tensor may mix and is copied over; else an error that
// names both operands), then what the flags ask for. The one place where operands meet.
tern_status tern_op_begin(tern_op_call *call, unsigned flags);
// Likewise where inputs behind the first `required` may be left out: those are NULL.
tern_status tern_op_begin_present(tern_op_call *call, int required, unsigned flags);

#endif
