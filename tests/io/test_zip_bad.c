// SPDX-License-Identifier: Apache-2.0
// Zip archives with wrong numbers, in an npz of two arrays: each is refused with its code and
// sentence, and takes no more memory than a file of its size may.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "zip_rows.h"

// Offsets within a header of the directory: flags 8, method 10, checksum 16, packed 20, size 24,
// name's length 28, extra's 30, comment's 32, disk 34, place 42, name 46. Local: name's length 26,
// extra's 28, name 30. End: disk 4, its disk 6, entries here 8, entries 10, size 12, place 16,
// comment's length 20.
static const row stored[] = {
    {"no zip", {{LOCAL, 0, 0, 4, 0x04034b51}}, "is no safetensors"},
    {"no local header", {{LOCAL, 1, 0, 4, 0x04034b51}}, "is not where the directory says"},
    {"other local name", {{LOCAL, 0, 30, 1, 'c'}}, "has another name where its data is"},
    {"shorter local name", {{LOCAL, 0, 26, 2, 4}}, "has another name where its data is"},
    {"longer local name", {{LOCAL, 0, 26, 2, 65535}}, "has another name where its data is"},
    {"local extra field past the data", {{LOCAL, 1, 28, 2, 65535}}, "goes on past the end"},
    {"local extra field shifts the data", {{LOCAL, 1, 28, 2, 1}}, "goes on past the end"},
    {"local extra field into the next", {{LOCAL, 0, 28, 2, 20}}, "overlaps another one"},
    {"flipped element", {{DATA, 0, sizeof HEADER + 10, 1, 0x5A}}, "checksum"},
    {"other checksum", {{CENTRAL, 1, 16, 4, 0}}, "checksum"},
    {"encrypted", {{CENTRAL, 0, 8, 2, 1}}, "is encrypted"},
    {"strongly", {{CENTRAL, 0, 8, 2, 0x40}}, "is encrypted"},
    {"masked", {{CENTRAL, 0, 8, 2, 0x2000}}, "is encrypted"},
    {"shrunk", {{CENTRAL, 0, 10, 2, 1}}, "in another way than by deflate"},
    {"deflate64", {{CENTRAL, 0, 10, 2, 9}}, "in another way than by deflate"},
    {"bzip2", {{CENTRAL, 0, 10, 2, 12}}, "in another way than by deflate"},
    {"aes", {{CENTRAL, 0, 10, 2, 99}}, "in another way than by deflate"},
    {"not deflated", {{CENTRAL, 0, 10, 2, 8}}, "unpacks to fewer bytes"},
    {"two sizes", {{CENTRAL, 0, 24, 4, 74}}, "is stored, but has two sizes"},
    {"two sizes", {{CENTRAL, 0, 20, 4, 0}}, "is stored, but has two sizes"},
    {"longer", {{CENTRAL, 1, 20, 4, 74}, {CENTRAL, 1, 24, 4, 74}}, "goes on past the end"},
    {"longest",
     {{CENTRAL, 1, 20, 4, UINT32_MAX - 1}, {CENTRAL, 1, 24, 4, UINT32_MAX - 1}},
     "goes on past the end"},
    {"over the next", {{CENTRAL, 0, 20, 4, 74}, {CENTRAL, 0, 24, 4, 74}}, "overlaps another one"},
    {"size of zip64 without it", {{CENTRAL, 0, 24, 4, UINT32_MAX}}, "zip64 field"},
    {"packed of zip64 without it", {{CENTRAL, 0, 20, 4, UINT32_MAX}}, "zip64 field"},
    {"place of zip64 without it", {{CENTRAL, 0, 42, 4, UINT32_MAX}}, "zip64 field"},
    {"on another disk", {{CENTRAL, 0, 34, 2, 1}}, "is on another disk"},
    {"place past the end", {{CENTRAL, 0, 42, 4, 100000}}, "begins past the end of the data"},
    {"place far past", {{CENTRAL, 0, 42, 4, UINT32_MAX - 1}}, "begins past the end of the data"},
    {"place of the other", {{CENTRAL, 1, 42, 4, 0}}, "has another name where its data is"},
    {"same place", {{CENTRAL, 1, 42, 4, 0}, {CENTRAL, 1, 46, 1, 'a'}}, "overlaps another one"},
    {"twice", {{CENTRAL, 1, 46, 1, 'a'}, {LOCAL, 1, 30, 1, 'a'}}, "\"a.npy\" of "},
    {"twice", {{CENTRAL, 1, 46, 1, 'a'}, {LOCAL, 1, 30, 1, 'a'}}, "is there twice"},
    {"NUL in a name", {{CENTRAL, 0, 47, 1, 0}}, "whose name is no text"},
    {"no name", {{CENTRAL, 0, 28, 2, 0}}, "whose name is no text"},
    {"name past the directory", {{CENTRAL, 1, 28, 2, 65535}}, "is damaged"},
    {"extra field past the directory", {{CENTRAL, 1, 30, 2, 65535}}, "is damaged"},
    {"comment past the directory", {{CENTRAL, 1, 32, 2, 65535}}, "is damaged"},
    {"comment over the next", {{CENTRAL, 0, 32, 2, 51}}, "is damaged"},
    {"no record", {{CENTRAL, 1, 0, 4, 0x02014b51}}, "is damaged"},
    {"control character", {{CENTRAL, 0, 46, 1, 7}, {LOCAL, 0, 30, 1, 7}}, "control character 0x07"},
    {"no array", {{CENTRAL, 0, 50, 1, 'x'}, {LOCAL, 0, 34, 1, 'x'}}, "it has \"a.npx\""},
    {"no array", {{CENTRAL, 0, 50, 1, '/'}, {LOCAL, 0, 34, 1, '/'}}, "neither PyTorch's"},

    {"no end", {{END, 0, 0, 4, 0x06054b51}}, "the record that ends one is missing"},
    {"comment that is not there", {{END, 0, 20, 2, 1}}, "the record that ends one is missing"},
    {"one of two disks", {{END, 0, 4, 2, 1}}, "on several disks"},
    {"directory on another", {{END, 0, 6, 2, 1}}, "on several disks"},
    {"entries elsewhere", {{END, 0, 10, 2, 3}}, "on several disks"},
    {"more entries", {{END, 0, 8, 4, 3 | 3 << 16}}, "is too short for 3 entries"},
    {"most entries", {{END, 0, 8, 4, UINT32_MAX}}, "is too short for 65535 entries"},
    {"fewer entries", {{END, 0, 8, 4, 1 | 1 << 16}}, "has other bytes after its entries"},
    {"no entries", {{END, 0, 8, 4, 0}}, "has other bytes after its entries"},
    {"shorter directory", {{END, 0, 12, 4, 101}}, "is not where its end says"},
    {"longer directory", {{END, 0, 12, 4, 103}}, "is not where its end says"},
    {"longest directory", {{END, 0, 12, 4, UINT32_MAX}}, "is not where its end says"},
    {"directory earlier", {{END, 0, 16, 4, 0}}, "is not where its end says"},
    {"directory past the end", {{END, 0, 16, 4, UINT32_MAX}}, "is not where its end says"},
};

static void an_archive_with_wrong_numbers_is_refused(void **state)
{
    (void)state;
    build(false, false);
    assert_read();
    assert_int_equal(archive.at.end - archive.at.directory, 102);
    assert_int_equal(array_size, 73);
    assert_rows_refused(stored, COUNT(stored), false, false);
}

static void assert_rows_read(const row *rows, size_t count, bool zip64)
{
    for (size_t i = 0; i < count; i++) {
        build(false, zip64);
        apply(&rows[i]);
        assert_read();
    }
}

static const row fine[] = {
    {"streamed by PyTorch",
     {{LOCAL, 0, 6, 2, 0x0808}, {LOCAL, 0, 14, 4, 0}, {LOCAL, 0, 18, 8, 0}},
     NULL},
    {"zip64 of numpy", {{LOCAL, 0, 18, 8, UINT64_MAX}, {LOCAL, 1, 18, 8, UINT64_MAX}}, NULL},
    {"local lies", {{LOCAL, 0, 8, 2, 99}, {LOCAL, 0, 14, 4, 1}, {LOCAL, 0, 22, 4, 1}}, NULL},
    {"flags of the directory", {{CENTRAL, 0, 8, 2, 0x0808}}, NULL},
};

static void the_directory_alone_decides(void **state)
{
    (void)state;
    assert_rows_read(fine, COUNT(fine), false);
    assert_rows_read(fine, COUNT(fine), true);
}

static const row deflated[] = {
    {"bomb", {{CENTRAL, 0, 24, 4, 1 << 20}}, "cannot unpack to as many bytes"},
    {"larger bomb", {{CENTRAL, 0, 24, 4, UINT32_MAX - 1}}, "cannot unpack to as many bytes"},
    {"says more", {{CENTRAL, 0, 24, 4, 81}}, "unpacks to fewer bytes than its size says"},
    {"says less", {{CENTRAL, 0, 24, 4, 65}}, "unpacks to more bytes than its size says"},
    {"says no header", {{CENTRAL, 0, 24, 4, 9}}, "unpacks to more bytes than its size says"},
    {"cut", {{CENTRAL, 0, 20, 4, 20}}, "is truncated"},
    {"nothing", {{CENTRAL, 0, 20, 4, 0}, {CENTRAL, 0, 24, 4, 0}}, "is truncated"},
    {"no deflated data", {{DATA, 0, 0, 1, 0xFF}}, "is damaged"},
    {"other checksum", {{CENTRAL, 0, 16, 4, 1}}, "checksum"},
    {"stored after all", {{CENTRAL, 0, 10, 2, 0}}, "is stored, but has two sizes"},
};

static void deflated_data_that_lies_is_refused(void **state)
{
    (void)state;
    build(true, false);
    assert_read();
    assert_rows_refused(deflated, COUNT(deflated), true, false);
}

// An entry whose array is `elements` float32 zeros, that unpacks to `real` bytes of them.
static size_t build_zeros(int elements, int real)
{
    static unsigned char zeros[40000], data[40000];
    char header[100];
    snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,)}",
             elements);
    const size_t nbytes = build_npy(data, sizeof data, 1, header, zeros, (size_t)real);
    const zip_part part = {"a.npy", data, nbytes, true};
    build_zip(&archive, &part, 1, false);
    return nbytes;
}

static void deflated_data_ends_where_the_directory_says(void **state)
{
    (void)state;
    size_t size = build_zeros(9000, 35000);
    put_le(archive.bytes + archive.at.central[0] + 24, 4, size + 1000);
    assert_file_refused("made", archive.bytes, archive.at.size, TERN_ERR_FORMAT,
                        "unpacks to fewer bytes");
    size = build_zeros(8000, 35000);
    put_le(archive.bytes + archive.at.central[0] + 24, 4, size - 3000);
    assert_file_refused("made", archive.bytes, archive.at.size, TERN_ERR_FORMAT, "the checksum");
    put_le(archive.bytes + archive.at.central[0] + 16, 4, 0x12345678);
    assert_file_refused("made", archive.bytes, archive.at.size, TERN_ERR_FORMAT, "the checksum");
}

static void bytes_after_the_deflated_data_are_refused(void **state)
{
    (void)state;
    build(true, false);
    // The gap before the second entry is the first one's local extra field; none: make one.
    const size_t packed = archive.at.local[1] - archive.at.data[0];
    unsigned char with_more[400];
    memcpy(with_more, archive.bytes + archive.at.data[0], packed);
    with_more[packed] = 0;
    const zip_part part = {"a.npy", with_more, packed + 1, false};
    build_zip(&archive, &part, 1, false);
    put_le(archive.bytes + archive.at.central[0] + 10, 2, 8);
    put_le(archive.bytes + archive.at.central[0] + 24, 4, array_size);
    put_le(archive.bytes + archive.at.central[0] + 16, 4, crc32(0, array, (uInt)array_size));
    assert_file_refused("made", archive.bytes, archive.at.size, TERN_ERR_FORMAT,
                        "has other bytes after its deflated data");
}

static void an_entry_that_is_no_whole_array_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t nbytes;
        const char *words;
    } rows[] = {
        {"empty", 0, "does not begin with"},
        {"half a length", 9, "does not begin with"},
        {"half a header", 40, "ends in its header of 65 bytes"},
        {"no elements", 65, "ends after 0 bytes of elements, but its shape wants 8"},
        {"short", 72, "ends after 7 bytes of elements, but its shape wants 8"},
        {"long", 74, "goes on after the 8 bytes of its elements"},
    };
    for (size_t i = 0; i < 2 * COUNT(rows); i++) {
        build(false, false);
        const zip_part part = {"a.npy", array, rows[i / 2].nbytes, i % 2};
        build_zip(&archive, &part, 1, false);
        assert_file_refused(rows[i / 2].name, archive.bytes, archive.at.size, TERN_ERR_FORMAT,
                            rows[i / 2].words);
    }
}

static void an_archive_that_is_cut_or_longer_is_refused(void **state)
{
    (void)state;
    build(true, true);
    for (size_t length = 1; length < archive.at.size; length++)
        assert_file_refused("made", archive.bytes, length, TERN_ERR_FORMAT, "");
    archive.bytes[archive.at.size] = 0;
    assert_file_refused("made", archive.bytes, archive.at.size + 1, TERN_ERR_FORMAT, "is missing");
    static unsigned char later[sizeof archive.bytes];
    memcpy(later, "PK\x03\x04", 4);
    memcpy(later + 4, archive.bytes, archive.at.size);
    assert_file_refused("later", later, archive.at.size + 4, TERN_ERR_FORMAT,
                        "has no zip64 record");
    build(true, false);
    memcpy(later + 4, archive.bytes, archive.at.size);
    assert_file_refused("later", later, archive.at.size + 4, TERN_ERR_FORMAT,
                        "is not where its end says");
}

// 65 535 bytes are allowed behind the record, and it is looked for no further.
static void a_comment_of_65535_bytes_is_fine_and_no_more(void **state)
{
    (void)state;
    build(false, false);
    put_le(archive.bytes + archive.at.end + 20, 2, 65535);
    memset(archive.bytes + archive.at.size, 'P', 65536);
    archive.at.size += 65535;
    assert_read();
    assert_file_refused("made", archive.bytes, archive.at.size + 1, TERN_ERR_FORMAT, "is missing");
}

static void a_name_of_more_than_4096_bytes_is_refused(void **state)
{
    (void)state;
    static char name[4098];
    memset(name, 'n', sizeof name - 1);
    for (size_t length = 1029; length <= 4097; length += 3068) {
        name[length] = '\0';
        memcpy(name + length - 4, ".npy", 4);
        build(false, false);
        const zip_part part = {name, array, array_size, false};
        build_zip(&archive, &part, 1, false);
        assert_file_refused("made", archive.bytes, archive.at.size, TERN_ERR_FORMAT,
                            length > 4096 ? "no text of 1 to 4096 bytes" : "has a name of 1025");
        memset(name, 'n', sizeof name - 1);
    }
}

// Whatever byte is another one: the file is refused, or the elements are the same. Only what says
// the same in other words is not noticed.
static void no_flipped_byte_changes_an_element(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        build(kind & 1, kind & 2);
        for (size_t at = 0; at < archive.at.size; at++) {
            archive.bytes[at] ^= 0x11;
            tern_state *found = tern_state_read(write_file("flip", archive.bytes, archive.at.size));
            archive.bytes[at] ^= 0x11;
            for (int64_t i = 0; found && i < tern_state_count(found); i++) {
                tern_tensor *t = tern_state_tensor(found, tern_state_name_at(found, i));
                assert_memory_equal(tern_data(t), ((float[]){1, -2}), 8);
            }
            tern_state_free(found);
            tern_error_clear();
        }
    }
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(an_archive_with_wrong_numbers_is_refused),
        DATA_TEST(the_directory_alone_decides),
        DATA_TEST(deflated_data_that_lies_is_refused),
        DATA_TEST(deflated_data_ends_where_the_directory_says),
        DATA_TEST(bytes_after_the_deflated_data_are_refused),
        DATA_TEST(an_entry_that_is_no_whole_array_is_refused),
        DATA_TEST(an_archive_that_is_cut_or_longer_is_refused),
        DATA_TEST(a_comment_of_65535_bytes_is_fine_and_no_more),
        DATA_TEST(a_name_of_more_than_4096_bytes_is_refused),
        DATA_TEST(no_flipped_byte_changes_an_element),
    };
    return cmocka_run_group_tests_name("zip_bad", tests, start_group, end_group);
}
