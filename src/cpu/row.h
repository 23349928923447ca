// SPDX-License-Identifier: Apache-2.0
// Rows of a softmax. A template: REAL is float or double, REAL_BITS the signed integer of its size,
// ROW(name) the names, ROW_EXP the exponential. Long rows are added in chunks, then in double.

typedef REAL ROW(vec) __attribute__((vector_size(FOLD_BYTES)));
typedef REAL_BITS ROW(mask) __attribute__((vector_size(FOLD_BYTES)));
typedef REAL ROW(unaligned)
    __attribute__((vector_size(FOLD_BYTES), aligned(sizeof(REAL)), may_alias));

enum { ROW(WIDTH) = FOLD_BYTES / sizeof(REAL) };

FOLD_INLINE ROW(vec) ROW(load)(const REAL *x)
{
    return *(const ROW(unaligned) *)x;
}

FOLD_INLINE ROW(vec) ROW(larger)(ROW(vec) x, ROW(vec) y)
{
    const ROW(mask) mask = x > y;
    return (ROW(vec))(((ROW(mask))x & mask) | ((ROW(mask))y & ~mask));
}

// The largest element, -infinity for n = 0; a NaN may or may not be passed over.
static inline REAL ROW(max)(const REAL *x, int64_t n)
{
    REAL top = -INFINITY;
    int64_t i = 0;
    if (n >= 2 * ROW(WIDTH)) {
        ROW(vec) a = ROW(load)(x), b = ROW(load)(x + ROW(WIDTH));
        for (i = 2 * ROW(WIDTH); i + 2 * ROW(WIDTH) <= n; i += 2 * ROW(WIDTH)) {
            a = ROW(larger)(ROW(load)(x + i), a);
            b = ROW(larger)(ROW(load)(x + i + ROW(WIDTH)), b);
        }
        a = ROW(larger)(a, b);
        for (int j = 0; j < ROW(WIDTH); j++)
            top = a[j] > top ? a[j] : top;
    }
    for (; i < n; i++)
        top = x[i] > top ? x[i] : top;
    return top;
}

// The lanes' sum, in pairs.
FOLD_INLINE REAL ROW(lanes)(ROW(vec) v)
{
    REAL lane[ROW(WIDTH)];
    memcpy(lane, &v, sizeof lane);
    for (int half = ROW(WIDTH) / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++)
            lane[i] += lane[i + half];
    return lane[0];
}

// n <= FOLD_CHUNK.
static inline REAL ROW(sum)(const REAL *x, int64_t n)
{
    REAL total = 0;
    int64_t i = 0;
    if (n >= ROW(WIDTH)) {
        ROW(vec) v[4] = {{0}};
        for (; i + 4 * ROW(WIDTH) <= n; i += 4 * ROW(WIDTH))
            for (int j = 0; j < 4; j++)
                v[j] += ROW(load)(x + i + j * ROW(WIDTH));
        for (; i + ROW(WIDTH) <= n; i += ROW(WIDTH))
            v[0] += ROW(load)(x + i);
        total = ROW(lanes)((v[0] + v[1]) + (v[2] + v[3]));
    }
    for (; i < n; i++)
        total += x[i];
    return total;
}

// The sum of exp(x - shift), each written to y; n <= FOLD_CHUNK.
static inline REAL ROW(exp_chunk)(REAL *y, const REAL *x, REAL shift, int64_t n)
{
    if (n >= 64) {
        ELEMENTWISE_LOOP
        for (int64_t i = 0; i < n; i++)
            y[i] = ROW_EXP(x[i] - shift);
        return ROW(sum)(y, n);
    }
    // Whole vectors: exp(-infinity) adds 0.
    REAL e[64];
    const int64_t padded = (n + ROW(WIDTH) - 1) / ROW(WIDTH) * ROW(WIDTH);
    for (int64_t i = 0; i < n; i++)
        e[i] = x[i] - shift;
    for (int64_t i = n; i < padded; i++)
        e[i] = -INFINITY;
    for (int64_t i = 0; i < padded; i += ROW(WIDTH))
        for (int j = 0; j < ROW(WIDTH); j++)
            e[i + j] = ROW_EXP(e[i + j]);
    for (int64_t i = 0; i < n; i++)
        y[i] = e[i];
    return ROW(sum)(e, padded);
}

// y may be NULL.
static inline double ROW(exp_sum)(REAL *y, const REAL *x, REAL shift, int64_t n)
{
    REAL chunk[FOLD_CHUNK];
    double sum = 0;
    for (int64_t i = 0; i < n; i += FOLD_CHUNK)
        sum += (double)ROW(exp_chunk)(y ? y + i : chunk, x + i, shift,
                                      n - i < FOLD_CHUNK ? n - i : FOLD_CHUNK);
    return sum;
}

// The sum of x * y.
static inline double ROW(dot)(const REAL *x, const REAL *y, int64_t n)
{
    REAL chunk[FOLD_CHUNK];
    double sum = 0;
    for (int64_t start = 0; start < n; start += FOLD_CHUNK) {
        const int64_t count = n - start < FOLD_CHUNK ? n - start : FOLD_CHUNK;
        for (int64_t i = 0; i < count; i++)
            chunk[i] = x[start + i] * y[start + i];
        sum += (double)ROW(sum)(chunk, count);
    }
    return sum;
}

static inline double ROW(total)(const REAL *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i += FOLD_CHUNK)
        sum += (double)ROW(sum)(x + i, n - i < FOLD_CHUNK ? n - i : FOLD_CHUNK);
    return sum;
}
