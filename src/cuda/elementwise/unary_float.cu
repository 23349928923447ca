// SPDX-License-Identifier: Apache-2.0
// Operations with one operand that compute in float: a kernel for each on contiguous views, one for
// all on others.
#include "cuda/elementwise/unary.cuh"

template <class T> static tern_status run(const operands<1> &o, int code, float a, float b)
{
    if (!joined_flat(o.views))
        return map_strided<T, T>(o, any_unary<float>{code, a, b});
    switch (code) {
#define UNARY_RUN(code_, name, ...)                                                                \
    case code_:                                                                                    \
        return map_flat<T, T>(o, name<float>{a, b});
        FOR_UNARY(UNARY_RUN)
#undef UNARY_RUN
    default:
        return TERN_OK;
    }
}

tern_status unary_floats(const operands<1> &o, tern_dtype dtype, int code, float a, float b)
{
    if (dtype == TERN_FLOAT32)
        return run<float>(o, code, a, b);
    if (dtype == TERN_FLOAT16)
        return run<__half>(o, code, a, b);
    return run<__nv_bfloat16>(o, code, a, b);
}
