// SPDX-License-Identifier: Apache-2.0
// Zip archives of more than 4 GiB: the records that are written for such numbers, and the reading
// of a file with holes that has them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "npy_build.h"

#include "io/zip.h"
#include "io/zip_layout.h"

#define GIB ((int64_t)1 << 30)
#define FEW 4

static void assert_record(const unsigned char *found, size_t nbytes, const char *expected,
                          size_t expected_nbytes)
{
    assert_int_equal(nbytes, expected_nbytes);
    assert_memory_equal(found, expected, nbytes);
}

#define ASSERT_RECORD(found, nbytes, text) assert_record(found, nbytes, text, sizeof(text) - 1)

// Signature, version 2.0, flag of UTF-8, stored, midnight of 1980-01-01, checksum, sizes, lengths.
static void what_fits_into_32_bits_has_no_zip64_fields(void **state)
{
    (void)state;
    unsigned char to[200];
    size_t nbytes = tern_zip_local_header(to, 5, 0x12345678, 0xFFFFFFFE, 0);
    ASSERT_RECORD(to, nbytes,
                  "PK\x03\x04\x14\0\0\x08\0\0\0\0\x21\0\x78\x56\x34\x12\xFE\xFF\xFF\xFF"
                  "\xFE\xFF\xFF\xFF\x05\0\x1D\0"
                  "FB\x19\0ZZZZZZZZZZZZZZZZZZZZZZZZZ");
    nbytes = tern_zip_central_header(to, 5, 0x12345678, 0xFFFFFFFE, 0xFFFFFFFE);
    ASSERT_RECORD(to, nbytes,
                  "PK\x01\x02\x14\0\x14\0\0\x08\0\0\0\0\x21\0\x78\x56\x34\x12\xFE\xFF\xFF\xFF"
                  "\xFE\xFF\xFF\xFF\x05\0\0\0\0\0\0\0\0\0\0\0\0\0\xFE\xFF\xFF\xFF");
    nbytes = tern_zip_end_records(to, 65534, 0x123456, 0xFFFFFFFE);
    ASSERT_RECORD(to, nbytes,
                  "PK\x05\x06\0\0\0\0\xFE\xFF\xFE\xFF\x56\x34\x12\0\xFE\xFF\xFF\xFF\0\0");
}

static void a_size_of_4_GiB_less_1_has_a_zip64_field(void **state)
{
    (void)state;
    unsigned char to[200];
    size_t nbytes = tern_zip_local_header(to, 5, 1, 0xFFFFFFFF, 0);
    ASSERT_RECORD(to, nbytes,
                  "PK\x03\x04\x2D\0\0\x08\0\0\0\0\x21\0\x01\0\0\0\xFF\xFF\xFF\xFF"
                  "\xFF\xFF\xFF\xFF\x05\0\x1D\0"
                  "\x01\0\x10\0\xFF\xFF\xFF\xFF\0\0\0\0\xFF\xFF\xFF\xFF\0\0\0\0"
                  "FB\x05\0ZZZZZ");
    nbytes = tern_zip_central_header(to, 5, 1, 0xFFFFFFFF, 7);
    ASSERT_RECORD(to, nbytes,
                  "PK\x01\x02\x2D\0\x2D\0\0\x08\0\0\0\0\x21\0\x01\0\0\0\xFF\xFF\xFF\xFF"
                  "\xFF\xFF\xFF\xFF\x05\0\x14\0\0\0\0\0\0\0\0\0\0\0\x07\0\0\0"
                  "\x01\0\x10\0\xFF\xFF\xFF\xFF\0\0\0\0\xFF\xFF\xFF\xFF\0\0\0\0");
}

static void a_place_from_4_GiB_less_1_on_has_a_zip64_field(void **state)
{
    (void)state;
    unsigned char to[200];
    size_t nbytes = tern_zip_central_header(to, 5, 1, 9, 5 * GIB);
    ASSERT_RECORD(to, nbytes,
                  "PK\x01\x02\x2D\0\x2D\0\0\x08\0\0\0\0\x21\0\x01\0\0\0\x09\0\0\0"
                  "\x09\0\0\0\x05\0\x0C\0\0\0\0\0\0\0\0\0\0\0\xFF\xFF\xFF\xFF"
                  "\x01\0\x08\0\0\0\0\x40\x01\0\0\0");
    nbytes = tern_zip_central_header(to, 5, 1, 6 * GIB, 5 * GIB);
    ASSERT_RECORD(to, nbytes,
                  "PK\x01\x02\x2D\0\x2D\0\0\x08\0\0\0\0\x21\0\x01\0\0\0\xFF\xFF\xFF\xFF"
                  "\xFF\xFF\xFF\xFF\x05\0\x1C\0\0\0\0\0\0\0\0\0\0\0\xFF\xFF\xFF\xFF"
                  "\x01\0\x18\0\0\0\0\x80\x01\0\0\0\0\0\0\x80\x01\0\0\0\0\0\0\x40\x01\0\0\0");
}

static void an_archive_that_needs_it_ends_with_zip64_records(void **state)
{
    (void)state;
    unsigned char to[200];
    size_t nbytes = tern_zip_end_records(to, 3, 0x100, 5 * GIB);
    ASSERT_RECORD(to, nbytes,
                  "PK\x06\x06\x2C\0\0\0\0\0\0\0\x2D\0\x2D\0\0\0\0\0\0\0\0\0"
                  "\x03\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\x40\x01\0\0\0"
                  "PK\x06\x07\0\0\0\0\0\x01\0\x40\x01\0\0\0\x01\0\0\0"
                  "PK\x05\x06\0\0\0\0\x03\0\x03\0\0\x01\0\0\xFF\xFF\xFF\xFF\0\0");
    nbytes = tern_zip_end_records(to, 65535, 0x100, 0x40);
    ASSERT_RECORD(to, nbytes,
                  "PK\x06\x06\x2C\0\0\0\0\0\0\0\x2D\0\x2D\0\0\0\0\0\0\0\0\0"
                  "\xFF\xFF\0\0\0\0\0\0\xFF\xFF\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\x40\0\0\0\0\0\0\0"
                  "PK\x06\x07\0\0\0\0\x40\x01\0\0\0\0\0\0\x01\0\0\0"
                  "PK\x05\x06\0\0\0\0\xFF\xFF\xFF\xFF\0\x01\0\0\x40\0\0\0\0\0");
}

static void data_begins_at_a_multiple_of_64(void **state)
{
    (void)state;
    unsigned char to[200];
    for (int64_t at = 5 * GIB; at < 5 * GIB + 64; at++)
        for (size_t name = 1; name < 70; name++)
            for (int wide = 0; wide < 2; wide++) {
                size_t nbytes = tern_zip_local_header(to, name, 0, wide ? 4 * GIB : 4, at);
                assert_int_equal((at + (int64_t)(nbytes + name)) % 64, 0);
                assert_true(nbytes <= ZIP_MAX_LOCAL);
            }
}

// ---- a file of more than 4 GiB ------------------------------------------------------------------

// An array of `nbytes` zeros of uint8; what comes before the zeros.
static size_t array_header(unsigned char *to, size_t room, int64_t nbytes)
{
    char header[100];
    snprintf(header, sizeof header, "{'descr': '|u1', 'fortran_order': False, 'shape': (%lld,)}",
             (long long)nbytes);
    return build_npy(to, room, 1, header, NULL, 0);
}

static void write_at(FILE *file, int64_t at, const void *data, size_t nbytes)
{
    assert_int_equal(fseeko(file, at, SEEK_SET), 0);
    assert_int_equal(fwrite(data, 1, nbytes, file), nbytes);
}

// An entry "x.npy" at byte `at` whose elements are a hole; where it ends.
static int64_t write_entry(FILE *file, int64_t at, char name, int64_t nbytes, int64_t *size,
                           uint32_t *crc)
{
    unsigned char array[200] = {0}, header[200];
    const char text[] = {name, '.', 'n', 'p', 'y'};
    const size_t array_bytes = array_header(array, sizeof array, nbytes);
    *size = (int64_t)array_bytes + nbytes;
    if (nbytes == FEW)
        *crc = (uint32_t)crc32(0, array, (uInt)*size);
    const size_t length = tern_zip_local_header(header, sizeof text, 0, *size, at);
    write_at(file, at, header, ZIP_LOCAL_BYTES);
    write_at(file, at + ZIP_LOCAL_BYTES, text, sizeof text);
    write_at(file, at + ZIP_LOCAL_BYTES + 5, header + ZIP_LOCAL_BYTES, length - ZIP_LOCAL_BYTES);
    write_at(file, at + (int64_t)length + 5, array, array_bytes);
    return at + (int64_t)length + 5 + *size;
}

static void a_file_of_more_than_4_GiB_is_read(void **state)
{
    (void)state;
    const char *path = path_of("large.npz");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    int64_t sizes[2];
    uint32_t crc = 0;
    const int64_t second = write_entry(file, 0, 'a', 5 * GIB, &sizes[0], &crc);
    const int64_t directory_at = write_entry(file, second, 'b', FEW, &sizes[1], &crc);
    int64_t at = directory_at;
    for (int i = 0; i < 2; i++) {
        unsigned char record[200];
        const char text[] = {i ? 'b' : 'a', '.', 'n', 'p', 'y'};
        const size_t length =
            tern_zip_central_header(record, 5, i ? crc : 0, sizes[i], i ? second : 0);
        write_at(file, at, record, ZIP_CENTRAL_BYTES);
        write_at(file, at + ZIP_CENTRAL_BYTES, text, 5);
        write_at(file, at + ZIP_CENTRAL_BYTES + 5, record + ZIP_CENTRAL_BYTES,
                 length - ZIP_CENTRAL_BYTES);
        at += (int64_t)length + 5;
    }
    unsigned char ends[200];
    write_at(file, at, ends, tern_zip_end_records(ends, 2, at - directory_at, directory_at));
    assert_int_equal(fclose(file), 0);

    char text[1000] = "";
    file = fmemopen(text, sizeof text, "w");
    assert_int_equal(tern_state_list(path, file), TERN_OK);
    fclose(file);
    assert_non_null(strstr(text, "(5368709120)"));
    assert_non_null(strstr(text, "(4)"));
    assert_non_null(strstr(text, "5368709124 bytes of elements"));
    tern_state *found = tern_state_read(path, .only = "b");
    assert_non_null(found);
    assert_memory_equal(tern_data(tern_state_tensor(found, "b")), "\0\0\0\0", FEW);
    tern_state_free(found);
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(what_fits_into_32_bits_has_no_zip64_fields),
        DATA_TEST(a_size_of_4_GiB_less_1_has_a_zip64_field),
        DATA_TEST(a_place_from_4_GiB_less_1_on_has_a_zip64_field),
        DATA_TEST(an_archive_that_needs_it_ends_with_zip64_records),
        DATA_TEST(data_begins_at_a_multiple_of_64),
        DATA_TEST(a_file_of_more_than_4_GiB_is_read),
    };
    return cmocka_run_group_tests_name("zip_large", tests, start_group, end_group);
}
