// SPDX-License-Identifier: Apache-2.0
// Whether the process that writes a run is still there.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "train/run/run.h"

// On another host a log that nobody wrote to for so long is of a process that is gone.
#define SILENCE_SECONDS 600
// A process may have begun this much after its first line by a clock that is set meanwhile.
#define CLOCK_SECONDS 60

const char *tern_run_status_name(tern_run_status status)
{
    static const char *const names[] = {[TERN_RUN_RUNNING] = "running",
                                        [TERN_RUN_FINISHED] = "finished",
                                        [TERN_RUN_STOPPED] = "stopped",
                                        [TERN_RUN_FAILED] = "failed",
                                        [TERN_RUN_KILLED] = "killed"};
    const bool known = status >= TERN_RUN_RUNNING && status <= TERN_RUN_KILLED;
    return known ? names[status] : "unknown";
}

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Field 22 of /proc/PID/stat: ticks since the machine started. The second field, a name in
// parentheses, may hold anything.
static double ticks_of_start(int64_t pid)
{
    char path[64], text[1024];
    (void)snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = 0;
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtod(at, NULL) : -1;
}

// Seconds since 1970; 0 where the system does not say.
static double start_of(int64_t pid)
{
    const double ticks = ticks_of_start(pid);
    const long per_second = sysconf(_SC_CLK_TCK);
    if (ticks < 0 || per_second <= 0)
        return 0;
    return seconds_of(CLOCK_REALTIME) - seconds_of(CLOCK_BOOTTIME) + ticks / (double)per_second;
}

static bool is_this_host(const tern_run *run)
{
    char name[256] = "";
    return run->host && gethostname(name, sizeof name - 1) == 0 && strcmp(name, run->host) == 0;
}

tern_run_status tern_run_status_now(const tern_run *run, double changed)
{
    if (run->ending != TERN_RUN_UNSPECIFIED)
        return run->ending;
    const double silence = seconds_of(CLOCK_REALTIME) - changed;
    if (run->pid <= 0 || !is_this_host(run))
        return silence > SILENCE_SECONDS ? TERN_RUN_KILLED : TERN_RUN_RUNNING;
    const bool gone = getpgid((pid_t)run->pid) < 0 && errno == ESRCH;
    // A number is given again to a later process.
    const bool is_another = start_of(run->pid) > run->process_started + CLOCK_SECONDS;
    return gone || (is_another && silence > CLOCK_SECONDS) ? TERN_RUN_KILLED : TERN_RUN_RUNNING;
}
