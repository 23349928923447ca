// SPDX-License-Identifier: Apache-2.0
// Builds zip archives byte by byte, as APPNOTE.TXT 6.3 of PKWARE lays them out, for tests that then
// put wrong numbers into them. Include <cmocka.h> before.
#ifndef TERN_TESTS_ZIP_BUILD_H
#define TERN_TESTS_ZIP_BUILD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#define ZIP_MOST_ENTRIES 4

typedef struct zip_part {
    const char *name;
    const void *data;
    size_t nbytes;
    bool deflated;
} zip_part;

// Where the records begin.
typedef struct zip_places {
    size_t local[ZIP_MOST_ENTRIES], data[ZIP_MOST_ENTRIES], central[ZIP_MOST_ENTRIES];
    size_t directory, zip64_end, locator, end, size;
} zip_places;

typedef struct zip_build {
    unsigned char bytes[80000];
    zip_places at;
} zip_build;

static inline void put_le(unsigned char *to, int count, uint64_t value)
{
    for (int i = 0; i < count; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

static inline void add_le(zip_build *z, int count, uint64_t value)
{
    assert_true(z->at.size + (size_t)count <= sizeof z->bytes);
    put_le(z->bytes + z->at.size, count, value);
    z->at.size += (size_t)count;
}

static inline void add_bytes(zip_build *z, const void *data, size_t nbytes)
{
    assert_true(z->at.size + nbytes <= sizeof z->bytes);
    memcpy(z->bytes + z->at.size, data, nbytes);
    z->at.size += nbytes;
}

// Raw deflate by zlib's own writer; returns its bytes.
static inline size_t deflate_bytes(unsigned char *out, size_t room, const void *data, size_t nbytes)
{
    z_stream z = {0};
    unsigned char copy[40000];
    assert_true(nbytes <= sizeof copy);
    memcpy(copy, data, nbytes);
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = copy;
    z.avail_in = (uInt)nbytes;
    z.next_out = out;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return room - z.avail_out;
}

// What both headers have: version, flags, method, time, date, checksum, sizes, lengths.
static inline void add_facts(zip_build *z, const zip_part *part, size_t packed)
{
    add_le(z, 2, 20);
    add_le(z, 2, 0);
    add_le(z, 2, part->deflated ? 8 : 0);
    add_le(z, 2, 0);
    add_le(z, 2, 0x21);
    add_le(z, 4, (uint32_t)crc32(0, part->data, (uInt)part->nbytes));
    add_le(z, 4, packed);
    add_le(z, 4, part->nbytes);
    add_le(z, 2, strlen(part->name));
    add_le(z, 2, 0);
}

static inline size_t add_local(zip_build *z, int i, const zip_part *part)
{
    unsigned char packed[40000];
    const void *data = part->deflated ? packed : part->data;
    const size_t nbytes = part->deflated
                              ? deflate_bytes(packed, sizeof packed, part->data, part->nbytes)
                              : part->nbytes;
    z->at.local[i] = z->at.size;
    add_le(z, 4, 0x04034b50);
    add_facts(z, part, nbytes);
    add_bytes(z, part->name, strlen(part->name));
    z->at.data[i] = z->at.size;
    add_bytes(z, data, nbytes);
    return nbytes;
}

static inline void add_central(zip_build *z, int i, const zip_part *part, size_t packed)
{
    z->at.central[i] = z->at.size;
    add_le(z, 4, 0x02014b50);
    add_le(z, 2, 20);
    add_facts(z, part, packed);
    add_le(z, 2, 0); // comment
    add_le(z, 2, 0); // disk
    add_le(z, 2, 0); // attributes
    add_le(z, 4, 0);
    add_le(z, 4, z->at.local[i]);
    add_bytes(z, part->name, strlen(part->name));
}

static inline void add_zip64_records(zip_build *z, int count, size_t directory_size)
{
    z->at.zip64_end = z->at.size;
    add_le(z, 4, 0x06064b50);
    add_le(z, 8, 44);
    add_le(z, 4, 45 | 45 << 16);
    add_le(z, 8, 0); // disks
    add_le(z, 8, (uint64_t)count);
    add_le(z, 8, (uint64_t)count);
    add_le(z, 8, directory_size);
    add_le(z, 8, z->at.directory);
    z->at.locator = z->at.size;
    add_le(z, 4, 0x07064b50);
    add_le(z, 4, 0); // disk
    add_le(z, 8, z->at.zip64_end);
    add_le(z, 4, 1);
}

static inline void build_zip(zip_build *z, const zip_part *parts, int count, bool zip64)
{
    size_t packed[ZIP_MOST_ENTRIES];
    memset(&z->at, 0, sizeof z->at);
    for (int i = 0; i < count; i++)
        packed[i] = add_local(z, i, &parts[i]);
    z->at.directory = z->at.size;
    for (int i = 0; i < count; i++)
        add_central(z, i, &parts[i], packed[i]);
    const size_t directory_size = z->at.size - z->at.directory;
    if (zip64)
        add_zip64_records(z, count, directory_size);
    z->at.end = z->at.size;
    add_le(z, 4, 0x06054b50);
    add_le(z, 4, 0); // disks
    add_le(z, 2, (uint64_t)count);
    add_le(z, 2, (uint64_t)count);
    add_le(z, 4, directory_size);
    add_le(z, 4, z->at.directory);
    add_le(z, 2, 0); // comment
}

#endif
