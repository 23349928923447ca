// SPDX-License-Identifier: Apache-2.0
// How much of an epoch its loop waits for data.
#include <math.h>
#include "base/clock.h"
#include "data/loader/loader.h"

double tern_loader_wait_share(const tern_loader *loader)
{
    if (tern_check_loader("loader_wait_share", loader))
        return (double)NAN;
    if (loader->began == 0)
        return 0;
    const int64_t end = loader->ended ? loader->ended : tern_clock_now();
    return end > loader->began ? (double)loader->waited / (double)(end - loader->began) : 0;
}
