// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

_Atomic tern_process_state tern_process;

static void change(tern_process_state from, tern_process_state to)
{
    (void)atomic_compare_exchange_strong(&tern_process, &from, to);
}

static void in_child(void)
{
    change(TERN_PROCESS_IN_USE, TERN_PROCESS_FORKED);
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, in_child);
}

void tern_process_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    change(TERN_PROCESS_UNUSED, TERN_PROCESS_IN_USE);
}

void tern_process_end(void)
{
    change(TERN_PROCESS_IN_USE, TERN_PROCESS_UNUSED);
}
