// SPDX-License-Identifier: Apache-2.0
// How much of an epoch its loop waits for data.
#include <math.h>
#include <time.h>
#include "data/loader/loader.h"

int64_t tern_loader_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

double tern_loader_wait_share(const tern_loader *loader)
{
    if (tern_check_loader("loader_wait_share", loader))
        return (double)NAN;
    if (loader->began == 0)
        return 0;
    const int64_t end = loader->ended ? loader->ended : tern_loader_now();
    return end > loader->began ? (double)loader->waited / (double)(end - loader->began) : 0;
}
