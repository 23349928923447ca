// SPDX-License-Identifier: Apache-2.0
// SGD over a block; a template: REAL, REAL_MIN, and SGD(name) for the names.

static void SGD(plain)(const tern_sgd_args *o, REAL *restrict p, const REAL *restrict grad,
                       int64_t n)
{
    const REAL lr = (REAL)-o->lr, decay = (REAL)o->weight_decay, sign = o->maximize ? -1 : 1;
    ELEMENTWISE_LOOP
    for (int64_t i = 0; i < n; i++) {
        REAL g = sign * grad[i] + decay * p[i];
        p[i] += lr * g;
    }
}

// The buffer of a parameter that no longer gets a gradient becomes 0 before it is subnormal, where
// processors take many times as long.
static void SGD(momentum)(const tern_sgd_args *o, bool first, REAL *restrict p,
                          const REAL *restrict grad, REAL *restrict b, int64_t n)
{
    const REAL lr = (REAL)-o->lr, decay = (REAL)o->weight_decay, sign = o->maximize ? -1 : 1;
    const REAL keep = first ? 0 : (REAL)o->momentum, take = first ? 1 : (REAL)(1 - o->dampening);
    const REAL ahead = (REAL)o->momentum;
    const bool nesterov = o->nesterov;
    ELEMENTWISE_LOOP
    for (int64_t i = 0; i < n; i++) {
        REAL g = sign * grad[i] + decay * p[i];
        REAL sum = (first ? 0 : keep * b[i]) + take * g, moved = step_or_zero(sum, REAL_MIN);
        b[i] = moved;
        p[i] += lr * (nesterov ? g + ahead * moved : moved);
    }
}

static void SGD(block)(const void *args, int64_t step, void *const *array, int64_t n)
{
    const tern_sgd_args *o = args;
    if (array[2])
        SGD(momentum)(o, step == 1, array[0], array[1], array[2], n);
    else
        SGD(plain)(o, array[0], array[1], n);
}
