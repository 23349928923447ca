// SPDX-License-Identifier: Apache-2.0
// y = op(a, b). What computes in float has a kernel for each operation; double, integers and what
// gives bool have one that picks as it runs.
#include "cuda/elementwise/map.cuh"
#include "cuda/realmath.cuh"

// ---- floating -----------------------------------------------------------------------------------

// y = expression of a and b; alpha is the factor of ADD.
#define BINARY_STRUCT(op, name, ...)                                                               \
    template <class R> struct name {                                                               \
        static const bool PACKS = true;                                                            \
        R alpha;                                                                                   \
        __device__ __forceinline__ R operator()(R a, R b) const                                    \
        {                                                                                          \
            return __VA_ARGS__;                                                                    \
        }                                                                                          \
    };

// clang-format off
#define FOR_BINARY(X)                                                                              \
    X(TERN_BINARY_ADD, add, a + alpha * b)                                                         \
    X(TERN_BINARY_SUB, subtract, a - b)                                                            \
    X(TERN_BINARY_MUL, multiply, a * b)                                                            \
    X(TERN_BINARY_DIV, divide, a / b)                                                              \
    X(TERN_BINARY_POW, power, real_pow(a, b))                                                      \
    X(TERN_BINARY_MIN, smaller, a < b || a != a ? a : b)                                           \
    X(TERN_BINARY_MAX, larger, a > b || a != a ? a : b)
// clang-format on

FOR_BINARY(BINARY_STRUCT)

// Any of them; all threads take the same way through the switch.
template <class R> struct any_binary {
    static const bool PACKS = false;
    tern_binary_op op;
    R alpha;

    __device__ __forceinline__ R operator()(R a, R b) const
    {
        switch (op) {
#define BINARY_CASE(op_, name, ...)                                                                \
    case op_:                                                                                      \
        return name<R>{alpha}(a, b);
            FOR_BINARY(BINARY_CASE)
#undef BINARY_CASE
        default:
            return a;
        }
    }
};

template <class T> static tern_status in_float(const operands<2> &o, tern_binary_op op, float alpha)
{
    switch (op) {
#define BINARY_RUN(op_, name, ...)                                                                 \
    case op_:                                                                                      \
        return map<T, T>(o, name<float>{alpha});
        FOR_BINARY(BINARY_RUN)
#undef BINARY_RUN
    default:
        return TERN_OK;
    }
}

// ---- integers and bool --------------------------------------------------------------------------

struct whole_binary {
    static const bool PACKS = true;
    tern_binary_op op;
    int64_t alpha;

    __device__ __forceinline__ int64_t operator()(int64_t a, int64_t b) const
    {
        switch ((int)op) {
        case TERN_BINARY_ADD:
            return wrap_add(a, wrap_mul(alpha, b));
        case TERN_BINARY_SUB:
            return wrap_sub(a, b);
        case TERN_BINARY_MUL:
            return wrap_mul(a, b);
        case TERN_BINARY_POW:
            return wrap_pow(a, b);
        case TERN_BINARY_MIN:
            return a < b ? a : b;
        }
        return a > b ? a : b;
    }
};

template <class T>
static tern_status in_int64(const operands<2> &o, tern_binary_op op, int64_t alpha)
{
    return map<T, T>(o, whole_binary{op, alpha});
}

// ---- what gives bool ----------------------------------------------------------------------------

template <class C> struct binary_test {
    static const bool PACKS = true;
    tern_binary_op op;

    __device__ __forceinline__ bool operator()(C a, C b) const
    {
        switch ((int)op) {
        case TERN_BINARY_EQ:
            return a == b;
        case TERN_BINARY_NE:
            return a != b;
        case TERN_BINARY_LT:
            return a < b;
        case TERN_BINARY_LE:
            return a <= b;
        case TERN_BINARY_GT:
            return a > b;
        case TERN_BINARY_GE:
            return a >= b;
        case TERN_BINARY_AND:
            return a != 0 && b != 0;
        }
        return a != 0 || b != 0;
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
        TERN_WHOLE_CASES(T, compare<T>(o, op))
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return TERN_OK;
}

// ---- the choice ---------------------------------------------------------------------------------

static tern_status compute(const operands<2> &o, tern_binary_op op, tern_dtype dtype, double alpha)
{
    // The sum of two truths is "or": a factor must not turn it back to 0.
    const int64_t factor = dtype == TERN_BOOL ? alpha != 0 : truncate_to_int64(alpha);
    switch (dtype) {
    case TERN_FLOAT32:
        return in_float<float>(o, op, (float)alpha);
    case TERN_FLOAT16:
        return in_float<__half>(o, op, (float)alpha);
    case TERN_BFLOAT16:
        return in_float<__nv_bfloat16>(o, op, (float)alpha);
    case TERN_FLOAT64:
        return map<double, double>(o, any_binary<double>{op, alpha});
        TERN_WHOLE_CASES(T, in_int64<T>(o, op, factor))
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return TERN_OK;
}

extern "C" tern_status tern_cuda_binary(const tern_exec *exec, tern_binary_op op, double alpha,
                                        const tern_strided *y, const tern_strided *a,
                                        const tern_strided *b)
{
    const operands<2> o = operands_of(exec, "binary", y, a, b);
    if (op >= TERN_BINARY_EQ)
        return test(o, op, a->dtype);
    TERN_CHECK(tern_dtype_is_floating(a->dtype) || op != TERN_BINARY_DIV, TERN_ERR_DTYPE,
               "binary operation %d is not made for %s", (int)op, tern_dtype_name(a->dtype));
    return compute(o, op, a->dtype, alpha);
}
