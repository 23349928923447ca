// SPDX-License-Identifier: Apache-2.0
// The running sum of lines; a template: TYPE, SUM (what it is added in), CUMSUM(name) for names.

static void CUMSUM(line)(void *out, int64_t y_stride, const void *in, int64_t x_stride, int64_t n)
{
    TYPE *y = out;
    const TYPE *x = in;
    SUM sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += (SUM)x[i * x_stride];
        y[i * y_stride] = (TYPE)sum;
    }
}

// LINES lines at steps y_next and x_next: one sum need not wait for another.
static void CUMSUM(lines)(void *out, int64_t y_stride, int64_t y_next, const void *in,
                          int64_t x_stride, int64_t x_next, int64_t n)
{
    TYPE *y = out;
    const TYPE *x = in;
    SUM sum[LINES] = {0};
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < LINES; k++) {
            sum[k] += (SUM)x[i * x_stride + k * x_next];
            y[i * y_stride + k * y_next] = (TYPE)sum[k];
        }
}

// `cols` lines whose elements lie side by side.
static void CUMSUM(strip)(void *out, int64_t y_stride, const void *in, int64_t x_stride, int64_t n,
                          int64_t cols)
{
    SUM sum[STRIP] = {0};
    for (int64_t i = 0; i < n; i++) {
        TYPE *y = (TYPE *)out + i * y_stride;
        const TYPE *x = (const TYPE *)in + i * x_stride;
        ELEMENTWISE_LOOP
        for (int64_t c = 0; c < cols; c++) {
            sum[c] += (SUM)x[c];
            y[c] = (TYPE)sum[c];
        }
    }
}
