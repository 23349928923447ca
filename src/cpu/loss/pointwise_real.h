// SPDX-License-Identifier: Apache-2.0
// The pointwise losses of n elements in one type; a template: `real`, R_(name) for the functions of
// that type, POINTWISE(name) for the names. `code` and `input` are constants wherever an inline
// function is called, so that each loss has loops of its own.

typedef struct POINTWISE(point) {
    real x, t, v, a, b;
} POINTWISE(point);

POINTWISE_INLINE POINTWISE(point) POINTWISE(at)(tern_loss_code code, loss_span s, int64_t i)
{
    const bool third = tern_loss_inputs(code) > 2;
    return (POINTWISE(point)){((const real *)s.x)[i], ((const real *)s.t)[i],
                              third ? ((const real *)s.v)[i] : 0, (real)s.a, (real)s.b};
}

// Names the numbers of a point as the formulas do.
#define POINT(p)                                                                                   \
    const real x = (p).x, t = (p).t, v = (p).v, a = (p).a, b = (p).b, d = x - t;                   \
    (void)v, (void)a, (void)b, (void)d

POINTWISE_INLINE bool POINTWISE(valid)(tern_loss_code code, POINTWISE(point) p)
{
    POINT(p);
    switch (code) {
#define LOSS(CODE, name, inputs, valid, ...)                                                       \
    case TERN_LOSS_##CODE:                                                                         \
        return valid;
#include "device/loss.def"
#undef LOSS
    }
    return false;
}

POINTWISE_INLINE real POINTWISE(value)(tern_loss_code code, POINTWISE(point) p)
{
    POINT(p);
    switch (code) {
#define LOSS(CODE, name, inputs, valid, value, ...)                                                \
    case TERN_LOSS_##CODE:                                                                         \
        return value;
#include "device/loss.def"
#undef LOSS
    }
    return (real)NAN;
}

POINTWISE_INLINE real POINTWISE(slope)(tern_loss_code code, int input, POINTWISE(point) p, real g)
{
    POINT(p);
    switch (code) {
#define LOSS(CODE, name, inputs, valid, value, slope_x, slope_t, slope_v)                          \
    case TERN_LOSS_##CODE:                                                                         \
        return input == 0 ? slope_x : input == 1 ? slope_t : slope_v;
#include "device/loss.def"
#undef LOSS
    }
    return (real)NAN;
}
#undef POINT

// The first element that is not valid, or n.
POINTWISE_INLINE int64_t POINTWISE(first_fault_of)(tern_loss_code code, loss_span s)
{
    for (int64_t i = 0; i < s.n; i++)
        if (!POINTWISE(valid)(code, POINTWISE(at)(code, s, i)))
            return i;
    return s.n;
}

POINTWISE_INLINE void POINTWISE(values_of)(tern_loss_code code, loss_span s, real *y)
{
    for (int64_t i = 0; i < s.n; i++)
        y[i] = POINTWISE(value)(code, POINTWISE(at)(code, s, i));
}

// step: 0 when all elements share one dy.
POINTWISE_INLINE void POINTWISE(grads_of)(tern_loss_code code, int input, loss_span s, real g,
                                          real *dx, const real *dy, int64_t step)
{
    for (int64_t i = 0; i < s.n; i++)
        dx[i] = POINTWISE(slope)(code, input, POINTWISE(at)(code, s, i), g) * dy[i * step];
}

static int64_t POINTWISE(first_fault)(tern_loss_code code, const loss_span *s)
{
    switch (code) {
#define LOSS(CODE, ...)                                                                            \
    case TERN_LOSS_##CODE:                                                                         \
        return POINTWISE(first_fault_of)(TERN_LOSS_##CODE, *s);
#include "device/loss.def"
#undef LOSS
    }
    return 0;
}

static void POINTWISE(weigh)(const loss_span *s, real *y)
{
    const real *weight = s->weight;
    for (int64_t i = 0; weight && i < s->n; i++)
        y[i] *= weight[i];
}

static void POINTWISE(each)(tern_loss_code code, const loss_span *s, void *y)
{
    switch (code) {
#define LOSS(CODE, ...)                                                                            \
    case TERN_LOSS_##CODE:                                                                         \
        POINTWISE(values_of)(TERN_LOSS_##CODE, *s, y);                                             \
        break;
#include "device/loss.def"
#undef LOSS
    }
    POINTWISE(weigh)(s, y);
}

static void POINTWISE(grad)(tern_loss_code code, int input, const loss_span *s, double g, void *dx,
                            const void *dy, int64_t step)
{
    switch (code) {
#define LOSS(CODE, name, inputs, ...)                                                              \
    case TERN_LOSS_##CODE:                                                                         \
        if (input == 0)                                                                            \
            POINTWISE(grads_of)(TERN_LOSS_##CODE, 0, *s, (real)g, dx, dy, step);                   \
        else if (input == 1 && inputs > 1)                                                         \
            POINTWISE(grads_of)(TERN_LOSS_##CODE, 1, *s, (real)g, dx, dy, step);                   \
        else if (inputs > 2)                                                                       \
            POINTWISE(grads_of)(TERN_LOSS_##CODE, 2, *s, (real)g, dx, dy, step);                   \
        break;
#include "device/loss.def"
#undef LOSS
    }
    POINTWISE(weigh)(s, dx);
}

// total and n values, which are added by eight sums.
static double POINTWISE(add)(double total, const real *x, int64_t n)
{
    real sum[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++)
            sum[k] += x[i + k];
    for (; i < n; i++)
        sum[0] += x[i];
    for (int k = 0; k < 8; k++)
        total += (double)sum[k];
    return total;
}
