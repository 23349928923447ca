// SPDX-License-Identifier: Apache-2.0
// Adam over a block; a template: REAL, REAL_SQRT, REAL_MIN, REAL_EPSILON, and ADAM(name) for the
// names.

// What the update needs at step t, computed in double. lr / c1 m / (sqrt(v) / sqrt(c2) + eps), with
// c1 and c2 for 1 - beta^t, is written lr sqrt(c2) / c1 m / (sqrt(v) + eps sqrt(c2)), which divides
// once less an element.
typedef struct ADAM(factors) {
    REAL beta1, beta2, take1, take2, eps, decay, shrink, step_size, sign;
    REAL least;      // an average smaller than this counts as 0
    REAL least_grad; // and so does, in v, a gradient
} ADAM(factors);

// The averages of a parameter that no longer gets a gradient fall into the subnormal numbers and
// stay there, where processors take many times as long. Where eps hides it they become 0 instead.
static void ADAM(set_least)(ADAM(factors) * f)
{
    const double least_grad = sqrt(REAL_MIN / (double)f->take2);
    const bool hidden = least_grad <= (double)f->eps * REAL_EPSILON / 4;
    f->least = hidden ? REAL_MIN : 0;
    f->least_grad = hidden ? (REAL)least_grad : 0;
}

static ADAM(factors) ADAM(factors_of)(const tern_adam_args *o, int64_t step)
{
    const double correction1 = 1 - pow(o->beta1, (double)step);
    const double root2 = sqrt(1 - pow(o->beta2, (double)step));
    ADAM(factors)
    f = {
        .beta1 = (REAL)o->beta1,
        .beta2 = (REAL)o->beta2,
        .take1 = (REAL)(1 - o->beta1),
        .take2 = (REAL)(1 - o->beta2),
        .eps = (REAL)(o->eps * root2),
        .decay = o->decoupled ? 0 : (REAL)o->weight_decay,
        .shrink = o->decoupled ? (REAL)(1 - o->lr * o->weight_decay) : 1,
        .step_size = (REAL)(-o->lr * root2 / correction1),
        .sign = o->maximize ? -1 : 1,
    };
    ADAM(set_least)(&f);
    return f;
}

static void ADAM(plain)(const ADAM(factors) f, REAL *restrict p, const REAL *restrict grad,
                        REAL *restrict m, REAL *restrict v, int64_t n)
{
    ELEMENTWISE_LOOP
    for (int64_t i = 0; i < n; i++) {
        const REAL w = p[i] * f.shrink;
        const REAL g = f.sign * grad[i] + f.decay * w, g2 = step_or_zero(g, f.least_grad);
        const REAL m1 = step_or_zero(m[i] * f.beta1 + f.take1 * g, f.least);
        const REAL v1 = step_or_zero(v[i] * f.beta2 + f.take2 * g2 * g2, f.least);
        m[i] = m1;
        v[i] = v1;
        p[i] = w + f.step_size * (m1 / (REAL_SQRT(v1) + f.eps));
    }
}

static void ADAM(amsgrad)(const ADAM(factors) f, REAL *restrict p, const REAL *restrict grad,
                          REAL *restrict m, REAL *restrict v, REAL *restrict top, int64_t n)
{
    ELEMENTWISE_LOOP
    for (int64_t i = 0; i < n; i++) {
        const REAL w = p[i] * f.shrink;
        const REAL g = f.sign * grad[i] + f.decay * w, g2 = step_or_zero(g, f.least_grad);
        const REAL m1 = step_or_zero(m[i] * f.beta1 + f.take1 * g, f.least);
        const REAL v1 = step_or_zero(v[i] * f.beta2 + f.take2 * g2 * g2, f.least);
        const REAL largest = v1 <= top[i] ? top[i] : v1; // a NaN goes on
        m[i] = m1;
        v[i] = v1;
        top[i] = largest;
        p[i] = w + f.step_size * (m1 / (REAL_SQRT(largest) + f.eps));
    }
}

static void ADAM(block)(const void *args, int64_t step, void *const *array, int64_t n)
{
    const tern_adam_args *o = args;
    const ADAM(factors) f = ADAM(factors_of)(o, step);
    if (o->amsgrad)
        ADAM(amsgrad)(f, array[0], array[1], array[2], array[3], array[4], n);
    else
        ADAM(plain)(f, array[0], array[1], array[2], array[3], n);
}
