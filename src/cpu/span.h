// SPDX-License-Identifier: Apache-2.0
// Runs of elements of any dtype, read into and written from the type that a kernel computes in:
// float for float32, float16 and bfloat16, double for float64, int64_t for integers and bool.
// Strides are in elements.
#ifndef TERN_SRC_CPU_SPAN_H
#define TERN_SRC_CPU_SPAN_H

#include <tern/dtype.h>

#include "cpu/vec_half.h"

// A unit stride is a loop of its own, which vectorises.
#define SPAN_LOOP(type, convert)                                                                   \
    do {                                                                                           \
        const type *in = from;                                                                     \
        if (stride == 1) {                                                                         \
            for (int64_t i = 0; i < n; i++)                                                        \
                to[i] = convert(in[i]);                                                            \
        } else {                                                                                   \
            for (int64_t i = 0; i < n; i++)                                                        \
                to[i] = convert(in[i * stride]);                                                   \
        }                                                                                          \
    } while (0)

SPAN_INLINE void span_load_float(float *to, const void *from, tern_dtype dtype, int64_t stride,
                                 int64_t n)
{
    if (dtype == TERN_FLOAT32)
        SPAN_LOOP(float, );
    else if (dtype == TERN_BFLOAT16)
        SPAN_LOOP(uint16_t, bfloat_to_float);
    else if (stride == 1)
        halves_to_floats(to, from, n);
    else
        SPAN_LOOP(uint16_t, half_to_float);
}

SPAN_INLINE void span_load_double(double *to, const void *from, tern_dtype dtype, int64_t stride,
                                  int64_t n)
{
    (void)dtype;
    SPAN_LOOP(double, );
}

SPAN_INLINE void span_load_int64(int64_t *to, const void *from, tern_dtype dtype, int64_t stride,
                                 int64_t n)
{
    if (dtype == TERN_INT64)
        SPAN_LOOP(int64_t, );
    else if (dtype == TERN_INT32)
        SPAN_LOOP(int32_t, );
    else if (dtype == TERN_BOOL)
        SPAN_LOOP(uint8_t, 0 !=);
    else
        SPAN_LOOP(uint8_t, );
}

#define SPAN_STORE(type, convert)                                                                  \
    do {                                                                                           \
        type *out = to;                                                                            \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i * stride] = convert(from[i]);                                                    \
    } while (0)

#define SPAN_STORE_FLOATING(real)                                                                  \
    SPAN_INLINE void span_store_##real(void *to, const real *from, tern_dtype dtype,               \
                                       int64_t stride, int64_t n)                                  \
    {                                                                                              \
        if (dtype == TERN_FLOAT32)                                                                 \
            SPAN_STORE(float, (float));                                                            \
        else if (dtype == TERN_FLOAT64)                                                            \
            SPAN_STORE(double, );                                                                  \
        else if (dtype == TERN_BFLOAT16)                                                           \
            SPAN_STORE(uint16_t, float_to_bfloat);                                                 \
        else if (dtype == TERN_FLOAT16)                                                            \
            SPAN_STORE(uint16_t, float_to_half);                                                   \
        else if (dtype == TERN_BOOL)                                                               \
            SPAN_STORE(uint8_t, 0 !=);                                                             \
    }
SPAN_STORE_FLOATING(double)
#undef SPAN_STORE_FLOATING

// As above for float; contiguous 16-bit results have loops of their own.
SPAN_INLINE void span_store_float(void *to, const float *from, tern_dtype dtype, int64_t stride,
                                  int64_t n)
{
    if (dtype == TERN_FLOAT32)
        SPAN_STORE(float, );
    else if (dtype == TERN_BFLOAT16 && stride == 1)
        floats_to_bfloats(to, from, n);
    else if (dtype == TERN_BFLOAT16)
        SPAN_STORE(uint16_t, float_to_bfloat);
    else if (stride == 1)
        floats_to_halves(to, from, n);
    else
        SPAN_STORE(uint16_t, float_to_half);
}

SPAN_INLINE void span_store_int64(void *to, const int64_t *from, tern_dtype dtype, int64_t stride,
                                  int64_t n)
{
    if (dtype == TERN_INT64)
        SPAN_STORE(int64_t, );
    else if (dtype == TERN_INT32)
        SPAN_STORE(int32_t, (int32_t));
    else if (dtype == TERN_BOOL)
        SPAN_STORE(uint8_t, 0 !=);
    else
        SPAN_STORE(uint8_t, (uint8_t));
}

#endif
