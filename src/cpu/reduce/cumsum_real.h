// SPDX-License-Identifier: Apache-2.0
// The running sum of a line; a template: TYPE, SUM (what it is added in), CUMSUM(name) for names.

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
