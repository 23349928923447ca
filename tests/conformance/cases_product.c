// SPDX-License-Identifier: Apache-2.0
// Products, cross-entropy, indexing and dropout without chance.
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

static const setup matmul_setups[] = {
    {.in = {S(3), S(3)}},
    {.in = {S(1, 1), S(1, 1)}},
    {.in = {S(2, 3), S(3, 4)}},
    {.in = {S(3), S(3, 4)}},
    {.in = {S(2, 3), S(3)}},
    {.in = {S(1, 7), S(7, 1)}},
    {.in = {S(7, 1), S(1, 5)}},
    {.in = {S(0, 3), S(3, 4)}},
    {.in = {S(2, 0), S(0, 4)}},
    {.in = {S(5, 2, 3), S(3, 4)}},
    {.in = {S(2, 3), S(5, 3, 4)}},
    {.in = {S(5, 2, 3), S(5, 3, 4)}},
    {.in = {S(2, 1, 2, 3), S(3, 3, 2)}},
    {.in = {S(2, 3, 2, 2), S(2, 1, 2, 3)}},
    {.in = {S(1, 2, 3), S(4, 3, 2)}},
    {.in = {S(4, 2, 3), S(3)}},
    {.in = {S(3), S(4, 3, 2)}},
    {.in = {S(0, 2, 3), S(3, 2)}},
    {.in = {S(2, 0, 3), S(3, 2)}},
    {.in = {S(2, 0, 2, 3), S(3, 2)}},
    {.in = {S(8, 3, 4, 0), S(8, 3, 0, 4)}},
    {.in = {S(17, 31), S(31, 19)}},
    {.in = {S(65, 33), S(33, 70)}},
    {.in = {S(5, 1031), S(1031, 7)}}, // past the first block of each dimension
    {.in = {S(2053, 3), S(3, 2)}},
    {.in = {S(2, 3), S(3, 4099)}},
    {.in = {S(9, 17, 33), S(9, 33, 19)}},
};

static const setup linear_setups[] = {
    {.in = {S(4, 3), S(5, 3), S(5)}},       {.in = {S(3), S(2, 3), S(2)}},
    {.in = {S(2, 3, 4), S(5, 4), S(5)}},    {.in = {S(1, 1), S(1, 1), S(1)}},
    {.in = {S(0, 3), S(2, 3), S(2)}},       {.in = {S(2, 0), S(3, 0), S(3)}},
    {.in = {S(19, 33), S(37, 33), S(37)}},  {.in = {S(2, 0, 3), S(2, 3), S(2)}},
    {.in = {S(0, 2, 0, 3), S(2, 3), S(2)}}, {.in = {S(5, 1031), S(7, 1031), S(7)}},
    {.in = {S(2, 3), S(4099, 3), S(4099)}},
};

// p: classes, ignore_index, label smoothing
static const setup label_setups[] = {
    {.in = {S(4, 5), S(4), S(5)}, .p = {5, -100, 0}},
    {.in = {S(4, 5), S(4), S(5)}, .p = {5, -100, 0.1}},
    {.in = {S(6, 3), S(6), S(3)}, .p = {3, 1, 0}},
    {.in = {S(9, 3), S(9), S(3)}, .p = {3, 1, 0.25}},
    {.in = {S(5), {0}, S(5)}, .p = {5, -100, 0}},
    {.in = {S(3, 4, 2), S(3, 2), S(4)}, .p = {4, -100, 0.1}},
    {.in = {S(2, 3, 2, 3), S(2, 2, 3), S(3)}, .p = {3, 2, 0}},
    {.in = {S(1, 1), S(1), S(1)}, .p = {1, -100, 0}},
    {.in = {S(37, 100), S(37), S(100)}, .p = {100, -100, 0}},
    {.in = {S(5, 136), S(5), S(136)}, .p = {136, 7, 0.1}},
    {.in = {S(3, 2056), S(3), S(2056)}, .p = {2056, -100, 0.1}},
    {.in = {S(70, 601), S(70), S(601)}, .p = {601, -100, 0}}, // two pieces of samples
    {.in = {S(2, 70, 45), S(2, 45), S(70)}, .p = {70, 3, 0.1}},
};

static const setup probability_setups[] = {
    {.in = {S(4, 5), S(4, 5), S(5)}, .p = {5, -100, 0}},
    {.in = {S(4, 5), S(4, 5), S(5)}, .p = {5, -100, 0.1}},
    {.in = {S(5), S(5), S(5)}, .p = {5, -100, 0.1}},
    {.in = {S(3, 4, 2), S(3, 4, 2), S(4)}, .p = {4, -100, 0.1}},
    {.in = {S(1, 1), S(1, 1), S(1)}, .p = {1, -100, 0}},
    {.in = {S(5, 136), S(5, 136), S(136)}, .p = {136, -100, 0.1}},
    {.in = {S(70, 601), S(70, 601), S(601)}, .p = {601, -100, 0}},
    {.in = {S(2, 70, 45), S(2, 70, 45), S(70)}, .p = {70, -100, 0.1}},
};

// Of a linear layer's logits, likewise: input, target, linear_weight, linear_bias, weight.
static const setup linear_label_setups[] = {
    {.in = {S(4, 3), S(4), S(5, 3), S(5), S(5)}, .p = {5, -100, 0}},
    {.in = {S(9, 2), S(9), S(3, 2), S(3), S(3)}, .p = {3, 1, 0.25}},
    {.in = {S(3), {0}, S(5, 3), S(5), S(5)}, .p = {5, -100, 0.1}},
    {.in = {S(1, 1), S(1), S(1, 1), S(1), S(1)}, .p = {1, -100, 0}},
    {.in = {S(37, 19), S(37), S(100, 19), S(100), S(100)}, .p = {100, -100, 0}},
};

// Two chunks, and three.
static const setup linear_chunk_setups[] = {
    {.in = {S(420, 2), S(420), S(160, 2), S(160), S(160)}, .p = {160, 7, 0.1}},
    {.in = {S(800, 1), S(800), S(257, 1), S(257), S(257)}, .p = {257, -100, 0}},
};

static const setup linear_probability_setups[] = {
    {.in = {S(4, 3), S(4, 5), S(5, 3), S(5), S(5)}, .p = {5, -100, 0.1}},
    {.in = {S(3), S(5), S(5, 3), S(5), S(5)}, .p = {5, -100, 0}},
};

static const setup linear_probability_chunk_setups[] = {
    {.in = {S(390, 1), S(390, 256), S(256, 1), S(256), S(256)}, .p = {256, -100, 0.1}},
};

static const setup linear_image_setups[] = {
    {.in = {S(3, 4), S(3, 2), S(4, 2, 4), S(4, 2), S(4)}, .p = {4, -100, 0.1}},
    {.in = {S(2, 5), S(2, 2, 3), S(3, 2, 3, 5), S(3, 2, 3), S(3)}, .p = {3, 2, 0}},
    {.in = {S(390, 1), S(390, 2), S(130, 2, 1), S(130, 2), S(130)}, .p = {130, 5, 0}}, // two chunks
};

// No label counts, or no sample is there: the mean is NaN.
static const setup linear_nothing_setups[] = {
    {.in = {S(3, 2), S(3), S(1, 2)}, .p = {1, 0, 0}},
    {.in = {S(0, 2), S(0), S(5, 2)}, .p = {5, -100, 0}},
};

// No label counts, or no sample is there: the mean is NaN.
static const setup nothing_setups[] = {
    {.in = {S(3, 1), S(3)}, .p = {1, 0, 0}},
    {.in = {S(0, 5), S(0)}, .p = {5, -100, 0}},
};

static const setup gather_setups[] = {
    {.in = {S(5), S(7)}, .p = {5}},
    {.in = {S(4, 3), S(2, 3)}, .p = {4}},
    {.in = {S(4, 3), S(4, 6)}, .dim = 1, .p = {3}},
    {.in = {S(4, 3), S(2, 1)}, .dim = -1, .p = {3}},
    {.in = {S(2, 3, 4), S(2, 5, 3)}, .dim = 1, .p = {3}},
    {.in = {S(4, 3), S(0, 3)}, .p = {4}},
    {.in = {{0}, {0}}, .p = {1}},
    {.in = {S(50, 19), S(70, 19)}, .p = {50}},
    {.in = {S(300, 41), S(301, 41)}, .p = {300}},
    {.in = {S(41, 300), S(41, 301)}, .dim = 1, .p = {300}},
};

static const setup select_setups[] = {
    {.in = {S(5), S(7)}, .p = {5}},
    {.in = {S(4, 3), S(2)}, .p = {4}},
    {.in = {S(4, 3), S(6)}, .dim = 1, .p = {3}},
    {.in = {S(2, 3, 4), S(5)}, .dim = -2, .p = {3}},
    {.in = {S(4, 3), S(0)}, .p = {4}},
    {.in = {S(50, 19), S(70)}, .p = {50}},
    {.in = {S(100, 131), S(90)}, .p = {100}},
    {.in = {S(131, 100), S(90)}, .dim = 1, .p = {100}},
};

static const setup one_hot_setups[] = {
    {.in = {{0}}, .p = {3}},  {.in = {S(4)}, .p = {5}},      {.in = {S(2, 3)}, .p = {1}},
    {.in = {S(0)}, .p = {4}}, {.in = {S(65, 3)}, .p = {17}},
};

static const setup dropout_setups[] = {
    {.in = {{0}}}, {.in = {S(0)}}, {.in = {S(7)}}, {.in = {S(2, 3, 4)}}, {.in = {S(33, 65)}},
};

#define CALL(name, ...)                                                                            \
    static tern_tensor *call_##name(tern_tensor *const *in, const op_case *c, const setup *s)      \
    {                                                                                              \
        (void)c;                                                                                   \
        (void)s;                                                                                   \
        return __VA_ARGS__;                                                                        \
    }
CALL(matmul, tern_matmul(in[0], in[1]))
// p[0]: the activation
CALL(linear, tern_linear(in[0], in[1], c->inputs > 2 ? in[2] : NULL, (tern_activation)c->p[0]))
// p[0]: the reduction
CALL(cross_entropy, tern_cross_entropy(in[0], in[1], .weight = c->inputs > 2 ? in[2] : NULL,
                                       .ignore_index = (int64_t)s->p[1], .label_smoothing = s->p[2],
                                       .reduction = (tern_reduction)c->p[0]))
CALL(linear_cross_entropy,
     tern_linear_cross_entropy(in[0], in[2], in[1], .linear_bias = c->inputs > 3 ? in[3] : NULL,
                               .weight = c->inputs > 4 ? in[4] : NULL,
                               .ignore_index = tern_dtype_of(in[1]) == TERN_INT64
                                                   ? (int64_t)s->p[1]
                                                   : TERN_IGNORE_INDEX_UNSPECIFIED,
                               .label_smoothing = s->p[2], .reduction = (tern_reduction)c->p[0]))
CALL(gather, tern_gather(in[0], s->dim, in[1]))
CALL(index_select, tern_index_select(in[0], s->dim, in[1]))
CALL(one_hot, tern_one_hot(in[0], (int64_t)s->p[0]))
// p[0]: the probability, p[1]: training
CALL(dropout, tern_dropout(in[0], c->p[0], c->p[1] != 0))

#define EACH(name, ...)                                                                            \
    static real each_##name(const real *x, const double *p)                                        \
    {                                                                                              \
        (void)p;                                                                                   \
        return __VA_ARGS__;                                                                        \
    }
EACH(relu, x[0] > 0 ? x[0] : 0)
EACH(tanh, tanhl(x[0]))
EACH(sigmoid, 1 / (1 + expl(-x[0])))
EACH(silu, x[0] / (1 + expl(-x[0])))
EACH(gelu, x[0] * erfcl(-x[0] * sqrtl(0.5L)) / 2)
EACH(gelu_tanh, x[0] * (1 + tanhl(sqrtl(2 / acosl(-1)) * (x[0] + 0.044715L * powl(x[0], 3)))) / 2)
// With certainty: all stay or none.
EACH(dropout, p[1] != 0 && p[0] == 1 ? 0 : x[0])

// clang-format off
#define LINEAR(name, activation, count, ...)                                                       \
    {.op = "linear", .note = name, .call = call_linear, .reference = reference_linear,             \
     .setups = linear_setups, .setup_count = COUNT(linear_setups), .inputs = count,                \
     .values = {ORDINARY, ORDINARY, ORDINARY}, .dtypes = FLOATS, .p = {activation},                \
     .gradients = (1 << count) - 1, __VA_ARGS__}
#define ENTROPY(name, list, reduced, count, ...)                                                   \
    {.op = "cross_entropy", .note = name, .call = call_cross_entropy,                              \
     .reference = reference_cross_entropy, .setups = list, .setup_count = COUNT(list),             \
     .inputs = count, .dtypes = FLOATS, .p = {TERN_REDUCTION_##reduced}, __VA_ARGS__}
#define LINEAR_ENTROPY(name, list, reduced, count, target, ...)                                    \
    {.op = "linear_cross_entropy", .note = name, .call = call_linear_cross_entropy,                \
     .reference = reference_linear_cross_entropy, .setups = list, .setup_count = COUNT(list),      \
     .inputs = count, .values = {ORDINARY, target, UNIT, UNIT, POSITIVE}, .dtypes = FLOATS,        \
     .p = {TERN_REDUCTION_##reduced}, __VA_ARGS__}
#define DROPOUT(name, ...)                                                                         \
    {.op = "dropout", .note = name, .call = call_dropout, .reference = reference_each,             \
     .each = each_dropout, .setups = dropout_setups, .setup_count = COUNT(dropout_setups),         \
     .inputs = 1, .values = {WIDE}, .dtypes = FLOATS, .gradients = 1, __VA_ARGS__}
#define LABELS .values = {ORDINARY, LABEL, POSITIVE}, .gradients = 1
#define PROBABILITIES .values = {ORDINARY, UNIT, POSITIVE}, .gradients = 3

static const op_case cases[] = {
    {.op = "matmul", .call = call_matmul, .reference = reference_matmul,
     .setups = matmul_setups, .setup_count = COUNT(matmul_setups), .inputs = 2,
     .values = {ORDINARY, ORDINARY}, .dtypes = FLOATS, .gradients = 3},
    {.op = "matmul", .note = "wide", .call = call_matmul, .reference = reference_matmul,
     .setups = matmul_setups, .setup_count = COUNT(matmul_setups), .inputs = 2,
     .values = {WIDE, WIDE}, .dtypes = FLOATS},
    LINEAR("no bias", TERN_ACT_NONE, 2, .each = NULL),
    LINEAR("bias", TERN_ACT_UNSPECIFIED, 3, .each = NULL),
    LINEAR("relu", TERN_ACT_RELU, 3, .each = each_relu, .kinks_inside = true),
    LINEAR("relu, no bias", TERN_ACT_RELU, 2, .each = each_relu, .kinks_inside = true),
    LINEAR("gelu", TERN_ACT_GELU, 3, .each = each_gelu),
    LINEAR("gelu_tanh", TERN_ACT_GELU_TANH, 3, .each = each_gelu_tanh),
    LINEAR("silu", TERN_ACT_SILU, 3, .each = each_silu),
    LINEAR("tanh", TERN_ACT_TANH, 3, .each = each_tanh),
    LINEAR("sigmoid, no bias", TERN_ACT_SIGMOID, 2, .each = each_sigmoid),
    ENTROPY("mean", label_setups, MEAN, 2, LABELS),
    ENTROPY("sum", label_setups, SUM, 2, LABELS),
    ENTROPY("none", label_setups, NONE, 2, LABELS),
    ENTROPY("mean, weight", label_setups, MEAN, 3, LABELS),
    ENTROPY("sum, weight", label_setups, SUM, 3, LABELS),
    ENTROPY("none, weight", label_setups, NONE, 3, LABELS),
    ENTROPY("mean, probabilities", probability_setups, MEAN, 2, PROBABILITIES),
    ENTROPY("sum, probabilities", probability_setups, SUM, 2, PROBABILITIES),
    ENTROPY("none, probabilities", probability_setups, NONE, 2, PROBABILITIES),
    ENTROPY("mean, probabilities, weight", probability_setups, MEAN, 3, PROBABILITIES),
    ENTROPY("none, probabilities, weight", probability_setups, NONE, 3, PROBABILITIES),
    ENTROPY("mean of nothing", nothing_setups, MEAN, 2, .values = {ORDINARY, LABEL}),
    ENTROPY("sum of nothing", nothing_setups, SUM, 2, .values = {ORDINARY, LABEL}),
    LINEAR_ENTROPY("mean", linear_label_setups, MEAN, 3, LABEL, .gradients = 5),
    LINEAR_ENTROPY("sum, bias", linear_label_setups, SUM, 4, LABEL, .gradients = 13),
    LINEAR_ENTROPY("none", linear_label_setups, NONE, 3, LABEL, .gradients = 5),
    LINEAR_ENTROPY("mean, bias, weight", linear_label_setups, MEAN, 5, LABEL, .gradients = 13),
    LINEAR_ENTROPY("none, bias, weight", linear_label_setups, NONE, 5, LABEL, .gradients = 13),
    LINEAR_ENTROPY("mean, chunks, bias, weight", linear_chunk_setups, MEAN, 5, LABEL,
                   .gradients = 13),
    LINEAR_ENTROPY("none, chunks", linear_chunk_setups, NONE, 3, LABEL, .gradients = 5),
    LINEAR_ENTROPY("mean, chunks, probabilities, bias", linear_probability_chunk_setups, MEAN, 4,
                   UNIT, .gradients = 13),
    LINEAR_ENTROPY("mean, probabilities, bias, weight", linear_probability_setups, MEAN, 5, UNIT,
                   .gradients = 13),
    LINEAR_ENTROPY("none, probabilities, bias", linear_probability_setups, NONE, 4, UNIT,
                   .gradients = 13),
    LINEAR_ENTROPY("mean, gradients of probabilities, bias, weight", linear_probability_setups,
                   MEAN, 5, UNIT, .gradients = 15),
    LINEAR_ENTROPY("mean, K dimensions, bias, weight", linear_image_setups, MEAN, 5, LABEL,
                   .gradients = 13),
    LINEAR_ENTROPY("none, K dimensions", linear_image_setups, NONE, 3, LABEL, .gradients = 5),
    LINEAR_ENTROPY("the input's gradient alone", linear_label_setups, MEAN, 4, LABEL,
                   .gradients = 1),
    LINEAR_ENTROPY("mean of nothing", linear_nothing_setups, MEAN, 3, LABEL, .gradients = 0),
    LINEAR_ENTROPY("sum of nothing", linear_nothing_setups, SUM, 3, LABEL, .gradients = 0),
    DROPOUT("evaluating", .p = {0.5, false}),
    DROPOUT("none", .p = {0, true}),
    DROPOUT("all", .p = {1, true}),
    {.op = "gather", .call = call_gather, .reference = reference_gather,
     .setups = gather_setups, .setup_count = COUNT(gather_setups), .inputs = 2,
     .values = {ORDINARY, LABEL}, .dtypes = ALL, .gradients = 1},
    {.op = "index_select", .call = call_index_select, .reference = reference_index_select,
     .setups = select_setups, .setup_count = COUNT(select_setups), .inputs = 2,
     .values = {ORDINARY, LABEL}, .dtypes = ALL, .gradients = 1},
    {.op = "one_hot", .call = call_one_hot, .reference = reference_one_hot,
     .setups = one_hot_setups, .setup_count = COUNT(one_hot_setups), .inputs = 1,
     .values = {LABEL}, .dtypes = I64, .result = PLACES},
};
// clang-format on

const case_list product_cases = {cases, COUNT(cases)};
