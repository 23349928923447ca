// SPDX-License-Identifier: Apache-2.0
// QR by Householder reflections (Golub, Van Loan, Matrix Computations, 5.2). Each reflection is
// applied to the columns to its right, which threads share; what becomes of a column depends on
// nothing else, so bits do not depend on their number.
#include "nn/init/qr.h"

#include <math.h>

#include "base/integer.h"
#include "base/thread_pool.h"

#define CHUNK_ELEMENTS 32768

typedef struct decomposition {
    double *columns;       /* (count, length) */
    double *q;             /* (count, length) */
    int64_t count, length; // columns and rows
    int64_t step;          // of the reflection that is applied
    int64_t chunk_columns;
} decomposition;

static double dot(const double *a, const double *b, int64_t n)
{
    double sum[4] = {0};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++)
            sum[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// x -= 2 v (v . x), of a v of length 1 or 0.
static void reflect(const double *v, double *x, int64_t n)
{
    const double factor = 2 * dot(v, x, n);
    for (int64_t i = 0; i < n; i++)
        x[i] -= factor * v[i];
}

// Makes x (n) the v of length 1 whose reflection takes x to a multiple of the first unit vector.
// Returns that multiple, an element of R's diagonal; 0 leaves zeros, which reflect nothing.
static double make_reflection(double *x, int64_t n)
{
    const double norm = sqrt(dot(x, x, n)), diagonal = -copysign(norm, x[0]);
    if (norm == 0)
        return 0;
    x[0] -= diagonal;
    const double length = sqrt(dot(x, x, n));
    for (int64_t i = 0; i < n; i++)
        x[i] /= length;
    return diagonal;
}

static void reflect_columns(void *context, int64_t chunk)
{
    const decomposition *d = context;
    const double *v = d->columns + d->step * d->length + d->step;
    const int64_t first = d->step + 1 + chunk * d->chunk_columns;
    const int64_t end = min_int64(first + d->chunk_columns, d->count);
    for (int64_t j = first; j < end; j++)
        reflect(v, d->columns + j * d->length + d->step, d->length - d->step);
}

// Column j of Q is what the reflections make of unit vector j, the last one first; `q` holds the
// sign that it gets at its place in front.
static void make_q_column(void *context, int64_t j)
{
    const decomposition *d = context;
    double *x = d->q + j * d->length;
    const double sign = x[0];
    for (int64_t i = 0; i < d->length; i++)
        x[i] = i == j ? sign : 0;
    for (int64_t k = j; k >= 0; k--)
        reflect(d->columns + k * d->length + k, x + k, d->length - k);
}

void tern_init_qr(double *columns, double *q, int64_t count, int64_t length)
{
    decomposition d = {.columns = columns, .q = q, .count = count, .length = length};
    for (d.step = 0; d.step < count; d.step++) {
        const int64_t rest = length - d.step, right = count - d.step - 1;
        const double diagonal = make_reflection(columns + d.step * length + d.step, rest);
        q[d.step * length] = (double)((diagonal > 0) - (diagonal < 0));
        d.chunk_columns = max_int64(1, CHUNK_ELEMENTS / rest);
        tern_pool_run((right + d.chunk_columns - 1) / d.chunk_columns, reflect_columns, &d);
    }
    tern_pool_run(count, make_q_column, &d);
}
