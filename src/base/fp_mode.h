// SPDX-License-Identifier: Apache-2.0
// What a thread has set that decides the results of arithmetic: the rounding mode, and whether
// subnormal numbers are flushed to zero. Traps and exception flags are no part of it.
#ifndef TERN_SRC_BASE_FP_MODE_H
#define TERN_SRC_BASE_FP_MODE_H

#include <stdint.h>

#if defined(__SSE__)

#define TERN_FP_MODE_BITS 0xE040u // of MXCSR: FTZ, rounding, DAZ

static inline uint64_t tern_fp_mode(void)
{
    return __builtin_ia32_stmxcsr() & TERN_FP_MODE_BITS;
}

static inline void tern_fp_mode_set(uint64_t mode)
{
    unsigned now = __builtin_ia32_stmxcsr();
    if ((now & TERN_FP_MODE_BITS) != mode)
        __builtin_ia32_ldmxcsr((now & ~TERN_FP_MODE_BITS) | (unsigned)mode);
}

#elif defined(__aarch64__)

#define TERN_FP_MODE_BITS UINT64_C(0x3C80000) // of FPCR: DN, FZ, rounding, FZ16

static inline uint64_t tern_fp_control(void)
{
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
}

static inline uint64_t tern_fp_mode(void)
{
    return tern_fp_control() & TERN_FP_MODE_BITS;
}

static inline void tern_fp_mode_set(uint64_t mode)
{
    uint64_t now = tern_fp_control();
    if ((now & TERN_FP_MODE_BITS) != mode)
        __asm__ volatile("msr fpcr, %0" : : "r"((now & ~TERN_FP_MODE_BITS) | mode));
}

#else

#include <fenv.h>

static inline uint64_t tern_fp_mode(void)
{
    return (uint64_t)fegetround();
}

static inline void tern_fp_mode_set(uint64_t mode)
{
    if (tern_fp_mode() != mode)
        (void)fesetround((int)mode);
}

#endif

#endif
