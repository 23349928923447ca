// SPDX-License-Identifier: Apache-2.0
// One parallel pass over a list of tensors: their elements are cut into pieces by the sizes alone.
#ifndef TERN_SRC_CPU_STEP_STEP_H
#define TERN_SRC_CPU_STEP_STEP_H

#include "cpu/isa.h"

#define STEP_PIECE  16384 // elements; no piece holds elements of two tensors
#define STEP_BLOCK  512   // 16-bit elements that are widened at once
#define STEP_ARRAYS 5     // parameter, gradient and up to three of state

static inline int64_t step_pieces_of(int64_t numel)
{
    return (numel + STEP_PIECE - 1) / STEP_PIECE;
}

// x, or 0 where it is nearer to 0 than `least`; a NaN stays. Of any real type.
#define step_or_zero(x, least) ((x) < (least) && (x) > -(least) ? 0 : (x))

// What a piece works on.
typedef struct step_range {
    int64_t tensor, begin, count;
} step_range;

// Piece `index` of tensors whose sizes `numel_at(list, i)` tells.
typedef int64_t step_numel_fn(const void *list, int64_t i);
static inline step_range step_range_of(const void *list, step_numel_fn *numel_at, int64_t index)
{
    int64_t tensor = 0, pieces = step_pieces_of(numel_at(list, 0));
    while (index >= pieces) {
        index -= pieces;
        pieces = step_pieces_of(numel_at(list, ++tensor));
    }
    int64_t begin = index * STEP_PIECE, left = numel_at(list, tensor) - begin;
    return (step_range){tensor, begin, left < STEP_PIECE ? left : STEP_PIECE};
}

static inline int64_t step_pieces(const void *list, step_numel_fn *numel_at, int64_t count)
{
    int64_t pieces = 0;
    for (int64_t i = 0; i < count; i++)
        pieces += step_pieces_of(numel_at(list, i));
    return pieces;
}

// Updates n elements of the type it is for: array[0] parameter, [1] gradient, [2 ..] state or NULL.
typedef void step_block_fn(const void *args, int64_t step, void *const *array, int64_t n);

// An optimizer's update: in float (also for 16-bit parameters, widened by blocks) and in double.
typedef struct step_update {
    step_block_fn *in_float, *in_double;
    const void *args;
} step_update;

// Runs the update over all tensors, unless the fault record is set.
tern_status TERN_ISA_NAME(step_all)(const tern_exec *exec, const step_update *update,
                                    const tern_step_tensor *tensors, int64_t count);

#endif
