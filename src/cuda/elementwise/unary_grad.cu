// SPDX-License-Identifier: Apache-2.0
// dx = dy * op'(s); s is the operation's output where tern_unary_saves_output says so, else its
// input. A kernel for each operation on contiguous views of what computes in float, one for all on
// others and in double.
#include "cuda/elementwise/unary.cuh"

#define GRAD_POWER_HALF (UNARY_POWER_MINUS_2 + 1)

// dx = expression of dy, s, a and b, a and b being the parameters.
#define GRAD_STRUCT(code, name, ...)                                                               \
    template <class R> struct name##_grad {                                                        \
        static const bool PACKS = true;                                                            \
        R a, b;                                                                                    \
        __device__ __forceinline__ R operator()(R dy, R s) const                                   \
        {                                                                                          \
            (void)s;                                                                               \
            return __VA_ARGS__;                                                                    \
        }                                                                                          \
    };

// clang-format off
#define FOR_GRAD(X)                                                                                \
    X(TERN_UNARY_NEG, negate, -dy)                                                                 \
    X(TERN_UNARY_ABS, absolute, s > 0 ? dy : s < 0 ? -dy : 0) /* NaN too */                        \
    X(TERN_UNARY_SQRT, square_root, dy / (2 * s))                                                  \
    X(TERN_UNARY_RSQRT, reciprocal_root, (R)-0.5 * dy * (s * s * s))                               \
    X(TERN_UNARY_EXP, exponential, dy * s)                                                         \
    X(TERN_UNARY_LOG, logarithm, dy / s)                                                           \
    X(TERN_UNARY_LOG1P, logarithm_1p, dy / (s + 1))                                                \
    X(TERN_UNARY_SIN, sine, dy * real_cos(s))                                                      \
    X(TERN_UNARY_COS, cosine, -dy * real_sin(s))                                                   \
    X(TERN_UNARY_TANH, hyperbolic_tangent, dy * ((1 - s) * (1 + s)))                               \
    X(TERN_UNARY_SIGMOID, sigmoid, dy * ((1 - s) * s))                                             \
    X(TERN_UNARY_RELU, relu, s <= 0 ? 0 : dy)                                                      \
    X(TERN_UNARY_GELU, gelu, dy * real_gelu_slope(s))                                              \
    X(TERN_UNARY_GELU_TANH, gelu_tanh, dy * real_gelu_tanh_slope(s))                               \
    X(TERN_UNARY_SILU, silu, dy * real_silu_slope(s))                                              \
    X(TERN_UNARY_LEAKY_RELU, leaky_relu, s > 0 ? dy : dy * a)                                      \
    X(TERN_UNARY_SOFTPLUS, softplus, a * s > b ? dy : dy * real_sigmoid(a * s))                    \
    X(TERN_UNARY_CLAMP, clamp, s > a && s < b ? dy : 0)                                            \
    X(TERN_UNARY_MUL_SCALAR, mul_scalar, dy * a)                                                   \
    X(TERN_UNARY_DIV_SCALAR, div_scalar, dy / a)                                                   \
    X(TERN_UNARY_POW_SCALAR, power_any, dy * (a * real_pow(s, a - 1)))                             \
    X(UNARY_POWER_0, zero, (void)dy, (R)0) /* round and sign too */                                \
    X(UNARY_POWER_1, same, dy) /* adding a number too */                                           \
    X(UNARY_POWER_2, power_2, dy * (2 * s))                                                        \
    X(UNARY_POWER_3, power_3, dy * (3 * (s * s)))                                                  \
    X(GRAD_POWER_HALF, power_half, dy * ((R)0.5 / real_sqrt(s)))
// clang-format on

FOR_GRAD(GRAD_STRUCT)

// Any of them; all threads take the same way through the switch.
template <class R> struct any_unary_grad {
    static const bool PACKS = false;
    int code;
    R a, b;

    __device__ __forceinline__ R operator()(R dy, R s) const
    {
        switch (code) {
#define GRAD_CASE(code_, name, ...)                                                                \
    case code_:                                                                                    \
        return name##_grad<R>{a, b}(dy, s);
            FOR_GRAD(GRAD_CASE)
#undef GRAD_CASE
        default:
            return dy;
        }
    }
};

// p x^(p - 1), and 0 for p = 0 even where x^-1 is infinite.
static int power_grad_code(double exponent)
{
    return exponent == 0.0   ? (int)UNARY_POWER_0
           : exponent == 0.5 ? (int)GRAD_POWER_HALF
           : exponent == 1.0 ? (int)UNARY_POWER_1
           : exponent == 2.0 ? (int)UNARY_POWER_2
           : exponent == 3.0 ? (int)UNARY_POWER_3
                             : (int)TERN_UNARY_POW_SCALAR;
}

static int grad_code(tern_unary_op op, double p)
{
    if (op == TERN_UNARY_ROUND || op == TERN_UNARY_SIGN)
        return UNARY_POWER_0;
    if (op == TERN_UNARY_ADD_SCALAR)
        return UNARY_POWER_1;
    return op == TERN_UNARY_POW_SCALAR ? power_grad_code(p) : (int)op;
}

template <class T> static tern_status run(const operands<2> &o, int code, float a, float b)
{
    if (!joined_flat(o.views))
        return map_strided<T, T>(o, any_unary_grad<float>{code, a, b});
    switch (code) {
#define GRAD_RUN(code_, name, ...)                                                                 \
    case code_:                                                                                    \
        return map_flat<T, T>(o, name##_grad<float>{a, b});
        FOR_GRAD(GRAD_RUN)
#undef GRAD_RUN
    default:
        return TERN_OK;
    }
}

extern "C" tern_status tern_cuda_unary_grad(const tern_exec *exec, tern_unary_op op,
                                            const double p[2], const tern_strided *dx,
                                            const tern_strided *dy, const tern_strided *s)
{
    const double a = p ? p[0] : 0, b = p ? p[1] : 0;
    const int code = grad_code(op, a);
    const operands<2> o = operands_of(exec, "unary_grad", dx, dy, s);
    TERN_CHECK(tern_dtype_is_floating(s->dtype) && op < TERN_UNARY_ISFINITE, TERN_ERR_DTYPE,
               "the gradient of unary operation %d is not made for %s", (int)op,
               tern_dtype_name(s->dtype));
    if (s->dtype == TERN_FLOAT64)
        return map<double, double>(o, any_unary_grad<double>{code, a, b});
    if (s->dtype == TERN_FLOAT32)
        return run<float>(o, code, (float)a, (float)b);
    if (s->dtype == TERN_FLOAT16)
        return run<__half>(o, code, (float)a, (float)b);
    return run<__nv_bfloat16>(o, code, (float)a, (float)b);
}
