// SPDX-License-Identifier: Apache-2.0
// Operations with one operand in one floating type: a struct each, and one that picks as it runs.
#ifndef TERN_SRC_CUDA_ELEMENTWISE_UNARY_CUH
#define TERN_SRC_CUDA_ELEMENTWISE_UNARY_CUH

#include "cuda/elementwise/map.cuh"
#include "cuda/realmath.cuh"

// What is computed: a tern_unary_op, or a power that needs no logarithm.
enum unary_code {
    UNARY_POWER_0 = TERN_UNARY_COUNT,
    UNARY_POWER_1,
    UNARY_POWER_2,
    UNARY_POWER_3,
    UNARY_POWER_MINUS_1,
    UNARY_POWER_MINUS_2,
};

// y = expression of v, the operand, and of a and b, the parameters.
#define UNARY_STRUCT(code, name, ...)                                                              \
    template <class R> struct name {                                                               \
        static const bool PACKS = true;                                                            \
        R a, b;                                                                                    \
        __device__ __forceinline__ R operator()(R v) const                                         \
        {                                                                                          \
            return __VA_ARGS__;                                                                    \
        }                                                                                          \
    };

// clang-format off
#define FOR_UNARY(X)                                                                               \
    X(TERN_UNARY_NEG, negate, -v)                                                                  \
    X(TERN_UNARY_ABS, absolute, real_abs(v))                                                       \
    X(TERN_UNARY_SQRT, square_root, real_sqrt(v))                                                  \
    X(TERN_UNARY_RSQRT, reciprocal_root, real_rsqrt(v))                                            \
    X(TERN_UNARY_EXP, exponential, real_exp(v))                                                    \
    X(TERN_UNARY_LOG, logarithm, real_log(v))                                                      \
    X(TERN_UNARY_LOG1P, logarithm_1p, real_log1p(v))                                               \
    X(TERN_UNARY_SIN, sine, real_sin(v))                                                           \
    X(TERN_UNARY_COS, cosine, real_cos(v))                                                         \
    X(TERN_UNARY_TANH, hyperbolic_tangent, real_tanh(v))                                           \
    X(TERN_UNARY_SIGMOID, sigmoid, real_sigmoid(v))                                                \
    X(TERN_UNARY_RELU, relu, v < 0 ? 0 : v)                                                        \
    X(TERN_UNARY_GELU, gelu, real_gelu(v))                                                         \
    X(TERN_UNARY_GELU_TANH, gelu_tanh, real_gelu_tanh(v))                                          \
    X(TERN_UNARY_SILU, silu, real_silu(v))                                                         \
    X(TERN_UNARY_LEAKY_RELU, leaky_relu, v > 0 ? v : v * a)                                        \
    X(TERN_UNARY_SOFTPLUS, softplus, a * v > b ? v : real_softplus(v, a))                          \
    X(TERN_UNARY_CLAMP, clamp, clamped(v, a, b))                                                   \
    X(TERN_UNARY_ROUND, round_even, real_round(v))                                                 \
    X(TERN_UNARY_SIGN, sign, v > 0 ? 1 : v < 0 ? -1 : v == 0 ? 0 : v)                              \
    X(TERN_UNARY_ADD_SCALAR, add_scalar, v + a)                                                    \
    X(TERN_UNARY_MUL_SCALAR, mul_scalar, v * a)                                                    \
    X(TERN_UNARY_DIV_SCALAR, div_scalar, v / a)                                                    \
    X(TERN_UNARY_POW_SCALAR, power_any, real_pow(v, a))                                            \
    X(UNARY_POWER_0, power_0, (void)v, (R)1)                                                       \
    X(UNARY_POWER_1, power_1, v)                                                                   \
    X(UNARY_POWER_2, power_2, v * v)                                                               \
    X(UNARY_POWER_3, power_3, v * v * v)                                                           \
    X(UNARY_POWER_MINUS_1, power_minus_1, 1 / v)                                                   \
    X(UNARY_POWER_MINUS_2, power_minus_2, (1 / v) * (1 / v)) // v * v may overflow
// clang-format on

template <class C> __device__ __forceinline__ C clamped(C v, C low, C high)
{
    const C raised = v < low ? low : v;
    return raised > high ? high : raised;
}

FOR_UNARY(UNARY_STRUCT)

// Any of them; all threads take the same way through the switch.
template <class R> struct any_unary {
    static const bool PACKS = false;
    int code;
    R a, b;

    __device__ __forceinline__ R operator()(R v) const
    {
        switch (code) {
#define UNARY_CASE(code_, name, ...)                                                               \
    case code_:                                                                                    \
        return name<R>{a, b}(v);
            FOR_UNARY(UNARY_CASE)
#undef UNARY_CASE
        default:
            return v;
        }
    }
};

// y = op(x) in float32, float16 or bfloat16.
tern_status unary_floats(const operands<1> &o, tern_dtype dtype, int code, float a, float b);

#endif
