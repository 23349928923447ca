// SPDX-License-Identifier: Apache-2.0
// The gradient of the cross-entropy; a template, included after cross_entropy_real.h.
//
// Labels: dx[c] = g ((1 - e) w[t] + e / C sum w) p[c] - g e / C w[c], and g (1 - e) w[t] less at c
// = t. Probabilities q: dx[c] = g (sum w q) p[c] - g w[c] q[c]. p is the softmax, e the smoothing.

// Factors of a lane: dx[c] = softmax[c] * scale - weight[c] * q[c] * share, q = 1 for labels.
typedef struct ROW(factors) {
    REAL lse[CE_LANES], scale[CE_LANES], share[CE_LANES];
    REAL hit[CE_LANES]; // taken from dx[label]
    bool counts[CE_LANES];
} ROW(factors);

static REAL ROW(loss_gradient)(const ce_job *job, int64_t sample)
{
    if (job->args->reduction != TERN_REDUCTION_NONE)
        return (REAL)job->gradient;
    return ((const REAL *)job->dloss->data)[sample];
}

static void ROW(label_factors)(ROW(factors) * f, const ce_job *job, int j, int64_t sample, REAL g)
{
    const REAL smoothing = (REAL)job->args->label_smoothing;
    const REAL uniform = smoothing / (REAL)job->classes;
    const int64_t label = ((const int64_t *)job->args->target.data)[sample];
    f->counts[j] = ce_counts(job, sample, label, false);
    f->hit[j] = f->counts[j] ? g * ((1 - smoothing) * ROW(weight)(job, label)) : 0;
    f->scale[j] = f->hit[j] + g * (uniform * (REAL)job->weight_sum);
    f->share[j] = g * uniform;
}

static void ROW(set_factors)(ROW(factors) * f, const ROW(block) * b, const ce_job *job)
{
    for (int j = 0; j < CE_LANES; j++) {
        f->lse[j] = f->scale[j] = f->share[j] = 0;
        f->counts[j] = false;
    }
    for (int j = 0; j < b->count; j++) {
        const REAL g = ROW(loss_gradient)(job, b->sample + j);
        f->lse[j] = ((const REAL *)job->args->lse.data)[b->sample + j];
        if (!b->q) {
            ROW(label_factors)(f, job, j, b->sample + j, g);
            continue;
        }
        double mass = 0;
        for (int64_t c = 0; c < job->classes; c++)
            mass += (double)(ROW(weight)(job, c) * ROW(smooth)(job, b->q, c * b->stride + j));
        f->counts[j] = true;
        f->scale[j] = g * (REAL)mass;
        f->share[j] = g;
    }
}

// dx (C, stride) of the block, as if every sample counted.
FOLD_INLINE void ROW(gradient_of)(REAL *dx, const ROW(block) * b, const ROW(factors) * f,
                                  const ce_job *job, int width)
{
    for (int64_t c = 0; c < job->classes; c++) {
        const REAL *x = b->x + c * b->stride, weight = ROW(weight)(job, c);
        REAL *to = dx + c * b->stride, less[CE_LANES];
        for (int j = 0; j < width; j++)
            less[j] = weight * f->share[j];
        if (b->q)
            for (int j = 0; j < width; j++)
                less[j] *= ROW(smooth)(job, b->q, c * b->stride + j);
        ELEMENTWISE_LOOP
        for (int j = 0; j < width; j++)
            to[j] = ROW_EXP(x[j] - f->lse[j]) * f->scale[j] - less[j];
    }
}

static void ROW(gradient_row)(REAL *dx, const ROW(block) * b, const ROW(factors) * f,
                              const ce_job *job)
{
    const REAL lse = f->lse[0], scale = f->scale[0], share = f->share[0];
    ELEMENTWISE_LOOP
    for (int64_t c = 0; c < job->classes; c++)
        dx[c] = ROW_EXP(b->x[c] - lse) * scale;
    if (share == 0)
        return;
    for (int64_t c = 0; c < job->classes; c++)
        dx[c] -= ROW(weight)(job, c) * ROW(smooth)(job, b->q, c) * share;
}

// What labels add to the gradient. A sample that does not count has zeros, whatever its logits are.
static void ROW(apply_labels)(REAL *dx, const ROW(block) * b, const ROW(factors) * f,
                              const ce_job *job)
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

static void ROW(backward)(const ce_job *job, int64_t piece, int64_t first, int64_t last)
{
    ROW(block) b;
    ROW(tiles) tiles;
    ROW(factors) f;
    REAL tile[CE_TILE * CE_LANES];
    (void)piece;
    while (first < last) {
        ROW(begin)(&b, &tiles, job, first, last);
        ROW(set_factors)(&f, &b, job);
        REAL *dx = (REAL *)job->dx->data + ROW(at)(job, first);
        REAL *to = b.x == tiles.x ? tile : dx;
        if (ROW(is_row)(job))
            ROW(gradient_row)(to, &b, &f, job);
        else if (b.width == CE_LANES)
            ROW(gradient_of)(to, &b, &f, job, CE_LANES);
        else
            ROW(gradient_of)(to, &b, &f, job, b.width);
        if (!b.q)
            ROW(apply_labels)(to, &b, &f, job);
        for (int j = 0; to == tile && j < b.count; j++)
            for (int64_t c = 0; c < job->classes; c++)
                dx[j * job->classes + c] = tile[c * CE_LANES + j];
        first += b.count;
    }
}
