// SPDX-License-Identifier: Apache-2.0
// The CPU generator: mt19937, drawn from in PyTorch's order, so that a seed gives the numbers that
// the same seed gives there. A plain struct without pointers: copying it copies the stream. Not
// locked.
#ifndef TERN_SRC_BASE_MT19937_H
#define TERN_SRC_BASE_MT19937_H

#include <stdbool.h>
#include <stdint.h>

#define TERN_MT19937_WORDS 624

typedef struct tern_mt19937 {
    uint32_t state[TERN_MT19937_WORDS];
    int index;       // of the next word; TERN_MT19937_WORDS: new ones are due
    bool has_normal; // the second half of a pair of normal draws is waiting
    double normal;
} tern_mt19937;

// Starts the stream of the low 32 bits of `seed`; forgets a waiting normal draw.
void tern_mt19937_seed(tern_mt19937 *generator, uint64_t seed);

// 32 random bits.
uint32_t tern_mt19937_u32(tern_mt19937 *generator);

// 64 random bits: two draws of 32, the high half first.
uint64_t tern_mt19937_u64(tern_mt19937 *generator);

// A non-negative int64, as int64 random_() gives; 63 bits of a draw of 64.
int64_t tern_mt19937_random63(tern_mt19937 *generator);

// A multiple of 2^-53 in [0, 1), 53 bits of a draw of 64.
double tern_mt19937_u53(tern_mt19937 *generator);

// True with probability p: u53 < p.
bool tern_mt19937_bernoulli(tern_mt19937 *generator, double p);

// Fills with from + x * (to - from), x being 24 (float64: 53) random bits in [0, 1), all in the
// element's type; `from` where that rounds to `to`. rand() is the range 0 to 1.
void tern_mt19937_uniform_f32(tern_mt19937 *generator, float *out, int64_t numel, double from,
                              double to);
void tern_mt19937_uniform_f64(tern_mt19937 *generator, double *out, int64_t numel, double from,
                              double to);

// Fills with z * std + mean, z standard normal by Box and Muller's method; randn() is mean 0 and
// std 1. Below 16 elements pairs of double draws are used, whose unused half waits in the
// generator; from 16 on blocks of 16 of the element's type.
void tern_mt19937_normal_f32(tern_mt19937 *generator, float *out, int64_t numel, double mean,
                             double std);
void tern_mt19937_normal_f64(tern_mt19937 *generator, double *out, int64_t numel, double mean,
                             double std);

// What normal_f32 computes with: log(x) of 2^-24 <= x <= 1, and sine and cosine of 0 <= x <= 2 pi,
// correctly rounded for all x that it can meet.
float tern_mt19937_log(float x);
void tern_mt19937_turn(float x, float *sine, float *cosine);

// Fills with integers from `low` to `high` - 1; low < high. From a range of 2^28 on each takes a
// draw of 64 bits.
void tern_mt19937_randint(tern_mt19937 *generator, int64_t *out, int64_t numel, int64_t low,
                          int64_t high);

// Fills with the numbers 0 to numel - 1 in random order.
void tern_mt19937_randperm(tern_mt19937 *generator, int64_t *out, int64_t numel);

#endif
