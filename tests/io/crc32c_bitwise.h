// SPDX-License-Identifier: Apache-2.0
// CRC-32C bit by bit, as RFC 3720 defines it.
#ifndef TERN_TESTS_IO_CRC32C_BITWISE_H
#define TERN_TESTS_IO_CRC32C_BITWISE_H

#include <stddef.h>
#include <stdint.h>

static inline uint32_t crc32c(const void *data, size_t nbytes)
{
    uint32_t crc = 0xFFFFFFFF;
    for (size_t i = 0; i < nbytes; i++) {
        crc ^= ((const unsigned char *)data)[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0x82F63B78 : crc >> 1;
    }
    return ~crc;
}

#endif
