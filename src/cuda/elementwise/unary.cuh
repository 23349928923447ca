// SPDX-License-Identifier: Apache-2.0
// Operations with one operand in one floating type: a struct each, and one that picks as it runs.
#ifndef TERN_SRC_CUDA_ELEMENTWISE_UNARY_CUH
#define TERN_SRC_CUDA_ELEMENTWISE_UNARY_CUH

#include "cuda/elementwise/map.cuh"
#include "cuda/realmath.cuh"

// y = forward of v, the operand, and of a and b, the parameters.
#define UNARY(CODE, name, saves, forward, gradient)                                                \
    template <class real> struct unary_##name {                                                    \
        static const bool VECTORIZED = true;                                                       \
        real a, b;                                                                                 \
        __device__ __forceinline__ real operator()(real v) const                                   \
        {                                                                                          \
            (void)v;                                                                               \
            return forward;                                                                        \
        }                                                                                          \
    };
#define UNARY_TEST(...)
#include "device/elementwise.def"

// Any of them; all threads take the same way through the switch.
template <class real> struct any_unary {
    static const bool VECTORIZED = false;
    tern_unary_op op;
    real a, b;

    __device__ __forceinline__ real operator()(real v) const
    {
        switch ((int)op) {
#define UNARY(CODE, name, ...)                                                                     \
    case TERN_UNARY_##CODE:                                                                        \
        return unary_##name<real>{a, b}(v);
#define UNARY_TEST(...)
#include "device/elementwise.def"
        }
        return (real)NAN; // of a test, which does not come here
    }
};

// y = op(x) in float32, float16 or bfloat16.
tern_status unary_floats(const operands<1> &o, tern_unary_op op, tern_dtype dtype, float a,
                         float b);

#endif
