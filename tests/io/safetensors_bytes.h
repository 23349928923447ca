// SPDX-License-Identifier: Apache-2.0
// Safetensors files written by hand: a length, a header, and elements 0, 1, 2, ...
#ifndef TERN_TESTS_IO_SAFETENSORS_BYTES_H
#define TERN_TESTS_IO_SAFETENSORS_BYTES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct file_bytes {
    unsigned char *at; // to be freed
    size_t count;
} file_bytes;

static inline file_bytes safetensors_bytes(const char *header, size_t length, size_t elements)
{
    file_bytes f = {malloc(8 + length + elements + 1), 8 + length + elements};
    for (int i = 0; i < 8; i++)
        f.at[i] = (unsigned char)((uint64_t)length >> 8 * i);
    memcpy(f.at + 8, header, length);
    for (size_t i = 0; i < elements; i++)
        f.at[8 + length + i] = (unsigned char)i;
    return f;
}

#endif
