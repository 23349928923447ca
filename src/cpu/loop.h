// SPDX-License-Identifier: Apache-2.0
// Loops over views of the same sizes together, as runs along the innermost dimension, on the pool.
#ifndef TERN_SRC_CPU_LOOP_H
#define TERN_SRC_CPU_LOOP_H

#include "device/kernels.h"

#define TERN_LOOP_VIEWS 5

// So many elements are one thread's work: with more, what a second thread saves counts for more
// than the time to wake it. COSTLY is for functions, which take ten times as long as a sum.
#define TERN_LOOP_ALONE        32768
#define TERN_LOOP_ALONE_COSTLY 16384

// Elements of a chunk of what is more, which one thread does: few enough that threads end together.
#define TERN_LOOP_CHUNK 8192

// Does n elements: data[v] is the first of view v, the next ones are step[v] elements apart. n > 0.
typedef void tern_loop_fn(const void *context, int64_t n, char *const *data, const int64_t *step);

// Calls `run` on all elements of views[0 ... count - 1], whose sizes are views[0]'s; up to `alone`
// elements in one go, else in chunks that depend on the sizes alone.
void tern_loop(const tern_strided *const *views, int count, tern_loop_fn *run, const void *context,
               int64_t alone);

#endif
