// SPDX-License-Identifier: Apache-2.0
// No call of the library is a cancellation point: where one waits, writes or runs a function of the
// program's, pthread_cancel takes effect afterwards. A thread that ended in there would keep locks,
// references and counts for ever.
#ifndef TERN_SRC_BASE_CANCEL_H
#define TERN_SRC_BASE_CANCEL_H

#include <pthread.h>

// Returns what tern_cancel_restore takes.
static inline int tern_cancel_disable(void)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static inline void tern_cancel_restore(int before)
{
    pthread_setcancelstate(before, NULL);
}

#endif
