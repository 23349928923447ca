// SPDX-License-Identifier: Apache-2.0
// Walks over views of the same sizes together, as runs along the innermost dimension, on the pool.
#ifndef TERN_SRC_CPU_WALK_H
#define TERN_SRC_CPU_WALK_H

#include "device/kernels.h"

#define TERN_WALK_VIEWS 5

// So many elements are one thread's work: with more, what a second thread saves counts for more
// than the time to wake it. COSTLY is for functions, which take ten times as long as a sum.
#define TERN_WALK_ALONE        32768
#define TERN_WALK_ALONE_COSTLY 16384

// Elements of a piece of what is more, which one thread does: few enough that threads end together.
#define TERN_WALK_PIECE 8192

// Does n elements: data[v] is the first of view v, the next ones are step[v] elements apart. n > 0.
typedef void tern_walk_run(const void *context, int64_t n, char *const *data, const int64_t *step);

// Calls `run` on all elements of views[0 ... count - 1], whose sizes are views[0]'s; up to `alone`
// elements in one go, else in pieces that depend on the sizes alone.
void tern_walk(const tern_strided *const *views, int count, tern_walk_run *run, const void *context,
               int64_t alone);

#endif
