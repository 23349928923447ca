// SPDX-License-Identifier: Apache-2.0
// Normalisations, and their references: two passes in long double over what belongs together.
#include "conformance.h"

#include <math.h>
#include <stdlib.h>

#define S(...)                                                                                     \
    {                                                                                              \
        (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                                 \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

// What belongs together: the case's p[0].
enum { CHANNEL, INSTANCE, GROUP, LAST, LAST_SQUARE };
// The case's p[1].
enum { PLAIN, RELU, EVALUATING, EVALUATING_RELU };

#define EPS 1e-3

// (N, C, ..): statistics of columns, of runs, and of channels that are cut.
static const setup channels_1d[] = {
    {.in = {S(5, 3), S(3), S(3)}},
    {.in = {S(2, 3, 4), S(3), S(3)}},
    {.in = {S(0, 3, 2), S(3), S(3)}},
};
static const setup columns[] = {
    {.in = {S(35, 67), S(67), S(67)}}, {.in = {S(131, 3), S(3), S(3)}},
    {.in = {S(2, 2, 64), S(2), S(2)}}, {.in = {S(3, 19, 4), S(19), S(19)}},
    {.in = {S(3, 3, 31), S(3), S(3)}}, {.in = {S(3, 3, 32), S(3), S(3)}},
};
static const setup channels_2d[] = {
    {.in = {S(2, 1, 3, 3), S(1), S(1)}},
    {.in = {S(3, 2, 5, 7), S(2), S(2)}},
    {.in = {S(1, 2, 33, 37), S(2), S(2)}},
    {.in = {S(9, 1, 31, 33), S(1), S(1)}},
};
static const setup channels_3d[] = {
    {.in = {S(1, 2, 3, 2, 2), S(2), S(2)}},
    {.in = {S(2, 3, 3, 4, 3), S(3), S(3)}},
};

static const setup instances_1d[] = {
    {.in = {S(2, 3, 4), S(3), S(3)}},
    {.in = {S(0, 3, 2), S(3), S(3)}},
    {.in = {S(3, 2, 67), S(2), S(2)}},
};
static const setup instances_2d[] = {
    {.in = {S(2, 2, 3, 3), S(2), S(2)}},
    {.in = {S(3, 2, 5, 7), S(2), S(2)}},
    {.in = {S(1, 2, 33, 37), S(2), S(2)}},
};
static const setup instances_3d[] = {
    {.in = {S(1, 2, 3, 2, 2), S(2), S(2)}},
    {.in = {S(2, 3, 3, 4, 3), S(3), S(3)}},
};

// The setup's p[0] is the number of groups.
static const setup group_setups[] = {
    {.in = {S(5, 6), S(6), S(6)}, .p = {2}},
    {.in = {S(2, 3, 4), S(3), S(3)}, .p = {3}},
    {.in = {S(2, 4, 3, 2), S(4), S(4)}, .p = {2}},
    {.in = {S(3, 2, 5, 7), S(2), S(2)}, .p = {1}},
    {.in = {S(0, 4, 2), S(4), S(4)}, .p = {2}},
    {.in = {S(1, 4, 17, 31), S(4), S(4)}, .p = {2}},
    {.in = {S(67, 35), S(35), S(35)}, .p = {5}},
    {.in = {S(9, 2050), S(2050), S(2050)}, .p = {2}},
    {.in = {S(5, 2, 40, 41), S(2), S(2)}, .p = {2}}, // sums of samples in three pieces of 2, 2, 1
};

// The setup's p[0] is the number of last dimensions.
static const setup last_setups[] = {
    {.in = {S(7), S(7), S(7)}, .p = {1}},
    {.in = {S(3, 5), S(5), S(5)}, .p = {1}},
    {.in = {S(2, 3, 4), S(3, 4), S(3, 4)}, .p = {2}},
    {.in = {S(0, 4), S(4), S(4)}, .p = {1}},
    {.in = {S(3, 0), S(0), S(0)}, .p = {1}},
    {.in = {S(70, 33), S(33), S(33)}, .p = {1}},
    {.in = {S(2, 1051), S(1051), S(1051)}, .p = {1}},
    {.in = {S(2, 3, 64), S(3, 64), S(3, 64)}, .p = {2}},
    {.in = {S(140, 64), S(64), S(64)}, .p = {1}},
    {.in = {S(9, 2051), S(2051), S(2051)}, .p = {1}}, // parameters in two pieces, rows in three
};

// ---- references ---------------------------------------------------------------------------------

// The elements of a sample, and of a channel in it.
static void spans(const setup *s, int64_t *sample, int64_t *channel)
{
    *sample = *channel = 1;
    for (int i = 1; i < s->in[0].rank; i++)
        *sample *= s->in[0].dim[i];
    for (int i = 2; i < s->in[0].rank; i++)
        *channel *= s->in[0].dim[i];
}

static int64_t last_numel(const setup *s)
{
    int64_t numel = 1;
    for (int i = 0; i < (int)s->p[0]; i++)
        numel *= s->in[0].dim[s->in[0].rank - 1 - i];
    return numel;
}

// Which elements element i belongs together with, and the place of its weight.
static void place(const op_case *c, const setup *s, int64_t i, int64_t *together, int64_t *weight)
{
    int64_t sample, channel;
    if (c->p[0] >= LAST) {
        *together = i / last_numel(s);
        *weight = i % last_numel(s);
        return;
    }
    spans(s, &sample, &channel);
    *weight = i % sample / channel;
    if (c->p[0] == CHANNEL)
        *together = *weight;
    else if (c->p[0] == INSTANCE)
        *together = i / channel;
    else
        *together = i / (sample / (int64_t)s->p[0]);
}

typedef struct statistic {
    real count, sum, squares, largest;
} statistic;

static real mean_of(const op_case *c, const statistic *st)
{
    return c->p[0] == LAST_SQUARE ? 0 : st->sum / st->count;
}

// What running statistics hold in an evaluation.
static real running_mean(int64_t channel)
{
    return 0.25L * (real)(channel % 5) - 0.5L;
}
static real running_var(int64_t channel)
{
    return 0.5L + 0.25L * (real)(channel % 7);
}

static void gather(const op_case *c, const setup *s, const array *x, statistic *all)
{
    int64_t together, weight;
    for (int64_t i = 0; i < x->numel; i++) {
        place(c, s, i, &together, &weight);
        all[together].count++;
        all[together].sum += x->data[i];
        all[together].largest = fmaxl(all[together].largest, fabsl(x->data[i]));
    }
    for (int64_t i = 0; i < x->numel; i++) {
        place(c, s, i, &together, &weight);
        const real off = x->data[i] - mean_of(c, &all[together]);
        all[together].squares += off * off;
    }
}

static void reference_norm(const op_case *c, const setup *s, const array *in, expected *out)
{
    const bool running = c->p[1] >= EVALUATING, relu = (int)c->p[1] % 2;
    statistic *all = calloc((size_t)in[0].numel + 1, sizeof *all);
    gather(c, s, &in[0], all);
    out->value = array_new(out->value.dtype, s->in[0]);
    out->magnitude = array_new(TERN_FLOAT64, s->in[0]);
    out->terms = 8;
    for (int64_t i = 0; i < in[0].numel; i++) {
        int64_t together, w;
        place(c, s, i, &together, &w);
        const statistic *st = &all[together];
        const real mean = running ? running_mean(w) : mean_of(c, st);
        const real var = running ? running_var(w) : st->squares / st->count;
        const real rstd = 1 / sqrtl(var + (real)EPS);
        const real weight = c->inputs > 1 ? in[1].data[w] : 1;
        const real bias = c->inputs > 2 ? in[2].data[w] : 0;
        const real z = (in[0].data[i] - mean) * rstd * weight + bias;
        out->value.data[i] = relu && z < 0 ? 0 : z;
        out->magnitude.data[i] =
            (st->largest + fabsl(mean)) * rstd * fabsl(weight) + fabsl(bias) + fabsl(z);
    }
    free(all);
}

// ---- calls --------------------------------------------------------------------------------------

#define WEIGHT (c->inputs > 1 ? in[1] : NULL)
#define BIAS   (c->inputs > 2 ? in[2] : NULL)

// Running statistics for x: of its dtype, where it is.
static tern_tensor *running(const tern_tensor *x, real value(int64_t))
{
    double numbers[128];
    const int64_t channels = tern_size(x, 1);
    for (int64_t i = 0; i < channels; i++)
        numbers[i] = (double)value(i);
    return tern_to_dtype(tern_from_data(tern_dims(channels), numbers, .dtype = TERN_FLOAT64,
                                        .device = tern_device_of(x)),
                         tern_dtype_of(x));
}

static tern_tensor *call_batch_norm(tern_tensor *const *in, const op_case *c, const setup *s)
{
    (void)s;
    const tern_activation activation = (int)c->p[1] % 2 ? TERN_ACT_RELU : TERN_ACT_NONE;
    if (c->p[1] < EVALUATING)
        return tern_batch_norm(in[0], .weight = WEIGHT, .bias = BIAS, .training = true, .eps = EPS,
                               .activation = activation);
    return tern_batch_norm(
        in[0], .weight = WEIGHT, .bias = BIAS, .running_mean = running(in[0], running_mean),
        .running_var = running(in[0], running_var), .eps = EPS, .activation = activation);
}

static tern_tensor *call_instance_norm(tern_tensor *const *in, const op_case *c, const setup *s)
{
    (void)s;
    if (c->p[1] == PLAIN)
        return tern_instance_norm(in[0], .weight = WEIGHT, .bias = BIAS, .eps = EPS);
    return tern_instance_norm(in[0], .weight = WEIGHT, .bias = BIAS, .use_input_stats = false,
                              .running_mean = running(in[0], running_mean),
                              .running_var = running(in[0], running_var), .eps = EPS);
}

static tern_tensor *call_group_norm(tern_tensor *const *in, const op_case *c, const setup *s)
{
    return tern_group_norm(in[0], (int64_t)s->p[0], .weight = WEIGHT, .bias = BIAS, .eps = EPS);
}

static tern_shape last_shape(const setup *s)
{
    const int rank = (int)s->p[0];
    return tern_shape_make(rank, s->in[0].dim + s->in[0].rank - rank);
}

static tern_tensor *call_layer_norm(tern_tensor *const *in, const op_case *c, const setup *s)
{
    return tern_layer_norm(in[0], last_shape(s), .weight = WEIGHT, .bias = BIAS, .eps = EPS);
}

static tern_tensor *call_rms_norm(tern_tensor *const *in, const op_case *c, const setup *s)
{
    return tern_rms_norm(in[0], last_shape(s), .weight = WEIGHT, .eps = EPS);
}

// clang-format off
#define NORM(name, noted, list, together, how, count, ...)                                         \
    {.op = #name, .note = noted, .call = call_##name, .reference = reference_norm,                 \
     .setups = list, .setup_count = COUNT(list), .inputs = count,                                  \
     .values = {ORDINARY, ORDINARY, ORDINARY}, .dtypes = FLOATS, .p = {together, how},             \
     .ulps = 4, .gradients = (1 << count) - 1, __VA_ARGS__}

static const op_case cases[] = {
    NORM(batch_norm, "plain", channels_2d, CHANNEL, PLAIN, 1, .each = NULL),
    NORM(batch_norm, "1d", channels_1d, CHANNEL, PLAIN, 3, .each = NULL),
    NORM(batch_norm, "columns", columns, CHANNEL, PLAIN, 3, .each = NULL),
    NORM(batch_norm, "2d", channels_2d, CHANNEL, PLAIN, 3, .each = NULL),
    NORM(batch_norm, "3d", channels_3d, CHANNEL, PLAIN, 3, .each = NULL),
    NORM(batch_norm, "relu, 1d", channels_1d, CHANNEL, RELU, 3, .kinks_inside = true),
    NORM(batch_norm, "relu, 2d", channels_2d, CHANNEL, RELU, 3, .kinks_inside = true),
    NORM(batch_norm, "evaluating, 1d", channels_1d, CHANNEL, EVALUATING, 3, .each = NULL),
    NORM(batch_norm, "evaluating, 2d", channels_2d, CHANNEL, EVALUATING, 2, .each = NULL),
    NORM(batch_norm, "evaluating, relu", channels_2d, CHANNEL, EVALUATING_RELU, 3,
         .kinks_inside = true),
    NORM(instance_norm, "plain", instances_2d, INSTANCE, PLAIN, 1, .each = NULL),
    NORM(instance_norm, "1d", instances_1d, INSTANCE, PLAIN, 3, .each = NULL),
    NORM(instance_norm, "2d", instances_2d, INSTANCE, PLAIN, 3, .each = NULL),
    NORM(instance_norm, "3d", instances_3d, INSTANCE, PLAIN, 3, .each = NULL),
    NORM(instance_norm, "evaluating", instances_2d, INSTANCE, EVALUATING, 3, .each = NULL),
    NORM(group_norm, "plain", group_setups, GROUP, PLAIN, 1, .each = NULL),
    NORM(group_norm, "weight", group_setups, GROUP, PLAIN, 2, .each = NULL),
    NORM(group_norm, "affine", group_setups, GROUP, PLAIN, 3, .each = NULL),
    NORM(layer_norm, "plain", last_setups, LAST, PLAIN, 1, .each = NULL),
    NORM(layer_norm, "weight", last_setups, LAST, PLAIN, 2, .each = NULL),
    NORM(layer_norm, "affine", last_setups, LAST, PLAIN, 3, .each = NULL),
    NORM(rms_norm, "plain", last_setups, LAST_SQUARE, PLAIN, 1, .each = NULL),
    NORM(rms_norm, "weight", last_setups, LAST_SQUARE, PLAIN, 2, .each = NULL),
};
// clang-format on

const case_list norm_cases = {cases, COUNT(cases)};
