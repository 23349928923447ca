// SPDX-License-Identifier: Apache-2.0
// Operations with two operands in one type. The including source has defined `number`, the
// expressions ADD_OF(a, alpha, b), SUB_OF(a, b), MUL_OF(a, b) and POW_OF(a, b), PARAMS as the field
// of block_params, and NUMBER_TABLE as the table's name; HAS_DIV where there is a division.
#include "cpu/elementwise/elementwise.h"

#define BLOCK(name, out, expression)                                                               \
    static void name(void *y, const void *const *x, int64_t n, const block_params *p)              \
    {                                                                                              \
        const number alpha = (number)p->PARAMS[0];                                                 \
        const number *as = x[0], *bs = x[1];                                                       \
        out *to = y;                                                                               \
        (void)alpha;                                                                               \
        ELEMENTWISE_LOOP                                                                           \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const number a = as[i], b = bs[i];                                                     \
            to[i] = (out)(expression);                                                             \
        }                                                                                          \
    }
#define BINARY(name, expression)    BLOCK(name, number, expression)
#define PREDICATE(name, expression) BLOCK(name, uint8_t, expression)

BINARY(add_plain, ADD_OF(a, 1, b))
BINARY(add_scaled, ADD_OF(a, alpha, b))
BINARY(subtract, SUB_OF(a, b))
BINARY(multiply, MUL_OF(a, b))
BINARY(power, POW_OF(a, b))
BINARY(smaller, ((a < b) | (a != a)) ? a : b)
BINARY(larger, ((a > b) | (a != a)) ? a : b)
PREDICATE(equal, a == b)
PREDICATE(not_equal, a != b)
PREDICATE(less, a < b)
PREDICATE(less_equal, a <= b)
PREDICATE(greater, a > b)
PREDICATE(greater_equal, a >= b)
PREDICATE(both, (a != 0) & (b != 0))
PREDICATE(either, (a != 0) | (b != 0))

static void add(void *y, const void *const *x, int64_t n, const block_params *p)
{
    (p->PARAMS[0] == 1 ? add_plain : add_scaled)(y, x, n, p);
}

#ifdef HAS_DIV
BINARY(divide, a / b)
#endif

block_fn *const NUMBER_TABLE[TERN_BINARY_COUNT] = {
    [TERN_BINARY_ADD] = add,       [TERN_BINARY_SUB] = subtract, [TERN_BINARY_MUL] = multiply,
#ifdef HAS_DIV
    [TERN_BINARY_DIV] = divide,
#endif
    [TERN_BINARY_POW] = power,     [TERN_BINARY_MIN] = smaller,  [TERN_BINARY_MAX] = larger,
    [TERN_BINARY_EQ] = equal,      [TERN_BINARY_NE] = not_equal, [TERN_BINARY_LT] = less,
    [TERN_BINARY_LE] = less_equal, [TERN_BINARY_GT] = greater,   [TERN_BINARY_GE] = greater_equal,
    [TERN_BINARY_AND] = both,      [TERN_BINARY_OR] = either,
};
