// SPDX-License-Identifier: Apache-2.0
// Walks over views of the same sizes together, as runs along the innermost dimension, on the pool.
#ifndef TERN_SRC_CPU_WALK_H
#define TERN_SRC_CPU_WALK_H

#include "device/kernels.h"

#define TERN_WALK_VIEWS 4

// Elements of a piece of work, which one thread does: few enough that all threads get pieces, so
// many that the time to hand a piece to a thread does not count.
#define TERN_WALK_PIECE 32768

// Does n elements: data[v] is the first of view v, the next ones are step[v] elements apart. n > 0.
typedef void tern_walk_run(const void *context, int64_t n, char *const *data, const int64_t *step);

// Calls `run` on all elements of views[0 ... count - 1], whose sizes are views[0]'s; in pieces that
// depend on the sizes alone.
void tern_walk(const tern_strided *const *views, int count, tern_walk_run *run,
               const void *context);

#endif
