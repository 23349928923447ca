// SPDX-License-Identifier: Apache-2.0
// Operations with one operand that compute in float: a kernel for each on contiguous views, one for
// all on others.
#include "cuda/elementwise/unary.cuh"

template <class T>
static tern_status run(const operands<1> &o, tern_unary_op op, tern_dtype dtype, float a, float b)
{
    if (!joined_flat(o.views))
        return map_strided<T, T>(o, any_unary<float>{op, a, b});
    switch ((int)op) {
#define UNARY(CODE, name, ...)                                                                     \
    case TERN_UNARY_##CODE:                                                                        \
        return map_flat<T, T>(o, unary_##name<float>{a, b});
#define UNARY_TEST(...)
#include "device/elementwise.def"
    }
    return unsupported_op(o.op, op, dtype);
}

tern_status unary_floats(const operands<1> &o, tern_unary_op op, tern_dtype dtype, float a, float b)
{
    if (dtype == TERN_FLOAT32)
        return run<float>(o, op, dtype, a, b);
    if (dtype == TERN_FLOAT16)
        return run<__half>(o, op, dtype, a, b);
    return run<__nv_bfloat16>(o, op, dtype, a, b);
}
