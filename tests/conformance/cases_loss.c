// SPDX-License-Identifier: Apache-2.0
// Losses, but for cross-entropy.
#include "conformance.h"

#include <math.h>

#define S(...)                                                                                     \
    {                                                                                              \
        (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                                 \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

static const setup loss_setups[] = {
    {.in = {{0}, {0}, {0}, {0}}},
    {.in = {S(7), S(7), S(7), S(7)}},
    {.in = {S(5, 3), S(5, 3), S(5, 3), S(5, 3)}},
    {.in = {S(1, 1), S(1, 1), S(1, 1), S(1, 1)}},
    {.in = {S(0, 3), S(0, 3), S(0, 3), S(0, 3)}},
    {.in = {S(33, 65), S(33, 65), S(33, 65), S(33, 65)}},
    {.in = {S(150, 120), S(150, 120), S(150, 120), S(150, 120)}}, // more than one piece of work
};

// Weights that broadcast.
static const setup weight_setups[] = {
    {.in = {S(5, 3), S(5, 3), S(3), S(5, 1)}},
    {.in = {S(2, 3, 4), S(2, 3, 4), S(3, 1), {0}}},
    {.in = {S(0, 3), S(0, 3), S(3), S(1, 1)}},
    {.in = {S(150, 120), S(150, 120), S(120), S(150, 1)}},
};

static const setup batch_setups[] = {
    {.in = {S(7), S(7)}},
    {.in = {S(5, 3), S(5, 3)}},
    {.in = {S(0, 3), S(0, 3)}},
};

// The variance may lack the last size, or have 1 there.
static const setup variance_setups[] = {
    {.in = {S(5, 3), S(5, 3), S(5, 1)}},
    {.in = {S(0, 3), S(0, 3), S(0, 1)}},
    {.in = {S(33, 65), S(33, 65), S(33, 1)}},
};

// p: classes, and of nll_loss ignore_index
static const setup class_setups[] = {
    {.in = {S(4, 5), S(4), S(5)}, .p = {5, -100}},
    {.in = {S(6, 3), S(6), S(3)}, .p = {3, 1}},
    {.in = {S(5), {0}, S(5)}, .p = {5, -100}},
    {.in = {S(1, 1), S(1), S(1)}, .p = {1, -100}},
    {.in = {S(37, 100), S(37), S(100)}, .p = {100, -100}},
    {.in = {S(70, 601), S(70), S(601)}, .p = {601, -100}},
};

static const setup image_setups[] = {
    {.in = {S(3, 4, 2), S(3, 2), S(4)}, .p = {4, -100}},
    {.in = {S(2, 70, 45), S(2, 45), S(70)}, .p = {70, 3}},
};

static const setup list_setups[] = {
    {.in = {S(4, 5), S(4, 5)}, .p = {5}},
    {.in = {S(5), S(5)}, .p = {5}},
    {.in = {S(0, 3), S(0, 3)}, .p = {3}},
    {.in = {S(37, 40), S(37, 40)}, .p = {40}},
};

static const setup row_setups[] = {
    {.in = {S(4, 5), S(4, 5), S(5)}},
    {.in = {S(5), S(5), S(5)}},
    {.in = {S(2, 3, 4), S(2, 3, 4), S(4)}},
    {.in = {S(37, 100), S(37, 100), S(100)}},
};

static const setup embedding_setups[] = {
    {.in = {S(4, 5), S(4, 5), S(4)}},
    {.in = {S(5), S(5), {0}}},
    {.in = {S(37, 100), S(37, 100), S(37)}},
};

static const setup triplet_setups[] = {
    {.in = {S(4, 5), S(4, 5), S(4, 5)}},
    {.in = {S(5), S(5), S(5)}},
    {.in = {S(2, 3, 4), S(2, 3, 4), S(2, 3, 4)}},
    {.in = {S(37, 100), S(37, 100), S(37, 100)}},
};

// p[0] is the reduction, p[1] and p[2] are what the loss takes.
#define CALL(name, ...)                                                                            \
    static tern_tensor *call_##name(tern_tensor *const *in, const op_case *c, const setup *s)      \
    {                                                                                              \
        const tern_reduction reduction = (tern_reduction)c->p[0];                                  \
        const double a = c->p[1];                                                                  \
        (void)s, (void)a;                                                                          \
        return __VA_ARGS__;                                                                        \
    }
#define PAIR(name, ...) CALL(name, tern_##name(in[0], in[1], __VA_ARGS__, .reduction = reduction))
CALL(mse_loss, tern_mse_loss(in[0], in[1], reduction))
CALL(l1_loss, tern_l1_loss(in[0], in[1], reduction))
CALL(soft_margin_loss, tern_soft_margin_loss(in[0], in[1], reduction))
PAIR(smooth_l1_loss, .beta = a)
PAIR(huber_loss, .delta = a)
PAIR(binary_cross_entropy, .weight = c->inputs > 2 ? in[2] : NULL)
PAIR(binary_cross_entropy_with_logits, .weight = c->inputs > 2 ? in[2] : NULL,
     .pos_weight = c->inputs > 3 ? in[3] : NULL)
PAIR(kl_div, .log_target = a != 0)
PAIR(poisson_nll_loss, .log_input = a == 0, .full = c->p[2] != 0, .eps = 0.25)
PAIR(gaussian_nll_loss, in[2], .full = c->p[2] != 0, .eps = a)
PAIR(hinge_embedding_loss, .margin = a)
PAIR(margin_ranking_loss, in[2], .margin = a)

PAIR(nll_loss, .weight = c->inputs > 2 ? in[2] : NULL, .ignore_index = (int64_t)s->p[1])
PAIR(multi_margin_loss, .weight = c->inputs > 2 ? in[2] : NULL, .p = (int64_t)a, .margin = c->p[2])
CALL(multilabel_margin_loss, tern_multilabel_margin_loss(in[0], in[1], reduction))
PAIR(multilabel_soft_margin_loss, .weight = c->inputs > 2 ? in[2] : NULL)
PAIR(cosine_embedding_loss, in[2], .margin = a)
PAIR(triplet_margin_loss, in[2], .margin = a, .swap = c->p[2] != 0)

tern_tensor *triplet_distance(tern_tensor *a, tern_tensor *b, void *user)
{
    (void)user;
    return tern_sum(tern_abs(tern_sub(a, b)), tern_axes(-1), false);
}
PAIR(triplet_margin_with_distance_loss, in[2], .distance = triplet_distance, .margin = a,
     .swap = c->p[2] != 0)

#define EACH(name, ...)                                                                            \
    static real each_##name(const real *in, const double *p)                                       \
    {                                                                                              \
        const real x = in[0], t = in[1], d = x - t, a = (real)p[1];                                \
        (void)d, (void)a;                                                                          \
        return __VA_ARGS__;                                                                        \
    }
static real log_sigmoid(real x)
{
    return fminl(x, 0) - log1pl(expl(-fabsl(x)));
}

static real stirling(real t)
{
    return t > 1 ? t * logl(t) - t + logl(2 * acosl(-1) * t) / 2 : 0;
}

EACH(mse_loss, d *d)
EACH(l1_loss, x < t ? t - x : d)
EACH(soft_margin_loss, -log_sigmoid(t *x))
EACH(smooth_l1_loss, fabsl(d) < a ? d * d / (2 * a) : fabsl(d) - a / 2)
EACH(huber_loss, fabsl(d) <= a ? d * d / 2 : a * (fabsl(d) - a / 2))
EACH(binary_cross_entropy, -(t *fmaxl(logl(x), -100) + (1 - t) * fmaxl(log1pl(-x), -100)))
EACH(binary_cross_entropy_weight, each_binary_cross_entropy(in, p) * in[2])
EACH(binary_cross_entropy_with_logits, -(t *log_sigmoid(x) + (1 - t) * log_sigmoid(-x)))
EACH(binary_cross_entropy_with_logits_weight, each_binary_cross_entropy_with_logits(in, p) * in[2])
EACH(binary_cross_entropy_with_logits_weights,
     -(t *in[3] * log_sigmoid(x) + (1 - t) * log_sigmoid(-x)) * in[2])
EACH(kl_div, t == 0 ? 0 : t * (logl(t) - x))
EACH(kl_div_log, expl(t) * (t - x))
EACH(poisson_nll_loss, x - t * logl(x + 0.25L) + (p[2] != 0 ? stirling(t) : 0))
EACH(poisson_nll_loss_log, expl(x) - t * x + (p[2] != 0 ? stirling(t) : 0))
EACH(gaussian_nll_loss, (logl(in[2]) + d * d / in[2] + (p[2] != 0 ? logl(2 * acosl(-1)) : 0)) / 2)
EACH(hinge_embedding_loss, t > 0 ? x : fmaxl(0, a - x))
EACH(margin_ranking_loss, fmaxl(0, a - in[2] * d))

// ---- of samples ---------------------------------------------------------------------------------

#define SAMPLE(name)                                                                               \
    static real sample_##name(const array *in, int64_t n, int64_t size, const double *p)

// The losses of class t of row x against those of which `own` has none.
static real margins(const real *x, const real *own, int64_t owns, int64_t size, real t, real margin,
                    double power)
{
    real sum = 0;
    for (int64_t i = 0; i < size; i++) {
        bool other = true;
        for (int64_t k = 0; k < owns; k++)
            other = other && own[k] != (real)i;
        if (other)
            sum += powl(fmaxl(0, margin - x[(int64_t)t] + x[i]), (real)power);
    }
    return sum / (real)size;
}

SAMPLE(multi_margin_loss)
{
    const real *label = in[1].data + n;
    const real weight = in[2].data ? in[2].data[(int64_t)*label] : 1;
    return weight * margins(in[0].data + n * size, label, 1, size, *label, (real)p[2], p[1]);
}

SAMPLE(multilabel_margin_loss)
{
    const real *own = in[1].data + n * size;
    real sum = 0;
    (void)p;
    for (int64_t k = 0; k < size; k++)
        sum += margins(in[0].data + n * size, own, size, size, own[k], 1, 1);
    return sum;
}

SAMPLE(multilabel_soft_margin_loss)
{
    real sum = 0;
    (void)p;
    for (int64_t i = 0; i < size; i++) {
        const real x = in[0].data[n * size + i], t = in[1].data[n * size + i];
        const real one = -(t * log_sigmoid(x) + (1 - t) * log_sigmoid(-x));
        sum += in[2].data ? one * in[2].data[i] : one;
    }
    return sum / (real)size;
}

SAMPLE(cosine_embedding_loss)
{
    const real *a = in[0].data + n * size, *b = in[1].data + n * size;
    real dot = 0, aa = 1e-12L, bb = 1e-12L;
    for (int64_t i = 0; i < size; i++) {
        dot += a[i] * b[i];
        aa += a[i] * a[i];
        bb += b[i] * b[i];
    }
    const real cosine = dot / sqrtl(aa * bb);
    return in[2].data[n] > 0 ? 1 - cosine : fmaxl(0, cosine - (real)p[1]);
}

static real distance(const real *a, const real *b, int64_t size, bool absolute)
{
    real sum = 0;
    for (int64_t i = 0; i < size; i++)
        sum += absolute ? fabsl(a[i] - b[i]) : powl(a[i] - b[i] + 1e-6L, 2);
    return absolute ? sum : sqrtl(sum);
}

static real triplet(const array *in, int64_t at, int64_t size, const double *p, bool absolute)
{
    const real *a = in[0].data + at, *b = in[1].data + at, *c = in[2].data + at;
    real far = distance(a, c, size, absolute);
    if (p[2] != 0)
        far = fminl(far, distance(b, c, size, absolute));
    return fmaxl(0, (real)p[1] + distance(a, b, size, absolute) - far);
}

SAMPLE(triplet_margin_loss)
{
    return triplet(in, n * size, size, p, false);
}

SAMPLE(triplet_margin_with_distance_loss)
{
    return triplet(in, n * size, size, p, true);
}

// clang-format off
// A case for each reduction.
#define ALL_OF(loss, words, formula, list, count, a, b, ...)                                       \
    ONE_OF(loss, words "mean", formula, list, count, MEAN, a, b, __VA_ARGS__),                     \
    ONE_OF(loss, words "sum", formula, list, count, SUM, a, b, __VA_ARGS__),                       \
    ONE_OF(loss, words "none", formula, list, count, NONE, a, b, __VA_ARGS__)
#define ONE_OF(loss, words, formula, list, count, reduced, a, b, ...)                              \
    {.op = #loss, .note = words, .call = call_##loss, .reference = reference_loss,                 \
     .each = each_##formula, .setups = list, .setup_count = COUNT(list), .inputs = count,          \
     .p = {TERN_REDUCTION_##reduced, a, b}, .dtypes = FLOATS, __VA_ARGS__}

// Of samples, a case for each reduction.
#define ROWS_OF(loss, words, list, count, a, b, ...)                                               \
    ROW_OF(loss, words "mean", list, count, MEAN, a, b, __VA_ARGS__),                              \
    ROW_OF(loss, words "sum", list, count, SUM, a, b, __VA_ARGS__),                                \
    ROW_OF(loss, words "none", list, count, NONE, a, b, __VA_ARGS__)
#define ROW_OF(loss, words, list, count, reduced, a, b, ...)                                       \
    {.op = #loss, .note = words, .call = call_##loss, .reference = reference_loss,                 \
     .sample = sample_##loss, .setups = list, .setup_count = COUNT(list), .inputs = count,         \
     .p = {TERN_REDUCTION_##reduced, a, b}, .dtypes = FLOATS, .input_share = 1, .ulps = 4,         \
     .kinks_inside = true, __VA_ARGS__}
#define NLL(words, list, count, reduced)                                                           \
    {.op = "nll_loss", .note = words, .call = call_nll_loss,                                       \
     .reference = reference_cross_entropy, .setups = list, .setup_count = COUNT(list),             \
     .inputs = count, .values = {ORDINARY, LABEL, POSITIVE}, .dtypes = FLOATS,                     \
     .p = {TERN_REDUCTION_##reduced, true}, .gradients = 1}

static const op_case cases[] = {
    ALL_OF(mse_loss, "", mse_loss, loss_setups, 2, 0, 0, .values = {ORDINARY, ORDINARY},
           .gradients = 3, .ulps = 2),
    ALL_OF(l1_loss, "", l1_loss, loss_setups, 2, 0, 0, .values = {ORDINARY, ORDINARY},
           .gradients = 3, .ulps = 2),
    ALL_OF(smooth_l1_loss, "", smooth_l1_loss, loss_setups, 2, 0.75, 0,
           .values = {ORDINARY, ORDINARY}, .gradients = 3, .ulps = 2),
    ALL_OF(huber_loss, "", huber_loss, loss_setups, 2, 0.75, 0, .values = {ORDINARY, ORDINARY},
           .gradients = 3, .ulps = 2),
    ALL_OF(binary_cross_entropy, "", binary_cross_entropy, loss_setups, 2, 0, 0,
           .values = {UNIT, UNIT}, .gradients = 3, .ulps = 2),
    ALL_OF(binary_cross_entropy, "weight, ", binary_cross_entropy_weight, weight_setups, 3, 0, 0,
           .values = {UNIT, UNIT, POSITIVE}, .gradients = 3, .ulps = 2),
    ALL_OF(binary_cross_entropy_with_logits, "", binary_cross_entropy_with_logits, loss_setups, 2,
           0, 0, .values = {FAR, UNIT}, .input_share = 1, .gradients = 3, .ulps = 2),
    ALL_OF(binary_cross_entropy_with_logits, "weight, ", binary_cross_entropy_with_logits_weight,
           weight_setups, 3, 0, 0, .values = {FAR, UNIT, POSITIVE}, .input_share = 1,
           .gradients = 3, .ulps = 2),
    ALL_OF(binary_cross_entropy_with_logits, "both weights, ",
           binary_cross_entropy_with_logits_weights, weight_setups, 4, 0, 0,
           .values = {FAR, UNIT, POSITIVE, POSITIVE}, .input_share = 4, .gradients = 3, .ulps = 2),
    ALL_OF(kl_div, "", kl_div, loss_setups, 2, false, 0, .values = {ORDINARY, UNIT},
           .input_share = 1, .gradients = 3, .ulps = 2),
    ALL_OF(kl_div, "log_target, ", kl_div_log, loss_setups, 2, true, 0,
           .values = {ORDINARY, ORDINARY}, .input_share = 1, .gradients = 3, .ulps = 2),
    ONE_OF(kl_div, "batchmean", kl_div, batch_setups, 2, BATCHMEAN, false, 0,
           .values = {ORDINARY, UNIT}, .input_share = 1, .gradients = 3, .ulps = 2),
    ALL_OF(poisson_nll_loss, "", poisson_nll_loss, loss_setups, 2, true, false,
           .values = {POSITIVE, POSITIVE}, .input_share = 1, .gradients = 3, .ulps = 2),
    ALL_OF(poisson_nll_loss, "log_input, full, ", poisson_nll_loss_log, loss_setups, 2, false, true,
           .values = {ORDINARY, POSITIVE}, .input_share = 1, .gradients = 3, .ulps = 2),
    ALL_OF(gaussian_nll_loss, "", gaussian_nll_loss, loss_setups, 3, 0.1, false,
           .values = {ORDINARY, ORDINARY, POSITIVE}, .input_share = 1, .gradients = 7, .ulps = 2),
    ALL_OF(gaussian_nll_loss, "full, a variance of several, ", gaussian_nll_loss, variance_setups,
           3, 0.1, true, .values = {ORDINARY, ORDINARY, POSITIVE}, .input_share = 1,
           .gradients = 7, .ulps = 2),
    ALL_OF(soft_margin_loss, "", soft_margin_loss, loss_setups, 2, 0, 0,
           .values = {ORDINARY, ORDINARY}, .gradients = 3, .ulps = 8), // of a rounded product
    ALL_OF(hinge_embedding_loss, "", hinge_embedding_loss, loss_setups, 2, 1, 0,
           .values = {ORDINARY, SIGN}, .gradients = 1, .ulps = 2),
    ALL_OF(margin_ranking_loss, "", margin_ranking_loss, loss_setups, 3, 0.5, 0,
           .values = {ORDINARY, ORDINARY, SIGN}, .input_share = 1, .gradients = 3,
           .kinks_inside = true, .ulps = 2),
    NLL("mean", class_setups, 2, MEAN),
    NLL("sum, weight", class_setups, 3, SUM),
    NLL("none, weight", class_setups, 3, NONE),
    NLL("mean, weight", class_setups, 3, MEAN),
    NLL("images, mean, weight", image_setups, 3, MEAN),
    NLL("images, none", image_setups, 2, NONE),
    ROWS_OF(multi_margin_loss, "", class_setups, 2, 1, 1, .values = {ORDINARY, LABEL},
            .gradients = 1),
    ROWS_OF(multi_margin_loss, "squares, weight, ", class_setups, 3, 2, 0.5,
            .values = {ORDINARY, LABEL, POSITIVE}, .gradients = 1),
    ROWS_OF(multilabel_margin_loss, "", list_setups, 2, 0, 0, .values = {ORDINARY, LABEL},
            .gradients = 1),
    ROWS_OF(multilabel_soft_margin_loss, "", row_setups, 2, 0, 0, .values = {FAR, UNIT},
            .gradients = 3),
    ROWS_OF(multilabel_soft_margin_loss, "weight, ", row_setups, 3, 0, 0,
            .values = {FAR, UNIT, POSITIVE}, .gradients = 3),
    ROWS_OF(cosine_embedding_loss, "", embedding_setups, 3, 0.25, 0,
            .values = {ORDINARY, ORDINARY, SIGN}, .gradients = 3),
    ROWS_OF(triplet_margin_loss, "", triplet_setups, 3, 1, false,
            .values = {ORDINARY, ORDINARY, ORDINARY}, .gradients = 7),
    ROWS_OF(triplet_margin_loss, "swap, ", triplet_setups, 3, 1, true,
            .values = {ORDINARY, ORDINARY, ORDINARY}, .gradients = 7),
    ROWS_OF(triplet_margin_with_distance_loss, "", triplet_setups, 3, 1, true,
            .values = {ORDINARY, ORDINARY, ORDINARY}, .gradients = 7),
};
// clang-format on

const case_list loss_cases = {cases, COUNT(cases)};
