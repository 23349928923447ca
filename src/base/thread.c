// SPDX-License-Identifier: Apache-2.0
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // pthread_setname_np
#endif
#include "base/thread.h"

#include <signal.h>

bool tern_thread_start(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                       void *user, const char *name)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(thread, attributes, run, user) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started && name)
        (void)pthread_setname_np(*thread, name);
    return started;
}
