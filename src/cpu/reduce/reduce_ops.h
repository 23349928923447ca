// SPDX-License-Identifier: Apache-2.0
// What the reductions add up or compare, for every element type.
#ifndef TERN_SRC_CPU_REDUCE_REDUCE_OPS_H
#define TERN_SRC_CPU_REDUCE_REDUCE_OPS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cpu/vec.h"

// Columns are reduced so many at a time.
#define REDUCE_MAX_COLUMNS 512

typedef enum reduce_op {
    REDUCE_SUM,         // float32 in chunks of float32
    REDUCE_SUM_WIDE,    // float32 in double
    REDUCE_ABS,         // sums of |x|,
    REDUCE_SQUARE,      // x^2, of float32 four at a time in float32,
    REDUCE_SQUARE_WIDE, // x^2, of float32 in double,
    REDUCE_POWER,       // |x|^p,
    REDUCE_NONZERO,     // x != 0,
    REDUCE_DEVIATION,   // (x - shift)^2
    REDUCE_MAX,         // NaN wins from here on
    REDUCE_MIN,
    REDUCE_MAX_ABS,
    REDUCE_MIN_ABS
} reduce_op;

static inline bool reduce_op_adds(reduce_op op)
{
    return op < REDUCE_MAX;
}

// Calls `call` with op as a constant, so that each operation gets loops of its own.
#define REDUCE_SWITCH(op, call)                                                                    \
    switch (op) {                                                                                  \
    case REDUCE_SUM:                                                                               \
    case REDUCE_SUM_WIDE:                                                                          \
        call(REDUCE_SUM_WIDE);                                                                     \
        break;                                                                                     \
    case REDUCE_ABS:                                                                               \
        call(REDUCE_ABS);                                                                          \
        break;                                                                                     \
    case REDUCE_SQUARE:                                                                            \
    case REDUCE_SQUARE_WIDE:                                                                       \
        call(REDUCE_SQUARE_WIDE);                                                                  \
        break;                                                                                     \
    case REDUCE_POWER:                                                                             \
        call(REDUCE_POWER);                                                                        \
        break;                                                                                     \
    case REDUCE_NONZERO:                                                                           \
        call(REDUCE_NONZERO);                                                                      \
        break;                                                                                     \
    case REDUCE_DEVIATION:                                                                         \
        call(REDUCE_DEVIATION);                                                                    \
        break;                                                                                     \
    case REDUCE_MAX:                                                                               \
        call(REDUCE_MAX);                                                                          \
        break;                                                                                     \
    case REDUCE_MIN:                                                                               \
        call(REDUCE_MIN);                                                                          \
        break;                                                                                     \
    case REDUCE_MAX_ABS:                                                                           \
        call(REDUCE_MAX_ABS);                                                                      \
        break;                                                                                     \
    case REDUCE_MIN_ABS:                                                                           \
        call(REDUCE_MIN_ABS);                                                                      \
        break;                                                                                     \
    }

// What an operation needs beside the elements.
typedef struct reduce_param {
    double power; // of REDUCE_POWER
    double shift; // of REDUCE_DEVIATION
} reduce_param;

#endif
