// SPDX-License-Identifier: Apache-2.0
// Where the operands of an operation meet.
#ifndef TERN_SRC_OPS_PREPARE_H
#define TERN_SRC_OPS_PREPARE_H

#include "tensor/tensor.h"

#define TERN_MAX_OPERANDS 4

// The operands of one call, in; what they agree on, out.
typedef struct tern_operands {
    const char *op;
    int count;
    const char *name[TERN_MAX_OPERANDS];
    tern_tensor *at[TERN_MAX_OPERANDS]; // replaced by casts and copies where prepare makes them
    tern_dtype dtype;
    tern_device device;
    tern_shape shape; // the broadcast shape; the first operand's without TERN_PREPARE_BROADCAST
} tern_operands;

typedef enum tern_prepare_flags {
    TERN_PREPARE_PLAIN = 0,         // NULL, dead, device only; dtype is the first operand's
    TERN_PREPARE_BROADCAST = 1,     // shapes broadcast
    TERN_PREPARE_PROMOTE = 2,       // dtypes promote, operands are cast (differentiably)
    TERN_PREPARE_SAME_DTYPE = 4,    // dtypes must agree
    TERN_PREPARE_TO_FLOATING = 8,   // integers and bool become float32
    TERN_PREPARE_ONLY_FLOATING = 16 // integers and bool are TERN_ERR_DTYPE
} tern_prepare_flags;

// Checks NULL, life and devices (a 0-dim CPU tensor may mix and is copied over; else an error that
// names both operands), then what the flags ask for. The one place where operands meet.
tern_status tern_op_prepare(tern_operands *operands, unsigned flags);

#endif
