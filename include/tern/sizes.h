// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sizes of windows, one for each spatial dimension, and how options give them.
///
///     tern_nn_conv2d(3, 64, 3, .stride = 2, .padding = {1, 0})   // C: a number is for all
///     tern_nn_conv2d(3, 64, 3, [](auto &o) { o.stride = tern_sizes_of(2, 1); })   // C++
///
/// In C `.stride = 2` gives the first size and leaves the others at their default,
/// TERN_SAME_AS_FIRST, so that the number is for all; braces say each: what they leave out is 0,
/// in C++ TERN_SAME_AS_FIRST.
/// More numbers than a call has dimensions are TERN_ERR_ARG. Threads: any.
#ifndef TERN_SIZES_H
#define TERN_SIZES_H

#include <tern/base.h>

TERN_BEGIN_DECLS

/// A size that is that of the first dimension.
#define TERN_SAME_AS_FIRST (-1)

#ifdef __cplusplus
/// Sizes as in C; what braces leave out is TERN_SAME_AS_FIRST.
struct tern_sizes {
    int64_t first;                       ///< of the outermost dimension
    int64_t second = TERN_SAME_AS_FIRST; ///< of the next
    int64_t third = TERN_SAME_AS_FIRST;  ///< of the last of three
};
#else
/// Sizes of up to three dimensions, outermost first: of (L), (H, W) or (D, H, W).
typedef struct tern_sizes {
    int64_t first;  ///< of the outermost dimension
    int64_t second; ///< of the next, or TERN_SAME_AS_FIRST
    int64_t third;  ///< likewise
} tern_sizes;
#endif

/// The initialiser of sizes that are all `size`.
#define TERN_EACH_(size)                                                                           \
    {                                                                                              \
        size, TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST                                               \
    }

#ifdef __cplusplus
#define TERN_OR_SAME_ = TERN_SAME_AS_FIRST
#else
/// What C++ takes where an argument is left out.
#define TERN_OR_SAME_
#endif

/// The sizes; in C++ what is left out is TERN_SAME_AS_FIRST.
static inline tern_sizes tern_sizes_of(int64_t first, int64_t second TERN_OR_SAME_,
                                       int64_t third TERN_OR_SAME_)
{
    tern_sizes sizes = {first, second, third};
    return sizes;
}

TERN_END_DECLS

#endif
