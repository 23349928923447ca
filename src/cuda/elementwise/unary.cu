// SPDX-License-Identifier: Apache-2.0
// y = op(x): the choice, and all that computes in double or int64, where one kernel holds every
// operation. float is in unary_float.cu.
#include "cuda/elementwise/unary.cuh"
#include "device/comparison.h"

// ---- integers and bool --------------------------------------------------------------------------

struct integer_unary {
    static const bool VECTORIZED = true;
    tern_unary_op op;
    int64_t a, b;

    __device__ __forceinline__ int64_t operator()(int64_t v) const
    {
        switch ((int)op) {
#define UNARY(...)
#define UNARY_TEST(...)
#define UNARY_NUMBER(CODE, name, saves, forward, whole, gradient)                                  \
    case TERN_UNARY_##CODE:                                                                        \
        return whole;
#include "device/elementwise.def"
        }
        return 0; // of what `has` refuses
    }
    static bool has(tern_unary_op op)
    {
#define UNARY(...)
#define UNARY_TEST(...)
#define UNARY_NUMBER(CODE, ...) || op == TERN_UNARY_##CODE
        return false
#include "device/elementwise.def"
            ;
    }
};

// ---- what gives bool ----------------------------------------------------------------------------

template <class real> struct unary_test {
    static const bool VECTORIZED = true;
    tern_unary_op op;
    real a;

    __device__ __forceinline__ bool operator()(real v) const
    {
        switch ((int)op) {
#define UNARY(...)
#define UNARY_TEST(CODE, name, forward)                                                            \
    case TERN_UNARY_##CODE:                                                                        \
        return forward;
#include "device/elementwise.def"
        }
        return false; // of what gives no bool, and does not come here
    }
};

template <class T>
static tern_status test_floating(const operands<1> &o, tern_unary_op op, const scalar_params &p)
{
    typedef opmath_t<T> C;
    return map<truth, T>(o, unary_test<C>{op, (C)p.floating[0]});
}

template <class T>
static tern_status test_integer(const operands<1> &o, tern_unary_op op, const scalar_params &p)
{
    return map<truth, T>(o, unary_test<int64_t>{op, p.integer[0]});
}

static tern_status test(const operands<1> &o, tern_unary_op op, tern_dtype dtype,
                        const scalar_params &p)
{
    switch (dtype) {
        TERN_FLOATING_CASES(T, test_floating<T>(o, op, p))
        TERN_INTEGRAL_CASES(T, test_integer<T>(o, op, p))
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return unsupported_op(o.op, op, dtype);
}

// ---- the choice ---------------------------------------------------------------------------------

static float round_to(tern_dtype dtype, float number)
{
    return dtype == TERN_FLOAT16 ? __half2float(__float2half(number))
                                 : __bfloat162float(__float2bfloat16(number));
}

template <class T>
static tern_status integral(const operands<1> &o, tern_unary_op op, tern_dtype dtype,
                            const scalar_params &p)
{
    if (!integer_unary::has(op))
        return unsupported_op(o.op, op, dtype);
    return map<T, T>(o, integer_unary{op, p.integer[0], p.integer[1]});
}

static tern_status compute(const operands<1> &o, tern_unary_op op, tern_dtype dtype,
                           const scalar_params &p)
{
    switch (dtype) {
    case TERN_FLOAT32:
    case TERN_FLOAT16:
    case TERN_BFLOAT16:
        return unary_floats(o, op, dtype, (float)p.floating[0], (float)p.floating[1]);
    case TERN_FLOAT64:
        return map<double, double>(o, any_unary<double>{op, p.floating[0], p.floating[1]});
        TERN_INTEGRAL_CASES(T, integral<T>(o, op, dtype, p))
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return unsupported_op(o.op, op, dtype);
}

extern "C" tern_status tern_cuda_unary(const tern_exec *exec, tern_unary_op op,
                                       const tern_scalar p[2], const tern_strided *y,
                                       const tern_strided *x)
{
    scalar_params params = {};
    const operands<1> o = make_operands(exec, "unary", y, x);
    const tern_unary_op which = set_scalar_params(&params, op, x->dtype, p, round_to);
    if (tern_unary_gives_bool(which))
        return test(o, which, x->dtype, params);
    return compute(o, which, x->dtype, params);
}
