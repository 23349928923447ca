// SPDX-License-Identifier: Apache-2.0
// Matrix products by plain loops, column-major: C = alpha op(A) op(B) + beta C, `count` times.
#ifndef TERN_SIM_GEMM_H
#define TERN_SIM_GEMM_H

#include "library_types.h"

namespace sim
{

struct Operand { // rows x cols as it lies there
    const void *data;
    cudaDataType type;
    bool transposed;
    int rows, cols, ld;
    long long stride; // elements, from one product to the next
};

struct Product {
    int m, n, k, count;
    Operand a, b, c; // c is written
    double alpha, beta;
    bool in_double; // accumulates so
    bool tf32;      // rounds a and b to 10 bits of mantissa
};

void multiply(const Product &product);

} // namespace sim

#endif
