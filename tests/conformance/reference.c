// SPDX-License-Identifier: Apache-2.0
// What operations mean, in plain loops over long double: elementwise, reductions, along a
// dimension.
#include "conformance.h"

#include <math.h>
#include <stdlib.h>

// ---- places ------------------------------------------------------------------------------------

// The index of row-major element i.
static void index_of(tern_shape shape, int64_t i, int64_t *index)
{
    for (int d = shape.rank - 1; d >= 0; d--) {
        index[d] = i % shape.dim[d];
        i /= shape.dim[d];
    }
}

// The element of an operand of `shape` that broadcasts to `index` of `rank` dims.
static int64_t place_in(tern_shape shape, const int64_t *index, int rank)
{
    int64_t place = 0;
    for (int d = 0; d < shape.rank; d++)
        place = place * shape.dim[d] + (shape.dim[d] == 1 ? 0 : index[d + rank - shape.rank]);
    return place;
}

static tern_shape broadcast(const array *in, int count)
{
    tern_shape shape = {0};
    for (int i = 0; i < count; i++)
        shape.rank = in[i].shape.rank > shape.rank ? in[i].shape.rank : shape.rank;
    for (int d = 0; d < shape.rank; d++) {
        shape.dim[d] = 1;
        for (int i = 0; i < count; i++) {
            int own = d - (shape.rank - in[i].shape.rank);
            if (own >= 0 && in[i].shape.dim[own] != 1)
                shape.dim[d] = in[i].shape.dim[own];
        }
    }
    return shape;
}

static void allocate(expected *out, tern_shape shape, bool summed)
{
    out->value = array_new(out->value.dtype, shape);
    if (summed)
        out->magnitude = array_new(TERN_FLOAT64, shape);
}

// ---- elementwise -------------------------------------------------------------------------------

void reference_each(const op_case *c, const setup *s, const array *in, expected *out)
{
    (void)s;
    allocate(out, broadcast(in, c->inputs), c->input_share > 0);
    out->terms = 4;
    for (int64_t i = 0; i < out->value.numel; i++) {
        int64_t index[TERN_MAX_RANK];
        real x[MAX_IN] = {0};
        index_of(out->value.shape, i, index);
        for (int k = 0; k < c->inputs; k++)
            x[k] = in[k].data[place_in(in[k].shape, index, out->value.shape.rank)];
        out->value.data[i] = c->each(x, c->p);
        if (c->input_share > 0)
            for (int k = 0; k < c->inputs; k++)
                out->magnitude.data[i] += fabsl(x[k]) * (real)c->input_share;
    }
}

// ---- reductions --------------------------------------------------------------------------------

static bool reduces(const setup *s, int rank, int d)
{
    if (s->axes.count <= 0)
        return true;
    for (int i = 0; i < s->axes.count; i++)
        if ((s->axes.axis[i] + rank) % rank == d)
            return true;
    return false;
}

// Folds the elements that meet in `kept` (1 where it reduces), for every element of it.
static void fold_all(const op_case *c, const setup *s, const array *x, tern_shape kept,
                     expected *out)
{
    int64_t groups = out->value.numel, n = groups ? x->numel / groups : 0;
    array gathered = array_new(TERN_FLOAT64, tern_dims(groups, n));
    array taken = array_new(TERN_INT64, tern_dims(groups));
    int64_t index[TERN_MAX_RANK];
    for (int64_t k = 0; k < x->numel; k++) {
        index_of(x->shape, k, index);
        int64_t i = place_in(kept, index, x->shape.rank);
        gathered.data[i * n + (int64_t)taken.data[i]++] = x->data[k];
    }
    for (int64_t i = 0; i < groups; i++) {
        real magnitude = 0;
        out->value.data[i] = c->fold(gathered.data + i * n, n, c, s, &magnitude);
        out->magnitude.data[i] = magnitude;
    }
    out->terms = (double)n + 4;
    array_free(&gathered);
    array_free(&taken);
}

void reference_fold(const op_case *c, const setup *s, const array *in, expected *out)
{
    tern_shape kept = in[0].shape, result = {0};
    for (int d = 0; d < kept.rank; d++) {
        bool goes = reduces(s, kept.rank, d);
        kept.dim[d] = goes ? 1 : kept.dim[d];
        if (!goes || s->keepdim)
            result.dim[result.rank++] = kept.dim[d];
    }
    allocate(out, result, true);
    fold_all(c, s, &in[0], kept, out);
}

void reference_fold_dim(const op_case *c, const setup *s, const array *in, expected *out)
{
    setup one = *s;
    one.axes = (tern_axis_list){1, {s->dim}};
    if (in[0].shape.rank == 0)
        one.axes.count = 0;
    reference_fold(c, &one, in, out);
}

void reference_along(const op_case *c, const setup *s, const array *in, expected *out)
{
    tern_shape shape = in[0].shape;
    int dim = shape.rank ? (s->dim + shape.rank) % shape.rank : 0;
    int64_t n = shape.rank ? shape.dim[dim] : 1, inner = 1;
    for (int d = dim + 1; d < shape.rank; d++)
        inner *= shape.dim[d];
    allocate(out, shape, true);
    out->terms = (double)n + 6;
    array line = array_new(TERN_FLOAT64, tern_dims(3, n));
    real *x = line.data, *y = x + n, *magnitude = y + n;
    for (int64_t i = 0; i < out->value.numel; i++) {
        if (i / inner % n)
            continue; // not the first of its line
        for (int64_t k = 0; k < n; k++)
            x[k] = in[0].data[i + k * inner];
        c->along(x, n, y, magnitude);
        for (int64_t k = 0; k < n; k++) {
            out->value.data[i + k * inner] = y[k];
            out->magnitude.data[i + k * inner] = magnitude[k];
        }
    }
    array_free(&line);
}

// ---- moves --------------------------------------------------------------------------------------

void reference_moved(const op_case *c, const setup *s, const array *in, expected *out)
{
    allocate(out, s->shape, false);
    for (int64_t i = 0; i < out->value.numel; i++) {
        int64_t to[TERN_MAX_RANK], from[TERN_MAX_RANK];
        index_of(s->shape, i, to);
        c->move(s, in[0].shape, to, from);
        out->value.data[i] = in[0].data[place_in(in[0].shape, from, in[0].shape.rank)];
    }
}

// cat, or stack where the result has one dimension more.
void reference_joined(const op_case *c, const setup *s, const array *in, expected *out)
{
    allocate(out, s->shape, false);
    int rank = s->shape.rank, dim = s->dim < 0 ? s->dim + rank : s->dim;
    for (int64_t i = 0; i < out->value.numel; i++) {
        int64_t to[TERN_MAX_RANK], place = 0;
        int k = 0;
        index_of(s->shape, i, to);
        for (int64_t size; k < c->inputs; k++, to[dim] -= size) {
            size = in[k].shape.rank == rank ? in[k].shape.dim[dim] : 1;
            if (to[dim] < size)
                break;
        }
        for (int d = 0; d < rank; d++)
            if (in[k].shape.rank == rank || d != dim)
                place = place * s->in[k].dim[d - (d > dim && in[k].shape.rank < rank)] + to[d];
        out->value.data[i] = in[k].data[place];
    }
}

// ---- products ----------------------------------------------------------------------------------

static tern_shape matrix_shape(tern_shape shape, bool right)
{
    if (shape.rank == 1)
        return right ? (tern_shape){2, {shape.dim[0], 1}} : (tern_shape){2, {1, shape.dim[0]}};
    return shape;
}

static void product_element(const array *a, const array *b, const int64_t *index, int rank,
                            real *value, real *magnitude)
{
    tern_shape sa = matrix_shape(a->shape, false), sb = matrix_shape(b->shape, true);
    int64_t at[TERN_MAX_RANK], bt[TERN_MAX_RANK], inner = sa.dim[sa.rank - 1];
    for (int d = 0; d < rank; d++)
        at[d] = bt[d] = index[d];
    for (int64_t k = 0; k < inner; k++) {
        at[rank - 1] = bt[rank - 2] = k;
        real term = a->data[place_in(sa, at, rank)] * b->data[place_in(sb, bt, rank)];
        *value += term;
        *magnitude += fabsl(term);
    }
}

void reference_matmul(const op_case *c, const setup *s, const array *in, expected *out)
{
    (void)c;
    (void)s;
    array lead[2] = {in[0], in[1]};
    tern_shape shape, result;
    for (int i = 0; i < 2; i++) {
        lead[i].shape = matrix_shape(in[i].shape, i == 1);
        lead[i].shape.rank -= 2;
    }
    shape = result = broadcast(lead, 2);
    tern_shape a = matrix_shape(in[0].shape, false), b = matrix_shape(in[1].shape, true);
    shape.dim[shape.rank++] = a.dim[a.rank - 2];
    shape.dim[shape.rank++] = b.dim[b.rank - 1];
    if (in[0].shape.rank > 1)
        result.dim[result.rank++] = a.dim[a.rank - 2];
    if (in[1].shape.rank > 1)
        result.dim[result.rank++] = b.dim[b.rank - 1];
    allocate(out, result, true);
    out->terms = (double)a.dim[a.rank - 1];
    for (int64_t i = 0; i < out->value.numel; i++) {
        int64_t index[TERN_MAX_RANK];
        index_of(shape, i, index);
        product_element(&in[0], &in[1], index, shape.rank, &out->value.data[i],
                        &out->magnitude.data[i]);
    }
}

void reference_linear(const op_case *c, const setup *s, const array *in, expected *out)
{
    (void)s;
    tern_shape shape = in[0].shape;
    int64_t features = in[1].shape.dim[1], outputs = in[1].shape.dim[0];
    shape.dim[shape.rank - 1] = outputs;
    allocate(out, shape, true);
    out->terms = (double)features + 8;
    out->in_between = c->each != NULL;
    for (int64_t i = 0; i < out->value.numel; i++) {
        int64_t row = i / outputs, o = i % outputs;
        real z = c->inputs > 2 ? in[2].data[o] : 0, magnitude = fabsl(z);
        for (int64_t k = 0; k < features; k++) {
            real term = in[0].data[row * features + k] * in[1].data[o * features + k];
            z += term;
            magnitude += fabsl(term);
        }
        out->value.data[i] = c->each ? c->each(&z, c->p) : z;
        out->magnitude.data[i] = magnitude * 1.2L; // no activation is steeper
    }
}

// ---- losses ------------------------------------------------------------------------------------

typedef struct entropy {
    const setup *s;
    const array *x, *target;
    const real *weight;
    int64_t batch, classes, space;
    bool probabilities;     // in the target
    bool log_probabilities; // in the input
    real terms;             // what the logits are made of add up to so much in magnitude
} entropy;

static real weight_of(const entropy *e, int64_t k)
{
    return e->weight ? e->weight[k] : 1;
}

// log sum exp over the classes of sample (n, q), whose largest logit is *top.
static real log_sum_exp(const entropy *e, int64_t n, int64_t q, real *top)
{
    const real *x = e->x->data + n * e->classes * e->space + q;
    real sum = 0;
    *top = e->log_probabilities ? 0 : -INFINITY;
    if (e->log_probabilities)
        return 0;
    for (int64_t i = 0; i < e->classes; i++)
        *top = fmaxl(*top, x[i * e->space]);
    for (int64_t i = 0; i < e->classes; i++)
        sum += expl(x[i * e->space] - *top);
    return *top + logl(sum);
}

// The loss of one sample, and by what it counts in the mean; p: classes, ignore_index, smoothing.
static real sample_loss(const entropy *e, int64_t n, int64_t q, real *share, real *magnitude)
{
    real smooth = (real)e->s->p[2], loss = 0, top, lse = log_sum_exp(e, n, q, &top);
    int64_t label = e->probabilities ? -1 : (int64_t)e->target->data[n * e->space + q];
    *share = e->probabilities ? 1 : 0;
    *magnitude = 0;
    if (!e->probabilities && label == (int64_t)e->s->p[1])
        return 0;
    if (!e->probabilities)
        *share = weight_of(e, label);
    for (int64_t k = 0; k < e->classes; k++) {
        int64_t at = (n * e->classes + k) * e->space + q;
        real want = e->probabilities ? e->target->data[at] : k == label;
        want = want * (1 - smooth) + smooth / (real)e->classes;
        real x = e->x->data[at], factor = weight_of(e, k) * want;
        loss += factor * (lse - x);
        *magnitude += fabsl(factor) * (fabsl(top) + fabsl(lse - top) + fabsl(x) + 2 * e->terms);
    }
    return loss;
}

static entropy entropy_of(const op_case *c, const setup *s, const array *in)
{
    entropy e = {.s = s, .x = &in[0], .target = &in[1], .batch = 1, .space = 1};
    tern_shape shape = in[0].shape;
    e.classes = shape.dim[shape.rank > 1 ? 1 : 0];
    e.batch = shape.rank > 1 ? shape.dim[0] : 1;
    for (int d = 2; d < shape.rank; d++)
        e.space *= shape.dim[d];
    e.weight = c->inputs > 2 ? in[2].data : NULL;
    e.probabilities = in[1].dtype != TERN_INT64;
    e.log_probabilities = c->p[1] != 0;
    return e;
}

static void reduce_entropies(const entropy *e, const op_case *c, expected *out)
{
    tern_shape each = {0}, logits = e->x->shape;
    real total = 0, share_sum = 0, magnitude_sum = 0;
    bool none = c->p[0] == TERN_REDUCTION_NONE;
    for (int d = 0; d < logits.rank; d++)
        if (d != (logits.rank > 1 ? 1 : 0))
            each.dim[each.rank++] = logits.dim[d];
    allocate(out, none ? each : (tern_shape){0}, true);
    out->terms = (double)(e->classes + e->batch * e->space) + 8;
    for (int64_t i = 0; i < e->batch * e->space; i++) {
        real share, magnitude,
            loss = sample_loss(e, i / e->space, i % e->space, &share, &magnitude);
        if (none) {
            out->value.data[i] = loss;
            out->magnitude.data[i] = magnitude;
        }
        total += loss;
        share_sum += share;
        magnitude_sum += magnitude;
    }
    if (none)
        return;
    real divisor = c->p[0] == TERN_REDUCTION_MEAN ? share_sum : 1;
    out->value.data[0] = total / divisor;
    out->magnitude.data[0] = divisor != 0 ? magnitude_sum / divisor : 0;
}

// The case's p[0] is the reduction; p[1] is not 0 where the input is of logarithms.
void reference_cross_entropy(const op_case *c, const setup *s, const array *in, expected *out)
{
    entropy e = entropy_of(c, s, in);
    reduce_entropies(&e, c, out);
}

// in: input, target, linear_weight, linear_bias, weight; of the last two some may be missing.
void reference_linear_cross_entropy(const op_case *c, const setup *s, const array *in,
                                    expected *out)
{
    tern_shape shape = in[0].shape, weight = in[2].shape;
    const int64_t features = weight.dim[--weight.rank], outputs = tern_shape_numel(weight);
    shape.rank--;
    for (int d = 0; d < weight.rank; d++)
        shape.dim[shape.rank++] = weight.dim[d];
    array logits[] = {array_new(TERN_FLOAT64, shape), in[1], c->inputs > 4 ? in[4] : (array){0}};
    op_case like = *c;
    like.inputs = c->inputs > 4 ? 3 : 2;
    entropy e = entropy_of(&like, s, logits);
    for (int64_t i = 0; i < logits[0].numel; i++) {
        const real *x = in[0].data + i / outputs * features;
        const real *w = in[2].data + i % outputs * features;
        real z = c->inputs > 3 ? in[3].data[i % outputs] : 0, magnitude = fabsl(z);
        for (int64_t k = 0; k < features; k++) {
            z += x[k] * w[k];
            magnitude += fabsl(x[k] * w[k]);
        }
        logits[0].data[i] = z;
        e.terms = fmaxl(e.terms, magnitude);
    }
    reduce_entropies(&e, c, out);
    out->terms += (double)features;
    array_free(&logits[0]);
}

// c->sample of every row of the first input.
static void reference_samples(const op_case *c, const array *in, expected *out)
{
    tern_shape samples = in[0].shape;
    const int64_t size = samples.dim[--samples.rank];
    allocate(out, samples, true);
    for (int64_t n = 0; n < out->value.numel; n++) {
        out->value.data[n] = c->sample(in, n, size, c->p);
        for (int64_t i = 0; i < size; i++)
            out->magnitude.data[n] += fabsl(in[0].data[n * size + i]) * (real)c->input_share;
    }
}

// c->each of every element, or c->sample, and their reduction: the case's p[0].
void reference_loss(const op_case *c, const setup *s, const array *in, expected *out)
{
    const bool none = c->p[0] == TERN_REDUCTION_NONE;
    expected each = {.value = {.dtype = out->value.dtype}};
    real total = 0, magnitude = 0;
    if (c->sample)
        reference_samples(c, in, &each);
    else
        reference_each(c, s, in, &each);
    allocate(out, none ? each.value.shape : (tern_shape){0}, true);
    out->terms = none ? 4 : (double)each.value.numel + 4;
    out->in_between = c->sample != NULL;
    if (c->sample)
        out->terms += (double)in[0].shape.dim[in[0].shape.rank - 1];
    for (int64_t i = 0; i < each.value.numel; i++) {
        const real one = each.value.data[i];
        const real size = fabsl(one) + (each.magnitude.data ? each.magnitude.data[i] : 0);
        total += one;
        magnitude += size;
        if (none) {
            out->value.data[i] = one;
            out->magnitude.data[i] = size;
        }
    }
    if (!none) {
        const real divisor = c->p[0] == TERN_REDUCTION_MEAN        ? (real)each.value.numel
                             : c->p[0] == TERN_REDUCTION_BATCHMEAN ? (real)in[0].shape.dim[0]
                                                                   : 1;
        out->value.data[0] = total / divisor;
        out->magnitude.data[0] = divisor != 0 ? magnitude / divisor : 0;
    }
    array_free(&each.value);
    array_free(&each.magnitude);
}

// ---- indexing ----------------------------------------------------------------------------------

void reference_gather(const op_case *c, const setup *s, const array *in, expected *out)
{
    (void)c;
    allocate(out, in[1].shape, false);
    int rank = in[1].shape.rank;
    for (int64_t i = 0; i < out->value.numel; i++) {
        int64_t index[TERN_MAX_RANK], place = 0;
        index_of(in[1].shape, i, index);
        if (rank)
            index[(s->dim + rank) % rank] = (int64_t)in[1].data[i];
        for (int d = 0; d < rank; d++)
            place = place * in[0].shape.dim[d] + index[d];
        out->value.data[i] = in[0].data[place];
    }
}

void reference_index_select(const op_case *c, const setup *s, const array *in, expected *out)
{
    (void)c;
    tern_shape shape = in[0].shape;
    int dim = (s->dim + shape.rank) % shape.rank;
    shape.dim[dim] = in[1].numel;
    allocate(out, shape, false);
    for (int64_t i = 0; i < out->value.numel; i++) {
        int64_t index[TERN_MAX_RANK], place = 0;
        index_of(shape, i, index);
        index[dim] = (int64_t)in[1].data[index[dim]];
        for (int d = 0; d < shape.rank; d++)
            place = place * in[0].shape.dim[d] + index[d];
        out->value.data[i] = in[0].data[place];
    }
}

void reference_one_hot(const op_case *c, const setup *s, const array *in, expected *out)
{
    (void)c;
    tern_shape shape = in[0].shape;
    shape.dim[shape.rank++] = (int64_t)s->p[0];
    allocate(out, shape, false);
    for (int64_t i = 0; i < in[0].numel; i++)
        out->value.data[i * (int64_t)s->p[0] + (int64_t)in[0].data[i]] = 1;
}
