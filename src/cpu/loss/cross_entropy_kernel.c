// SPDX-License-Identifier: Apache-2.0
// Cross-entropy of a chunk of the samples, and its gradient.
#include "cpu/fault.h"
#include "cpu/loss/cross_entropy.h"
#include "cpu/row.h"

#if REAL_IS_FLOAT
#define CE_LOG vm_log
#else
#define CE_LOG log
#endif

// Samples side by side. Class c of lane j is x[c * stride + j].
typedef struct ce_block {
    int64_t sample; // of lane 0
    int count;      // lanes
    int width;      // lanes that are computed, the others are zeros
    int64_t stride;
    const real *x, *q;                       // logits, target probabilities or NULL
    real top[CE_LANES], logarithm[CE_LANES]; // largest logit, log of sum exp(x - top)
    double sum[CE_LANES];                    // sum exp(x - top)
    double linear[CE_LANES];                 // sum w[c] q[c] (x[c] - top)
    double mass[CE_LANES];                   // sum w[c] q[c]
} ce_block;

typedef struct ce_tiles {
    real x[CE_TILE * CE_LANES], q[CE_TILE * CE_LANES];
} ce_tiles;

static int64_t sample_offset(const ce_job *job, int64_t sample)
{
    const int64_t s = job->spatial;
    return s == 1 ? sample * job->classes : sample / s * job->classes * s + sample % s;
}

static void transpose_in(real *tile, const real *x, int64_t classes, int count)
{
    if (count < CE_LANES)
        memset(tile, 0, (size_t)classes * CE_LANES * sizeof *tile);
    for (int j = 0; j < count; j++)
        for (int64_t c = 0; c < classes; c++)
            tile[c * CE_LANES + j] = x[j * classes + c];
}

// Takes as many samples as go side by side, fewer than CE_LANES before `last` and the end of an
// image.
static void begin(ce_block *block, ce_tiles *tiles, const ce_job *job, int64_t sample, int64_t last)
{
    const tern_cross_entropy_args *args = job->args;
    const int64_t classes = job->classes, s = job->spatial, at = sample_offset(job, sample);
    const bool rows = s == 1 && classes > CE_TILE;
    int64_t count = rows ? 1 : last - sample;
    if (s > 1 && count > s - sample % s)
        count = s - sample % s;
    block->sample = sample;
    block->count = count < CE_LANES ? (int)count : CE_LANES;
    block->width = block->count;
    block->stride = s;
    block->x = (const real *)args->x.data + at;
    block->q = args->probabilities ? (const real *)args->target.data + at : NULL;
    if (s > 1 || rows)
        return;
    block->width = CE_LANES;
    block->stride = CE_LANES;
    transpose_in(tiles->x, block->x, classes, block->count);
    block->x = tiles->x;
    if (block->q) {
        transpose_in(tiles->q, block->q, classes, block->count);
        block->q = tiles->q;
    }
}

// The probability that the target gives class c, smoothed; uniform for labels.
VEC_INLINE real smooth(const ce_job *job, const real *q, int64_t at)
{
    const real smoothing = (real)job->args->label_smoothing;
    const real uniform = smoothing / (real)job->classes;
    return q ? q[at] * (1 - smoothing) + uniform : 1;
}

VEC_INLINE real class_weight(const ce_job *job, int64_t c)
{
    return job->args->weight ? ((const real *)job->args->weight->data)[c] : 1;
}

// Sums over the classes first to last - 1.
VEC_INLINE void add_classes(ce_block *b, const ce_job *job, bool linear, int width, int64_t first,
                            int64_t last)
{
    real sum[CE_LANES] = {0}, product[CE_LANES] = {0}, mass[CE_LANES] = {0};
    for (int64_t c = first; c < last; c++) {
        const real *x = b->x + c * b->stride, weight = class_weight(job, c);
        for (int j = 0; j < width; j++)
            sum[j] += row_exp_one(x[j] - b->top[j]);
        for (int j = 0; linear && j < width; j++) {
            const real q = weight * smooth(job, b->q, c * b->stride + j);
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

VEC_INLINE void stats_of(ce_block *b, const ce_job *job, bool linear, int width)
{
    const int64_t classes = job->classes;
    for (int j = 0; j < width; j++)
        b->top[j] = -INFINITY;
    for (int64_t c = 0; c < classes; c++)
        for (int j = 0; j < width; j++) {
            const real x = b->x[c * b->stride + j];
            b->top[j] = x > b->top[j] ? x : b->top[j];
        }
    for (int j = 0; j < width; j++)
        b->sum[j] = b->linear[j] = b->mass[j] = 0;
    for (int64_t c = 0; c < classes; c += CE_CLASS_CHUNK)
        add_classes(b, job, linear, width, c,
                    classes - c < CE_CLASS_CHUNK ? classes : c + CE_CLASS_CHUNK);
}

// One row of many classes.
static void stats_row(ce_block *b, const ce_job *job, bool linear)
{
    const real top = row_max(b->x, job->classes);
    double product = 0, mass = 0;
    b->top[0] = top;
    b->sum[0] = row_exp_sum(NULL, b->x, top, job->classes);
    if (linear && !b->q && !job->args->weight) {
        mass = (double)job->classes;
        product = row_total(b->x, job->classes) - mass * (double)top;
        linear = false;
    }
    for (int64_t c = 0; linear && c < job->classes; c++) {
        const real q = class_weight(job, c) * smooth(job, b->q, c);
        product += (double)(q * (b->x[c] - top));
        mass += (double)q;
    }
    b->linear[0] = product;
    b->mass[0] = mass;
}

static bool is_row(const ce_job *job)
{
    return job->spatial == 1 && job->classes > CE_TILE;
}

// Of logarithms of probabilities: x less 0 and the logarithm of 1.
static void no_stats(ce_block *b)
{
    for (int j = 0; j < CE_LANES; j++) {
        b->top[j] = b->logarithm[j] = 0;
        b->sum[j] = 1;
    }
}

static void stats(ce_block *b, const ce_job *job)
{
    const bool linear = b->q || job->args->label_smoothing > 0;
    if (job->args->log_probabilities) {
        no_stats(b);
        return;
    }
    if (is_row(job))
        stats_row(b, job, linear);
    else if (b->width == CE_LANES && linear)
        stats_of(b, job, true, CE_LANES);
    else if (b->width == CE_LANES)
        stats_of(b, job, false, CE_LANES);
    else
        stats_of(b, job, linear, b->width);
    for (int j = b->width; j < CE_LANES; j++)
        b->sum[j] = 1;
    for (int j = 0; j < CE_LANES; j++)
        b->logarithm[j] = CE_LOG((real)b->sum[j]);
}

// The loss of a sample whose label counts, before reduction.
static double label_loss(const ce_block *b, const ce_job *job, int j, int64_t label)
{
    const double smoothing = job->args->label_smoothing;
    const real x = b->x[label * b->stride + j] - b->top[j];
    const double hit = (double)class_weight(job, label) * ((double)b->logarithm[j] - (double)x);
    if (smoothing == 0)
        return hit;
    const double rest = b->mass[j] * (double)b->logarithm[j] - b->linear[j];
    return (1 - smoothing) * hit + smoothing / (double)job->classes * rest;
}

// Losses of the block's samples; adds to the chunk's sums.
static void finish(const ce_block *b, const ce_job *job, double *loss, double *total)
{
    const tern_cross_entropy_args *args = job->args;
    real *lse = (real *)args->lse.data + b->sample;
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
                own = label_loss(b, job, j, label);
                *total += (double)class_weight(job, label);
            }
        }
        *loss += own;
        if (args->reduction == TERN_REDUCTION_NONE)
            ((real *)args->loss.data)[sample] = (real)own;
    }
}

void REAL_NAME(ce_forward)(const ce_job *job, int64_t chunk, int64_t first, int64_t last)
{
    ce_block block;
    ce_tiles tiles;
    double loss = 0, total = 0;
    while (first < last) {
        begin(&block, &tiles, job, first, last);
        stats(&block, job);
        finish(&block, job, &loss, &total);
        first += block.count;
    }
    job->loss[chunk] = loss;
    job->total[chunk] = total;
}

// ---- gradient ----------------------------------------------------------------------------------
// Labels: dx[c] = g ((1 - e) w[t] + e / C sum w) p[c] - g e / C w[c], and g (1 - e) w[t] less at c
// = t. Probabilities q: dx[c] = g (sum w q) p[c] - g w[c] q[c]. p is the softmax, e the smoothing.

// Factors of a lane: dx[c] = softmax[c] * scale - weight[c] * q[c] * share, q = 1 for labels.
typedef struct ce_factors {
    real lse[CE_LANES], scale[CE_LANES], share[CE_LANES];
    real hit[CE_LANES]; // taken from dx[label]
    bool counts[CE_LANES];
} ce_factors;

static real loss_gradient(const ce_job *job, int64_t sample)
{
    if (job->args->reduction != TERN_REDUCTION_NONE)
        return (real)job->gradient;
    return ((const real *)job->dloss->data)[sample];
}

static void label_factors(ce_factors *f, const ce_job *job, int j, int64_t sample, real g)
{
    const real smoothing = (real)job->args->label_smoothing;
    const real uniform = smoothing / (real)job->classes;
    const int64_t label = ((const int64_t *)job->args->target.data)[sample];
    f->counts[j] = ce_counts(job, sample, label, false);
    f->hit[j] = f->counts[j] ? g * ((1 - smoothing) * class_weight(job, label)) : 0;
    f->scale[j] = f->hit[j] + g * (uniform * (real)job->weight_sum);
    f->share[j] = g * uniform;
}

static void set_factors(ce_factors *f, const ce_block *b, const ce_job *job)
{
    for (int j = 0; j < CE_LANES; j++) {
        f->lse[j] = f->scale[j] = f->share[j] = 0;
        f->counts[j] = false;
    }
    for (int j = 0; j < b->count; j++) {
        const real g = loss_gradient(job, b->sample + j);
        f->lse[j] = ((const real *)job->args->lse.data)[b->sample + j];
        if (!b->q) {
            label_factors(f, job, j, b->sample + j, g);
            continue;
        }
        double mass = 0;
        for (int64_t c = 0; c < job->classes; c++)
            mass += (double)(class_weight(job, c) * smooth(job, b->q, c * b->stride + j));
        f->counts[j] = true;
        f->scale[j] = g * (real)mass;
        f->share[j] = g;
    }
}

// dx (C, stride) of the block, as if every sample counted.
VEC_INLINE void gradient_of(real *dx, const ce_block *b, const ce_factors *f, const ce_job *job,
                            int width)
{
    for (int64_t c = 0; c < job->classes; c++) {
        const real *x = b->x + c * b->stride, weight = class_weight(job, c);
        real *to = dx + c * b->stride, less[CE_LANES];
        for (int j = 0; j < width; j++)
            less[j] = weight * f->share[j];
        if (b->q)
            for (int j = 0; j < width; j++)
                less[j] *= smooth(job, b->q, c * b->stride + j);
        ELEMENTWISE_LOOP
        for (int j = 0; j < width; j++)
            to[j] = row_exp_one(x[j] - f->lse[j]) * f->scale[j] - less[j];
    }
}

static void gradient_row(real *dx, const ce_block *b, const ce_factors *f, const ce_job *job)
{
    const real lse = f->lse[0], scale = f->scale[0], share = f->share[0];
    ELEMENTWISE_LOOP
    for (int64_t c = 0; c < job->classes; c++)
        dx[c] = row_exp_one(b->x[c] - lse) * scale;
    if (share == 0)
        return;
    for (int64_t c = 0; c < job->classes; c++)
        dx[c] -= class_weight(job, c) * smooth(job, b->q, c) * share;
}

// What labels add to the gradient. A sample that does not count has zeros, whatever its logits are.
static void apply_labels(real *dx, const ce_block *b, const ce_factors *f, const ce_job *job)
{
    const int64_t *label = (const int64_t *)job->args->target.data + b->sample;
    for (int j = 0; j < b->count; j++) {
        if (f->counts[j])
            dx[label[j] * b->stride + j] -= f->hit[j];
        else
            for (int64_t c = 0; c < job->classes; c++)
                dx[c * b->stride + j] = 0;
    }
}

static void clear_gradient(real *dx, const ce_block *b, const ce_job *job)
{
    for (int64_t c = 0; c < job->classes; c++)
        for (int j = 0; j < b->count; j++)
            dx[c * b->stride + j] = 0;
}

void REAL_NAME(ce_backward)(const ce_job *job, int64_t chunk, int64_t first, int64_t last)
{
    ce_block b;
    ce_tiles tiles;
    ce_factors f;
    real tile[CE_TILE * CE_LANES];
    (void)chunk;
    while (first < last) {
        begin(&b, &tiles, job, first, last);
        set_factors(&f, &b, job);
        real *dx = (real *)job->dx->data + sample_offset(job, first);
        real *to = b.x == tiles.x ? tile : dx;
        if (job->args->log_probabilities)
            clear_gradient(to, &b, job);
        else if (is_row(job))
            gradient_row(to, &b, &f, job);
        else if (b.width == CE_LANES)
            gradient_of(to, &b, &f, job, CE_LANES);
        else
            gradient_of(to, &b, &f, job, b.width);
        if (!b.q)
            apply_labels(to, &b, &f, job);
        for (int j = 0; to == tile && j < b.count; j++)
            for (int64_t c = 0; c < job->classes; c++)
                dx[j * job->classes + c] = tile[c * CE_LANES + j];
        first += b.count;
    }
}
