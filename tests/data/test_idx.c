// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>

#include "data_fixture.h"
#include "golden/golden.h"

// (2, 3) of uint8, 10 to 15.
static const unsigned char small[] = {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 10, 11, 12, 13, 14, 15};

static void assert_small(tern_tensor *t)
{
    assert_non_null(t);
    assert_int_equal(tern_dtype_of(t), TERN_UINT8);
    assert_true(tern_shape_equal(tern_shape_of(t), tern_dims(2, 3)));
    assert_memory_equal(tern_data(t), small + 12, 6);
}

// Refused with this code, in a sentence that has the file's name and these words.
static void assert_refused(const char *path, tern_status code, const char *words)
{
    assert_null(tern_idx_read(path));
    assert_non_null(strstr(tern_error_message(), strrchr(path, '/')));
    assert_error(code, words);
}

static void assert_bytes_refused(const void *bytes, size_t nbytes, const char *words)
{
    assert_refused(write_file("bad-idx", bytes, nbytes), TERN_ERR_FORMAT, words);
    unsigned char zipped[4096];
    size_t length = gzip_bytes(zipped, sizeof zipped, bytes, nbytes, false);
    assert_refused(write_file("bad-idx.gz", zipped, length), TERN_ERR_FORMAT, words);
}

static void a_plain_file_and_a_gzipped_one_give_the_same(void **state)
{
    (void)state;
    unsigned char zipped[256];
    size_t length = gzip_bytes(zipped, sizeof zipped, small, sizeof small, false);
    assert_small(tern_idx_read(write_file("plain", small, sizeof small)));
    assert_small(tern_idx_read(write_file("zipped.gz", zipped, length)));
}

static void the_first_bytes_count_and_not_the_name(void **state)
{
    (void)state;
    unsigned char zipped[256];
    size_t length = gzip_bytes(zipped, sizeof zipped, small, sizeof small, false);
    assert_small(tern_idx_read(write_file("plain.gz", small, sizeof small)));
    assert_small(tern_idx_read(write_file("zipped", zipped, length)));
}

static void int32_and_floats_are_swapped(void **state)
{
    (void)state;
    static const unsigned char ints[] = {0,    0,    0x0C, 1,    0,    0,    0,    2,
                                         0xFF, 0xFF, 0xFF, 0xFE, 0x12, 0x34, 0x56, 0x78};
    tern_tensor *t = tern_idx_read(write_file("ints", ints, sizeof ints));
    assert_int_equal(tern_dtype_of(t), TERN_INT32);
    assert_int_equal(((int32_t *)tern_data(t))[0], -2);
    assert_int_equal(((int32_t *)tern_data(t))[1], 0x12345678);
    static const unsigned char floats[] = {0, 0, 0x0D, 1, 0, 0, 0, 1, 0xC0, 0x20, 0, 0};
    t = tern_idx_read(write_file("floats", floats, sizeof floats));
    assert_int_equal(tern_dtype_of(t), TERN_FLOAT32);
    assert_true(*(float *)tern_data(t) == -2.5f);
    static const unsigned char doubles[] = {0,    0, 0x0E, 1,    0,    0,    0,    1,
                                            0x40, 9, 0x21, 0xFB, 0x54, 0x44, 0x2D, 0x18};
    t = tern_idx_read(write_file("doubles", doubles, sizeof doubles));
    assert_int_equal(tern_dtype_of(t), TERN_FLOAT64);
    assert_true(*(double *)tern_data(t) == 3.141592653589793);
}

static void int8_and_int16_become_int32_with_the_same_values(void **state)
{
    (void)state;
    static const unsigned char bytes[] = {0, 0, 9, 1, 0, 0, 0, 3, 0xFF, 0x80, 0x7F};
    tern_tensor *t = tern_idx_read(write_file("bytes", bytes, sizeof bytes));
    assert_int_equal(tern_dtype_of(t), TERN_INT32);
    const int32_t *v = tern_data(t);
    assert_true(v[0] == -1 && v[1] == -128 && v[2] == 127);
    static const unsigned char shorts[] = {0, 0, 0x0B, 1, 0, 0, 0, 3, 0xFF, 0xFE, 1, 2, 0x80, 0};
    t = tern_idx_read(write_file("shorts", shorts, sizeof shorts));
    assert_int_equal(tern_dtype_of(t), TERN_INT32);
    v = tern_data(t);
    assert_true(v[0] == -2 && v[1] == 258 && v[2] == -32768);
}

// Larger than the first pieces that the reader takes, in a type that must not be torn at their
// ends.
static void many_elements_keep_their_order(void **state)
{
    (void)state;
    enum { COUNT = 70001 };
    size_t nbytes = 8 + 8 * (size_t)COUNT;
    unsigned char *bytes = calloc(1, nbytes);
    bytes[2] = 0x0E;
    bytes[3] = 1;
    for (int shift = 0; shift < 4; shift++)
        bytes[4 + shift] = (unsigned char)(COUNT >> (24 - 8 * shift));
    for (size_t i = 0; i < COUNT; i++) {
        double value = (double)i * 0.37 - 5;
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        for (int k = 0; k < 8; k++)
            bytes[8 + 8 * i + (size_t)k] = (unsigned char)(bits >> (56 - 8 * k));
    }
    tern_tensor *t = tern_idx_read(write_file("many", bytes, nbytes));
    free(bytes);
    assert_non_null(t);
    assert_int_equal(tern_numel(t), COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_true(((double *)tern_data(t))[i] == (double)i * 0.37 - 5);
}

static void a_file_that_ends_early_or_late_is_refused(void **state)
{
    (void)state;
    unsigned char longer[sizeof small + 1] = {0};
    memcpy(longer, small, sizeof small);
    assert_bytes_refused(small, 0, "0 bytes where 4 are due");
    assert_bytes_refused(small, 3, "3 bytes where 4 are due");
    assert_bytes_refused(small, 7, "3 bytes where 8 are due");
    assert_bytes_refused(small, 12, "after 0 bytes of data, but its header (2, 3) wants 6");
    assert_bytes_refused(small, sizeof small - 1, "after 5 bytes of data");
    assert_bytes_refused(longer, sizeof longer, "goes on after the 6 bytes of data");
}

static void a_header_that_makes_no_sense_is_refused(void **state)
{
    (void)state;
    unsigned char bytes[4 + 4 * 9 + 6] = {0, 0, 8, 1, 0, 0, 0, 1, 7};
    bytes[0] = 'P';
    bytes[1] = 'K';
    assert_bytes_refused(bytes, 9, "begins with 50 4b 08 01");
    bytes[0] = bytes[1] = 0;
    for (int type = 0; type < 256; type++) {
        bool known = type == 8 || type == 9 || (type >= 0x0B && type <= 0x0E);
        bytes[2] = (unsigned char)type;
        if (!known)
            assert_refused(write_file("type", bytes, 9), TERN_ERR_FORMAT, "elements of type 0x");
    }
    bytes[2] = 8;
    bytes[3] = 0;
    assert_bytes_refused(bytes, 5, "0 dimensions, but must have 1 to 8");
    bytes[3] = 9;
    assert_bytes_refused(bytes, sizeof bytes, "9 dimensions");
    bytes[3] = 255;
    assert_bytes_refused(bytes, sizeof bytes, "255 dimensions");
    bytes[3] = 1;
    bytes[7] = 0;
    assert_bytes_refused(bytes, 8, "size 0 in dimension 0");
}

static void sizes_whose_product_wraps_are_refused(void **state)
{
    (void)state;
    // 2^16 (four times) is 2^64, which is 0 when it wraps; eight sizes of 2^32 - 1; 2^61 of bytes.
    static const unsigned char wraps_to_0[] = {0, 0, 8, 4, 0, 1, 0, 0, 0, 1,
                                               0, 0, 0, 1, 0, 0, 0, 1, 0, 0};
    assert_bytes_refused(wraps_to_0, sizeof wraps_to_0, "more elements");
    unsigned char largest[4 + 32] = {0, 0, 14, 8};
    memset(largest + 4, 0xFF, 32);
    assert_bytes_refused(largest, sizeof largest, "more elements");
    static const unsigned char negative[] = {0, 0, 8, 2, 0x80, 0, 0, 0, 0x40, 0, 0, 0};
    assert_bytes_refused(negative, sizeof negative, "more elements");
}

static void a_header_that_lies_costs_no_memory(void **state)
{
    (void)state;
    static const unsigned char huge[] = {0, 0,  8, 3, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0,
                                         0, 28, 0, 0, 0,    28,   1,    2,    3};
    memory.peak = memory.bytes;
    assert_bytes_refused(huge, sizeof huge,
                         "after 3 bytes of data, but its header (4294967295, 28");
    assert_true(memory.peak - live_before < 64 * 1024 + 4 * (int64_t)sizeof huge);
}

static void gzip_within_gzip_is_named(void **state)
{
    (void)state;
    unsigned char once[256], twice[256];
    size_t length = gzip_bytes(once, sizeof once, small, sizeof small, false);
    length = gzip_bytes(twice, sizeof twice, once, length, false);
    assert_refused(write_file("twice.gz", twice, length), TERN_ERR_FORMAT, "gzip within gzip");
}

static void members_are_joined_and_an_extra_field_is_skipped(void **state)
{
    (void)state;
    unsigned char zipped[512];
    size_t length = gzip_bytes(zipped, 256, small, 9, true); // torn within the header
    length += gzip_bytes(zipped + length, 128, small + 9, 0, false);
    length += gzip_bytes(zipped + length, 128, small + 9, sizeof small - 9, true);
    assert_small(tern_idx_read(write_file("members.gz", zipped, length)));
    length += gzip_bytes(zipped + length, 64, small, 0, false); // an empty one at the end
    assert_small(tern_idx_read(write_file("empty.gz", zipped, length)));
    length += gzip_bytes(zipped + length, 64, "x", 1, false);
    assert_refused(write_file("long.gz", zipped, length), TERN_ERR_FORMAT, "goes on after");
}

static void a_gzip_file_may_be_cut_nowhere(void **state)
{
    (void)state;
    unsigned char zipped[256];
    size_t length = gzip_bytes(zipped, sizeof zipped, small, sizeof small, false);
    for (size_t cut = 2; cut < length; cut++)
        assert_refused(write_file("cut.gz", zipped, cut), TERN_ERR_FORMAT, "truncated gzip file");
}

static void a_wrong_checksum_or_length_is_refused(void **state)
{
    (void)state;
    unsigned char zipped[256];
    size_t length = gzip_bytes(zipped, sizeof zipped, small, sizeof small, false);
    zipped[length - 8] ^= 1;
    assert_refused(write_file("crc.gz", zipped, length), TERN_ERR_FORMAT, "incorrect data check");
    zipped[length - 8] ^= 1;
    zipped[length - 1] ^= 1;
    assert_refused(write_file("size.gz", zipped, length), TERN_ERR_FORMAT,
                   "incorrect length check");
    zipped[length - 1] ^= 1;
    zipped[2] = 7;
    assert_refused(write_file("method.gz", zipped, length), TERN_ERR_FORMAT, "damaged gzip file");
}

static void no_flipped_bit_of_a_gzip_file_changes_the_data(void **state)
{
    (void)state;
    unsigned char zipped[256];
    int refused = 0;
    size_t length = gzip_bytes(zipped, sizeof zipped, small, sizeof small, false);
    for (size_t bit = 0; bit < 8 * length; bit++) {
        zipped[bit / 8] ^= (unsigned char)(1 << bit % 8);
        tern_tensor *t = tern_idx_read(write_file("flipped.gz", zipped, length));
        zipped[bit / 8] ^= (unsigned char)(1 << bit % 8);
        if (t) { // the flags of its header, the padding at its end
            assert_small(t);
            continue;
        }
        refused++;
        assert_error(TERN_ERR_FORMAT, "flipped.gz");
    }
    assert_true(refused > 6 * (int)length);
}

static void what_follows_the_gzip_data_is_refused(void **state)
{
    (void)state;
    unsigned char zipped[256] = {0};
    size_t length = gzip_bytes(zipped, 200, small, sizeof small, false);
    assert_refused(write_file("zero.gz", zipped, length + 1), TERN_ERR_FORMAT, "the first is 0x00");
    zipped[length] = 'x';
    assert_refused(write_file("junk.gz", zipped, length + 1), TERN_ERR_FORMAT, "the first is 0x78");
    zipped[length] = 0x1f;
    assert_refused(write_file("half.gz", zipped, length + 1), TERN_ERR_FORMAT, "truncated");
    zipped[length + 1] = 0x8c;
    assert_refused(write_file("magic.gz", zipped, length + 20), TERN_ERR_FORMAT, "damaged");
}

// 64 MiB of zeros in 64 KiB behind a header of 6 bytes of data: none of it is unpacked.
static void a_bomb_does_not_go_off(void **state)
{
    (void)state;
    enum { BOMB = 64 << 20 };
    unsigned char *zeros = calloc(1, BOMB);
    unsigned char *zipped = malloc(1 << 20);
    memcpy(zeros, small, 12);
    size_t length = gzip_bytes(zipped, 1 << 20, zeros, BOMB, false);
    const char *path = write_file("bomb.gz", zipped, length);
    free(zeros);
    free(zipped);
    memory.peak = memory.bytes;
    assert_refused(path, TERN_ERR_FORMAT, "goes on after the 6 bytes");
    assert_true(memory.peak - live_before < 64 * 1024);
}

static void what_is_no_regular_file_is_refused_without_waiting(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
    alarm(20); // waiting for a writer would take for ever
    assert_refused(path_of("pipe"), TERN_ERR_IO, "is a pipe or a device");
    alarm(0);
    assert_refused("/dev/zero", TERN_ERR_IO, "is a pipe or a device");
    assert_refused(directory, TERN_ERR_IO, "is a directory");
}

static void a_file_that_cannot_be_opened_is_named_with_the_reason(void **state)
{
    (void)state;
    assert_refused(path_of("nowhere"), TERN_ERR_IO, "No such file or directory");
    char path[1000];
    memset(path, 'd', sizeof path);
    snprintf(path + 900, sizeof path - 900, "/the-name");
    path[0] = '/';
    assert_refused(path, TERN_ERR_IO, "File name too long");
    if (geteuid() != 0) {
        const char *locked = write_file("locked", small, sizeof small);
        chmod(locked, 0);
        assert_refused(locked, TERN_ERR_IO, "Permission denied");
    }
}

static void a_null_path_is_an_error(void **state)
{
    (void)state;
    assert_null(tern_idx_read(NULL));
    assert_error(TERN_ERR_NULL, "idx_read: path is NULL");
}

// Every allocation fails once; each time nothing is left, and without failures it works.
static void no_memory_is_reported_at_every_allocation(void **state)
{
    (void)state;
    unsigned char zipped[256];
    size_t length = gzip_bytes(zipped, sizeof zipped, small, sizeof small, false);
    const char *path = write_file("memory.gz", zipped, length);
    for (int64_t n = 1;; n++) {
        tern_scope inner = tern_scope_open();
        int64_t before = memory.bytes;
        fail_nth_allocation(n);
        tern_tensor *t = tern_idx_read(path);
        bool failed = memory.calls >= n;
        fail_nth_allocation(0);
        if (!failed) {
            assert_small(t);
            assert_true(n > 4); // zlib's two, a piece, the storage
            tern_scope_close(inner);
            return;
        }
        assert_null(t);
        assert_error(TERN_ERR_NOMEM, "no memory");
        assert_int_equal(memory.bytes, before);
        tern_scope_close(inner);
    }
}

static void fashion_mnist_has_the_bytes_that_numpy_reads(void **state)
{
    (void)state;
    static const char *const names[2] = {"train", "t10k"};
    static const char *const stored[2] = {"fashion train", "fashion t10k"};
    const char *home = getenv("TERN_TEST_DATA");
    if (!home || access(home, R_OK) != 0) {
        print_message("the data set is not there: %s\n", home ? home : "TERN_TEST_DATA is not set");
        skip();
    }
    for (int i = 0; i < 2; i++) {
        const golden_case *c = golden_find("data", stored[i]);
        const int64_t count = (int64_t)golden_number(c, "count", 0);
        char path[512];
        snprintf(path, sizeof path, "%s/%s-images-idx3-ubyte.gz", home, names[i]);
        tern_tensor *t = tern_idx_read(path);
        assert_non_null(t);
        assert_true(tern_shape_equal(tern_shape_of(t), tern_dims(count, 28, 28)));
        assert_int_equal(crc32(0, tern_data(t), (uInt)tern_numel(t)),
                         (uint32_t)golden_number(c, "bytes", 0));
        snprintf(path, sizeof path, "%s/%s-labels-idx1-ubyte.gz", home, names[i]);
        t = tern_idx_read(path);
        assert_non_null(t);
        assert_true(tern_shape_equal(tern_shape_of(t), tern_dims(count)));
        assert_int_equal(crc32(0, tern_data(t), (uInt)tern_numel(t)),
                         (uint32_t)golden_number(c, "labels", 0));
    }
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(a_plain_file_and_a_gzipped_one_give_the_same),
        DATA_TEST(the_first_bytes_count_and_not_the_name),
        DATA_TEST(int32_and_floats_are_swapped),
        DATA_TEST(int8_and_int16_become_int32_with_the_same_values),
        DATA_TEST(many_elements_keep_their_order),
        DATA_TEST(a_file_that_ends_early_or_late_is_refused),
        DATA_TEST(a_header_that_makes_no_sense_is_refused),
        DATA_TEST(sizes_whose_product_wraps_are_refused),
        DATA_TEST(a_header_that_lies_costs_no_memory),
        DATA_TEST(gzip_within_gzip_is_named),
        DATA_TEST(members_are_joined_and_an_extra_field_is_skipped),
        DATA_TEST(a_gzip_file_may_be_cut_nowhere),
        DATA_TEST(a_wrong_checksum_or_length_is_refused),
        DATA_TEST(no_flipped_bit_of_a_gzip_file_changes_the_data),
        DATA_TEST(what_follows_the_gzip_data_is_refused),
        DATA_TEST(a_bomb_does_not_go_off),
        DATA_TEST(what_is_no_regular_file_is_refused_without_waiting),
        DATA_TEST(a_file_that_cannot_be_opened_is_named_with_the_reason),
        DATA_TEST(a_null_path_is_an_error),
        DATA_TEST(no_memory_is_reported_at_every_allocation),
        DATA_TEST(fashion_mnist_has_the_bytes_that_numpy_reads),
    };
    return cmocka_run_group_tests_name("idx", tests, start_group, end_group);
}
