// SPDX-License-Identifier: Apache-2.0
// Elements in order along a dimension. p[0] of a case: from the largest down. p[0] of a setup: how
// many elements are wanted.
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

static const setup sort_setups[] = {
    {.in = {{0}}, .dim = -1, .p = {1}},
    {.in = {S(1)}, .p = {1}},
    {.in = {S(7)}, .p = {7}},
    {.in = {S(5, 3)}, .p = {5}},
    {.in = {S(5, 3)}, .dim = -1, .p = {3}},
    {.in = {S(2, 3, 4)}, .dim = 1, .p = {3}},
    {.in = {S(0, 3)}, .dim = 1, .p = {3}},
    {.in = {S(3, 0, 2)}, .dim = 1, .p = {0}},
    {.in = {S(257)}, .p = {257}},
    {.in = {S(19, 37)}, .dim = 1, .p = {37}},
    {.in = {S(131, 19)}, .p = {131}},
    {.in = {S(3, 2053)}, .dim = 1, .p = {2053}},
    {.in = {S(3, 70, 19)}, .dim = 1, .p = {70}},
};

static const setup topk_setups[] = {
    {.in = {{0}}, .dim = -1, .p = {1}},
    {.in = {S(7)}, .p = {7}},
    {.in = {S(7)}, .p = {0}},
    {.in = {S(5, 3)}, .p = {2}},
    {.in = {S(2, 3, 4)}, .dim = 1, .p = {1}},
    {.in = {S(0, 3)}, .dim = 1, .p = {2}},
    {.in = {S(257)}, .p = {20}},
    {.in = {S(19, 137)}, .dim = 1, .p = {5}},
    {.in = {S(131, 19)}, .p = {100}},
    {.in = {S(3, 2053)}, .dim = 1, .p = {31}},
    {.in = {S(2, 4111)}, .dim = 1, .p = {2000}},
    {.in = {S(3, 70, 19)}, .dim = 1, .p = {3}},
};

// ---- what they compute --------------------------------------------------------------------------

// Whether x comes before y, which stands before x.
static bool overtakes(bool descending, real x, real y)
{
    if (isnan(x) || isnan(y))
        return descending ? !isnan(y) : isnan(y) && !isnan(x);
    return descending ? x > y : x < y;
}

// The places of the first k of n numbers that are `step` apart, by insertion.
static void places_in_order(const real *x, int64_t n, int64_t step, int64_t k, bool descending,
                            real *places)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t to = count;
        for (; to > 0 && overtakes(descending, x[i * step], x[(int64_t)places[to - 1] * step]);
             to--)
            if (to < k)
                places[to] = places[to - 1];
        if (to < k)
            places[to] = (real)i;
        count += count < k;
    }
}

static void reference_order(const op_case *c, const setup *s, const array *in, expected *out)
{
    tern_shape shape = in[0].shape;
    const int dim = shape.rank ? (s->dim + shape.rank) % shape.rank : 0;
    const int64_t n = shape.rank ? shape.dim[dim] : 1, k = (int64_t)s->p[0];
    int64_t inner = 1;
    for (int d = dim + 1; d < shape.rank; d++)
        inner *= shape.dim[d];
    if (shape.rank)
        shape.dim[dim] = k;
    out->value = array_new(out->value.dtype, shape);
    array places = array_new(TERN_FLOAT64, tern_dims(k + 1));
    for (int64_t line = 0; k > 0 && line < out->value.numel / k; line++) {
        const real *x = in[0].data + line / inner * n * inner + line % inner;
        real *y = out->value.data + line / inner * k * inner + line % inner;
        places_in_order(x, n, inner, k, c->p[0] > 0, places.data);
        for (int64_t i = 0; i < k; i++)
            y[i * inner] =
                c->result == PLACES ? places.data[i] : x[(int64_t)places.data[i] * inner];
    }
    array_free(&places);
}

// ---- how they are called ------------------------------------------------------------------------

#define CALL(name, ...)                                                                            \
    static tern_tensor *call_##name(tern_tensor *const *in, const op_case *c, const setup *s)      \
    {                                                                                              \
        tern_tensor *indices = NULL, *values = __VA_ARGS__;                                        \
        return values && c->result == PLACES && indices ? indices : values;                        \
    }
CALL(sort, tern_sort(in[0], s->dim, c->p[0] > 0, &indices))
CALL(argsort, tern_argsort(in[0], s->dim, c->p[0] > 0))
CALL(topk, tern_topk(in[0], (int64_t)s->p[0], s->dim, c->p[0] > 0, &indices))

// clang-format off
#define ORDER(name, ...)                                                                           \
    {.op = #name, .call = call_##name, .reference = reference_order, .values = {SMALL},            \
     .setups = name##_setups, .setup_count = COUNT(name##_setups), .inputs = 1, .dtypes = ALL,     \
     .specials = true, __VA_ARGS__}
#define argsort_setups sort_setups

static const op_case cases[] = {
    ORDER(sort, .gradients = 1),
    ORDER(sort, .note = "descending", .p = {1}, .gradients = 1),
    ORDER(sort, .note = "indices", .result = PLACES),
    ORDER(sort, .note = "descending indices", .p = {1}, .result = PLACES),
    ORDER(argsort, .result = PLACES),
    ORDER(argsort, .note = "descending", .p = {1}, .result = PLACES),
    ORDER(topk, .note = "smallest", .gradients = 1),
    ORDER(topk, .p = {1}, .gradients = 1),
    ORDER(topk, .note = "smallest indices", .result = PLACES),
    ORDER(topk, .note = "indices", .p = {1}, .result = PLACES),
};
// clang-format on

const case_list sort_cases = {cases, COUNT(cases)};
