// SPDX-License-Identifier: Apache-2.0
// The element type that a kernel source is compiled for. Meson compiles it once for each
// instruction set, for float, for double and, where integers are computed too, for int64_t, with
// TERN_REAL_DOUBLE or TERN_REAL_INT64 defined; a source that is compiled once sees float.
//
// What a source defines for a type carries the type's name: REAL_NAME(softmax) is
// tern_cpu_avx2_softmax_float. The slots of the table, which check dtypes and upcast 16-bit
// tensors, stand in the same source and in its float build alone (#if REAL_IS_FLOAT); they call
// REAL_SELECT(dtype, softmax), declared by REAL_DECLARE(softmax_fn, softmax). NUMBER_SELECT and
// NUMBER_DECLARE have int64_t for integers and bool.
#ifndef TERN_SRC_CPU_REAL_H
#define TERN_SRC_CPU_REAL_H

#include "cpu/isa.h"

#if defined(TERN_REAL_DOUBLE)
typedef double real;
typedef int64_t real_bits; // the signed integer of its size
#define REAL_IS_FLOAT         0
#define REAL_IS_DOUBLE        1
#define TERN_REAL_TYPE        double
#define REAL_DTYPE            TERN_FLOAT64
#define R_(name)              vd_##name // of vecmath_double.h
#define REAL_C_FUNCTION(name) name      // of the C library
#elif defined(TERN_REAL_INT64)
typedef int64_t real;
typedef int64_t real_bits;
#define REAL_IS_FLOAT  0
#define REAL_IS_DOUBLE 0
#define TERN_REAL_TYPE int64
#define REAL_DTYPE     TERN_INT64
#else
typedef float real;
typedef int32_t real_bits;
#define REAL_IS_FLOAT         1
#define REAL_IS_DOUBLE        0
#define TERN_REAL_TYPE        float
#define REAL_DTYPE            TERN_FLOAT32
#define R_(name)              vm_##name // of vecmath.h
#define REAL_C_FUNCTION(name) name##f
#endif

#define REAL_IS_INTEGER (!REAL_IS_FLOAT && !REAL_IS_DOUBLE)
#if REAL_IS_INTEGER
#define REAL_IS_NAN(x) 0
#else
#define REAL_IS_NAN(x) ((x) != (x))
#endif

// REAL_SUFFIX(span_load) is span_load_float.
#define REAL_SUFFIX__(name, type) name##_##type
#define REAL_SUFFIX_(name, type)  REAL_SUFFIX__(name, type)
#define REAL_SUFFIX(name)         REAL_SUFFIX_(name, TERN_REAL_TYPE)
#define REAL_NAME(name)           TERN_ISA_NAME(REAL_SUFFIX(name))

#define REAL_DECLARE(fn, name) fn TERN_ISA_NAME(name##_float), TERN_ISA_NAME(name##_double)
#define REAL_SELECT(dtype, name)                                                                   \
    ((dtype) == TERN_FLOAT64 ? TERN_ISA_NAME(name##_double) : TERN_ISA_NAME(name##_float))

#define NUMBER_DECLARE(fn, name) REAL_DECLARE(fn, name), TERN_ISA_NAME(name##_int64)
#define NUMBER_SELECT(dtype, name)                                                                 \
    (tern_dtype_is_floating(dtype) ? REAL_SELECT(dtype, name) : TERN_ISA_NAME(name##_int64))

#endif
