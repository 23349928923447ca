// SPDX-License-Identifier: Apache-2.0
// How many floating-point operations a second one core does when it does nothing but float32
// multiply-adds in registers, with the widest vectors that tern uses here.
#ifndef TERN_BENCH_FMA_PEAK_H
#define TERN_BENCH_FMA_PEAK_H

#include <stdbool.h>
#include <time.h>

static double fma_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#if defined(__x86_64__)
#include <immintrin.h>

enum { FMA_CHAINS = 12, FMA_TURNS = 10000 }; // chains enough to hide the latency of two ports

#define FMA_LOOP(NAME, TARGET, VECTOR, SET, FMA)                                                   \
    __attribute__((target(TARGET), noinline)) static float NAME(void)                              \
    {                                                                                              \
        VECTOR acc[FMA_CHAINS], a = SET(0.999f), b = SET(0.001f);                                  \
        for (int i = 0; i < FMA_CHAINS; i++)                                                       \
            acc[i] = SET((float)i);                                                                \
        for (int turn = 0; turn < FMA_TURNS; turn++) {                                             \
            _Pragma("GCC unroll 12") for (int i = 0; i < FMA_CHAINS; i++) acc[i] =                 \
                FMA(acc[i], a, b);                                                                 \
            __asm__ volatile("" : "+x"(a)); /* so that no turn is computed ahead */                \
        }                                                                                          \
        float sum = 0;                                                                             \
        for (int i = 0; i < FMA_CHAINS; i++)                                                       \
            sum += acc[i][0];                                                                      \
        return sum;                                                                                \
    }
FMA_LOOP(fma_loop_512, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps)
FMA_LOOP(fma_loop_256, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps)

// FLOP/s over about `wanted` seconds; 0 where the processor has no such instruction.
static double fma_peak(double wanted)
{
    bool wide = __builtin_cpu_supports("avx512f");
    if (!wide && !__builtin_cpu_supports("fma"))
        return 0;
    volatile float keep = 0;
    double best = 0, start = fma_clock();
    for (double before = start, now; before - start < wanted; before = now) {
        keep = keep + (wide ? fma_loop_512() : fma_loop_256());
        now = fma_clock();
        double rate = 2.0 * (wide ? 16 : 8) * FMA_CHAINS * FMA_TURNS / (now - before);
        best = rate > best ? rate : best;
    }
    return best;
}
#else
static double fma_peak(double wanted)
{
    (void)wanted;
    return 0;
}
#endif

#endif
