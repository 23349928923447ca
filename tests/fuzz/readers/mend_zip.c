// SPDX-License-Identifier: Apache-2.0
// Checksums of zip archives for fuzzing: with wrong ones a reader would look no further.
#include <string.h>
#include <zlib.h>

#include "base/bytes.h"
#include "reader.h"

#define MOST_UNPACKED (1 << 20)

static uint32_t sum_deflated(uint8_t *data, size_t nbytes)
{
    static uint8_t unpacked[MOST_UNPACKED];
    z_stream z = {.next_in = data, .avail_in = (uInt)nbytes};
    z.next_out = unpacked;
    z.avail_out = sizeof unpacked;
    must(inflateInit2(&z, -15) == Z_OK, "zlib does not work");
    (void)inflate(&z, Z_FINISH);
    const size_t got = sizeof unpacked - z.avail_out;
    inflateEnd(&z);
    return (uint32_t)crc32(0, unpacked, (uInt)got);
}

// The record of the directory at `at`.
static void mend_entry(uint8_t *data, size_t nbytes, size_t at)
{
    const size_t local = get_u32(data + at + 42), packed = get_u32(data + at + 20);
    if (local > nbytes || nbytes - local < 30)
        return;
    const size_t start = local + 30 + get_u16(data + local + 26) + get_u16(data + local + 28);
    if (start > nbytes || packed > nbytes - start)
        return;
    const bool deflated = get_u16(data + at + 10) == 8;
    const uint32_t sum = deflated ? sum_deflated(data + start, packed)
                                  : (uint32_t)crc32(0, data + start, (uInt)packed);
    put_uint(data + at + 16, 4, sum);
}

void mend_zip(uint8_t *data, size_t nbytes)
{
    size_t end = nbytes;
    while (end >= 22 && get_u32(data + end - 22) != 0x06054b50)
        end--;
    if (end < 22)
        return;
    size_t at = get_u32(data + end - 6);
    while (at < end && end - at >= 46 && get_u32(data + at) == 0x02014b50) {
        mend_entry(data, nbytes, at);
        at += 46 + (size_t)get_u16(data + at + 28) + get_u16(data + at + 30) +
              get_u16(data + at + 32);
    }
}
