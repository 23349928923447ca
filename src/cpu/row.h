// SPDX-License-Identifier: Apache-2.0
// Rows of a softmax. A template: REAL is float or double, ROW(name) the names, ROW_EXP the
// exponential. ROW_LANES sums run side by side; long rows are added in chunks, then in double.

#ifndef ROW_LANES
#define ROW_LANES 32
#define ROW_CHUNK 1024
#endif

// The largest element, -infinity for n = 0; a NaN may or may not be passed over.
static inline REAL ROW(max)(const REAL *x, int64_t n)
{
    REAL lane[ROW_LANES], top = -INFINITY;
    int64_t i = 0;
    if (n >= ROW_LANES) {
        for (int j = 0; j < ROW_LANES; j++)
            lane[j] = x[j];
        for (i = ROW_LANES; i + ROW_LANES <= n; i += ROW_LANES)
            for (int j = 0; j < ROW_LANES; j++)
                lane[j] = x[i + j] > lane[j] ? x[i + j] : lane[j];
        for (int half = ROW_LANES / 2; half > 0; half /= 2)
            for (int j = 0; j < half; j++)
                lane[j] = lane[j + half] > lane[j] ? lane[j + half] : lane[j];
        top = lane[0];
    }
    for (; i < n; i++)
        top = x[i] > top ? x[i] : top;
    return top;
}

static inline REAL ROW(lanes_sum)(REAL lane[ROW_LANES])
{
    for (int half = ROW_LANES / 2; half > 0; half /= 2)
        for (int j = 0; j < half; j++)
            lane[j] += lane[j + half];
    return lane[0];
}

// The sum of exp(x - shift), written to y unless it is NULL; n <= ROW_CHUNK.
static inline REAL ROW(exp_chunk)(REAL *y, const REAL *x, REAL shift, int64_t n)
{
    REAL lane[ROW_LANES] = {0}, e[ROW_LANES];
    for (int64_t i = 0; i < n; i += ROW_LANES) {
        const int count = n - i < ROW_LANES ? (int)(n - i) : ROW_LANES;
        if (count < ROW_LANES) {
            for (int j = 0; j < ROW_LANES; j++)
                e[j] = -INFINITY;
            for (int j = 0; j < count; j++)
                e[j] = x[i + j] - shift;
        } else {
            for (int j = 0; j < ROW_LANES; j++)
                e[j] = x[i + j] - shift;
        }
        for (int j = 0; j < ROW_LANES; j++)
            e[j] = ROW_EXP(e[j]);
        for (int j = 0; j < ROW_LANES; j++)
            lane[j] += e[j];
        if (y)
            memcpy(y + i, e, (size_t)count * sizeof *e);
    }
    return ROW(lanes_sum)(lane);
}

static inline double ROW(exp_sum)(REAL *y, const REAL *x, REAL shift, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i += ROW_CHUNK)
        sum += (double)ROW(exp_chunk)(y ? y + i : NULL, x + i, shift,
                                      n - i < ROW_CHUNK ? n - i : ROW_CHUNK);
    return sum;
}

// The sum of x * y, or of x alone when y is NULL.
static inline double ROW(dot)(const REAL *x, const REAL *y, int64_t n)
{
    double sum = 0;
    for (int64_t start = 0; start < n; start += ROW_CHUNK) {
        const int64_t end = n - start < ROW_CHUNK ? n : start + ROW_CHUNK;
        REAL lane[ROW_LANES] = {0}, rest = 0;
        int64_t i = start;
        for (; i + ROW_LANES <= end; i += ROW_LANES)
            for (int j = 0; j < ROW_LANES; j++)
                lane[j] += y ? x[i + j] * y[i + j] : x[i + j];
        for (; i < end; i++)
            rest += y ? x[i] * y[i] : x[i];
        sum += (double)(ROW(lanes_sum)(lane) + rest);
    }
    return sum;
}
