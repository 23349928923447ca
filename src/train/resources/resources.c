// SPDX-License-Identifier: Apache-2.0
// What the process takes.
#include "train/resources/reading.h"
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "base/cancel.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/thread_pool_size.h"

// "VmRSS:   1234 kB"
static tern_reading kilobytes(const char *status, const char *name)
{
    const char *text = tern_system_find(status, name);
    if (!text || *text < '0' || *text > '9')
        return (tern_reading){0};
    return tern_reading_of(1024 * (double)strtoll(text, NULL, 10));
}

static void read_memory(tern_resources *r, const char *root)
{
    char status[TERN_SYSTEM_FILE_SIZE];
    (void)tern_system_read(root, "/proc/self/status", status, sizeof status);
    r->resident_bytes = kilobytes(status, "VmRSS");
    r->peak_bytes = kilobytes(status, "VmHWM");
}

static tern_reading read_cpu_seconds(void)
{
    struct timespec used;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used))
        return (tern_reading){0};
    return tern_reading_of((double)used.tv_sec + 1e-9 * (double)used.tv_nsec);
}

// Clocks that tick apart can give a bit more than there is.
static double share_of(double used, double seconds)
{
    const double share = used / (seconds * tern_pool_cpus());
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

static void read_times(tern_resources *r)
{
    const int64_t now = tern_clock_now();
    const bool again = r->last_.clock > 0 && now > r->last_.clock;
    const double seconds = 1e-9 * (double)(now - r->last_.clock);
    r->seconds = r->cpu_share = (tern_reading){0};
    r->cpu_seconds = read_cpu_seconds();
    if (again)
        r->seconds = tern_reading_of(seconds);
    if (again && r->cpu_seconds.known)
        r->cpu_share =
            tern_reading_of(share_of(r->cpu_seconds.value - r->last_.cpu_seconds, seconds));
    r->last_.clock = now;
    r->last_.cpu_seconds = r->cpu_seconds.value;
}

static void read_energy(tern_resources *r, const char *root)
{
    const bool first = r->last_.counters == 0;
    const tern_reading counted = tern_energy_read(&r->last_, root);
    r->watts = (tern_reading){0};
    if (!counted.known)
        r->joules = first && r->last_.counters ? tern_reading_of(0) : (tern_reading){0};
    else if (r->joules.known)
        r->joules.value += counted.value;
    if (counted.known && r->seconds.known)
        r->watts = tern_reading_of(counted.value / r->seconds.value);
}

void tern_resources_read_below(tern_resources *r, const char *root)
{
    const int saved = errno, cancel_state = tern_cancel_disable();
    read_memory(r, root);
    read_times(r);
    read_energy(r, root);
    tern_device_memory_read(r);
    tern_cancel_restore(cancel_state);
    errno = saved;
}

tern_status tern_resources_read(tern_resources *resources)
{
    if (!resources)
        return tern_null_error("resources_read", "resources");
    tern_resources_read_below(resources, "");
    return TERN_OK;
}
