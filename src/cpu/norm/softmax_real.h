// SPDX-License-Identifier: Apache-2.0
// Softmax along a contiguous row, and of up to COLS columns side by side; a template over row.h's
// parameters and ROW_LOG, included after it.

// A row of so many vectors, which stay in registers; the last may have lanes past the row's end.
FOLD_INLINE void ROW(short_row)(const softmax_job *job, REAL *y, const REAL *x, int vectors)
{
    ROW(vec) v[ROW(VECTORS)], most, sum = {0};
    int64_t part[ROW(VECTORS)];
    for (int j = 0; j < vectors; j++) {
        part[j] = j < vectors - 1 ? ROW(WIDTH) : job->n - j * ROW(WIDTH);
        v[j] = ROW(load_part)(x + j * ROW(WIDTH), part[j], -INFINITY);
        most = j > 0 ? ROW(larger)(v[j], most) : v[j];
    }
    const REAL top = ROW(largest_lane)(most);
    for (int j = 0; j < vectors; j++) {
        const ROW(vec) off = ROW(load_part)(x + j * ROW(WIDTH), part[j], top) - top;
        const ROW(vec) e = ROW(exp)(off);
        sum += ROW(first)(e, part[j]);
        v[j] = job->log ? off : e;
    }
    const REAL total = ROW(lanes)(sum);
    const REAL less = job->log ? ROW_LOG(total) : 0, scale = 1 / total;
    for (int j = 0; j < vectors; j++) {
        const ROW(vec) result = job->log ? v[j] - less : v[j] * scale;
        ROW(store_part)(y + j * ROW(WIDTH), result, part[j]);
    }
}

static void ROW(row)(const softmax_job *job, int64_t row)
{
    const int64_t n = job->n;
    const REAL *x = (const REAL *)job->x + row * n;
    REAL *y = (REAL *)job->y + row * n;
    if (n <= ROW(WIDTH)) {
        ROW(short_row)(job, y, x, 1);
        return;
    }
    if (n <= ROW(VECTORS) * ROW(WIDTH)) {
        ROW(short_row)(job, y, x, ROW(VECTORS));
        return;
    }
    const REAL top = ROW(max)(x, n);
    if (job->log) {
        const REAL logarithm = ROW_LOG((REAL)ROW(exp_sum)(NULL, x, top, n));
        for (int64_t i = 0; i < n; i += ROW(WIDTH)) {
            const int64_t part = ROW(part)(n - i);
            ROW(store_part)
            (y + i, (ROW(load_part)(x + i, part, 0) - top) - logarithm, part);
        }
        return;
    }
    const REAL scale = (REAL)(1 / ROW(exp_sum)(y, x, top, n));
    for (int64_t i = 0; i < n; i++)
        y[i] *= scale;
}

// As short_row.
FOLD_INLINE void ROW(short_row_grad)(const softmax_job *job, REAL *dx, const REAL *dy,
                                     const REAL *y, int vectors)
{
    ROW(vec) g[ROW(VECTORS)], s[ROW(VECTORS)], sum = {0};
    int64_t part[ROW(VECTORS)];
    for (int j = 0; j < vectors; j++) {
        const int64_t at = j * ROW(WIDTH);
        part[j] = j < vectors - 1 ? ROW(WIDTH) : job->n - at;
        g[j] = ROW(load_part)(dy + at, part[j], 0);
        s[j] = ROW(load_part)(y + at, part[j], 0);
        sum += job->log ? g[j] : g[j] * s[j];
    }
    const REAL total = ROW(lanes)(sum);
    for (int j = 0; j < vectors; j++) {
        const ROW(vec) d = job->log ? g[j] - ROW(exp)(s[j]) * total : s[j] * (g[j] - total);
        ROW(store_part)(dx + j * ROW(WIDTH), d, part[j]);
    }
}

static void ROW(row_grad)(const softmax_job *job, int64_t row)
{
    const int64_t n = job->n;
    const REAL *dy = (const REAL *)job->x + row * n, *y = (const REAL *)job->of + row * n;
    REAL *dx = (REAL *)job->y + row * n;
    if (n <= ROW(WIDTH)) {
        ROW(short_row_grad)(job, dx, dy, y, 1);
        return;
    }
    if (n <= ROW(VECTORS) * ROW(WIDTH)) {
        ROW(short_row_grad)(job, dx, dy, y, ROW(VECTORS));
        return;
    }
    const REAL sum = (REAL)(job->log ? ROW(total)(dy, n) : ROW(dot)(dy, y, n));
    if (job->log) {
        for (int64_t i = 0; i < n; i += ROW(WIDTH)) {
            const int64_t part = ROW(part)(n - i);
            const ROW(vec) e = ROW(exp)(ROW(load_part)(y + i, part, 0));
            ROW(store_part)(dx + i, ROW(load_part)(dy + i, part, 0) - e * sum, part);
        }
    } else {
        ELEMENTWISE_LOOP
        for (int64_t i = 0; i < n; i++)
            dx[i] = y[i] * (dy[i] - sum);
    }
}

// Where the block's first element lies, and how many columns it has.
static int64_t ROW(block)(const softmax_job *job, int64_t unit, int64_t *cols)
{
    const int64_t blocks = (job->inner + COLS - 1) / COLS, first = unit % blocks * COLS;
    *cols = job->inner - first < COLS ? job->inner - first : COLS;
    return unit / blocks * job->n * job->inner + first;
}

static void ROW(columns)(const softmax_job *job, int64_t unit)
{
    int64_t cols;
    const int64_t at = ROW(block)(job, unit, &cols), n = job->n, inner = job->inner;
    const REAL *x = (const REAL *)job->x + at;
    REAL *y = (REAL *)job->y + at;
    REAL top[COLS], last[COLS], e[COLS];
    double sum[COLS] = {0};
    for (int64_t c = 0; c < cols; c++)
        top[c] = -INFINITY;
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < cols; c++)
            top[c] = x[i * inner + c] > top[c] ? x[i * inner + c] : top[c];
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < cols; c++)
            e[c] = ROW_EXP(x[i * inner + c] - top[c]);
        for (int64_t c = 0; c < cols; c++)
            sum[c] += (double)e[c];
        if (!job->log)
            memcpy(y + i * inner, e, (size_t)cols * sizeof *e);
    }
    for (int64_t c = 0; c < cols; c++)
        last[c] = job->log ? ROW_LOG((REAL)sum[c]) : (REAL)(1 / sum[c]);
    for (int64_t i = 0; i < n; i++) {
        REAL *to = y + i * inner;
        ELEMENTWISE_LOOP
        for (int64_t c = 0; c < cols; c++)
            to[c] = job->log ? (x[i * inner + c] - top[c]) - last[c] : to[c] * last[c];
    }
}

static void ROW(columns_grad)(const softmax_job *job, int64_t unit)
{
    int64_t cols;
    const int64_t at = ROW(block)(job, unit, &cols), n = job->n, inner = job->inner;
    const REAL *dy = (const REAL *)job->x + at, *y = (const REAL *)job->of + at;
    REAL *dx = (REAL *)job->y + at;
    double sum[COLS] = {0};
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < cols; c++)
            sum[c] += (double)(job->log ? dy[i * inner + c] : dy[i * inner + c] * y[i * inner + c]);
    for (int64_t i = 0; i < n; i++) {
        const REAL *g = dy + i * inner, *s = y + i * inner;
        REAL *to = dx + i * inner;
        ELEMENTWISE_LOOP
        for (int64_t c = 0; c < cols; c++)
            to[c] = job->log ? g[c] - ROW_EXP(s[c]) * (REAL)sum[c] : s[c] * (g[c] - (REAL)sum[c]);
    }
}
