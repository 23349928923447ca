// SPDX-License-Identifier: Apache-2.0
// mt19937: M. Matsumoto and T. Nishimura, "Mersenne Twister: a 623-dimensionally equidistributed
// uniform pseudo-random number generator", ACM TOMACS 8 (1998). The fills draw in PyTorch's order.
#include "base/mt19937.h"
#include <math.h>

#define WORDS TERN_MT19937_WORDS
#define AHEAD 397

void tern_mt19937_seed(tern_mt19937 *generator, uint64_t seed)
{
    uint32_t *state = generator->state;
    state[0] = (uint32_t)seed;
    for (uint32_t i = 1; i < WORDS; i++)
        state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
    generator->index = WORDS;
    generator->has_normal = false;
    generator->normal = 0;
}

static uint32_t twist(uint32_t high, uint32_t low, uint32_t ahead)
{
    uint32_t word = (high & 0x80000000u) | (low & 0x7FFFFFFFu);
    return ahead ^ (word >> 1) ^ ((0u - (word & 1u)) & 0x9908B0DFu);
}

// The next WORDS words, in place; the last ones use the first new ones.
static void advance(tern_mt19937 *generator)
{
    uint32_t *state = generator->state;
    for (int i = 0; i < WORDS - AHEAD; i++)
        state[i] = twist(state[i], state[i + 1], state[i + AHEAD]);
    for (int i = WORDS - AHEAD; i < WORDS - 1; i++)
        state[i] = twist(state[i], state[i + 1], state[i + AHEAD - WORDS]);
    state[WORDS - 1] = twist(state[WORDS - 1], state[0], state[AHEAD - 1]);
    generator->index = 0;
}

static inline uint32_t temper(uint32_t word)
{
    word ^= word >> 11;
    word ^= (word << 7) & 0x9D2C5680u;
    word ^= (word << 15) & 0xEFC60000u;
    return word ^ (word >> 18);
}

uint32_t tern_mt19937_u32(tern_mt19937 *generator)
{
    if (generator->index >= WORDS)
        advance(generator);
    return temper(generator->state[generator->index++]);
}

uint64_t tern_mt19937_u64(tern_mt19937 *generator)
{
    uint64_t high = tern_mt19937_u32(generator);
    return high << 32 | tern_mt19937_u32(generator);
}

int64_t tern_mt19937_random63(tern_mt19937 *generator)
{
    return (int64_t)(tern_mt19937_u64(generator) & INT64_MAX);
}

double tern_mt19937_u53(tern_mt19937 *generator)
{
    return (double)(tern_mt19937_u64(generator) & ((UINT64_C(1) << 53) - 1)) * 0x1p-53;
}

bool tern_mt19937_bernoulli(tern_mt19937 *generator, double p)
{
    return tern_mt19937_u53(generator) < p;
}

// Multiples of 2^-24 in [0, 1), as many as are left of the present words.
static int64_t fill_u24(tern_mt19937 *generator, float *out, int64_t numel)
{
    if (generator->index >= WORDS)
        advance(generator);
    const int64_t left = WORDS - generator->index, n = numel < left ? numel : left;
    const uint32_t *word = generator->state + generator->index;
    for (int64_t i = 0; i < n; i++)
        out[i] = (float)(int32_t)(temper(word[i]) & 0xFFFFFFu) * 0x1p-24f;
    generator->index += (int)n;
    return n;
}

// Fused, as PyTorch's kernels for AVX2 and AVX-512 are compiled; a number that rounds up to the end
// of the range becomes its beginning.
void tern_mt19937_uniform_f32(tern_mt19937 *generator, float *out, int64_t numel, double from,
                              double to)
{
    float begin = (float)from;
    float end = (float)to;
    float range = end - begin;
    const bool plain = begin == 0 && range == 1; // nothing is rounded
    for (int64_t n; numel > 0; numel -= n, out += n) {
        n = fill_u24(generator, out, numel);
        for (int64_t i = 0; i < n && !plain; i++) {
            float x = fmaf(out[i], range, begin);
            out[i] = x < end ? x : begin;
        }
    }
}

void tern_mt19937_uniform_f64(tern_mt19937 *generator, double *out, int64_t numel, double from,
                              double to)
{
    double range = to - from;
    for (int64_t i = 0; i < numel; i++) {
        double x = fma(tern_mt19937_u53(generator), range, from);
        out[i] = x < to ? x : from;
    }
}

void tern_mt19937_randint(tern_mt19937 *generator, int64_t *out, int64_t numel, int64_t low,
                          int64_t high)
{
    uint64_t range = (uint64_t)high - (uint64_t)low;
    for (int64_t i = 0; i < numel; i++) {
        uint64_t word = range >> 28 ? tern_mt19937_u64(generator) : tern_mt19937_u32(generator);
        out[i] = (int64_t)(word % range + (uint64_t)low);
    }
}

void tern_mt19937_randperm(tern_mt19937 *generator, int64_t *out, int64_t numel)
{
    for (int64_t i = 0; i < numel; i++)
        out[i] = i;
    for (int64_t i = 0; i < numel - 1; i++) {
        int64_t other = i + tern_mt19937_u32(generator) % (numel - i);
        int64_t value = out[i];
        out[i] = out[other];
        out[other] = value;
    }
}
