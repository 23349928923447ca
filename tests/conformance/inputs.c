// SPDX-License-Identifier: Apache-2.0
// Random inputs with a shape to them: ties, zeros, tiny, huge and special values.
#include "conformance.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

static uint64_t state;

void random_seed(uint64_t seed)
{
    state = seed;
}

// splitmix64 (Steele, Lea, Flood 2014)
uint64_t random_word(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static real uniform(real low, real high)
{
    return low + (high - low) * (real)(random_word() >> 11) * 0x1p-53L;
}

static real integer(int64_t low, int64_t high)
{
    return (real)(low + (int64_t)(random_word() % (uint64_t)(high - low + 1)));
}

// Powers of two that the squares and products of a dtype can still hold.
static real wide(tern_dtype dtype)
{
    int limit = dtype == TERN_FLOAT16 ? 6 : 40;
    switch (random_word() % 4) {
    case 0:
        return ldexpl(uniform(1, 2), (int)integer(limit / 2, limit));
    case 1:
        return ldexpl(uniform(1, 2), (int)integer(-limit, -limit / 2));
    case 2:
        return integer(0, 3);
    }
    return uniform(0, 4);
}

static real sign(void)
{
    return random_word() & 1 ? -1 : 1;
}

static real floating(value_kind kind, tern_dtype dtype)
{
    switch (kind) {
    case ORDINARY:
        return random_word() % 8 ? uniform(-4, 4) : integer(-2, 2);
    case FAR:
        return uniform(-8, 8);
    case WIDE:
        return sign() * wide(dtype);
    case POSITIVE:
        return uniform(0.3L, 4);
    case WIDE_POSITIVE:
        return wide(dtype);
    case NONZERO:
        return sign() * uniform(0.3L, 4);
    case UNIT:
        return uniform(0, 1);
    case SMALL:
        return integer(-2, 2);
    case SIGN:
        return sign();
    case MASK:
    case LABEL:
        break;
    }
    return 0;
}

static real whole(value_kind kind, tern_dtype dtype)
{
    if (dtype == TERN_BOOL)
        return integer(0, 1);
    bool no_zero = kind == POSITIVE || kind == WIDE_POSITIVE || kind == NONZERO;
    return integer(dtype == TERN_UINT8 || no_zero ? no_zero : -5, 5);
}

// Distinct numbers, far from each other and from 0 and the integers, where derivatives jump.
static real apart(value_kind kind, int64_t place, int64_t count)
{
    real low = kind == POSITIVE || kind == WIDE_POSITIVE ? 0.4L : kind == UNIT ? 0.1L : -1.9L;
    real high = kind == UNIT ? 0.9L : 1.9L;
    low = kind == FAR ? -7.9L : low;
    high = kind == FAR ? 7.9L : high;
    real x = low + (high - low) * ((real)place + uniform(0.2L, 0.8L)) / (real)count;
    if (kind == NONZERO && fabsl(x) < 0.3L)
        x += x < 0 ? -0.5L : 0.5L;
    real off = x - rintl(x);
    return fabsl(off) < 0.01L ? x + 0.013L : x;
}

static void shuffle(real *x, int64_t n)
{
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t k = (int64_t)(random_word() % (uint64_t)(i + 1));
        real swap = x[i];
        x[i] = x[k];
        x[k] = swap;
    }
}

static void fill(value_kind kind, const setup *s, bool gradient, array *a)
{
    for (int64_t i = 0; i < a->numel; i++) {
        real x =
            kind == LABEL ? integer(0, (int64_t)s->p[0] - 1)
            : !tern_dtype_is_floating(a->dtype)
                ? whole(kind, a->dtype)
                : (gradient && kind != SIGN ? apart(kind, i, a->numel) : floating(kind, a->dtype));
        a->data[i] = array_round(a->dtype, x);
    }
    if (gradient && kind != LABEL)
        shuffle(a->data, a->numel);
}

// Pairs of operands meet in every combination that the sizes allow, as the places differ by input.
static void add_specials(array *a, int input)
{
    real tiny = a->dtype == TERN_FLOAT64 ? DBL_TRUE_MIN : FLT_TRUE_MIN;
    real large = a->dtype == TERN_FLOAT64 ? DBL_MAX : FLT_MAX;
    const real special[] = {0, -0.0L, INFINITY, -INFINITY, NAN, 1, -1, tiny, -tiny, large, -large};
    int64_t count = sizeof special / sizeof *special;
    if (a->numel < 4 * count)
        return;
    for (int64_t i = 0; i < a->numel / 2; i++)
        a->data[i] = array_round(a->dtype, special[(input ? i / count : i) % count]);
}

static tern_dtype input_dtype(value_kind kind, tern_dtype dtype)
{
    return kind == MASK ? TERN_BOOL : kind == LABEL ? TERN_INT64 : dtype;
}

void make_inputs(const op_case *c, const setup *s, tern_dtype dtype, bool gradient, array *in)
{
    for (int i = 0; i < c->inputs; i++) {
        in[i] = array_new(input_dtype(c->values[i], dtype), s->in[i]);
        fill(c->values[i], s, gradient, &in[i]);
        if (c->specials && !gradient && tern_dtype_is_floating(in[i].dtype))
            add_specials(&in[i], i);
    }
}

run_name name_of_run(const op_case *c, int number, tern_dtype dtype, array_layout layout)
{
    static const char *const layouts[] = {"contiguous", "transposed", "sliced"};
    run_name name;
    snprintf(name.text, sizeof name.text, "%s%s%s%s, setup %d, %s, %s", c->op, c->note ? " (" : "",
             c->note ? c->note : "", c->note ? ")" : "", number, tern_dtype_name(dtype),
             layouts[layout]);
    return name;
}
