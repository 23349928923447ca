// SPDX-License-Identifier: Apache-2.0
// y = op(a, b). What computes in float has a kernel for each operation; double, integers and what
// gives bool have one that picks as it runs.
#include "cuda/elementwise/map.cuh"
#include "cuda/realmath.cuh"
#include "device/comparison.h"

// ---- floating -----------------------------------------------------------------------------------

// y = forward of a and b, the operands, and of alpha.
#define BINARY(CODE, name, forward)                                                                \
    template <class real> struct binary_##name {                                                   \
        static const bool VECTORIZED = true;                                                       \
        real alpha;                                                                                \
        __device__ __forceinline__ real operator()(real a, real b) const                           \
        {                                                                                          \
            return forward;                                                                        \
        }                                                                                          \
    };
#define BINARY_TEST(...)
#include "device/elementwise.def"

// Any of them; all threads take the same way through the switch.
template <class real> struct any_binary {
    static const bool VECTORIZED = false;
    tern_binary_op op;
    real alpha;

    __device__ __forceinline__ real operator()(real a, real b) const
    {
        switch ((int)op) {
#define BINARY(CODE, name, ...)                                                                    \
    case TERN_BINARY_##CODE:                                                                       \
        return binary_##name<real>{alpha}(a, b);
#define BINARY_TEST(...)
#include "device/elementwise.def"
        }
        return (real)NAN; // of a test, which does not come here
    }
};

template <class T>
static tern_status in_float(const operands<2> &o, tern_binary_op op, tern_dtype dtype, float alpha)
{
    switch ((int)op) {
#define BINARY(CODE, name, ...)                                                                    \
    case TERN_BINARY_##CODE:                                                                       \
        return map<T, T>(o, binary_##name<float>{alpha});
#define BINARY_TEST(...)
#include "device/elementwise.def"
    }
    return unsupported_op(o.op, op, dtype);
}

// ---- integers and bool --------------------------------------------------------------------------

struct integer_binary {
    static const bool VECTORIZED = true;
    tern_binary_op op;
    int64_t alpha;

    __device__ __forceinline__ int64_t operator()(int64_t a, int64_t b) const
    {
        switch ((int)op) {
#define BINARY(...)
#define BINARY_TEST(...)
#define BINARY_NUMBER(CODE, name, forward, whole)                                                  \
    case TERN_BINARY_##CODE:                                                                       \
        return whole;
#include "device/elementwise.def"
        }
        return 0; // of what `has` refuses
    }
    static bool has(tern_binary_op op)
    {
#define BINARY(...)
#define BINARY_TEST(...)
#define BINARY_NUMBER(CODE, ...) || op == TERN_BINARY_##CODE
        return false
#include "device/elementwise.def"
            ;
    }
};

template <class T>
static tern_status in_int64(const operands<2> &o, tern_binary_op op, tern_dtype dtype,
                            int64_t alpha)
{
    if (!integer_binary::has(op))
        return unsupported_op(o.op, op, dtype);
    return map<T, T>(o, integer_binary{op, alpha});
}

// ---- what gives bool ----------------------------------------------------------------------------

template <class real> struct binary_test {
    static const bool VECTORIZED = true;
    tern_binary_op op;

    __device__ __forceinline__ bool operator()(real a, real b) const
    {
        switch ((int)op) {
#define BINARY(...)
#define BINARY_TEST(CODE, name, forward)                                                           \
    case TERN_BINARY_##CODE:                                                                       \
        return forward;
#include "device/elementwise.def"
        }
        return false; // of what gives no bool, and does not come here
    }
};

template <class T> static tern_status compare(const operands<2> &o, tern_binary_op op)
{
    return map<truth, T>(o, binary_test<typename element<T>::type>{op});
}

static tern_status test(const operands<2> &o, tern_binary_op op, tern_dtype dtype)
{
    switch (dtype) {
        TERN_FLOATING_CASES(T, compare<T>(o, op))
        TERN_INTEGRAL_CASES(T, compare<T>(o, op))
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return unsupported_op(o.op, op, dtype);
}

// ---- the choice ---------------------------------------------------------------------------------

static tern_status compute(const operands<2> &o, tern_binary_op op, tern_dtype dtype,
                           const scalar_params &p)
{
    switch (dtype) {
    case TERN_FLOAT32:
        return in_float<float>(o, op, dtype, (float)p.floating[0]);
    case TERN_FLOAT16:
        return in_float<__half>(o, op, dtype, (float)p.floating[0]);
    case TERN_BFLOAT16:
        return in_float<__nv_bfloat16>(o, op, dtype, (float)p.floating[0]);
    case TERN_FLOAT64:
        return map<double, double>(o, any_binary<double>{op, p.floating[0]});
        TERN_INTEGRAL_CASES(T, in_int64<T>(o, op, dtype, p.integer[0]))
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return unsupported_op(o.op, op, dtype);
}

extern "C" tern_status tern_cuda_binary(const tern_exec *exec, tern_binary_op op, double alpha,
                                        const tern_strided *y, const tern_strided *a,
                                        const tern_strided *b)
{
    scalar_params params = {};
    const operands<2> o = make_operands(exec, "binary", y, a, b);
    const tern_binary_op which = set_factor(&params, op, a->dtype, alpha);
    if (tern_binary_gives_bool(which))
        return test(o, which, a->dtype);
    return compute(o, which, a->dtype, params);
}
