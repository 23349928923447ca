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
#define STAT_SIZE     1024

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

// What stands behind the name of /proc/PID/stat, its second field, which may hold anything; NULL
// where the system does not say.
static const char *read_process(int64_t pid, char text[STAT_SIZE])
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? -1 : read(fd, text, STAT_SIZE - 1);
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = 0;
    return strrchr(text, ')');
}

// Field 22: ticks since the machine started; -1: not known.
static double ticks_of_start(const char *process)
{
    for (int field = 2; process && field < 22; field++)
        process = strchr(process + 1, ' ');
    return process ? strtod(process, NULL) : -1;
}

// Field 3 of a process that has ended, but whose parent has not asked how.
static bool is_zombie(const char *process)
{
    return process && (strncmp(process, ") Z", 3) == 0 || strncmp(process, ") X", 3) == 0);
}

// Seconds since 1970; 0 where the system does not say.
static double start_of(const char *process)
{
    const double ticks = ticks_of_start(process);
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
    char text[STAT_SIZE];
    const char *process = read_process(run->pid, text);
    const bool gone = is_zombie(process) || (getpgid((pid_t)run->pid) < 0 && errno == ESRCH);
    // A number is given again to a later process.
    const bool is_another = start_of(process) > run->process_started + CLOCK_SECONDS;
    return gone || (is_another && silence > CLOCK_SECONDS) ? TERN_RUN_KILLED : TERN_RUN_RUNNING;
}
