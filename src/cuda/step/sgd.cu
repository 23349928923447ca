// SPDX-License-Identifier: Apache-2.0
// SGD, with or without momentum, by step.cuh.
#include <float.h>
#include "cuda/step/step.cuh"

struct sgd_values {
    double lr, decay, sign, momentum, take; // lr: what p moves by, -lr of the options
    int nesterov;
};

// The smallest normal number: the buffer of a parameter that no longer gets a gradient becomes 0
// before it is smaller, as on the CPU.
template <class C> __device__ __forceinline__ C smallest(void)
{
    return (C)(sizeof(C) == sizeof(float) ? (double)FLT_MIN : DBL_MIN);
}

template <int MOMENTUM> struct sgd {
    typedef sgd_values values;
    enum { STATES = MOMENTUM };

    template <class C> struct of {
        C lr, decay, sign, keep, take, ahead;
        bool nesterov, first;

        __device__ of(const sgd_values &v, const step_record &r)
            : lr((C)v.lr), decay((C)v.decay), sign((C)v.sign), keep((C)v.momentum),
              take(r.first ? 1 : (C)v.take), ahead((C)v.momentum), nesterov(v.nesterov != 0),
              first(r.first != 0)
        {
        }
        __device__ __forceinline__ void operator()(C &p, C grad, C *state) const
        {
            const C g = sign * grad + decay * p;
            if (MOMENTUM == 0) {
                p += lr * g;
                return;
            }
            // On the first step the buffer holds nothing yet.
            const C sum = (first ? 0 : keep * state[0]) + take * g;
            const C moved = step_or_zero(sum, smallest<C>());
            state[0] = moved;
            p += lr * (nesterov ? g + ahead * moved : moved);
        }
    };
};

extern "C" tern_status tern_cuda_sgd(const tern_exec *exec, const tern_sgd_args *args,
                                     const tern_step_tensor *tensors, int64_t count)
{
    const sgd_values values = {-args->lr,      args->weight_decay,  args->maximize ? -1.0 : 1.0,
                               args->momentum, 1 - args->dampening, args->nesterov};
    const auto nothing = [](step_record *, const tern_step_tensor *) {};
    if (count > 0 && tensors[0].state[0])
        return step_all<sgd<1>>(exec, "sgd", values, nothing, tensors, count);
    return step_all<sgd<0>>(exec, "sgd", values, nothing, tensors, count);
}
