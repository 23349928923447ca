// SPDX-License-Identifier: Apache-2.0
// y = op(x): the choice, and all that computes in double or int64, where one kernel holds every
// operation. float is in unary_float.cu.
#include "cuda/elementwise/unary.cuh"
#include "device/comparison.h"

// ---- integers and bool --------------------------------------------------------------------------

struct whole_unary {
    static const bool PACKS = true;
    tern_unary_op op;
    int64_t a, b;

    __device__ __forceinline__ int64_t operator()(int64_t v) const
    {
        switch ((int)op) {
        case TERN_UNARY_NEG:
            return wrap_sub(0, v);
        case TERN_UNARY_ABS:
            return v < 0 ? wrap_sub(0, v) : v;
        case TERN_UNARY_RELU:
            return v < 0 ? 0 : v;
        case TERN_UNARY_CLAMP:
            return clamped(v, a, b);
        case TERN_UNARY_SIGN:
            return (v > 0) - (v < 0);
        case TERN_UNARY_ADD_SCALAR:
            return wrap_add(v, a);
        case TERN_UNARY_MUL_SCALAR:
            return wrap_mul(v, a);
        case TERN_UNARY_POW_SCALAR:
            return wrap_pow(v, a);
        }
        return v; // round
    }
    static bool has(tern_unary_op op)
    {
        return op == TERN_UNARY_NEG || op == TERN_UNARY_ABS || op == TERN_UNARY_RELU ||
               op == TERN_UNARY_CLAMP || op == TERN_UNARY_ROUND || op == TERN_UNARY_SIGN ||
               op == TERN_UNARY_ADD_SCALAR || op == TERN_UNARY_MUL_SCALAR ||
               op == TERN_UNARY_POW_SCALAR;
    }
};

// ---- what gives bool ----------------------------------------------------------------------------

template <class C> struct unary_test {
    static const bool PACKS = true;
    tern_unary_op op;
    C a;

    __device__ __forceinline__ bool operator()(C v) const
    {
        switch ((int)op) {
        case TERN_UNARY_ISFINITE:
            return v - v == 0;
        case TERN_UNARY_NOT:
            return v == 0;
        case TERN_UNARY_EQ_SCALAR:
            return v == a;
        case TERN_UNARY_NE_SCALAR:
            return v != a;
        case TERN_UNARY_LT_SCALAR:
            return v < a;
        case TERN_UNARY_LE_SCALAR:
            return v <= a;
        case TERN_UNARY_GT_SCALAR:
            return v > a;
        }
        return v >= a;
    }
};

template <class T>
static tern_status test_floating(const operands<1> &o, tern_unary_op op, const scalar_params &p)
{
    typedef computed_t<T> C;
    return map<truth, T>(o, unary_test<C>{op, (C)p.floating[0]});
}

template <class T>
static tern_status test_whole(const operands<1> &o, tern_unary_op op, const scalar_params &p)
{
    return map<truth, T>(o, unary_test<int64_t>{op, p.integer[0]});
}

static tern_status test(const operands<1> &o, tern_unary_op op, tern_dtype dtype,
                        const scalar_params &p)
{
    switch (dtype) {
        TERN_FLOATING_CASES(T, test_floating<T>(o, op, p))
        TERN_WHOLE_CASES(T, test_whole<T>(o, op, p))
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return TERN_OK;
}

// ---- the choice ---------------------------------------------------------------------------------

// The exponents of everyday use do not need a power.
static int power_code(double exponent)
{
    static const struct {
        double exponent;
        int code;
    } special[] = {
        {0.0, UNARY_POWER_0},   {1.0, UNARY_POWER_1},        {2.0, UNARY_POWER_2},
        {3.0, UNARY_POWER_3},   {-1.0, UNARY_POWER_MINUS_1}, {-2.0, UNARY_POWER_MINUS_2},
        {0.5, TERN_UNARY_SQRT}, {-0.5, TERN_UNARY_RSQRT},
    };
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
        if (exponent == special[i].exponent)
            return special[i].code;
    return TERN_UNARY_POW_SCALAR;
}

static float round_to(tern_dtype dtype, float number)
{
    return dtype == TERN_FLOAT16 ? __half2float(__float2half(number))
                                 : __bfloat162float(__float2bfloat16(number));
}

template <class T>
static tern_status whole(const operands<1> &o, tern_unary_op op, const scalar_params &p)
{
    return map<T, T>(o, whole_unary{op, p.integer[0], p.integer[1]});
}

static tern_status compute(const operands<1> &o, tern_unary_op op, tern_dtype dtype,
                           const scalar_params &p)
{
    const int code = op == TERN_UNARY_POW_SCALAR ? power_code(p.floating[0]) : (int)op;
    switch (dtype) {
    case TERN_FLOAT32:
    case TERN_FLOAT16:
    case TERN_BFLOAT16:
        return unary_floats(o, dtype, code, (float)p.floating[0], (float)p.floating[1]);
    case TERN_FLOAT64:
        return map<double, double>(o, any_unary<double>{code, p.floating[0], p.floating[1]});
        TERN_WHOLE_CASES(T, whole<T>(o, op, p))
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return TERN_OK;
}

extern "C" tern_status tern_cuda_unary(const tern_exec *exec, tern_unary_op op,
                                       const tern_scalar p[2], const tern_strided *y,
                                       const tern_strided *x)
{
    scalar_params params = {};
    const operands<1> o = operands_of(exec, "unary", y, x);
    const tern_unary_op which = set_scalar_params(&params, op, x->dtype, p, round_to);
    if (which >= TERN_UNARY_ISFINITE)
        return test(o, which, x->dtype, params);
    TERN_CHECK(tern_dtype_is_floating(x->dtype) || whole_unary::has(which), TERN_ERR_DTYPE,
               "unary operation %d is not made for %s", (int)op, tern_dtype_name(x->dtype));
    return compute(o, which, x->dtype, params);
}
