// SPDX-License-Identifier: Apache-2.0
// Names per instruction set. A kernel source is compiled once per set, with one of TERN_ISA_AVX512,
// TERN_ISA_AVX2 and TERN_ISA_PORTABLE defined; every global that it defines carries the set's name:
//
//     #include "cpu/isa.h"
//     tern_status TERN_ISA_NAME(fill)(const tern_exec *exec, const tern_strided *y, double value)
//
// defines tern_cpu_avx2_fill in the AVX2 build. The kernels of the set being compiled are declared
// here, so a definition that does not match its type in kernels.h does not compile.
#ifndef TERN_SRC_CPU_ISA_H
#define TERN_SRC_CPU_ISA_H

#include "device/kernels.h"

#if defined(TERN_ISA_AVX512)
#define TERN_ISA avx512
#elif defined(TERN_ISA_AVX2)
#define TERN_ISA avx2
#else
#define TERN_ISA portable
#endif

#define TERN_ISA_PREFIXED_(isa, name) tern_cpu_##isa##_##name
#define TERN_ISA_PREFIXED(isa, name)  TERN_ISA_PREFIXED_(isa, name)
#define TERN_ISA_NAME(name)           TERN_ISA_PREFIXED(TERN_ISA, name)

// For what is not a slot of the table: TERN_ISA_SUFFIX(tern_gemm_f32) is tern_gemm_f32_avx2.
#define TERN_ISA_SUFFIXED_(isa, name) name##_##isa
#define TERN_ISA_SUFFIXED(isa, name)  TERN_ISA_SUFFIXED_(isa, name)
#define TERN_ISA_SUFFIX(name)         TERN_ISA_SUFFIXED(TERN_ISA, name)

#define TERN_ISA_DECLARE_KERNEL_(slot) tern_kernel_##slot TERN_ISA_NAME(slot);
TERN_KERNELS(TERN_ISA_DECLARE_KERNEL_)

// Before a loop whose element i depends on elements i alone, also when the result is an operand.
#if defined(__clang__)
#define ELEMENTWISE_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define ELEMENTWISE_LOOP _Pragma("GCC ivdep")
#endif

// The table that backend.c picks.
extern const tern_kernels TERN_ISA_NAME(table);

#endif
