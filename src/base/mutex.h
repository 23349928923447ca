// SPDX-License-Identifier: Apache-2.0
// A mutex for a few instructions that every operation needs several times. While the process has
// one thread it costs no locked instruction: nobody is there to be kept out, and a thread that is
// started later sees what was done before.
#ifndef TERN_SRC_BASE_MUTEX_H
#define TERN_SRC_BASE_MUTEX_H

#include "base/one_thread.h"
#include "base/process.h"

typedef struct tern_mutex {
    pthread_mutex_t mutex;
    bool alone; // held by the only thread, which did not lock `mutex`
} tern_mutex;

#define TERN_MUTEX_INITIALIZER                                                                     \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, false                                                           \
    }

static inline void tern_mutex_lock(tern_mutex *m)
{
    if (TERN_ONE_THREAD && tern_in_use())
        m->alone = true;
    else
        tern_lock(&m->mutex);
}

// Under the lock, before something that may start threads: they are kept out.
static inline void tern_mutex_share(tern_mutex *m)
{
    if (m->alone)
        tern_lock(&m->mutex);
    m->alone = false;
}

static inline void tern_mutex_unlock(tern_mutex *m)
{
    if (m->alone)
        m->alone = false;
    else
        tern_unlock(&m->mutex);
}

#endif
