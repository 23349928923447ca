// SPDX-License-Identifier: Apache-2.0
// Squared error of n elements; a template: REAL, MSE(name) for the names.

// Chunks are added in REAL by eight sums, then in double.
static double MSE(sum)(const void *x_data, const void *t_data, int64_t n)
{
    const REAL *x = x_data, *t = t_data;
    double total = 0;
    for (int64_t done = 0; done < n; done += MSE_CHUNK) {
        const int64_t end = n - done < MSE_CHUNK ? n : done + MSE_CHUNK;
        REAL sum[8] = {0};
        int64_t i = done;
        for (; i + 8 <= end; i += 8)
            for (int k = 0; k < 8; k++)
                sum[k] += (x[i + k] - t[i + k]) * (x[i + k] - t[i + k]);
        for (; i < end; i++)
            sum[0] += (x[i] - t[i]) * (x[i] - t[i]);
        for (int k = 0; k < 8; k++)
            total += (double)sum[k];
    }
    return total;
}

static void MSE(each)(void *y_data, const void *x_data, const void *t_data, int64_t n)
{
    const REAL *x = x_data, *t = t_data;
    REAL *y = y_data;
    for (int64_t i = 0; i < n; i++)
        y[i] = (x[i] - t[i]) * (x[i] - t[i]);
}

// step: 0 when all elements share one dy.
static void MSE(grad)(void *dx_data, const void *dy_data, int64_t step, const void *x_data,
                      const void *t_data, double factor, int64_t n)
{
    const REAL *x = x_data, *t = t_data, *dy = dy_data;
    const REAL twice = (REAL)(2 * factor);
    REAL *dx = dx_data;
    for (int64_t i = 0; i < n; i++)
        dx[i] = twice * (x[i] - t[i]) * dy[i * step];
}
