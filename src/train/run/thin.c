// SPDX-License-Identifier: Apache-2.0
#include "train/run/thin.h"

#include <math.h>
#include "base/integer.h"

// In doubles: steps may be further apart than an int64 holds.
int64_t tern_run_column(int64_t first_step, int64_t last_step, int64_t step, int64_t columns)
{
    const double range = (double)last_step - (double)first_step;
    const double at = range > 0 ? ((double)step - (double)first_step) / range : 0;
    return min_int64((int64_t)(at * (double)columns), columns - 1);
}

typedef struct column {
    int64_t min, max, gap; // indices, -1: none
} column;

static void add(column *c, const double *values, int64_t i)
{
    if (!isfinite(values[i])) {
        c->gap = c->gap < 0 ? i : c->gap;
        return;
    }
    c->min = c->min < 0 || values[i] < values[c->min] ? i : c->min;
    c->max = c->max < 0 || values[i] > values[c->max] ? i : c->max;
}

// Puts what a column keeps behind the `total` indices that there are, in order, each once.
static int64_t take(const column *c, int64_t *kept, int64_t total)
{
    const int64_t low = min_int64(c->min, c->max), high = max_int64(c->min, c->max);
    const int64_t found[] = {min_int64(low, c->gap), max_int64(low, min_int64(high, c->gap)),
                             max_int64(high, c->gap)};
    for (int i = 0; i < 3; i++)
        if (found[i] > kept[total - 1])
            kept[total++] = found[i];
    return total;
}

int64_t tern_run_thin(int64_t count, const int64_t *steps, const double *values, int64_t columns,
                      int64_t *kept)
{
    if (count <= 0)
        return 0;
    int64_t total = 1;
    kept[0] = 0;
    for (int64_t i = 0; i < count;) {
        column c = {-1, -1, -1};
        const int64_t at = tern_run_column(steps[0], steps[count - 1], steps[i], columns);
        for (; i < count && tern_run_column(steps[0], steps[count - 1], steps[i], columns) == at;
             i++)
            add(&c, values, i);
        total = take(&c, kept, total);
    }
    if (kept[total - 1] != count - 1)
        kept[total++] = count - 1;
    return total;
}
