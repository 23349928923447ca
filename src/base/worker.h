// SPDX-License-Identifier: Apache-2.0
// Threads that run one function after another, kept from one to the next, so that a step seen
// before starts none. What a function leaves open or set on its thread is there for the next one.
#ifndef TERN_SRC_BASE_WORKER_H
#define TERN_SRC_BASE_WORKER_H

#include <stdbool.h>

typedef struct tern_worker tern_worker;

typedef void tern_worker_fn(void *user);

// Begins run(user) on another thread. NULL, and no error, where there is no thread for it.
tern_worker *tern_worker_begin(tern_worker_fn *run, void *user);
// Waits until it returned; the worker is no longer the caller's.
void tern_worker_wait(tern_worker *worker);
// Does not wait: the thread is for others once the function has returned, if it ever does.
void tern_worker_leave(tern_worker *worker);

// Whether a function runs on one of them.
bool tern_workers_busy(void);
// Ends the threads that wait for work.
void tern_workers_shutdown(void);

#endif
