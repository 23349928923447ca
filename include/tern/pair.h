// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sizes of windows, one for each spatial dimension, and how options give them.
///
///     tern_nn_conv2d(3, 64, 3, .stride = 2, .padding = {1, 0})   // C: a number is for both
///     tern_nn_conv2d(3, 64, 3, [](auto &o) { o.stride = tern_pair_of(2, 1); })   // C++
///
/// In C `.stride = 2` gives the first size and leaves the others at their default,
/// TERN_SAME_AS_FIRST, so that the number is for all; braces say each: what they leave out is 0.
/// Threads: any.
#ifndef TERN_PAIR_H
#define TERN_PAIR_H

#include <tern/base.h>

TERN_BEGIN_DECLS

/// Sizes along height and width.
typedef struct tern_pair {
    int64_t h; ///< height
    int64_t w; ///< width, or TERN_SAME_AS_FIRST
} tern_pair;

/// Sizes along depth, height and width.
typedef struct tern_triple {
    int64_t d; ///< depth
    int64_t h; ///< height, or TERN_SAME_AS_FIRST
    int64_t w; ///< width, or TERN_SAME_AS_FIRST
} tern_triple;

/// A size that is that of the first dimension.
#define TERN_SAME_AS_FIRST (-1)

/// (h, w).
static inline tern_pair tern_pair_of(int64_t h, int64_t w)
{
    tern_pair pair = {h, w};
    return pair;
}

/// (d, h, w).
static inline tern_triple tern_triple_of(int64_t d, int64_t h, int64_t w)
{
    tern_triple triple = {d, h, w};
    return triple;
}

TERN_END_DECLS

#endif
