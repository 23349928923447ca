// SPDX-License-Identifier: Apache-2.0
// Cross-entropy of a piece of the samples: a template over row.h's parameters and ROW_LOG.

// Samples side by side. Class c of lane j is x[c * stride + j].
typedef struct ROW(block) {
    int64_t sample; // of lane 0
    int count;      // lanes
    int width;      // lanes that are computed, the others are zeros
    int64_t stride;
    const REAL *x, *q;                       // logits, target probabilities or NULL
    REAL top[CE_LANES], logarithm[CE_LANES]; // largest logit, log of sum exp(x - top)
    double sum[CE_LANES];                    // sum exp(x - top)
    double linear[CE_LANES];                 // sum w[c] q[c] (x[c] - top)
    double mass[CE_LANES];                   // sum w[c] q[c]
} ROW(block);

typedef struct ROW(tiles) {
    REAL x[CE_TILE * CE_LANES], q[CE_TILE * CE_LANES];
} ROW(tiles);

static int64_t ROW(at)(const ce_job *job, int64_t sample)
{
    const int64_t s = job->spatial;
    return s == 1 ? sample * job->classes : sample / s * job->classes * s + sample % s;
}

static void ROW(transpose_in)(REAL *tile, const REAL *x, int64_t classes, int count)
{
    if (count < CE_LANES)
        memset(tile, 0, (size_t)classes * CE_LANES * sizeof *tile);
    for (int j = 0; j < count; j++)
        for (int64_t c = 0; c < classes; c++)
            tile[c * CE_LANES + j] = x[j * classes + c];
}

// Takes as many samples as go side by side, fewer than CE_LANES before `last` and the end of an
// image.
static void ROW(begin)(ROW(block) * block, ROW(tiles) * tiles, const ce_job *job, int64_t sample,
                       int64_t last)
{
    const tern_cross_entropy_args *args = job->args;
    const int64_t classes = job->classes, s = job->spatial, at = ROW(at)(job, sample);
    const bool rows = s == 1 && classes > CE_TILE;
    int64_t count = rows ? 1 : last - sample;
    if (s > 1 && count > s - sample % s)
        count = s - sample % s;
    block->sample = sample;
    block->count = count < CE_LANES ? (int)count : CE_LANES;
    block->width = block->count;
    block->stride = s;
    block->x = (const REAL *)args->x.data + at;
    block->q = args->probabilities ? (const REAL *)args->target.data + at : NULL;
    if (s > 1 || rows)
        return;
    block->width = CE_LANES;
    block->stride = CE_LANES;
    ROW(transpose_in)(tiles->x, block->x, classes, block->count);
    block->x = tiles->x;
    if (block->q) {
        ROW(transpose_in)(tiles->q, block->q, classes, block->count);
        block->q = tiles->q;
    }
}

// The probability that the target gives class c, smoothed; uniform for labels.
FOLD_INLINE REAL ROW(smooth)(const ce_job *job, const REAL *q, int64_t at)
{
    const REAL smoothing = (REAL)job->args->label_smoothing;
    const REAL uniform = smoothing / (REAL)job->classes;
    return q ? q[at] * (1 - smoothing) + uniform : 1;
}

FOLD_INLINE REAL ROW(weight)(const ce_job *job, int64_t c)
{
    return job->args->weight ? ((const REAL *)job->args->weight->data)[c] : 1;
}

// Sums over the classes first to last - 1.
FOLD_INLINE void ROW(add_classes)(ROW(block) * b, const ce_job *job, bool linear, int width,
                                  int64_t first, int64_t last)
{
    REAL sum[CE_LANES] = {0}, product[CE_LANES] = {0}, mass[CE_LANES] = {0};
    for (int64_t c = first; c < last; c++) {
        const REAL *x = b->x + c * b->stride, weight = ROW(weight)(job, c);
        for (int j = 0; j < width; j++)
            sum[j] += ROW_EXP(x[j] - b->top[j]);
        for (int j = 0; linear && j < width; j++) {
            const REAL q = weight * ROW(smooth)(job, b->q, c * b->stride + j);
            product[j] += q * (x[j] - b->top[j]);
            mass[j] += q;
        }
    }
    for (int j = 0; j < width; j++) {
        b->sum[j] += (double)sum[j];
        b->linear[j] += (double)product[j];
        b->mass[j] += (double)mass[j];
    }
}

FOLD_INLINE void ROW(stats_of)(ROW(block) * b, const ce_job *job, bool linear, int width)
{
    const int64_t classes = job->classes;
    for (int j = 0; j < width; j++)
        b->top[j] = -INFINITY;
    for (int64_t c = 0; c < classes; c++)
        for (int j = 0; j < width; j++) {
            const REAL x = b->x[c * b->stride + j];
            b->top[j] = x > b->top[j] ? x : b->top[j];
        }
    for (int j = 0; j < width; j++)
        b->sum[j] = b->linear[j] = b->mass[j] = 0;
    for (int64_t c = 0; c < classes; c += CE_CLASS_CHUNK)
        ROW(add_classes)
    (b, job, linear, width, c, classes - c < CE_CLASS_CHUNK ? classes : c + CE_CLASS_CHUNK);
}

// One row of many classes.
static void ROW(stats_row)(ROW(block) * b, const ce_job *job, bool linear)
{
    const REAL top = ROW(max)(b->x, job->classes);
    double product = 0, mass = 0;
    b->top[0] = top;
    b->sum[0] = ROW(exp_sum)(NULL, b->x, top, job->classes);
    if (linear && !b->q && !job->args->weight) {
        mass = (double)job->classes;
        product = ROW(total)(b->x, job->classes) - mass * (double)top;
        linear = false;
    }
    for (int64_t c = 0; linear && c < job->classes; c++) {
        const REAL q = ROW(weight)(job, c) * ROW(smooth)(job, b->q, c);
        product += (double)(q * (b->x[c] - top));
        mass += (double)q;
    }
    b->linear[0] = product;
    b->mass[0] = mass;
}

static bool ROW(is_row)(const ce_job *job)
{
    return job->spatial == 1 && job->classes > CE_TILE;
}

static void ROW(stats)(ROW(block) * b, const ce_job *job)
{
    const bool linear = b->q || job->args->label_smoothing > 0;
    if (ROW(is_row)(job))
        ROW(stats_row)(b, job, linear);
    else if (b->width == CE_LANES && linear)
        ROW(stats_of)(b, job, true, CE_LANES);
    else if (b->width == CE_LANES)
        ROW(stats_of)(b, job, false, CE_LANES);
    else
        ROW(stats_of)(b, job, linear, b->width);
    for (int j = b->width; j < CE_LANES; j++)
        b->sum[j] = 1;
    for (int j = 0; j < CE_LANES; j++)
        b->logarithm[j] = ROW_LOG((REAL)b->sum[j]);
}

// The loss of a sample whose label counts, before reduction.
static double ROW(label_loss)(const ROW(block) * b, const ce_job *job, int j, int64_t label)
{
    const double smoothing = job->args->label_smoothing;
    const REAL x = b->x[label * b->stride + j] - b->top[j];
    const double hit = (double)ROW(weight)(job, label) * ((double)b->logarithm[j] - (double)x);
    if (smoothing == 0)
        return hit;
    const double rest = b->mass[j] * (double)b->logarithm[j] - b->linear[j];
    return (1 - smoothing) * hit + smoothing / (double)job->classes * rest;
}

// Losses of the block's samples; adds to the piece's sums.
static void ROW(finish)(const ROW(block) * b, const ce_job *job, double *loss, double *total)
{
    const tern_cross_entropy_args *args = job->args;
    REAL *lse = (REAL *)args->lse.data + b->sample;
    for (int j = 0; j < b->count; j++) {
        const int64_t sample = b->sample + j;
        double own = 0;
        lse[j] = b->top[j] + b->logarithm[j];
        if (b->q) {
            own = b->mass[j] * (double)b->logarithm[j] - b->linear[j];
            *total += 1;
        } else {
            const int64_t label = ((const int64_t *)args->target.data)[sample];
            if (ce_counts(job, sample, label, true)) {
                own = ROW(label_loss)(b, job, j, label);
                *total += (double)ROW(weight)(job, label);
            }
        }
        *loss += own;
        if (args->reduction == TERN_REDUCTION_NONE)
            ((REAL *)args->loss.data)[sample] = (REAL)own;
    }
}

static void ROW(forward)(const ce_job *job, int64_t piece, int64_t first, int64_t last)
{
    ROW(block) block;
    ROW(tiles) tiles;
    double loss = 0, total = 0;
    while (first < last) {
        ROW(begin)(&block, &tiles, job, first, last);
        ROW(stats)(&block, job);
        ROW(finish)(&block, job, &loss, &total);
        first += block.count;
    }
    job->loss[piece] = loss;
    job->total[piece] = total;
}
