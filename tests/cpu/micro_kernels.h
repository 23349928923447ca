// SPDX-License-Identifier: Apache-2.0
// The tables of micro-kernels are static and differ by instruction set and element type: the
// sources that look for holes in them are compiled once for each, as the kernels are.
#ifndef TERN_TESTS_CPU_MICRO_KERNELS_H
#define TERN_TESTS_CPU_MICRO_KERNELS_H

#include <stdint.h>

// The first entry that a guard lets a shape reach and that is not there, else NULL.
typedef const char *micro_kernels_hole(void);

// How many entries were looked up; a walk that found none proves nothing.
extern int64_t micro_kernels_seen;

#define MICRO_NAME_(kind, isa, type) micro_##kind##_##isa##_##type
#define MICRO_NAME(kind, isa, type)  MICRO_NAME_(kind, isa, type)
#define MICRO_DECLARE(isa)                                                                         \
    micro_kernels_hole MICRO_NAME(conv, isa, float), MICRO_NAME(conv, isa, double);                \
    micro_kernels_hole MICRO_NAME(product, isa, float), MICRO_NAME(product, isa, double);
MICRO_DECLARE(portable)
MICRO_DECLARE(avx2)
MICRO_DECLARE(avx512)

#endif
