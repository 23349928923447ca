// SPDX-License-Identifier: Apache-2.0
// Arrays of numbers that tests compute with on their own, and their way into tensors and back.
#ifndef TERN_TESTS_SUPPORT_ARRAY_H
#define TERN_TESTS_SUPPORT_ARRAY_H

#include <tern/tern.h>

typedef long double real;

// Row-major values of a dtype, each exactly what the dtype can hold.
typedef struct array {
    tern_dtype dtype;
    tern_shape shape;
    int64_t numel;
    real *data;
} array;

// How a tensor lies in memory.
typedef enum array_layout {
    LAYOUT_CONTIGUOUS,
    LAYOUT_TRANSPOSED, // dimensions in reverse order
    LAYOUT_SLICED,     // every other element of the last dimension
    LAYOUT_COUNT
} array_layout;

// Zeros; to be freed with array_free. Tests stop when there is no memory.
array array_new(tern_dtype dtype, tern_shape shape);
void array_free(array *a); // twice is fine

// The nearest value that the dtype has; ties go to even, what is too large to infinity.
real array_round(tern_dtype dtype, real x);
// Element `i` of values of a dtype in host memory.
real array_element(tern_dtype dtype, const void *from, int64_t i);

// A tensor with the values of `a`; NULL with a pending error.
tern_tensor *array_to_tensor(const array *a, tern_device device, array_layout layout);
// The values of `t`; stops the test when they cannot be read.
array array_of_tensor(const tern_tensor *t);

#endif
