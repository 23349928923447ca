// SPDX-License-Identifier: Apache-2.0
// What the reductions add up or compare, for every element type (fold.h).
#ifndef TERN_SRC_CPU_REDUCE_REDUCE_OPS_H
#define TERN_SRC_CPU_REDUCE_REDUCE_OPS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cpu/vec.h"

// Columns are reduced so many at a time.
#define REDUCE_MAX_COLUMNS 512

typedef enum fold_op {
    FOLD_SUM,         // float32 in chunks of float32
    FOLD_SUM_WIDE,    // float32 in double
    FOLD_ABS,         // sums of |x|,
    FOLD_SQUARE,      // x^2, of float32 four at a time in float32,
    FOLD_SQUARE_WIDE, // x^2, of float32 in double,
    FOLD_POWER,       // |x|^p,
    FOLD_NONZERO,     // x != 0,
    FOLD_DEVIATION,   // (x - shift)^2
    FOLD_MAX,         // NaN wins from here on
    FOLD_MIN,
    FOLD_MAX_ABS,
    FOLD_MIN_ABS
} fold_op;

static inline bool fold_op_adds(fold_op op)
{
    return op < FOLD_MAX;
}

// Calls `call` with op as a constant, so that each operation gets loops of its own.
#define FOLD_SWITCH(op, call)                                                                      \
    switch (op) {                                                                                  \
    case FOLD_SUM:                                                                                 \
    case FOLD_SUM_WIDE:                                                                            \
        call(FOLD_SUM_WIDE);                                                                       \
        break;                                                                                     \
    case FOLD_ABS:                                                                                 \
        call(FOLD_ABS);                                                                            \
        break;                                                                                     \
    case FOLD_SQUARE:                                                                              \
    case FOLD_SQUARE_WIDE:                                                                         \
        call(FOLD_SQUARE_WIDE);                                                                    \
        break;                                                                                     \
    case FOLD_POWER:                                                                               \
        call(FOLD_POWER);                                                                          \
        break;                                                                                     \
    case FOLD_NONZERO:                                                                             \
        call(FOLD_NONZERO);                                                                        \
        break;                                                                                     \
    case FOLD_DEVIATION:                                                                           \
        call(FOLD_DEVIATION);                                                                      \
        break;                                                                                     \
    case FOLD_MAX:                                                                                 \
        call(FOLD_MAX);                                                                            \
        break;                                                                                     \
    case FOLD_MIN:                                                                                 \
        call(FOLD_MIN);                                                                            \
        break;                                                                                     \
    case FOLD_MAX_ABS:                                                                             \
        call(FOLD_MAX_ABS);                                                                        \
        break;                                                                                     \
    case FOLD_MIN_ABS:                                                                             \
        call(FOLD_MIN_ABS);                                                                        \
        break;                                                                                     \
    }

// What an operation needs beside the elements.
typedef struct fold_param {
    double power; // of FOLD_POWER
    double shift; // of FOLD_DEVIATION
} fold_param;

#endif
