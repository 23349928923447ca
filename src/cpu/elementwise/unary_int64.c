// SPDX-License-Identifier: Apache-2.0
// Operations with one operand on integers and bool.
#include "cpu/elementwise/elementwise.h"

#define BLOCK(name, out, expression)                                                               \
    static void name(void *y, const void *const *x, int64_t n, const block_params *p)              \
    {                                                                                              \
        const int64_t a = p->integer[0], b = p->integer[1];                                        \
        const int64_t *from = x[0];                                                                \
        out *to = y;                                                                               \
        (void)a;                                                                                   \
        (void)b;                                                                                   \
        ELEMENTWISE_LOOP                                                                           \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const int64_t v = from[i];                                                             \
            to[i] = (out)(expression);                                                             \
        }                                                                                          \
    }
#define UNARY(name, expression)     BLOCK(name, int64_t, expression)
#define PREDICATE(name, expression) BLOCK(name, uint8_t, expression)

static inline int64_t clamped(int64_t v, int64_t low, int64_t high)
{
    const int64_t raised = v < low ? low : v;
    return raised > high ? high : raised;
}

UNARY(negate, wrap_sub(0, v))
UNARY(absolute, v < 0 ? wrap_sub(0, v) : v)
UNARY(relu, v < 0 ? 0 : v)
UNARY(clamp, clamped(v, a, b))
UNARY(same, v)
UNARY(sign, (v > 0) - (v < 0))
UNARY(add_scalar, wrap_add(v, a))
UNARY(mul_scalar, wrap_mul(v, a))
UNARY(pow_scalar, wrap_pow(v, a))
PREDICATE(is_finite, v == v)
PREDICATE(not, v == 0)
PREDICATE(eq_scalar, v == a)
PREDICATE(ne_scalar, v != a)
PREDICATE(lt_scalar, v < a)
PREDICATE(le_scalar, v <= a)
PREDICATE(gt_scalar, v > a)
PREDICATE(ge_scalar, v >= a)

block_fn *const TERN_ISA_NAME(unary_int64)[TERN_UNARY_COUNT] = {
    [TERN_UNARY_NEG] = negate,
    [TERN_UNARY_ABS] = absolute,
    [TERN_UNARY_RELU] = relu,
    [TERN_UNARY_CLAMP] = clamp,
    [TERN_UNARY_ROUND] = same,
    [TERN_UNARY_SIGN] = sign,
    [TERN_UNARY_ADD_SCALAR] = add_scalar,
    [TERN_UNARY_MUL_SCALAR] = mul_scalar,
    [TERN_UNARY_POW_SCALAR] = pow_scalar,
    [TERN_UNARY_ISFINITE] = is_finite,
    [TERN_UNARY_NOT] = not,
    [TERN_UNARY_EQ_SCALAR] = eq_scalar,
    [TERN_UNARY_NE_SCALAR] = ne_scalar,
    [TERN_UNARY_LT_SCALAR] = lt_scalar,
    [TERN_UNARY_LE_SCALAR] = le_scalar,
    [TERN_UNARY_GT_SCALAR] = gt_scalar,
    [TERN_UNARY_GE_SCALAR] = ge_scalar,
};
