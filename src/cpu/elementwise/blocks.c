// SPDX-License-Identifier: Apache-2.0
// Blocks of all operations in one type, from elementwise.def, and what finds them.
#include "cpu/elementwise/elementwise.h"
#include "cpu/vecmath_double.h"

#if REAL_IS_INTEGER
#define PARAMS                 integer
#define NUMBER(forward, whole) whole
#define FLOATING(block)        NULL
#else
#define PARAMS                 floating
#define NUMBER(forward, whole) forward
#define FLOATING(block)        block
#endif

#define BLOCK(name)                                                                                \
    static void name(void *const *y, const void *const *x, int64_t n, const block_params *p)

// Sines and cosines of large angles are the C library's. Such an operation has a block of each.
#define TRIG_(name, x) (large ? (real)name((double)(x)) : R_(name)(x))
#define ANGLE_CHOICE(name, angles)                                                                 \
    BLOCK(name)                                                                                    \
    {                                                                                              \
        (R_(trig_in_range)(angles, n) ? name##_small : name##_large)(y, x, n, p);                  \
    }

// ---- one operand --------------------------------------------------------------------------------

// y = expression of v, a and b, which are the operand and the parameters.
#define UNARY_BLOCK(name, out, large_, expression)                                                 \
    BLOCK(name)                                                                                    \
    {                                                                                              \
        const real a = (real)p->PARAMS[0], b = (real)p->PARAMS[1];                                 \
        const bool large = large_;                                                                 \
        const real *from = x[0];                                                                   \
        out *to = y[0];                                                                            \
        (void)a;                                                                                   \
        (void)b;                                                                                   \
        (void)large;                                                                               \
        ELEMENTWISE_LOOP                                                                           \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const real v = from[i];                                                                \
            (void)v;                                                                               \
            to[i] = (out)(expression);                                                             \
        }                                                                                          \
    }

#if REAL_IS_INTEGER
#define UNARY(...)
#else
#define UNARY(CODE, name, saves, forward, gradient) UNARY_BLOCK(unary_##name, real, false, forward)
#define UNARY_ANGLE(CODE, name, saves, forward, gradient)                                          \
    UNARY_BLOCK(unary_##name##_small, real, false, forward)                                        \
    UNARY_BLOCK(unary_##name##_large, real, true, forward)                                         \
    ANGLE_CHOICE(unary_##name, x[0])
#endif
#define UNARY_NUMBER(CODE, name, saves, forward, whole, gradient)                                  \
    UNARY_BLOCK(unary_##name, real, false, NUMBER(forward, whole))
#define UNARY_TEST(CODE, name, forward) UNARY_BLOCK(unary_##name, uint8_t, false, forward)
#include "device/elementwise.def"

block_fn *REAL_NAME(unary)(tern_unary_op op)
{
    switch (op) {
#define UNARY(CODE, name, ...)                                                                     \
    case TERN_UNARY_##CODE:                                                                        \
        return FLOATING(unary_##name);
#define UNARY_NUMBER(CODE, name, ...)                                                              \
    case TERN_UNARY_##CODE:                                                                        \
        return unary_##name;
#define UNARY_TEST(CODE, name, forward) UNARY_NUMBER(CODE, name, forward)
#include "device/elementwise.def"
    }
    return NULL;
}

// ---- gradients ----------------------------------------------------------------------------------

#if !REAL_IS_INTEGER
// dx = expression of dy, s, a and b, a and b being the parameters.
#define GRAD_BLOCK(name, large_, expression)                                                       \
    BLOCK(name)                                                                                    \
    {                                                                                              \
        const real a = (real)p->PARAMS[0], b = (real)p->PARAMS[1];                                 \
        const bool large = large_;                                                                 \
        const real *dys = x[0], *saved = x[1];                                                     \
        real *dx = y[0];                                                                           \
        (void)a;                                                                                   \
        (void)b;                                                                                   \
        (void)large;                                                                               \
        ELEMENTWISE_LOOP                                                                           \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const real dy = dys[i], s = saved[i];                                                  \
            (void)dy;                                                                              \
            (void)s;                                                                               \
            dx[i] = (expression);                                                                  \
        }                                                                                          \
    }

#define UNARY(CODE, name, saves, forward, gradient) GRAD_BLOCK(grad_##name, false, gradient)
#define UNARY_ANGLE(CODE, name, saves, forward, gradient)                                          \
    GRAD_BLOCK(grad_##name##_small, false, gradient)                                               \
    GRAD_BLOCK(grad_##name##_large, true, gradient)                                                \
    ANGLE_CHOICE(grad_##name, x[1])
#define UNARY_TEST(...)
#include "device/elementwise.def"

block_fn *REAL_NAME(unary_grad)(tern_unary_op op)
{
    switch ((int)op) {
#define UNARY(CODE, name, ...)                                                                     \
    case TERN_UNARY_##CODE:                                                                        \
        return grad_##name;
#define UNARY_TEST(...)
#include "device/elementwise.def"
    }
    return NULL;
}
#endif

// ---- two operands -------------------------------------------------------------------------------

// y = expression of a and b, the operands, and alpha; a_at and b_at are their elements.
#define BINARY_LOOP(name, out, a_at, b_at, expression)                                             \
    BLOCK(name)                                                                                    \
    {                                                                                              \
        const real alpha = (real)p->PARAMS[0];                                                     \
        const real *as = x[0], *bs = x[1];                                                         \
        const real one_a = as[0], one_b = bs[0];                                                   \
        out *to = y[0];                                                                            \
        (void)alpha;                                                                               \
        (void)one_a;                                                                               \
        (void)one_b;                                                                               \
        ELEMENTWISE_LOOP                                                                           \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const real a = a_at, b = b_at;                                                         \
            to[i] = (out)(expression);                                                             \
        }                                                                                          \
    }
#define BINARY_BLOCK(name, out, expression) BINARY_LOOP(name, out, as[i], bs[i], expression)
#define BINARY_FORMS(name, expression)                                                             \
    BINARY_BLOCK(name, real, expression)                                                           \
    BINARY_LOOP(name##_one_a, real, one_a, bs[i], expression)                                      \
    BINARY_LOOP(name##_one_b, real, as[i], one_b, expression)

#if REAL_IS_INTEGER
#define BINARY(...)
#else
#define BINARY(CODE, name, forward) BINARY_FORMS(binary_##name, forward)
#endif
#define BINARY_NUMBER(CODE, name, forward, whole)                                                  \
    BINARY_FORMS(binary_##name, NUMBER(forward, whole))
#define BINARY_TEST(CODE, name, forward) BINARY_BLOCK(binary_##name, uint8_t, forward)
#include "device/elementwise.def"

#define FORM(name) (form == ONE_A ? name##_one_a : form == ONE_B ? name##_one_b : name)

block_fn *REAL_NAME(binary)(tern_binary_op op, operand_form form)
{
    switch (op) {
#define BINARY(CODE, name, ...)                                                                    \
    case TERN_BINARY_##CODE:                                                                       \
        return FLOATING(FORM(binary_##name));
#define BINARY_NUMBER(CODE, name, ...)                                                             \
    case TERN_BINARY_##CODE:                                                                       \
        return FORM(binary_##name);
#define BINARY_TEST(CODE, name, forward)                                                           \
    case TERN_BINARY_##CODE:                                                                       \
        return form == EACH ? binary_##name : NULL;
#include "device/elementwise.def"
    }
    return NULL;
}

// ---- gradients of two operands ------------------------------------------------------------------

#if !REAL_IS_INTEGER
#define BINARY_GRAD(CODE, name, da, db)                                                            \
    BLOCK(binary_grad_##name)                                                                      \
    {                                                                                              \
        const real *dys = x[0], *as = x[1], *bs = x[2];                                            \
        real *das = y[0], *dbs = y[1];                                                             \
        (void)p;                                                                                   \
        ELEMENTWISE_LOOP                                                                           \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const real dy = dys[i], a = as[i], b = bs[i];                                          \
            das[i] = da;                                                                           \
            dbs[i] = db;                                                                           \
        }                                                                                          \
    }
#include "device/elementwise.def"

block_fn *REAL_NAME(binary_grad)(tern_binary_op op)
{
    switch ((int)op) {
#define BINARY_GRAD(CODE, name, ...)                                                               \
    case TERN_BINARY_##CODE:                                                                       \
        return binary_grad_##name;
#include "device/elementwise.def"
    }
    return NULL;
}
#endif
