// SPDX-License-Identifier: Apache-2.0
#include "io/zlib_memory.h"

#include <string.h>
#include "base/mem.h"

// zlib frees without saying how much: the size stands in front of the block.
#define HEADER_BYTES 64

voidpf tern_zlib_alloc(voidpf unused, uInt count, uInt size)
{
    (void)unused;
    size_t nbytes;
    if (__builtin_mul_overflow((size_t)count, (size_t)size, &nbytes) || nbytes > TERN_ZLIB_LARGEST)
        return Z_NULL;
    unsigned char *block = tern_mem_alloc(HEADER_BYTES + nbytes);
    if (!block)
        return Z_NULL;
    memcpy(block, &nbytes, sizeof nbytes);
    return block + HEADER_BYTES;
}

void tern_zlib_free(voidpf unused, voidpf memory)
{
    (void)unused;
    unsigned char *block = (unsigned char *)memory - HEADER_BYTES;
    size_t nbytes;
    memcpy(&nbytes, block, sizeof nbytes);
    tern_mem_free(block, HEADER_BYTES + nbytes);
}
