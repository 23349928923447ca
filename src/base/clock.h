// SPDX-License-Identifier: Apache-2.0
#ifndef TERN_SRC_BASE_CLOCK_H
#define TERN_SRC_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

// Nanoseconds of a clock that nobody sets.
static inline int64_t tern_clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
