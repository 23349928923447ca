// SPDX-License-Identifier: Apache-2.0
// A template: the windows of pooling along one dimension, for both backends. Before it is included:
//
//     POOL_FN                 what a function begins with
//     POOL_DIM                tern_pool_dim, or a struct that has its fields
//     POOL_BY(n, dim, field)  n / dim->field, n >= 0; field: in, out, stride or dilation

// Inputs base + t * dilation for first <= t < end.
typedef struct pool_window {
    int64_t base, first, end;
} pool_window;

POOL_FN pool_window pool_find_window(const POOL_DIM *d, int64_t o)
{
    pool_window w;
    if (d->adaptive) {
        w.base = POOL_BY(o * d->in, d, out);
        w.first = 0;
        w.end = POOL_BY((o + 1) * d->in + d->out - 1, d, out) - w.base;
        return w;
    }
    w.base = o * d->stride - d->padding;
    w.first = w.base < 0 ? POOL_BY(d->dilation - 1 - w.base, d, dilation) : 0;
    w.end = POOL_BY(d->in - w.base + d->dilation - 1, d, dilation);
    w.end = w.end < d->kernel ? w.end : d->kernel;
    return w;
}

// Outputs first ... first + count - 1 may have input i in their window; some may lie outside.
typedef struct pool_outputs {
    int64_t first, count;
} pool_outputs;

POOL_FN pool_outputs pool_find_outputs(const POOL_DIM *d, int64_t i)
{
    pool_outputs r;
    if (d->adaptive) {
        r.first = POOL_BY(i * d->out, d, in);
        r.count = POOL_BY((i + 1) * d->out + d->in - 1, d, in) - r.first;
        return r;
    }
    const int64_t at = i + d->padding, before = at - d->dilation * (d->kernel - 1) - 1;
    r.first = before < 0 ? 0 : POOL_BY(before, d, stride) + 1;
    r.count = POOL_BY(at, d, stride) + 1 - r.first;
    return r;
}

// Which t of output o's window input i is, -1 for none.
POOL_FN int64_t pool_tap(const POOL_DIM *d, int64_t o, int64_t i)
{
    if (o < 0 || o >= d->out)
        return -1;
    const pool_window w = pool_find_window(d, o);
    const int64_t t = POOL_BY(i < w.base ? 0 : i - w.base, d, dilation);
    return i == w.base + t * d->dilation && t < w.end ? t : -1;
}
