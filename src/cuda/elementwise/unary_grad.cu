// SPDX-License-Identifier: Apache-2.0
// dx = dy * op'(s), s as tern_unary_saves says. A kernel for each operation on contiguous views of
// what computes in float, one for all on others and in double.
#include "cuda/elementwise/map.cuh"
#include "cuda/realmath.cuh"
#include "device/comparison.h"

// dx = gradient of dy, s, a and b, a and b being the parameters.
#define UNARY(CODE, name, saves, forward, gradient)                                                \
    template <class real> struct grad_##name {                                                     \
        static const bool VECTORIZED = true;                                                       \
        real a, b;                                                                                 \
        __device__ __forceinline__ real operator()(real dy, real s) const                          \
        {                                                                                          \
            (void)dy;                                                                              \
            (void)s;                                                                               \
            return gradient;                                                                       \
        }                                                                                          \
    };
#define UNARY_TEST(...)
#include "device/elementwise.def"

// Any of them; all threads take the same way through the switch.
template <class real> struct any_unary_grad {
    static const bool VECTORIZED = false;
    tern_unary_op op;
    real a, b;

    __device__ __forceinline__ real operator()(real dy, real s) const
    {
        switch ((int)op) {
#define UNARY(CODE, name, ...)                                                                     \
    case TERN_UNARY_##CODE:                                                                        \
        return grad_##name<real>{a, b}(dy, s);
#define UNARY_TEST(...)
#include "device/elementwise.def"
        }
        return (real)NAN; // of a test, which has no gradient
    }
};

template <class T>
static tern_status run(const operands<2> &o, tern_unary_op op, tern_dtype dtype, float a, float b)
{
    if (!joined_flat(o.views))
        return map_strided<T, T>(o, any_unary_grad<float>{op, a, b});
    switch ((int)op) {
#define UNARY(CODE, name, ...)                                                                     \
    case TERN_UNARY_##CODE:                                                                        \
        return map_flat<T, T>(o, grad_##name<float>{a, b});
#define UNARY_TEST(...)
#include "device/elementwise.def"
    }
    return unsupported_op(o.op, op, dtype);
}

extern "C" tern_status tern_cuda_unary_grad(const tern_exec *exec, tern_unary_op op,
                                            const double p[2], const tern_strided *dx,
                                            const tern_strided *dy, const tern_strided *s)
{
    const double a = p ? p[0] : 0, b = p ? p[1] : 0;
    const tern_unary_op which = usual_power(op, a);
    const operands<2> o = make_operands(exec, "unary_grad", dx, dy, s);
    if (tern_unary_gives_bool(op))
        return unsupported_op(o.op, op, s->dtype);
    if (s->dtype == TERN_FLOAT64)
        return map<double, double>(o, any_unary_grad<double>{which, a, b});
    if (s->dtype == TERN_FLOAT32)
        return run<float>(o, which, s->dtype, (float)a, (float)b);
    if (s->dtype == TERN_FLOAT16)
        return run<__half>(o, which, s->dtype, (float)a, (float)b);
    if (s->dtype == TERN_BFLOAT16)
        return run<__nv_bfloat16>(o, which, s->dtype, (float)a, (float)b);
    return unsupported_op(o.op, op, s->dtype);
}
