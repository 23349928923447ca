// SPDX-License-Identifier: Apache-2.0
// Adam, AdamW and AMSGrad, by step.cuh. The host derives what depends on the step, in double.
#include <errno.h>
#include <float.h>
#include "cuda/step/step.cuh"

struct adam_values {
    double beta1, beta2, take1, take2, decay, shrink, sign;
};

// step_record.factor: lr / c1 m / (sqrt(v) / sqrt(c2) + eps), with c1 and c2 for 1 - beta^t, is
// written lr sqrt(c2) / c1 m / (sqrt(v) + eps sqrt(c2)), which divides once less an element.
enum {
    FACTOR_STEP_SIZE,
    FACTOR_EPS,
    FACTOR_LEAST,     // an average smaller than this counts as 0,
    FACTOR_LEAST_GRAD // and so does, in v, a gradient
};

template <int AMSGRAD> struct adam {
    typedef adam_values values;
    enum { STATES = 2 + AMSGRAD }; // exp_avg, exp_avg_sq, max_exp_avg_sq

    template <class C> struct of {
        C beta1, beta2, take1, take2, decay, shrink, sign, step_size, eps, least, least_grad;

        __device__ of(const adam_values &v, const step_record &r)
            : beta1((C)v.beta1), beta2((C)v.beta2), take1((C)v.take1), take2((C)v.take2),
              decay((C)v.decay), shrink((C)v.shrink), sign((C)v.sign),
              step_size((C)r.factor[FACTOR_STEP_SIZE]), eps((C)r.factor[FACTOR_EPS]),
              least((C)r.factor[FACTOR_LEAST]), least_grad((C)r.factor[FACTOR_LEAST_GRAD])
        {
        }
        __device__ __forceinline__ void operator()(C &p, C grad, C *state) const
        {
            const C w = p * shrink, g = sign * grad + decay * w;
            const C g2 = step_or_zero(g, least_grad);
            const C m = step_or_zero(state[0] * beta1 + take1 * g, least);
            const C v = step_or_zero(state[1] * beta2 + take2 * g2 * g2, least);
            C under = v;
            if (AMSGRAD) {
                C &top = state[STATES - 1];
                top = under = v <= top ? top : v; // a NaN goes on
            }
            state[0] = m;
            state[1] = v;
            p = w + step_size * (m / (sqrt(under) + eps));
        }
    };
};

// The averages of a parameter that no longer gets a gradient fall into the subnormal numbers and
// stay there. Where eps hides it they become 0 instead, as on the CPU.
static void set_least(step_record *r, double take2, double smallest, double epsilon)
{
    const double least_grad = sqrt(smallest / take2);
    const bool hidden = least_grad <= r->factor[FACTOR_EPS] * epsilon / 4;
    r->factor[FACTOR_LEAST] = hidden ? smallest : 0;
    r->factor[FACTOR_LEAST_GRAD] = hidden ? least_grad : 0;
}

struct adam_factors {
    const tern_adam_args *args;

    void operator()(step_record *r, const tern_step_tensor *t) const
    {
        const double root2 = sqrt(1 - pow(args->beta2, (double)t->step));
        r->factor[FACTOR_STEP_SIZE] = -args->lr * root2 / (1 - pow(args->beta1, (double)t->step));
        r->factor[FACTOR_EPS] = args->eps * root2;
        if (t->dtype == TERN_FLOAT64)
            set_least(r, 1 - args->beta2, DBL_MIN, DBL_EPSILON);
        else
            set_least(r, (float)(1 - args->beta2), FLT_MIN, FLT_EPSILON);
    }
};

extern "C" tern_status tern_cuda_adam(const tern_exec *exec, const tern_adam_args *args,
                                      const tern_step_tensor *tensors, int64_t count)
{
    const adam_values values = {args->beta1,
                                args->beta2,
                                1 - args->beta1,
                                1 - args->beta2,
                                args->decoupled ? 0 : args->weight_decay,
                                args->decoupled ? 1 - args->lr * args->weight_decay : 1,
                                args->maximize ? -1.0 : 1.0};
    const adam_factors factors = {args};
    const int saved = errno; // pow sets it
    const tern_status status =
        args->amsgrad ? step_all<adam<1>>(exec, "adam", values, factors, tensors, count)
                      : step_all<adam<0>>(exec, "adam", values, factors, tensors, count);
    errno = saved;
    return status;
}
