// SPDX-License-Identifier: Apache-2.0
// Hashes of everything that an operation or a training gives, bit by bit.
#ifndef TERN_TESTS_RELIABILITY_BITS_H
#define TERN_TESTS_RELIABILITY_BITS_H

#include "support/check.h"

#define NO_BITS UINT64_C(14695981039346656037)

// FNV-1a over the elements of `t`.
static inline uint64_t bits_of(const tern_tensor *t, uint64_t hash)
{
    assert_no_error();
    size_t nbytes = (size_t)tern_numel(t) * tern_dtype_size(tern_dtype_of(t));
    unsigned char *bytes = malloc(nbytes + 1);
    assert_non_null(bytes);
    assert_int_equal(tern_to_host(t, bytes, nbytes), TERN_OK);
    for (size_t i = 0; i < nbytes; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    free(bytes);
    return hash;
}

#endif
