// SPDX-License-Identifier: Apache-2.0
// CUDA's vector types, with its alignments: a vector of up to 16 bytes is aligned as a whole, so
// that sanitizers see what a misaligned wide load would be on a device.
#ifndef TERN_SIM_VECTORS_H
#define TERN_SIM_VECTORS_H

#define TERN_SIM_VECTOR1(T, N)                                                                     \
    struct N##1                                                                                    \
    {                                                                                              \
        T x;                                                                                       \
    };                                                                                             \
    static inline N##1 make_##N##1(T x)                                                            \
    {                                                                                              \
        return {x};                                                                                \
    }

#define TERN_SIM_VECTOR2(T, N)                                                                     \
    struct __attribute__((aligned(2 * sizeof(T)))) N##2                                            \
    {                                                                                              \
        T x, y;                                                                                    \
    };                                                                                             \
    static inline N##2 make_##N##2(T x, T y)                                                       \
    {                                                                                              \
        return {x, y};                                                                             \
    }

#define TERN_SIM_VECTOR3(T, N)                                                                     \
    struct N##3                                                                                    \
    {                                                                                              \
        T x, y, z;                                                                                 \
    };                                                                                             \
    static inline N##3 make_##N##3(T x, T y, T z)                                                  \
    {                                                                                              \
        return {x, y, z};                                                                          \
    }

#define TERN_SIM_VECTOR4(T, N)                                                                     \
    struct __attribute__((aligned(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)))) N##4                  \
    {                                                                                              \
        T x, y, z, w;                                                                              \
    };                                                                                             \
    static inline N##4 make_##N##4(T x, T y, T z, T w)                                             \
    {                                                                                              \
        return {x, y, z, w};                                                                       \
    }

#define TERN_SIM_VECTORS(T, N)                                                                     \
    TERN_SIM_VECTOR1(T, N)                                                                         \
    TERN_SIM_VECTOR2(T, N)                                                                         \
    TERN_SIM_VECTOR3(T, N)                                                                         \
    TERN_SIM_VECTOR4(T, N)

TERN_SIM_VECTORS(signed char, char)
TERN_SIM_VECTORS(unsigned char, uchar)
TERN_SIM_VECTORS(short, short)
TERN_SIM_VECTORS(unsigned short, ushort)
TERN_SIM_VECTORS(int, int)
TERN_SIM_VECTORS(unsigned, uint)
TERN_SIM_VECTORS(long long, longlong)
TERN_SIM_VECTORS(unsigned long long, ulonglong)
TERN_SIM_VECTORS(float, float)
TERN_SIM_VECTORS(double, double)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c)
    {
    }
};

#endif
