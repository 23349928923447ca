// SPDX-License-Identifier: Apache-2.0
// The hash FNV-1a of 64 bits (Fowler, Noll, Vo).
#ifndef TERN_SRC_BASE_HASH_H
#define TERN_SRC_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t tern_hash(const void *data, size_t nbytes)
{
    const unsigned char *bytes = data;
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < nbytes; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

#endif
