// SPDX-License-Identifier: Apache-2.0
// The thread pool of the CPU kernels.
#ifndef TERN_SRC_BASE_THREAD_POOL_H
#define TERN_SRC_BASE_THREAD_POOL_H

#include <stdbool.h>
#include <stdint.h>
#include <tern/threads.h>

// Does task `index` of the work. Tasks may run in any order and on any thread; what a task
// computes must depend on its index alone, never on the thread.
typedef void tern_pool_fn(void *context, int64_t index);

// Runs fn(context, 0) ... fn(context, tasks - 1) and returns when all are done. The caller takes
// part. A region started while the pool is busy, or from inside a task, runs wholly on its caller
// with the same tasks. Tasks compute in the caller's rounding mode; its errno is kept.
void tern_pool_run(int64_t tasks, tern_pool_fn *fn, void *context);

// Regions of the calling thread run wholly on it while it is on, so that they never keep the pool
// from others. Returns what it was.
bool tern_pool_stay_out(bool on);

// Joins the workers; the next region starts them again.
void tern_pool_shutdown(void);

#endif
