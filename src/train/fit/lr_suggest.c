// SPDX-License-Identifier: Apache-2.0
#include "train/fit/lr_suggest.h"

#include <math.h>

#include "base/mem.h"

// ---- fastai.callback.schedule.valley ------------------------------------------------------------

#define VALLEY_SKIPS_AT_END 5

// The longest subsequence that falls, `length[i]` being that of the longest one that ends at i.
static int64_t middle_of_valley(const double *loss, int64_t count, int64_t *length)
{
    int64_t start = 0, end = 0;
    for (int64_t i = 0; i < count; i++)
        length[i] = 1;
    for (int64_t i = 1; i < count; i++)
        for (int64_t k = 0; k < i; k++) {
            if (loss[i] < loss[k] && length[i] < length[k] + 1)
                length[i] = length[k] + 1;
            if (length[end] < length[i]) {
                end = i;
                start = end - length[end];
            }
        }
    const double third = (double)(end - start) / 3;
    return start + (int64_t)third + (int64_t)(third / 2);
}

static double valley(const double *lr, const double *loss, int64_t count, int64_t steps)
{
    const int64_t first = steps / 10, left = count - first - VALLEY_SKIPS_AT_END;
    if (left < 2)
        return (double)NAN;
    int64_t *length = tern_mem_alloc((size_t)left * sizeof *length);
    if (!length)
        return (double)NAN; // an error is pending
    const int64_t at = middle_of_valley(loss + first, left, length);
    tern_mem_free(length, (size_t)left * sizeof *length);
    return lr[first + (at < 0 ? 0 : at)];
}

// ---- lightning.pytorch.tuner.lr_finder ----------------------------------------------------------

enum { STEEPEST_SKIPS_AT_BEGIN = 10, STEEPEST_SKIPS_AT_END = 1 };

// torch.gradient over points that are unequally far apart, of the second order inside.
static double gradient(const double *x, const double *y, int64_t count, int64_t i)
{
    if (i == 0 || i == count - 1) {
        const int64_t k = i == 0 ? 1 : i;
        return (y[k] - y[k - 1]) / (x[k] - x[k - 1]);
    }
    const double before = x[i] - x[i - 1], after = x[i + 1] - x[i];
    return -after / (before * (before + after)) * y[i - 1] +
           (after - before) / (before * after) * y[i] +
           before / (after * (before + after)) * y[i + 1];
}

static double steepest(const double *lr, const double *loss, int64_t count)
{
    const int64_t first = STEEPEST_SKIPS_AT_BEGIN, left = count - first - STEEPEST_SKIPS_AT_END;
    int64_t best = 0;
    if (left < 2)
        return (double)NAN;
    for (int64_t i = 1; i < left; i++)
        if (gradient(lr + first, loss + first, left, i) <
            gradient(lr + first, loss + first, left, best))
            best = i;
    return lr[first + best];
}

double tern_lr_suggest(tern_lr_rule rule, const double *lr, const double *loss, int64_t count,
                       int64_t steps)
{
    return rule == TERN_LR_STEEPEST ? steepest(lr, loss, count) : valley(lr, loss, count, steps);
}
