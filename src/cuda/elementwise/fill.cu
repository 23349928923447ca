// SPDX-License-Identifier: Apache-2.0
// y[..] = value
#include <string.h>
#include "cuda/element.cuh"
#include "cuda/loop.cuh"
#include "device/comparison.h"

// The bits of one element, whatever its type is.
template <class Bits> struct fill_body {
    static const int VIEWS = 1, WIDTH = vec_width<Bits>::value;
    Bits *y;
    Bits value;

    __device__ __forceinline__ void scalar(const int64_t *at) const
    {
        y[at[0]] = value;
    }
    __device__ __forceinline__ void vectorized(const int64_t *at, unsigned) const
    {
        vec<Bits, WIDTH> values;
#pragma unroll
        for (int k = 0; k < WIDTH; k++)
            values.at[k] = value;
        vec_store(y + at[0], values);
    }
};

template <class To, class From> static uint64_t to_bits(From value)
{
    const To stored = (To)value;
    uint64_t bits = 0;
    memcpy(&bits, &stored, sizeof stored);
    return bits;
}

static uint64_t element_bits(tern_dtype dtype, tern_scalar value)
{
    const double number = scalar_floating(value, dtype);
    switch (dtype) {
    case TERN_FLOAT32:
        return to_bits<float>(number);
    case TERN_FLOAT64:
        return to_bits<double>(number);
    case TERN_FLOAT16:
        return to_bits<__half>((float)number);
    case TERN_BFLOAT16:
        return to_bits<__nv_bfloat16>((float)number);
    case TERN_INT64:
        return to_bits<int64_t>(scalar_integer(value));
    case TERN_INT32:
        return to_bits<int32_t>(scalar_integer(value));
    case TERN_UINT8:
        return to_bits<uint8_t>(scalar_integer(value));
    case TERN_BOOL:
        return scalar_truth(value);
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return 0;
}

template <class Bits>
static tern_status fill(const tern_exec *exec, const tern_strided *y, uint64_t bits)
{
    const tern_strided *const views[] = {y};
    const fill_body<Bits> body = {(Bits *)y->data, (Bits)bits};
    return loop_run(exec, "fill", views, body);
}

extern "C" tern_status tern_cuda_fill(const tern_exec *exec, const tern_strided *y,
                                      tern_scalar value)
{
    const uint64_t bits = element_bits(y->dtype, value);
    switch (tern_dtype_size(y->dtype)) {
        TERN_SIZE_CASES(Bits, fill<Bits>(exec, y, bits))
    }
    return tern_kernel_lacks("fill", y->dtype);
}
