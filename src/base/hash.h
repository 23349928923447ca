// SPDX-License-Identifier: Apache-2.0
// The hash FNV-1a of 64 bits (Fowler, Noll, Vo).
#ifndef TERN_SRC_BASE_HASH_H
#define TERN_SRC_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TERN_HASH_INITIAL 14695981039346656037u

// The hash of the bytes that `hash` stands for and of these.
static inline uint64_t tern_hash_append(uint64_t hash, const void *data, size_t nbytes)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < nbytes; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

static inline uint64_t tern_hash(const void *data, size_t nbytes)
{
    return tern_hash_append(TERN_HASH_INITIAL, data, nbytes);
}

// The first slot to look at in a table of `capacity` slots, a power of two.
static inline int64_t tern_hash_slot(uint64_t hash, int64_t capacity)
{
    return (int64_t)(hash ^ hash >> 32) & (capacity - 1);
}

#endif
