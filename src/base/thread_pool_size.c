// SPDX-License-Identifier: Apache-2.0
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // sched_getaffinity
#endif
#include "base/thread_pool_size.h"
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/cgroup.h"
#include "base/error.h"
#include "base/text.h"

int tern_pool_cpus(void)
{
    int saved = errno, cancel_state = tern_cancel_disable();
    cpu_set_t mask;
    // Fails where the machine has more CPUs than a cpu_set_t counts.
    long cpus = sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask)
                                                              : sysconf(_SC_NPROCESSORS_ONLN);
    int quota = tern_cgroup_cpus("/proc/self/cgroup", "/sys/fs/cgroup");
    tern_cancel_restore(cancel_state);
    errno = saved;
    if (quota > 0 && quota < cpus)
        return quota;
    return cpus > 1 ? (int)cpus : 1;
}

int tern_pool_default_threads(void)
{
    const char *setting = secure_getenv("TERN_NUM_THREADS");
    int count = setting ? tern_text_count(setting, TERN_MAX_THREADS) : 0;
    if (count > 0)
        return count;
    if (setting && setting[0])
        tern_log_send(TERN_LOG_WARN, "TERN_NUM_THREADS is '%s', not a number from 1 to %d: ignored",
                      setting, TERN_MAX_THREADS);
    int cpus = tern_pool_cpus();
    return cpus < TERN_MAX_THREADS ? cpus : TERN_MAX_THREADS;
}
