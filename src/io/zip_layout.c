// SPDX-License-Identifier: Apache-2.0
#include "io/zip_layout.h"

#include "base/bytes.h"

#define VERSION    20     // of the format: 2.0
#define VERSION_64 45     // with zip64
#define UTF8_NAMES 0x0800 // flag
#define DATE       0x0021 // 1980-01-01, the first day there is
#define ALIGNMENT  64
#define ZIP64_ID   ZIP64_EXTRA
#define PADDING_ID 0x4246 // "FB", as PyTorch pads

// All ones where the number does not fit.
static uint32_t narrow(int64_t value)
{
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

// What a local header and one of the directory have in common.
static unsigned char *put_facts(unsigned char *to, bool wide, uint32_t crc, int64_t nbytes,
                                size_t name_length, size_t extra_length)
{
    to = put_uint(to, 2, wide ? VERSION_64 : VERSION);
    to = put_uint(to, 2, UTF8_NAMES);
    to = put_uint(to, 2, 0); // stored
    to = put_uint(to, 2, 0); // midnight
    to = put_uint(to, 2, DATE);
    to = put_uint(to, 4, crc);
    to = put_uint(to, 4, narrow(nbytes));
    to = put_uint(to, 4, narrow(nbytes));
    to = put_uint(to, 2, name_length);
    return put_uint(to, 2, extra_length);
}

size_t tern_zip_local_header(unsigned char *to, size_t name_length, uint32_t crc, int64_t nbytes,
                             int64_t at)
{
    unsigned char *start = to;
    const bool wide = nbytes >= UINT32_MAX;
    const size_t fields = (wide ? 20 : 0) + 4;
    const size_t begins = (size_t)at % ALIGNMENT + ZIP_LOCAL_BYTES + name_length + fields;
    const size_t padding = (ALIGNMENT - begins % ALIGNMENT) % ALIGNMENT;
    to = put_uint(to, 4, ZIP_LOCAL);
    to = put_facts(to, wide, crc, nbytes, name_length, fields + padding);
    if (wide) {
        to = put_uint(to, 2, ZIP64_ID);
        to = put_uint(to, 2, 16);
        to = put_uint(to, 8, (uint64_t)nbytes);
        to = put_uint(to, 8, (uint64_t)nbytes);
    }
    to = put_uint(to, 2, PADDING_ID);
    to = put_uint(to, 2, padding);
    for (size_t i = 0; i < padding; i++)
        *to++ = 'Z';
    return (size_t)(to - start);
}

size_t tern_zip_central_header(unsigned char *to, size_t name_length, uint32_t crc, int64_t nbytes,
                               int64_t at)
{
    unsigned char *start = to;
    const bool wide = nbytes >= UINT32_MAX, far = at >= UINT32_MAX;
    const size_t numbers = (wide ? 16 : 0) + (far ? 8 : 0);
    to = put_uint(to, 4, ZIP_CENTRAL);
    to = put_uint(to, 2, wide || far ? VERSION_64 : VERSION); // made by
    to = put_facts(to, wide || far, crc, nbytes, name_length, numbers ? 4 + numbers : 0);
    to = put_uint(to, 2, 0); // comment
    to = put_uint(to, 2, 0); // disk
    to = put_uint(to, 2, 0); // attributes
    to = put_uint(to, 4, 0);
    to = put_uint(to, 4, narrow(at));
    if (numbers) {
        to = put_uint(to, 2, ZIP64_ID);
        to = put_uint(to, 2, numbers);
    }
    if (wide) {
        to = put_uint(to, 8, (uint64_t)nbytes);
        to = put_uint(to, 8, (uint64_t)nbytes);
    }
    if (far)
        to = put_uint(to, 8, (uint64_t)at);
    return (size_t)(to - start);
}

static unsigned char *put_zip64_records(unsigned char *to, int64_t count, int64_t nbytes,
                                        int64_t at)
{
    to = put_uint(to, 4, ZIP64_END);
    to = put_uint(to, 8, ZIP64_END_BYTES - 12); // of what follows
    to = put_uint(to, 2, VERSION_64);
    to = put_uint(to, 2, VERSION_64);
    to = put_uint(to, 8, 0); // disks
    to = put_uint(to, 8, (uint64_t)count);
    to = put_uint(to, 8, (uint64_t)count);
    to = put_uint(to, 8, (uint64_t)nbytes);
    to = put_uint(to, 8, (uint64_t)at);
    to = put_uint(to, 4, ZIP64_LOCATOR);
    to = put_uint(to, 4, 0); // disk
    to = put_uint(to, 8, (uint64_t)(at + nbytes));
    return put_uint(to, 4, 1); // disks
}

size_t tern_zip_end_records(unsigned char *to, int64_t count, int64_t nbytes, int64_t at)
{
    unsigned char *start = to;
    if (count >= UINT16_MAX || nbytes >= UINT32_MAX || at >= UINT32_MAX)
        to = put_zip64_records(to, count, nbytes, at);
    const uint64_t entries = count < UINT16_MAX ? (uint64_t)count : UINT16_MAX;
    to = put_uint(to, 4, ZIP_END);
    to = put_uint(to, 4, 0); // disks
    to = put_uint(to, 2, entries);
    to = put_uint(to, 2, entries);
    to = put_uint(to, 4, narrow(nbytes));
    to = put_uint(to, 4, narrow(at));
    to = put_uint(to, 2, 0); // comment
    return (size_t)(to - start);
}
