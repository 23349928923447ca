// SPDX-License-Identifier: Apache-2.0
// Averages over long windows, which are summed where they lie. A template, a part of that in
// resample_real.h, which includes it.

// A list of all taps would be many times longer than what is read and written.
static bool TAPS(has_windows)(const tern_resample_dim *d, int64_t taps)
{
    return d->kind == TERN_RESAMPLE_WINDOW && taps / WINDOW_TAPS > d->in + d->out;
}

// The outputs whose windows hold an input lie side by side, as the inputs of a window do.
static void TAPS(windows_write)(TAPS(map) * map, const tern_resample_dim *d, bool transposed,
                                REAL scale)
{
    TAPS(taps) taps;
    int64_t first = 0, end = 0;
    map->by_input = transposed;
    for (int64_t o = 0; o < d->out; o++) {
        TAPS(find)(d, o, &taps);
        map->weight[o] = taps.weight * scale;
        if (!transposed) {
            map->start[o] = taps.first;
            map->end[o] = taps.first + taps.count;
        }
    }
    for (int64_t i = 0; transposed && i < d->in; i++) {
        for (; first < d->out; first++) {
            TAPS(find)(d, first, &taps);
            if (taps.first + taps.count > i)
                break;
        }
        for (; end < d->out; end++) {
            TAPS(find)(d, end, &taps);
            if (taps.first > i)
                break;
        }
        map->start[i] = first;
        map->end[i] = end > first ? end : first;
    }
}

enum { TAPS(LANES) = 32 / sizeof(REAL) };

static REAL TAPS(sum)(const REAL *x, int64_t n)
{
    REAL lane[TAPS(LANES)] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + TAPS(LANES) <= n; i += TAPS(LANES))
        for (int l = 0; l < TAPS(LANES); l++)
            lane[l] += x[i + l];
    for (; i < n; i++)
        sum += x[i];
    for (int l = 0; l < TAPS(LANES); l++)
        sum += lane[l];
    return sum;
}

// The products of weights and inputs.
static REAL TAPS(dot)(const REAL *weight, const REAL *x, int64_t n)
{
    REAL lane[TAPS(LANES)] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + TAPS(LANES) <= n; i += TAPS(LANES))
        for (int l = 0; l < TAPS(LANES); l++)
            lane[l] += weight[i + l] * x[i + l];
    for (; i < n; i++)
        sum += weight[i] * x[i];
    for (int l = 0; l < TAPS(LANES); l++)
        sum += lane[l];
    return sum;
}

// y (out) from x (in).
static void TAPS(along_windows)(const TAPS(map) * map, REAL *y, const REAL *x)
{
    for (int64_t o = 0; o < map->out; o++) {
        const int64_t first = map->start[o], n = map->end[o] - first;
        y[o] = map->by_input ? TAPS(dot)(map->weight + first, x + first, n)
                             : map->weight[o] * TAPS(sum)(x + first, n);
    }
}

// y (n) = the weighted sum of output o's rows of x (in, n).
static void TAPS(mix_window)(const TAPS(map) * map, int64_t o, REAL *restrict y, const REAL *x,
                             int64_t n)
{
    memset(y, 0, (size_t)n * sizeof *y);
    for (int64_t t = map->start[o]; t < map->end[o]; t++) {
        const REAL weight = map->weight[map->by_input ? t : o], *restrict row = x + t * n;
        for (int64_t i = 0; i < n; i++)
            y[i] += weight * row[i];
    }
}
