// SPDX-License-Identifier: Apache-2.0
// The records of a zip archive: their signatures and sizes, and those that tern writes, as
// functions of numbers.
#ifndef TERN_SRC_IO_ZIP_LAYOUT_H
#define TERN_SRC_IO_ZIP_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZIP_LOCAL     0x04034b50u
#define ZIP_CENTRAL   0x02014b50u
#define ZIP_END       0x06054b50u
#define ZIP64_END     0x06064b50u
#define ZIP64_LOCATOR 0x07064b50u

// Without names, extra fields and comments.
#define ZIP_LOCAL_BYTES     30
#define ZIP_CENTRAL_BYTES   46
#define ZIP_END_BYTES       22
#define ZIP64_END_BYTES     56
#define ZIP64_LOCATOR_BYTES 20

#define ZIP64_EXTRA   1 // id of the field with sizes of 64 bits
#define ZIP_DEFLATED  8
#define ZIP_ENCRYPTED 0x2041 // flags: encrypted, strongly, the directory too

// The most bytes of the records below, names left out.
#define ZIP_MAX_LOCAL   (ZIP_LOCAL_BYTES + 20 + 4 + 63)
#define ZIP_MAX_CENTRAL (ZIP_CENTRAL_BYTES + 4 + 3 * 8)
#define ZIP_MAX_ENDS    (ZIP64_END_BYTES + ZIP64_LOCATOR_BYTES + ZIP_END_BYTES)

// Each returns how many bytes it put. The name goes between the first ZIP_LOCAL_BYTES or
// ZIP_CENTRAL_BYTES and the rest.

// Of an entry of `nbytes` whose header begins at byte `at`; its data begins at a multiple of 64.
size_t tern_zip_local_header(unsigned char *to, size_t name_length, uint32_t crc, int64_t nbytes,
                             int64_t at);
size_t tern_zip_central_header(unsigned char *to, size_t name_length, uint32_t crc, int64_t nbytes,
                               int64_t at);
// What ends the archive, for a directory of `count` entries that begins at byte `at`.
size_t tern_zip_end_records(unsigned char *to, int64_t count, int64_t nbytes, int64_t at);

#endif
