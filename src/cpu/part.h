// SPDX-License-Identifier: Apache-2.0
// The part of a vector at the end of a row, where no whole one may be stored.
#ifndef TERN_SRC_CPU_PART_H
#define TERN_SRC_CPU_PART_H

#include <stddef.h>
#include <string.h>

typedef double half_vector __attribute__((vector_size(16)));

// Stores less than 32 bytes, a multiple of 4, of `vector`, which has `size` bytes: 16, 8 and 4 at
// once. AVX's masked store takes dozens of cycles on many processors.
static inline __attribute__((always_inline)) void store_part(void *to, const void *vector,
                                                             size_t size, size_t bytes)
{
    char *y = to;
    half_vector half[2] = {{0}};
    memcpy(half, vector, size);
    half_vector left = half[0];
    if (bytes & 16) {
        memcpy(y, &left, 16);
        left = half[1];
        y += 16;
    }
    if (bytes & 8) {
        memcpy(y, &left, 8);
        left = (half_vector){left[1]};
        y += 8;
    }
    if (bytes & 4)
        memcpy(y, &left, 4);
}

#endif
