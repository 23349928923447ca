// SPDX-License-Identifier: Apache-2.0
// The 16-bit types with CUDA's names; arithmetic goes through float. Conversions round to nearest
// even; a NaN becomes CUDA's one, 0x7fff.
#ifndef TERN_SIM_HALF_H
#define TERN_SIM_HALF_H

#include <stdint.h>
#include <string.h>

static inline float tern_sim_float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t tern_sim_bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float tern_sim_half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t exponent = half >> 10 & 31, mantissa = half & 1023;
    if (exponent == 0) // zero and subnormals: multiples of 2^-24
        return tern_sim_float_of_bits(tern_sim_bits_of_float((float)mantissa * 0x1p-24f) | sign);
    if (exponent == 31 && mantissa)
        return tern_sim_float_of_bits(0x7fffffff);
    uint32_t wide = exponent == 31 ? 0x7f800000u : (exponent + 112) << 23;
    return tern_sim_float_of_bits(sign | wide | mantissa << 13);
}

static inline uint16_t tern_sim_float_to_half(float value)
{
    uint32_t bits = tern_sim_bits_of_float(value);
    uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000)
        return 0x7fff;
    if (magnitude >= 0x477ff000) // rounds past the largest
        return (uint16_t)(sign | 0x7c00);
    if (magnitude < 0x38800000) { // subnormal: the addition rounds at the right bit
        float shifted = tern_sim_float_of_bits(magnitude) + 0.5f;
        return (uint16_t)(sign | (tern_sim_bits_of_float(shifted) - 0x3f000000));
    }
    return (uint16_t)(sign | (magnitude + 0xc8000fffu + (magnitude >> 13 & 1)) >> 13);
}

static inline float tern_sim_bfloat16_to_float(uint16_t bfloat16)
{
    return tern_sim_float_of_bits((uint32_t)bfloat16 << 16);
}

static inline uint16_t tern_sim_float_to_bfloat16(float value)
{
    uint32_t bits = tern_sim_bits_of_float(value);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return 0x7fff;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#ifdef __cplusplus
#include <type_traits>

// A float that rounds to 16 bits as the double does: cut off, with an odd last bit where bits are
// lost.
static inline float tern_sim_odd_float(double value)
{
    float near = (float)value;
    if ((double)near == value || value != value)
        return near;
    uint32_t bits = tern_sim_bits_of_float(near);
    double magnitude = value < 0 ? -value : value;
    if ((double)tern_sim_float_of_bits(bits & 0x7fffffff) > magnitude)
        bits--;
    return tern_sim_float_of_bits(bits | 1);
}

#define TERN_SIM_HALF_TYPE(name, pair, widen, narrow)                                              \
    struct __attribute__((aligned(2))) name {                                                      \
        uint16_t bits;                                                                             \
        name() = default;                                                                          \
        name(float value) : bits(narrow(value))                                                    \
        {                                                                                          \
        }                                                                                          \
        name(double value) : bits(narrow(tern_sim_odd_float(value)))                               \
        {                                                                                          \
        }                                                                                          \
        template <class T, class = typename std::enable_if<std::is_integral<T>::value>::type>      \
        name(T value) : name((double)value)                                                        \
        {                                                                                          \
        }                                                                                          \
        operator float() const                                                                     \
        {                                                                                          \
            return widen(bits);                                                                    \
        }                                                                                          \
    };                                                                                             \
    struct __attribute__((aligned(4))) pair {                                                      \
        name x, y;                                                                                 \
    };                                                                                             \
    static inline name tern_sim_##name(uint16_t bits)                                              \
    {                                                                                              \
        name made;                                                                                 \
        made.bits = bits;                                                                          \
        return made;                                                                               \
    }

#endif
#endif
