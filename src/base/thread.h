// SPDX-License-Identifier: Apache-2.0
// Threads of the library's own.
#ifndef TERN_SRC_BASE_THREAD_H
#define TERN_SRC_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

// Starts a thread that takes no signals: those are the program's. `attributes` may be NULL, and so
// may `name`, which debuggers show, at most 15 characters. False where none can be started.
bool tern_thread_start(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                       void *user, const char *name);

#endif
