// SPDX-License-Identifier: Apache-2.0
// Blocks of 16 uniform draws that become normal ones, for what is compiled for one instruction set
// or another: the numbers are the same.
#ifndef TERN_SRC_BASE_NORMAL_BLOCK_H
#define TERN_SRC_BASE_NORMAL_BLOCK_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define NORMAL_BLOCK  16
#define NORMAL_TWO_PI 6.283185307179586476925

static inline uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// x * y + z. Fused or not makes no difference to the floats that the functions below end in.
static inline double multiply_add(double x, double y, double z)
{
#ifdef __FMA__
    return __builtin_fma(x, y, z);
#else
    return x * y + z;
#endif
}

// Without branches, so that the loop over them becomes vector code.

// log(x) of a normal x > 0, by 2 atanh((m - 1) / (m + 1)), sqrt(1/2) <= m < sqrt(2).
static inline double normal_log(double x)
{
    const uint64_t root_half = 0x3fe6a09e667f3bcdu, bias = (uint64_t)1024 << 52;
    const uint64_t power = (bits_of(x) - root_half + bias) >> 52; // offset, to stay positive
    const double m = double_of(bits_of(x) - ((power - 1024) << 52));
    const double k = double_of(power | 0x4330000000000000u); // in the low bits of 2^52
    const double s = (m - 1.0) / (m + 1.0), z = s * s;
    double p = 2.0 / 21;
    p = multiply_add(p, z, 2.0 / 19);
    p = multiply_add(p, z, 2.0 / 17);
    p = multiply_add(p, z, 2.0 / 15);
    p = multiply_add(p, z, 2.0 / 13);
    p = multiply_add(p, z, 2.0 / 11);
    p = multiply_add(p, z, 2.0 / 9);
    p = multiply_add(p, z, 2.0 / 7);
    p = multiply_add(p, z, 2.0 / 5);
    p = multiply_add(p, z, 2.0 / 3);
    return (k - (0x1p52 + 1024)) * 0x1.62e42fefa39efp-1 + (s * z * p + 2.0 * s);
}

// The sine and the cosine of 0 <= x <= 2 pi by their series within pi / 4 of a multiple of pi / 2.
static inline void normal_turn(double x, double *sine, double *cosine)
{
    const double shifted = x * 0x1.45f306dc9c883p-1 + 0x1.8p52, n = shifted - 0x1.8p52;
    const double r = x - n * 0x1.921fb544p0 - n * 0x1.0b4611a626331p-34, z = r * r;
    const uint64_t quarter = bits_of(shifted);
    double s = -1.0 / 1307674368000;
    s = multiply_add(s, z, 1.0 / 6227020800);
    s = multiply_add(s, z, -1.0 / 39916800);
    s = multiply_add(s, z, 1.0 / 362880);
    s = multiply_add(s, z, -1.0 / 5040);
    s = multiply_add(s, z, 1.0 / 120);
    s = multiply_add(s, z, -1.0 / 6);
    s = s * z * r + r;
    double c = 1.0 / 20922789888000;
    c = multiply_add(c, z, -1.0 / 87178291200);
    c = multiply_add(c, z, 1.0 / 479001600);
    c = multiply_add(c, z, -1.0 / 3628800);
    c = multiply_add(c, z, 1.0 / 40320);
    c = multiply_add(c, z, -1.0 / 720);
    c = multiply_add(c, z, 1.0 / 24);
    c = multiply_add(c, z, -0.5);
    c = multiply_add(c, z, 1.0);
    // They change places in odd quarters.
    const uint64_t change = (bits_of(s) ^ bits_of(c)) & (0 - (quarter & 1));
    *sine = double_of(bits_of(s) ^ change ^ (quarter & 2) << 62);
    *cosine = double_of(bits_of(c) ^ change ^ ((quarter + 1) & 2) << 62);
}

// The logarithm and the angle's sine and cosine are those of the float values, correctly rounded,
// so that they do not depend on the machine's mathematics library: the functions above are that
// for every value that a draw can be.
static inline void normal_block_f32(float *x /* (16) */, float mean, float std)
{
    enum { PAIRS = NORMAL_BLOCK / 2 };
    float first[PAIRS], second[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        double sine, cosine;
        normal_turn((double)((float)NORMAL_TWO_PI * x[i + PAIRS]), &sine, &cosine);
        const float radius = sqrtf(-2.0f * (float)normal_log((double)(1.0f - x[i])));
        first[i] = radius * (float)cosine;
        second[i] = radius * (float)sine;
    }
    for (int i = 0; i < PAIRS; i++) {
        x[i] = std == 1.0f ? first[i] + mean : fmaf(first[i], std, mean);
        x[i + PAIRS] = std == 1.0f ? second[i] + mean : fmaf(second[i], std, mean);
    }
}

static inline void normal_blocks_f32(float *x, int64_t blocks, float mean, float std)
{
    for (int64_t i = 0; i < blocks; i++)
        normal_block_f32(x + i * NORMAL_BLOCK, mean, std);
}

#endif
