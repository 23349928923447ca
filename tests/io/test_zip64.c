// SPDX-License-Identifier: Apache-2.0
// The records of zip64 in small archives: what they say counts, and lies are refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "zip_rows.h"

// Offsets within the record: its size 4, disk 16, the directory's disk 20, entries here 24, entries
// 32, the directory's size 40 and place 48. Within the locator: disk 4, the record's place 8, disks
// 16. Of the others as in test_zip_bad.c.
static const row zip64[] = {
    {"no record", {{ZIP64, 0, 0, 4, 0x06064b51}}, "has no zip64 record where it says"},
    {"size of the record", {{ZIP64, 0, 4, 8, 45}}, "has no zip64 record where it says"},
    {"size past everything", {{ZIP64, 0, 4, 8, UINT64_MAX}}, "has no zip64 record where it says"},
    {"record past the end", {{LOCATOR, 0, 8, 8, 100000}}, "outside of the file"},
    {"record at 2^64 - 1", {{LOCATOR, 0, 8, 8, UINT64_MAX}}, "outside of the file"},
    {"record elsewhere", {{LOCATOR, 0, 8, 8, 0}}, "has no zip64 record where it says"},
    {"two disks", {{LOCATOR, 0, 16, 4, 2}}, "on several disks"},
    {"another disk", {{LOCATOR, 0, 4, 4, 1}}, "on several disks"},
    {"this disk", {{ZIP64, 0, 16, 4, 1}}, "on several disks"},
    {"directory's disk", {{ZIP64, 0, 20, 4, 1}}, "on several disks"},
    {"entries elsewhere", {{ZIP64, 0, 24, 8, 3}}, "on several disks"},
    {"entries", {{ZIP64, 0, 24, 8, 3}, {ZIP64, 0, 32, 8, 3}}, "contradicts the other one"},
    {"size of the directory", {{ZIP64, 0, 40, 8, 103}}, "contradicts the other one"},
    {"place of the directory", {{ZIP64, 0, 48, 8, 1}}, "contradicts the other one"},
    {"65537 entries",
     {{ZIP64, 0, 24, 8, 65537}, {ZIP64, 0, 32, 8, 65537}, {END, 0, 8, 4, UINT32_MAX}},
     "has more than 65536 zip entries"},
    {"2^63 entries",
     {{ZIP64, 0, 24, 8, UINT64_C(1) << 63},
      {ZIP64, 0, 32, 8, UINT64_C(1) << 63},
      {END, 0, 8, 4, UINT32_MAX}},
     "has more than 65536 zip entries"},
    {"65536 entries",
     {{ZIP64, 0, 24, 8, 65536}, {ZIP64, 0, 32, 8, 65536}, {END, 0, 8, 4, UINT32_MAX}},
     "is too short for 65536 entries"},
    {"directory at 2^63",
     {{ZIP64, 0, 48, 8, UINT64_C(1) << 63}, {END, 0, 16, 4, UINT32_MAX}},
     "is not where its end says"},
    {"directory of 2^63",
     {{ZIP64, 0, 40, 8, UINT64_C(1) << 63}, {END, 0, 12, 4, UINT32_MAX}},
     "is not where its end says"},
    {"directory of 2^63 - 1",
     {{ZIP64, 0, 40, 8, INT64_MAX}, {END, 0, 12, 4, UINT32_MAX}},
     "is not where its end says"},
    {"directory far away",
     {{ZIP64, 0, 48, 8, INT64_MAX}, {END, 0, 16, 4, UINT32_MAX}},
     "is not where its end says"},
};

static void a_zip64_record_that_lies_is_refused(void **state)
{
    (void)state;
    build(false, true);
    assert_read();
    assert_rows_refused(zip64, COUNT(zip64), false, true);
}

static void the_zip64_record_counts_where_the_other_says_nothing(void **state)
{
    (void)state;
    build(false, true);
    put_le(archive.bytes + archive.at.end + 4, 8, UINT64_MAX);
    put_le(archive.bytes + archive.at.end + 12, 8, UINT64_MAX);
    assert_read();
}

// The directory may have the records, which are equally long, in another order.
static void exchange_records(void)
{
    unsigned char *first = archive.bytes + archive.at.central[0], kept[46 + 5];
    memcpy(kept, first, sizeof kept);
    memmove(first, first + sizeof kept, sizeof kept);
    memcpy(first + sizeof kept, kept, sizeof kept);
}

// The directory's last record, that of this entry, with an extra field of these numbers behind a
// foreign one.
static void build_wide(int entry, unsigned length, const uint64_t *numbers, int count)
{
    build(false, false);
    if (entry == 0)
        exchange_records();
    const size_t after = archive.at.central[1] + 46 + 5;
    archive.at.size = after;
    add_le(&archive, 2, 0x7875); // of Unix's ids
    add_le(&archive, 2, 1);
    add_le(&archive, 1, 0);
    add_le(&archive, 2, 1);
    add_le(&archive, 2, length);
    for (int i = 0; i < count; i++)
        add_le(&archive, 8, numbers[i]);
    const size_t extra = archive.at.size - after;
    put_le(archive.bytes + archive.at.central[1] + 30, 2, extra);
    archive.at.end = archive.at.size;
    add_le(&archive, 4, 0x06054b50);
    add_le(&archive, 4, 0);
    add_le(&archive, 4, 2 | 2 << 16);
    add_le(&archive, 4, archive.at.end - archive.at.directory);
    add_le(&archive, 4, archive.at.directory);
    add_le(&archive, 2, 0);
}

static void entries_may_have_sizes_and_places_of_64_bits(void **state)
{
    (void)state;
    const uint64_t numbers[3] = {73, 73, 108};
    build_wide(1, 24, numbers, 3);
    assert_int_equal(archive.at.local[1], 108);
    put_le(archive.bytes + archive.at.central[1] + 20, 8, UINT64_MAX);
    put_le(archive.bytes + archive.at.central[1] + 42, 4, UINT32_MAX);
    assert_read();
    build_wide(1, 8, (uint64_t[]){108}, 1); // only what does not fit is there
    put_le(archive.bytes + archive.at.central[1] + 42, 4, UINT32_MAX);
    assert_read();
    build_wide(0, 8, (uint64_t[]){0}, 1); // the place of the first entry is 0
    put_le(archive.bytes + archive.at.central[1] + 42, 4, UINT32_MAX);
    assert_read();
}

static void a_zip64_field_that_lies_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned length;
        uint64_t numbers[3];
        const char *words;
    } rows[] = {
        {"no place", 16, {73, 73, 108}, "zip64 field"},
        {"nothing", 0, {73, 73, 108}, "zip64 field"},
        {"past all fields", 25, {73, 73, 108}, "zip64 field"},
        {"place 2^63", 24, {73, 73, UINT64_C(1) << 63}, "zip64 field"},
        {"sizes 2^64 - 1", 24, {UINT64_MAX, UINT64_MAX, 108}, "zip64 field"},
        {"sizes 2^63 - 1", 24, {INT64_MAX, INT64_MAX, 108}, "goes on past the end"},
        {"place 2^63 - 1", 24, {73, 73, INT64_MAX}, "begins past the end"},
        {"two sizes", 24, {73, 74, 108}, "two sizes"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        build_wide(1, rows[i].length, rows[i].numbers, 3);
        put_le(archive.bytes + archive.at.central[1] + 20, 8, UINT64_MAX);
        put_le(archive.bytes + archive.at.central[1] + 42, 4, UINT32_MAX);
        assert_file_refused(rows[i].name, archive.bytes, archive.at.size, TERN_ERR_FORMAT,
                            rows[i].words);
    }
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(a_zip64_record_that_lies_is_refused),
        DATA_TEST(the_zip64_record_counts_where_the_other_says_nothing),
        DATA_TEST(entries_may_have_sizes_and_places_of_64_bits),
        DATA_TEST(a_zip64_field_that_lies_is_refused),
    };
    return cmocka_run_group_tests_name("zip64", tests, start_group, end_group);
}
