// SPDX-License-Identifier: Apache-2.0
// What safetensors files keep, byte for byte, and that no damage to one goes unnoticed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <sys/stat.h>

#include "data/data_fixture.h"
#include "crc32c_bitwise.h"
#include "safetensors_bytes.h"
#include "support/state_check.h"

static const char *golden(const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/safetensors_%s.safetensors", TERN_IO_DATA, name);
    return path;
}

static tern_state *read_state(const char *path)
{
    tern_state *state = tern_state_read(path);
    if (!state)
        fail_msg("%s", tern_error_message());
    return state;
}

static void write_state(const tern_state *state, const char *path)
{
    if (tern_state_write(state, path))
        fail_msg("%s", tern_error_message());
}

static file_bytes bytes_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat facts;
    assert_true(file && fstat(fileno(file), &facts) == 0);
    file_bytes f = {malloc((size_t)facts.st_size + 1), (size_t)facts.st_size};
    assert_int_equal(fread(f.at, 1, f.count, file), f.count);
    f.at[f.count] = 0;
    fclose(file);
    return f;
}

// ---- the library's files ------------------------------------------------------------------------

static void assert_values(const tern_state *state, const char *name, tern_dtype dtype,
                          const double expected[6])
{
    tern_tensor *t = tern_state_tensor(state, name);
    assert_non_null(t);
    assert_int_equal(tern_dtype_of(t), dtype);
    assert_true(tern_shape_equal(tern_shape_of(t), tern_dims(2, 3)));
    for (int64_t i = 0; i < 6; i++)
        assert_true(tern_item(tern_select(tern_select(t, 0, i / 3), 0, i % 3)) == expected[i]);
}

static void every_dtype_of_the_library_is_read(void **state)
{
    (void)state;
    tern_state *read = read_state(golden("dtypes"));
    // A third: 0x1.554p-2 in 11 bits, 0x1.56p-2 in 8.
    assert_values(read, "f32", TERN_FLOAT32, (double[]){0, 1, 2, 200, (double)(1.0f / 3), 5});
    assert_values(read, "f64", TERN_FLOAT64, (double[]){0, 1, 2, 200, 1.0 / 3, 5});
    assert_values(read, "f16", TERN_FLOAT16, (double[]){0, 1, 2, 200, 0x1.554p-2, 5});
    assert_values(read, "bf16", TERN_BFLOAT16, (double[]){0, 1, 2, 200, 0x1.56p-2, 5});
    assert_values(read, "i64", TERN_INT64, (double[]){0, 1, 2, 200, 0, 5});
    assert_values(read, "i32", TERN_INT32, (double[]){0, 1, 2, 200, 0, 5});
    assert_values(read, "u8", TERN_UINT8, (double[]){0, 1, 2, 200, 0, 5});
    assert_values(read, "bool", TERN_BOOL, (double[]){0, 1, 1, 1, 1, 1});
    assert_true(tern_shape_equal(tern_shape_of(tern_state_tensor(read, "empty")), tern_dims(0, 3)));
    assert_true(tern_item(tern_state_tensor(read, "scalar")) == -1.5);
    assert_int_equal(tern_state_count(read), 10);
    tern_state_free(read);
    read = read_state(golden("nothing"));
    assert_int_equal(tern_state_count(read), 0);
    tern_state_free(read);
}

static void a_dtype_that_tern_lacks_can_be_left_out(void **state)
{
    (void)state;
    assert_null(tern_state_read(golden("int8")));
    assert_error(TERN_ERR_DTYPE, "\"a\"");
    tern_state *read = tern_state_read(golden("int8"), .only = "[b-z]*");
    assert_non_null(read);
    assert_int_equal(tern_state_count(read), 1);
    assert_true(tern_item(tern_sum_all(tern_state_tensor(read, "b"))) == 3);
    tern_state_free(read);
    assert_null(tern_state_read(golden("int8"), .only = "c"));
    assert_error(TERN_ERR_ARG, "2 values, but none whose name fits .only = \"c\"");
}

// ---- what is written ----------------------------------------------------------------------------

static void put(tern_state *state, const char *name, tern_tensor *t)
{
    assert_int_equal(tern_state_set_tensor(state, name, t), TERN_OK);
}

// Every type of value, in an order that is not the file's.
static tern_state *every_value(void)
{
    tern_state *s = tern_state_new();
    tern_tensor *grid = tern_reshape(tern_arange(0, 6, 1, .dtype = TERN_FLOAT32), tern_dims(2, 3));
    put(s, "z.weight", grid);
    assert_int_equal(tern_state_set_int(s, "step", INT64_MIN), TERN_OK);
    assert_int_equal(tern_state_set_int(s, "largest", INT64_MAX), TERN_OK);
    assert_int_equal(tern_state_set_double(s, "lr", 0.1), TERN_OK);
    assert_int_equal(tern_state_set_text(s, "text", "a \"b\" \\ \n\t/ \x01 \xc3\xa4 {}"), TERN_OK);
    assert_int_equal(tern_state_set_text(s, "no text", ""), TERN_OK);
    put(s, "a.turned", tern_transpose(grid, 0, 1));
    assert_int_equal(tern_state_set_bytes(s, "bytes", "\0\1\2\xff", 4), TERN_OK);
    assert_int_equal(tern_state_set_bytes(s, "no bytes", NULL, 0), TERN_OK);
    const tern_dtype dtypes[] = {TERN_FLOAT64, TERN_FLOAT16, TERN_BFLOAT16, TERN_INT64,
                                 TERN_INT32,   TERN_UINT8,   TERN_BOOL};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        char name[32];
        snprintf(name, sizeof name, "%zu \"%s\" \\", i, tern_dtype_name(dtypes[i]));
        put(s, name, tern_to_dtype(grid, dtypes[i]));
    }
    put(s, "scalar", tern_full(tern_dims(), 2.5));
    put(s, "empty", tern_zeros(tern_dims(0, 3)));
    put(s, "rank 8", tern_ones(tern_dims(1, 1, 1, 1, 1, 1, 1, 2)));
    return s;
}

static void every_value_comes_back_in_its_place(void **state)
{
    (void)state;
    tern_state *s = every_value();
    write_state(s, path_of("every.safetensors"));
    tern_state *read = read_state(path_of("every.safetensors"));
    check_states(s, read, true);
    for (int64_t i = 0; i < tern_state_count(s); i++)
        assert_string_equal(tern_state_name_at(read, i), tern_state_name_at(s, i));
    tern_state_free(read);
    tern_state_free(s);
}

static void doubles_come_back_bit_for_bit(void **state)
{
    (void)state;
    uint64_t nan_bits = 0xFFF0000000000123;
    double nan;
    memcpy(&nan, &nan_bits, sizeof nan);
    const double values[] = {0,       -0.0,     1,         -1.0 / 3,      DBL_MAX,
                             DBL_MIN, 4.9e-324, -2.2e-310, INFINITY,      -INFINITY,
                             NAN,     -NAN,     nan,       123456789.125, 0x1.fffffffffffffp-1023};
    tern_state *s = tern_state_new();
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char name[16];
        snprintf(name, sizeof name, "%zu", i);
        assert_int_equal(tern_state_set_double(s, name, values[i]), TERN_OK);
    }
    write_state(s, path_of("doubles.safetensors"));
    tern_state *read = read_state(path_of("doubles.safetensors"));
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        double value;
        assert_int_equal(tern_state_get_double(read, tern_state_name_at(s, (int64_t)i), &value),
                         TERN_OK);
        assert_memory_equal(&value, &values[i], sizeof value);
    }
    tern_state_free(read);
    tern_state_free(s);
}

// The header and the places of the elements, as the format's page and state.h have them.
static void a_file_has_these_bytes(void **state)
{
    (void)state;
    tern_state *s = tern_state_new();
    put(s, "b", tern_arange(1, 3, 1, .dtype = TERN_FLOAT32));
    put(s, "a", tern_full(tern_dims(), 7, .dtype = TERN_INT64));
    write_state(s, path_of("two.safetensors"));
    file_bytes f = bytes_of(path_of("two.safetensors"));
    const float b[] = {1, 2};
    const int64_t a = 7;
    char header[400];
    int length = snprintf(header, sizeof header,
                          "{\"__metadata__\":{\"format\":\"tern\",\"tern.crc32c\":\"%08x,%08x\","
                          "\"tern.header_crc32c\":\"00000000\"},"
                          "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]},"
                          "\"a\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[0,8]}}",
                          crc32c(&a, sizeof a), crc32c(b, sizeof b));
    while (length % 8)
        header[length++] = ' ';
    char digits[16];
    snprintf(digits, sizeof digits, "%08x", crc32c(header, (size_t)length));
    memcpy(memmem(header, (size_t)length, "00000000\"}", 10), digits, 8);
    assert_int_equal(f.count, 8 + length + 16);
    assert_int_equal(f.at[0] | f.at[1] << 8, length);
    assert_memory_equal(f.at + 2, "\0\0\0\0\0\0", 6);
    assert_memory_equal(f.at + 8, header, length);
    assert_memory_equal(f.at + 8 + length, &a, 8);
    assert_memory_equal(f.at + 16 + length, b, 8);
    free(f.at);
    tern_state_free(s);
}

static void the_same_state_gives_the_same_bytes(void **state)
{
    (void)state;
    tern_state *s = every_value();
    write_state(s, path_of("one.safetensors"));
    tern_state *read = read_state(path_of("one.safetensors"));
    write_state(read, path_of("other.safetensors"));
    file_bytes one = bytes_of(path_of("one.safetensors"));
    file_bytes other = bytes_of(path_of("other.safetensors"));
    assert_int_equal(one.count, other.count);
    assert_memory_equal(one.at, other.at, one.count);
    free(one.at);
    free(other.at);
    tern_state_free(read);
    tern_state_free(s);
}

static void what_cannot_be_written_is_refused(void **state)
{
    (void)state;
    tern_state *s = tern_state_new();
    assert_int_equal(tern_state_set_text(s, "latin", "\xe4"), TERN_OK);
    assert_int_equal(tern_state_write(s, path_of("x.safetensors")), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "the text \"latin\" is not UTF-8; save it as bytes");
    assert_int_equal(tern_state_remove(s, "latin"), TERN_OK);
    assert_int_equal(tern_state_set_int(s, "\xe4", 1), TERN_OK);
    assert_int_equal(tern_state_write(s, path_of("x.safetensors")), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "a name is not UTF-8");
    assert_int_equal(access(path_of("x.safetensors"), F_OK), -1);
    tern_state_free(s);
}

// ---- tied tensors -------------------------------------------------------------------------------

static void check_ties(bool once)
{
    tern_state *s = tern_state_new();
    tern_tensor *t = tern_arange(0, 12, 1, .dtype = TERN_FLOAT32);
    put(s, "z", t);
    put(s, "a", t);
    put(s, "view", tern_reshape(t, tern_dims(3, 4)));
    put(s, "m", tern_reshape(t, tern_dims(3, 4)));
    put(s, "copy", tern_clone(t));
    assert_int_equal(tern_state_write(s, path_of("tied.safetensors"), .tied_once = once), TERN_OK);
    tern_state *read = read_state(path_of("tied.safetensors"));
    check_states(s, read, true);
    // What was one tensor is one: a change of it is seen under both names.
    tern_fill_(tern_state_tensor(read, "z"), 5);
    tern_fill_(tern_state_tensor(read, "m"), 7);
    assert_true(tern_item(tern_sum_all(tern_state_tensor(read, "a"))) == 60);
    assert_true(tern_item(tern_sum_all(tern_state_tensor(read, "view"))) == 84);
    assert_true(tern_item(tern_sum_all(tern_state_tensor(read, "copy"))) == 66);
    tern_state_free(read);
    file_bytes f = bytes_of(path_of("tied.safetensors"));
    const uint64_t header = f.at[0] | (uint64_t)f.at[1] << 8;
    assert_int_equal(f.count - 8 - header, (once ? 3 : 5) * 48);
    free(f.at);
    tern_state_free(s);
}

static void tied_tensors_are_tied_again(void **state)
{
    (void)state;
    check_ties(false);
    check_ties(true);
}

// ---- damage -------------------------------------------------------------------------------------

static bool reads_as(const char *path, const tern_state *expected)
{
    tern_state *read = tern_state_read(path);
    if (!read) {
        const tern_status code = tern_error_take(NULL, 0);
        assert_true(code == TERN_ERR_FORMAT);
        return false;
    }
    check_states(expected, read, true);
    tern_state_free(read);
    return true;
}

// In place: a file that is written anew each time waits for the disk.
static void no_flipped_bit_goes_unnoticed(void **state)
{
    (void)state;
    tern_state *s = every_value();
    const char *path = path_of("flipped.safetensors");
    write_state(s, path);
    file_bytes f = bytes_of(path);
    const int fd = open(path, O_WRONLY);
    for (size_t at = 0; at < f.count; at++) {
        for (int bit = 0; bit < 8; bit++) {
            const unsigned char flipped = (unsigned char)(f.at[at] ^ 1 << bit);
            assert_int_equal(pwrite(fd, &flipped, 1, (off_t)at), 1);
            if (reads_as(path, s))
                fail_msg("bit %d of byte %zu of %zu", bit, at, f.count);
        }
        assert_int_equal(pwrite(fd, &f.at[at], 1, (off_t)at), 1);
    }
    assert_true(reads_as(path, s));
    close(fd);
    free(f.at);
    tern_state_free(s);
}

static void a_file_may_be_cut_nowhere(void **state)
{
    (void)state;
    tern_state *s = every_value();
    const char *path = path_of("cut.safetensors");
    write_state(s, path);
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    assert_int_equal(truncate(path, facts.st_size + 1), 0);
    assert_false(reads_as(path, s));
    assert_int_equal(truncate(path, facts.st_size), 0);
    assert_true(reads_as(path, s));
    for (off_t length = facts.st_size; length-- > 0;) {
        assert_int_equal(truncate(path, length), 0);
        assert_false(reads_as(path, s));
    }
    tern_state_free(s);
}

static void damage_is_found_without_keeping_the_elements(void **state)
{
    (void)state;
    tern_state *s = tern_state_new();
    put(s, "large", tern_zeros(tern_dims(1 << 20)));
    write_state(s, path_of("large.safetensors"));
    (void)tern_memory_trim();
    const int64_t before = memory.bytes;
    memory.peak = before;
    assert_int_equal(tern_state_verify(path_of("large.safetensors")), TERN_OK);
    assert_true(memory.peak - before < 1 << 20);
    file_bytes f = bytes_of(path_of("large.safetensors"));
    f.at[f.count - 1] = 1;
    assert_int_equal(tern_state_verify(write_file("bad", f.at, f.count)), TERN_ERR_FORMAT);
    assert_error(TERN_ERR_FORMAT, "the elements of \"large\"");
    free(f.at);
    tern_state_free(s);
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(every_dtype_of_the_library_is_read),
        DATA_TEST(a_dtype_that_tern_lacks_can_be_left_out),
        DATA_TEST(every_value_comes_back_in_its_place),
        DATA_TEST(doubles_come_back_bit_for_bit),
        DATA_TEST(a_file_has_these_bytes),
        DATA_TEST(the_same_state_gives_the_same_bytes),
        DATA_TEST(what_cannot_be_written_is_refused),
        DATA_TEST(tied_tensors_are_tied_again),
        DATA_TEST(no_flipped_bit_goes_unnoticed),
        DATA_TEST(a_file_may_be_cut_nowhere),
        DATA_TEST(damage_is_found_without_keeping_the_elements),
    };
    return cmocka_run_group_tests_name("safetensors", tests, start_group, end_group);
}
