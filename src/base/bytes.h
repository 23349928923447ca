// SPDX-License-Identifier: Apache-2.0
// Integers as files have them: little-endian, at any address.
#ifndef TERN_SRC_BASE_BYTES_H
#define TERN_SRC_BASE_BYTES_H

#include <stdint.h>

static inline uint64_t little_endian(const void *bytes, int count)
{
    uint64_t value = 0;
    for (int i = count; i-- > 0;)
        value = value << 8 | ((const unsigned char *)bytes)[i];
    return value;
}

static inline uint16_t get_u16(const void *bytes)
{
    return (uint16_t)little_endian(bytes, 2);
}

static inline uint32_t get_u32(const void *bytes)
{
    return (uint32_t)little_endian(bytes, 4);
}

static inline uint64_t get_u64(const void *bytes)
{
    return little_endian(bytes, 8);
}

// Puts the lowest `count` bytes of a value and returns what comes after them.
static inline unsigned char *put_uint(unsigned char *to, int count, uint64_t value)
{
    for (int i = 0; i < count; i++)
        *to++ = (unsigned char)(value >> 8 * i);
    return to;
}

#endif
