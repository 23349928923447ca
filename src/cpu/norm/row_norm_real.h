// SPDX-License-Identifier: Apache-2.0
// Segments of rows of row_norm.c, a template over row.h's parameters, included after sums_real.h.
// Where the elements of a channel lie together (inner > 1) a row is done channel by channel.

// Where row r begins in the weights.
static int64_t ROW(params_at)(const row_job *job, int64_t row)
{
    return row % job->args->groups * job->row_params;
}

// ---- forward ------------------------------------------------------------------------------------

static double ROW(mean_of)(const row_job *job, const REAL *x)
{
    ROW(adder) sum = {.count = 0};
    if (job->args->rms || job->n == 0)
        return 0;
    ROW(add_values)(&sum, x, job->n);
    ROW(flush)(&sum);
    return sum.total / (double)job->n;
}

// *mean, whose sum was rounded, gets what the deviations from it add up to.
static REAL ROW(rstd_of)(const row_job *job, const REAL *x, double *mean)
{
    ROW(adder) deviations = {.count = 0}, squares = {.count = 0};
    if (job->n == 0)
        return 0;
    ROW(add_off)(&deviations, &squares, x, (REAL)*mean, job->n);
    ROW(flush)(&deviations);
    ROW(flush)(&squares);
    const double off = job->args->rms ? 0 : deviations.total / (double)job->n;
    const double var = squares.total / (double)job->n - off * off;
    *mean = (double)(REAL)*mean + off;
    return (REAL)(1 / sqrt((var < 0 ? 0 : var) + job->args->eps));
}

static void ROW(write)(const row_job *job, REAL *y, const REAL *x, int64_t row, REAL mean,
                       REAL rstd)
{
    const int64_t inner = job->args->inner, n = job->n, at = ROW(params_at)(job, row);
    const REAL *weight = job->weight ? (const REAL *)job->weight + at : NULL;
    const REAL *bias = job->bias ? (const REAL *)job->bias + at : NULL;
    if (inner > 1) {
        for (int64_t k = 0; k < job->row_params; k++) {
            const ROW(channel) c = {.mean = mean,
                                    .scale = weight ? rstd * weight[k] : rstd,
                                    .shift = bias ? bias[k] : 0};
            ROW(normalise)(y + k * inner, x + k * inner, &c, inner);
        }
    } else if (weight && bias) {
        ELEMENTWISE_LOOP
        for (int64_t i = 0; i < n; i++)
            y[i] = (x[i] - mean) * rstd * weight[i] + bias[i];
    } else {
        ELEMENTWISE_LOOP
        for (int64_t i = 0; i < n; i++)
            y[i] = (x[i] - mean) * rstd * (weight ? weight[i] : 1) + (bias ? bias[i] : 0);
    }
}

static void ROW(rows)(const row_job *job, int64_t segment)
{
    const int64_t first = segment * job->samples;
    REAL *means = job->args->rms ? NULL : job->args->mean.data, *rstds = job->args->rstd.data;
    for (int64_t row = first; row < smaller(first + job->samples, job->rows); row++) {
        const REAL *x = (const REAL *)job->x + row * job->n;
        double mean = ROW(mean_of)(job, x);
        rstds[row] = ROW(rstd_of)(job, x, &mean);
        if (means)
            means[row] = (REAL)mean;
        ROW(write)(job, (REAL *)job->y + row * job->n, x, row, (REAL)mean, rstds[row]);
    }
}

// ---- backward -----------------------------------------------------------------------------------

// A row: its means of g and of g x^, where g = dy weight and x^ = (x - mean) rstd.
typedef struct ROW(row) {
    const REAL *x, *dy, *weight; // weight: of this row, or NULL
    REAL mean, rstd;
    double gradient, product; // sums of g and g (x - mean)
} ROW(row);

// Sums of a segment, of which those of the last rows are still in REAL; NULL: none are wanted.
typedef struct ROW(sums) {
    double *dweight, *dbias;
    REAL *weights, *biases;
} ROW(sums);

static ROW(sums) ROW(sums_of)(const row_job *job, int64_t segment)
{
    ROW(sums) sums = {0};
    if (!job->partial)
        return sums;
    const int64_t at = segment * 2 * job->params;
    sums.dweight = job->partial + at;
    sums.dbias = sums.dweight + job->params;
    sums.weights = (REAL *)(void *)job->tile + at;
    sums.biases = sums.weights + job->params;
    memset(sums.dweight, 0, (size_t)(2 * job->params) * sizeof *sums.dweight);
    memset(sums.weights, 0, (size_t)(2 * job->params) * sizeof *sums.weights);
    return sums;
}

static void ROW(widen_sums)(const row_job *job, const ROW(sums) * sums)
{
    for (int64_t i = 0; i < 2 * job->params; i++) {
        sums->dweight[i] += (double)sums->weights[i];
        sums->weights[i] = 0;
    }
}

// A chunk of a row whose elements have a weight each: n <= FOLD_CHUNK.
FOLD_INLINE void ROW(sum_chunk)(ROW(row) * r, int64_t from, int64_t n, REAL *dweight, REAL *dbias)
{
    const REAL *x = r->x + from, *dy = r->dy + from, *weight = r->weight ? r->weight + from : NULL;
    const REAL mean = r->mean, rstd = r->rstd;
    ROW(vec) gradient[2] = {{0}}, product[2] = {{0}};
    REAL g_rest = 0, p_rest = 0;
    int64_t i = 0;
    for (; i + 2 * ROW(WIDTH) <= n; i += 2 * ROW(WIDTH))
        for (int k = 0; k < 2; k++) {
            const int64_t at = i + k * ROW(WIDTH);
            const ROW(vec) off = ROW(load)(x + at) - mean, d = ROW(load)(dy + at);
            const ROW(vec) g = weight ? d * ROW(load)(weight + at) : d;
            gradient[k] += g;
            product[k] += g * off;
            if (dweight) {
                *(ROW(unaligned) *)(dweight + at) += d * (off * rstd);
                *(ROW(unaligned) *)(dbias + at) += d;
            }
        }
    for (; i < n; i++) {
        const REAL off = x[i] - mean, g = weight ? dy[i] * weight[i] : dy[i];
        g_rest += g;
        p_rest += g * off;
        if (dweight) {
            dweight[i] += dy[i] * (off * rstd);
            dbias[i] += dy[i];
        }
    }
    r->gradient += (double)(ROW(lanes)(gradient[0] + gradient[1]) + g_rest);
    r->product += (double)(ROW(lanes)(product[0] + product[1]) + p_rest);
}

static void ROW(sum_elements)(const row_job *job, ROW(row) * r, const ROW(sums) * sums, int64_t at)
{
    for (int64_t i = 0; i < job->n; i += FOLD_CHUNK) {
        const int64_t n = smaller(FOLD_CHUNK, job->n - i);
        if (sums->weights)
            ROW(sum_chunk)(r, i, n, sums->weights + at + i, sums->biases + at + i);
        else
            ROW(sum_chunk)(r, i, n, NULL, NULL);
    }
}

static void ROW(sum_channels)(const row_job *job, ROW(row) * r, const ROW(sums) * sums, int64_t at)
{
    const int64_t inner = job->args->inner;
    const ROW(channel) channel = {.mean = r->mean};
    for (int64_t k = 0; k < job->row_params; k++) {
        ROW(adder) gradient = {.count = 0}, product = {.count = 0};
        ROW(add_pairs)(&gradient, &product, r->dy + k * inner, r->x + k * inner, &channel, inner);
        ROW(flush)(&gradient);
        ROW(flush)(&product);
        const double weight = r->weight ? (double)r->weight[k] : 1;
        r->gradient += gradient.total * weight;
        r->product += product.total * weight;
        if (sums->dweight) {
            sums->dweight[at + k] += product.total * (double)r->rstd;
            sums->dbias[at + k] += gradient.total;
        }
    }
}

static void ROW(write_grad)(const row_job *job, REAL *dx, const ROW(row) * r)
{
    const int64_t inner = job->args->inner, n = job->n;
    const double rstd = (double)r->rstd, count = (double)n;
    const REAL first = job->args->rms ? 0 : (REAL)(r->gradient / count);
    const REAL second = (REAL)(r->product * rstd / count);
    const ROW(row) own = *r;
    if (inner > 1) {
        for (int64_t k = 0; k < job->row_params; k++) {
            const REAL weight = r->weight ? r->weight[k] : 1;
            ELEMENTWISE_LOOP
            for (int64_t i = k * inner; i < (k + 1) * inner; i++)
                dx[i] = (own.dy[i] * weight - first - (own.x[i] - own.mean) * own.rstd * second) *
                        own.rstd;
        }
        return;
    }
    ELEMENTWISE_LOOP
    for (int64_t i = 0; i < n; i++) {
        const REAL g = own.weight ? own.dy[i] * own.weight[i] : own.dy[i];
        dx[i] = (g - first - (own.x[i] - own.mean) * own.rstd * second) * own.rstd;
    }
}

static void ROW(rows_grad)(const row_job *job, int64_t segment)
{
    const int64_t first = segment * job->samples;
    const int64_t last = smaller(first + job->samples, job->rows);
    const ROW(sums) sums = ROW(sums_of)(job, segment);
    for (int64_t row = first; row < last; row++) {
        const int64_t at = ROW(params_at)(job, row);
        ROW(row)
        r = {.x = (const REAL *)job->x + row * job->n,
             .dy = (const REAL *)job->dy + row * job->n,
             .weight = job->weight ? (const REAL *)job->weight + at : NULL,
             .rstd = ((const REAL *)job->args->rstd.data)[row]};
        if (!job->args->rms)
            r.mean = ((const REAL *)job->args->mean.data)[row];
        if (job->args->inner > 1)
            ROW(sum_channels)(job, &r, &sums, at);
        else
            ROW(sum_elements)(job, &r, &sums, at);
        if (job->y)
            ROW(write_grad)(job, (REAL *)job->y + row * job->n, &r);
        if (sums.weights && job->args->inner == 1 &&
            ((row - first + 1) % FOLD_ROWS == 0 || row + 1 == last))
            ROW(widen_sums)(job, &sums);
    }
}
