// SPDX-License-Identifier: Apache-2.0
// Files of numpy's, made by tests/golden/make_files_numpy.py, and those that tern writes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "npy_build.h"

static const char *golden(const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/numpy_%s", TERN_IO_DATA, name);
    return path;
}

static size_t read_bytes(const char *path, unsigned char *to, size_t room)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t nbytes = fread(to, 1, room, file);
    fclose(file);
    return nbytes;
}

// The array of a file, until the group's scope closes.
static tern_tensor *read_array(const char *path)
{
    tern_state *state = tern_state_read(path);
    if (!state)
        fail_msg("%s", tern_error_message());
    assert_int_equal(tern_state_count(state), 1);
    tern_tensor *t = tern_contiguous(tern_state_tensor(state, "array"));
    assert_non_null(t);
    t = tern_clone(t);
    tern_state_free(state);
    return t;
}

static void assert_doubles(tern_tensor *t, tern_shape shape, const double *expected)
{
    assert_true(tern_shape_equal(tern_shape_of(t), shape));
    tern_tensor *flat = tern_reshape(t, tern_dims(-1));
    for (int64_t i = 0; i < tern_numel(t); i++)
        assert_true(tern_item(tern_select(flat, 0, i)) == expected[i]);
}

// 0, 1, 2, 200, a third and 5 in each dtype: the third's neighbours are float16's, float32's and
// float64's, by their definition.
static const struct {
    const char *name;
    tern_dtype dtype;
    double values[6];
} dtypes[] = {
    {"f2.npy", TERN_FLOAT16, {0, 1, 2, 200, 1365 / 4096.0, 5}},
    {"f4.npy", TERN_FLOAT32, {0, 1, 2, 200, 11184811 / 33554432.0, 5}},
    {"f8.npy", TERN_FLOAT64, {0, 1, 2, 200, 1 / 3.0, 5}},
    {"i4.npy", TERN_INT32, {0, 1, 2, 200, 0, 5}},
    {"i8.npy", TERN_INT64, {0, 1, 2, 200, 0, 5}},
    {"u1.npy", TERN_UINT8, {0, 1, 2, 200, 0, 5}},
    {"b1.npy", TERN_BOOL, {0, 1, 1, 1, 1, 1}},
    {"big_f2.npy", TERN_FLOAT16, {0, 1, 2, 200, 1365 / 4096.0, 5}},
    {"big_f4.npy", TERN_FLOAT32, {0, 1, 2, 200, 11184811 / 33554432.0, 5}},
    {"big_f8.npy", TERN_FLOAT64, {0, 1, 2, 200, 1 / 3.0, 5}},
    {"big_i4.npy", TERN_INT32, {0, 1, 2, 200, 0, 5}},
    {"big_i8.npy", TERN_INT64, {0, 1, 2, 200, 0, 5}},
    {"fortran.npy", TERN_FLOAT32, {0, 1, 2, 200, 11184811 / 33554432.0, 5}},
    {"fortran_big.npy", TERN_FLOAT64, {0, 1, 2, 200, 1 / 3.0, 5}},
    {"version_2.npy", TERN_FLOAT32, {0, 1, 2, 200, 11184811 / 33554432.0, 5}},
    {"version_3.npy", TERN_FLOAT32, {0, 1, 2, 200, 11184811 / 33554432.0, 5}},
};

static void arrays_of_numpys_have_their_dtype_shape_and_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        tern_tensor *t = read_array(golden(dtypes[i].name));
        assert_int_equal(tern_dtype_of(t), dtypes[i].dtype);
        assert_doubles(t, tern_dims(2, 3), dtypes[i].values);
    }
}

static void the_first_index_runs_fastest_in_fortran_order(void **state)
{
    (void)state;
    double expected[24];
    for (int i = 0; i < 24; i++)
        expected[i] = i;
    assert_doubles(read_array(golden("fortran_3d.npy")), tern_dims(2, 3, 4), expected);
}

static void shapes_go_from_none_to_eight_dimensions(void **state)
{
    (void)state;
    assert_doubles(read_array(golden("scalar.npy")), tern_dims(), (double[]){-2.5});
    assert_doubles(read_array(golden("one.npy")), tern_dims(1), (double[]){7});
    assert_doubles(read_array(golden("empty.npy")), tern_dims(0, 3), NULL);
    assert_doubles(read_array(golden("rank_8.npy")), tern_dims(1, 1, 1, 2, 1, 1, 1, 1),
                   (double[]){0, 1});
}

// What `header` and elements of two float32, 1 and -2, are read as.
static tern_tensor *read_header(int version, const char *header)
{
    static const float elements[2] = {1, -2};
    unsigned char bytes[70000];
    size_t nbytes = build_npy(bytes, sizeof bytes, version, header, elements, sizeof elements);
    return read_array(write_file("made", bytes, nbytes));
}

static void headers_may_be_written_in_other_ways(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}        \n",
        "{'shape': (2,), 'descr': '<f4', 'fortran_order': True}",
        "{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(2,)}",
        "  {  'descr'  :  '<f4'  ,  'fortran_order'  :  False  ,  'shape'  :  (  2  ,  )  ,  }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2L,), }",
        "{'descr': '=f4', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '|f4', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': 'f4', 'fortran_order': False, 'shape': (2,), }",
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        for (int version = 1; version <= 3; version++)
            assert_doubles(read_header(version, headers[i]), tern_dims(2), (double[]){1, -2});
    assert_doubles(
        read_header(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2L, 1,), }\n"),
        tern_dims(1, 2, 1), (double[]){1, -2});
}

// Also where the product of the others is more than can be.
static void a_size_of_0_makes_no_elements(void **state)
{
    (void)state;
    static const char *const orders[] = {"False", "True"};
    for (int i = 0; i < 2; i++) {
        unsigned char bytes[200];
        char header[150], text[1000] = "";
        snprintf(header, sizeof header,
                 "{'descr': '<f8', 'fortran_order': %s, 'shape': (4611686018427387904, 8, 0), }",
                 orders[i]);
        size_t nbytes = build_npy(bytes, sizeof bytes, 1, header, NULL, 0);
        const char *path = write_file("zero", bytes, nbytes);
        FILE *file = fmemopen(text, sizeof text, "w");
        assert_int_equal(tern_state_list(path, file), TERN_OK);
        fclose(file);
        assert_non_null(strstr(text, "(4611686018427387904, 8, 0)"));
        assert_int_equal(tern_state_verify(path), TERN_OK);
    }
}

static void a_header_may_have_64_KiB(void **state)
{
    (void)state;
    static char header[65536 + 1];
    memset(header, ' ', sizeof header - 1);
    static const char text[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
    memcpy(header, text, sizeof text - 1);
    assert_doubles(read_header(2, header), tern_dims(2), (double[]){1, -2});
    header[10001] = '\0'; // numpy itself reads no more than 10000
    assert_doubles(read_header(1, header), tern_dims(2), (double[]){1, -2});
}

static void a_dtype_that_tern_does_not_have_is_listed_and_not_loaded(void **state)
{
    (void)state;
    static const struct {
        const char *name, *dtype;
    } others[] = {
        {"other_i1.npy", "|i1"}, {"other_i2.npy", "<i2"}, {"other_u2.npy", "<u2"},
        {"other_u4.npy", "<u4"}, {"other_u8.npy", "<u8"}, {"other_c8.npy", "<c8"},
        {"other_S3.npy", "|S3"}, {"other_U2.npy", "<U2"}, {"other_M8.npy", "<M8[ns]"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const char *path = golden(others[i].name);
        char text[1000] = "";
        FILE *file = fmemopen(text, sizeof text, "w");
        assert_int_equal(tern_state_list(path, file), TERN_OK);
        fclose(file);
        assert_non_null(strstr(text, others[i].dtype));
        assert_non_null(strstr(text, "(2, 3)"));
        unsigned char bytes[400];
        size_t nbytes = read_bytes(path, bytes, sizeof bytes);
        assert_file_refused(others[i].name, bytes, nbytes, TERN_ERR_DTYPE, others[i].dtype);
    }
}

// ---- writing ------------------------------------------------------------------------------------

static void write_one(const char *path, tern_tensor *t)
{
    tern_state *state = tern_state_new();
    assert_int_equal(tern_state_set_tensor(state, "any name", t), TERN_OK);
    if (tern_state_write(state, path))
        fail_msg("%s", tern_error_message());
    tern_state_free(state);
}

static void what_tern_writes_are_numpys_bytes(void **state)
{
    (void)state;
    static const char *const names[] = {"f2.npy",  "f4.npy",    "f8.npy",    "i4.npy",
                                        "i8.npy",  "u1.npy",    "b1.npy",    "scalar.npy",
                                        "one.npy", "empty.npy", "rank_8.npy"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        unsigned char numpys[1000], terns[1000];
        const char *path = path_of("written.npy");
        write_one(path, read_array(golden(names[i])));
        size_t nbytes = read_bytes(golden(names[i]), numpys, sizeof numpys);
        assert_int_equal(read_bytes(path, terns, sizeof terns), nbytes);
        assert_memory_equal(terns, numpys, nbytes);
    }
}

static void the_bytes_of_a_small_file_are_these(void **state)
{
    (void)state;
    static const char text[] = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 1), }";
    unsigned char expected[128 + 8], found[200];
    memset(expected, ' ', 128);
    memcpy(expected, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(expected + 10, text, sizeof text - 1);
    expected[127] = '\n';
    memcpy(expected + 128, "\x01\x00\x00\x00\xfe\xff\xff\xff", 8);
    static const int32_t values[] = {1, -2};
    const char *path = path_of("small.npy");
    write_one(path, tern_from_data(tern_dims(2, 1), values));
    assert_int_equal(read_bytes(path, found, sizeof found), sizeof expected);
    assert_memory_equal(found, expected, sizeof expected);
}

static void a_view_is_written_in_row_major_order(void **state)
{
    (void)state;
    static const float values[] = {1, 2, 3, 4, 5, 6};
    tern_tensor *t = tern_from_data(tern_dims(3, 2), values);
    const char *path = path_of("view.npy");
    write_one(path, tern_transpose(t, 0, 1));
    assert_doubles(read_array(path), tern_dims(2, 3), (double[]){1, 3, 5, 2, 4, 6});
}

static void assert_not_written(tern_state *state, tern_status code, const char *words)
{
    const char *path = path_of("no.npy");
    assert_int_equal(tern_state_write(state, path), code);
    assert_non_null(strstr(tern_error_message(), "state_write: "));
    assert_non_null(strstr(tern_error_message(), "no.npy"));
    assert_error(code, words);
    assert_int_equal(access(path, F_OK), -1);
    tern_state_free(state);
}

static void npy_has_exactly_one_tensor(void **unused)
{
    (void)unused;
    tern_state *state = tern_state_new();
    assert_not_written(state, TERN_ERR_ARG, "exactly one tensor, and the state has 0 values");
    state = tern_state_new();
    assert_int_equal(tern_state_set_tensor(state, "a", tern_zeros(tern_dims(1))), TERN_OK);
    assert_int_equal(tern_state_set_tensor(state, "b", tern_zeros(tern_dims(1))), TERN_OK);
    assert_not_written(state, TERN_ERR_ARG, "exactly one tensor, and the state has 2 values");
    state = tern_state_new();
    assert_int_equal(tern_state_set_int(state, "epoch", 3), TERN_OK);
    assert_not_written(state, TERN_ERR_ARG, "npy has tensors alone, and \"epoch\" is an integer");
}

static void npy_has_no_bfloat16(void **unused)
{
    (void)unused;
    tern_state *state = tern_state_new();
    tern_tensor *t = tern_zeros(tern_dims(1), .dtype = TERN_BFLOAT16);
    assert_int_equal(tern_state_set_tensor(state, "w", t), TERN_OK);
    assert_not_written(state, TERN_ERR_DTYPE, "npy has no bfloat16; tern_to_dtype first");
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(arrays_of_numpys_have_their_dtype_shape_and_values),
        DATA_TEST(the_first_index_runs_fastest_in_fortran_order),
        DATA_TEST(shapes_go_from_none_to_eight_dimensions),
        DATA_TEST(headers_may_be_written_in_other_ways),
        DATA_TEST(a_size_of_0_makes_no_elements),
        DATA_TEST(a_header_may_have_64_KiB),
        DATA_TEST(a_dtype_that_tern_does_not_have_is_listed_and_not_loaded),
        DATA_TEST(what_tern_writes_are_numpys_bytes),
        DATA_TEST(the_bytes_of_a_small_file_are_these),
        DATA_TEST(a_view_is_written_in_row_major_order),
        DATA_TEST(npy_has_exactly_one_tensor),
        DATA_TEST(npy_has_no_bfloat16),
    };
    return cmocka_run_group_tests_name("npy", tests, start_group, end_group);
}
