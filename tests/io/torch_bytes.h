// SPDX-License-Identifier: Apache-2.0
// PyTorch's files byte by byte: pickles as string literals, and zip archives around them, stored,
// as APPNOTE.TXT 6.3 of PKWARE lays them out. Include <cmocka.h> before.
#ifndef TERN_TESTS_IO_TORCH_BYTES_H
#define TERN_TESTS_IO_TORCH_BYTES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

// Pieces of pickles. The length of a text is written out, "\3".
#define PROTO                           "\x80\x02"
#define TEXT(length, s)                 "X" length "\0\0\0" s
#define ORDERED                         "ccollections\nOrderedDict\n)R"
#define OF_CLASS(module, class)         "(" TEXT("\7", "storage") "c" module "\n" class "\n"
#define ID(class, key, location, numel) OF_CLASS("torch", class) key location numel "tQ"
#define CPU                             TEXT("\3", "cpu")
#define KEY(digit)                      TEXT("\1", digit)
#define FLOATS                          ID("FloatStorage", KEY("0"), CPU, "K\6") // the archive's
#define TENSOR_OF(storage, offset, size, stride)                                                   \
    "ctorch._utils\n_rebuild_tensor_v2\n(" storage offset size stride "\x89" ORDERED "tR"
#define TENSOR TENSOR_OF(FLOATS, "K\0", "K\6\x85", "K\1\x85")
// A dictionary of "a" and that value.
#define DICT(value) PROTO "}" TEXT("\1", "a") value "s."

typedef struct byte_string {
    unsigned char *at;
    size_t count;
} byte_string;

// Both are freed by free_bytes.
static inline void add_bytes(byte_string *to, const void *data, size_t count)
{
    to->at = realloc(to->at, to->count + count + 1);
    assert_non_null(to->at);
    memcpy(to->at + to->count, data, count);
    to->count += count;
}

static inline void free_bytes(byte_string *b)
{
    free(b->at);
    *b = (byte_string){NULL, 0};
}

static inline byte_string read_bytes(const char *path)
{
    byte_string b = {NULL, 0};
    char part[4096];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    for (size_t got; (got = fread(part, 1, sizeof part, file)) > 0;)
        add_bytes(&b, part, got);
    fclose(file);
    return b;
}

typedef struct entry {
    const char *name;
    const void *data;
    size_t count;
    uint32_t flip; // of the checksum, to spoil it
} entry;

static inline void add_number(byte_string *to, int count, uint64_t value)
{
    unsigned char number[8];
    for (int i = 0; i < count; i++)
        number[i] = (unsigned char)(value >> 8 * i);
    add_bytes(to, number, (size_t)count);
}

// What the local header and the one of the directory have in common.
static inline void add_facts(byte_string *to, const entry *e)
{
    const uint32_t crc = (uint32_t)crc32(0, e->data, (uInt)e->count) ^ e->flip;
    const uint64_t facts[][2] = {{2, 20},       {2, 0},        {2, 0},
                                 {2, 0},        {2, 0x21},     {4, crc},
                                 {4, e->count}, {4, e->count}, {2, strlen(e->name)},
                                 {2, 0}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        add_number(to, (int)facts[i][0], facts[i][1]);
}

static inline byte_string archive_of(const entry *entries, int count)
{
    byte_string zip = {NULL, 0}, central = {NULL, 0};
    for (int i = 0; i < count; i++) {
        const size_t at = zip.count;
        add_number(&zip, 4, 0x04034b50);
        add_facts(&zip, &entries[i]);
        add_bytes(&zip, entries[i].name, strlen(entries[i].name));
        add_bytes(&zip, entries[i].data, entries[i].count);
        add_number(&central, 4, 0x02014b50);
        add_number(&central, 2, 20);
        add_facts(&central, &entries[i]);
        add_number(&central, 8, 0); // comment, disk, attributes
        add_number(&central, 2, 0);
        add_number(&central, 4, at);
        add_bytes(&central, entries[i].name, strlen(entries[i].name));
    }
    const size_t at = zip.count;
    add_bytes(&zip, central.at, central.count);
    add_number(&zip, 4, 0x06054b50);
    add_number(&zip, 4, 0);
    add_number(&zip, 2, (uint64_t)count);
    add_number(&zip, 2, (uint64_t)count);
    add_number(&zip, 4, central.count);
    add_number(&zip, 4, at);
    add_number(&zip, 2, 0);
    free_bytes(&central);
    return zip;
}

static const float elements[6] = {0, 1, 2, 3, 4, 5};

// The archive of a pickle whose storage 0 is `elements`.
static inline byte_string archive_of_pickle(const void *pickle, size_t count)
{
    const entry entries[] = {{"t/data.pkl", pickle, count, 0},
                             {"t/data/0", elements, sizeof elements, 0},
                             {"t/version", "3\n", 2, 0}};
    return archive_of(entries, 3);
}

// A file that is refused, or a pickle in an archive that is: its name, its bytes, and words of the
// sentence.
typedef struct row {
    const char *name, *pickle;
    size_t count;
    const char *words;
} row;

#define ROW(name, pickle, words)                                                                   \
    {                                                                                              \
        name, pickle, sizeof(pickle) - 1, words                                                    \
    }

#endif
