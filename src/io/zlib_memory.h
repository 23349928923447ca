// SPDX-License-Identifier: Apache-2.0
// zlib's memory comes from tern's allocator: `.zalloc = tern_zlib_alloc, .zfree = tern_zlib_free`.
#ifndef TERN_SRC_IO_ZLIB_MEMORY_H
#define TERN_SRC_IO_ZLIB_MEMORY_H

#include <zlib.h>

// The most bytes to hand to zlib at once, whose own counts have 32 bits.
#define TERN_ZLIB_LARGEST (1u << 30)

voidpf tern_zlib_alloc(voidpf unused, uInt count, uInt size);
void tern_zlib_free(voidpf unused, voidpf memory);

#endif
