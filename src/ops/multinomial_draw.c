// SPDX-License-Identifier: Apache-2.0
// multinomial of one row. Sums and quotients of float32 that are computed in double and then
// rounded are those of float32: double has more than twice its digits.
#include "ops/multinomial_draw.h"

#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/mem.h"

static double rounded(const tern_multinomial_row *row, double x)
{
    return row->single ? (double)(float)x : x;
}

tern_status tern_multinomial_check(const char *op, const tern_multinomial_row *row)
{
    double sum = 0;
    int64_t positive = 0;
    for (int64_t i = 0; i < row->count; i++) {
        const double weight = row->weights[i];
        TERN_CHECK(weight >= 0 && isfinite(weight), TERN_ERR_NUMERIC,
                   "%s: weight %lld is %g, but must be finite and 0 or more", op, (long long)i,
                   weight);
        sum = rounded(row, sum + weight);
        positive += weight > 0;
    }
    TERN_CHECK(sum > 0 && isfinite(sum), TERN_ERR_NUMERIC,
               "%s: the sum of the weights is %g, but must be finite and above 0", op, sum);
    TERN_CHECK(row->replacement || row->samples <= positive, TERN_ERR_ARG,
               "%s: %lld samples without replacement of %lld weights above 0", op,
               (long long)row->samples, (long long)positive);
    return TERN_OK;
}

typedef struct keyed {
    double key;
    int64_t index;
} keyed;

// Descending; the first of equal ones is first.
static int compare(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

// The largest of w / e, e exponential: an index is the largest as often as its weight says.
static tern_status draw_without(tern_mt19937 *mt, const tern_multinomial_row *row, int64_t *out)
{
    const size_t nbytes = (size_t)row->count * sizeof(keyed);
    keyed *keys = tern_cache_alloc(nbytes);
    if (!keys)
        return TERN_ERR_NOMEM;
    for (int64_t i = 0; i < row->count; i++) {
        const double exponential = rounded(row, -log1p(-tern_mt19937_u53(mt)));
        const double key = row->weights[i] == 0 ? 0 : row->weights[i] / exponential;
        keys[i] = (keyed){rounded(row, key), i};
    }
    qsort(keys, (size_t)row->count, sizeof *keys, compare);
    for (int64_t i = 0; i < row->samples; i++)
        out[i] = keys[i].index;
    tern_cache_free(keys, nbytes);
    return TERN_OK;
}

// The first index whose cumulative share is not below a uniform draw.
static int64_t find_share(const double *shares, int64_t count, double u)
{
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (shares[middle] < u)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static tern_status draw_with(tern_mt19937 *mt, const tern_multinomial_row *row, int64_t *out)
{
    const size_t nbytes = (size_t)row->count * sizeof(double);
    double *shares = tern_cache_alloc(nbytes), sum = 0;
    if (!shares)
        return TERN_ERR_NOMEM;
    for (int64_t i = 0; i < row->count; i++)
        shares[i] = sum = rounded(row, sum + row->weights[i]);
    for (int64_t i = 0; i < row->count; i++)
        shares[i] = rounded(row, shares[i] / sum);
    for (int64_t i = 0; i < row->samples; i++)
        out[i] = find_share(shares, row->count, tern_mt19937_u53(mt));
    tern_cache_free(shares, nbytes);
    return TERN_OK;
}

tern_status tern_multinomial_draw(tern_mt19937 *mt, const tern_multinomial_row *row, int64_t *out)
{
    return row->replacement && row->samples > 1 ? draw_with(mt, row, out)
                                                : draw_without(mt, row, out);
}
