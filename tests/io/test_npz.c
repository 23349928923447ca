// SPDX-License-Identifier: Apache-2.0
// Archives of arrays: numpy's, made by tests/golden/make_files_numpy.py, and those that tern
// writes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "npy_build.h"
#include "zip_build.h"

static tern_state *read_golden(const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/numpy_%s", TERN_IO_DATA, name);
    tern_state *state = tern_state_read(path);
    if (!state)
        fail_msg("%s", tern_error_message());
    return state;
}

static void assert_array(tern_state *state, const char *name, tern_dtype dtype, tern_shape shape,
                         const double *expected)
{
    tern_tensor *t = tern_state_tensor(state, name);
    assert_non_null(t);
    assert_int_equal(tern_dtype_of(t), dtype);
    assert_true(tern_shape_equal(tern_shape_of(t), shape));
    for (int64_t i = 0; i < tern_numel(t); i++) {
        tern_scope one = tern_scope_open();
        tern_tensor *flat = tern_reshape(t, tern_dims(-1));
        assert_true(tern_item(tern_select(flat, 0, i)) == expected[i]);
        tern_scope_close(one);
    }
}

static const double weight[] = {0, 1, 2, 200, 11184811 / 33554432.0, 5}, bias[] = {1.5, -1};

static void assert_weights(tern_state *state)
{
    assert_array(state, "layer.weight", TERN_FLOAT32, tern_dims(2, 3), weight);
    assert_array(state, "layer.bias", TERN_FLOAT64, tern_dims(2), bias);
}

static void arrays_of_savez_have_their_names(void **unused)
{
    (void)unused;
    tern_state *state = read_golden("savez.npz");
    assert_int_equal(tern_state_count(state), 3);
    assert_weights(state);
    assert_array(state, "arr_0", TERN_INT64, tern_dims(3), (double[]){0, 1, 2});
    assert_string_equal(tern_state_name_at(state, 0), "layer.weight"); // in the file's order
    assert_string_equal(tern_state_name_at(state, 2), "arr_0");
    tern_state_free(state);
}

static void arrays_of_savez_compressed_are_unpacked(void **unused)
{
    (void)unused;
    static double zeros[2000], counts[300];
    for (int i = 0; i < 300; i++)
        counts[i] = i;
    tern_state *state = read_golden("savez_compressed.npz");
    assert_int_equal(tern_state_count(state), 4);
    assert_weights(state);
    assert_array(state, "zeros", TERN_FLOAT32, tern_dims(40, 50), zeros);
    assert_array(state, "counts", TERN_INT32, tern_dims(300), counts);
    tern_state_free(state);
}

static void an_archive_without_arrays_is_an_empty_state(void **unused)
{
    (void)unused;
    tern_state *state = read_golden("savez_empty.npz");
    assert_int_equal(tern_state_count(state), 0);
    tern_state_free(state);
}

static void an_archive_is_verified_and_listed(void **unused)
{
    (void)unused;
    char text[1000] = "";
    assert_int_equal(tern_state_verify(TERN_IO_DATA "/numpy_savez_compressed.npz"), TERN_OK);
    FILE *file = fmemopen(text, sizeof text, "w");
    assert_int_equal(tern_state_list(TERN_IO_DATA "/numpy_savez.npz", file), TERN_OK);
    fclose(file);
    assert_non_null(strstr(text, "npz"));
    assert_non_null(strstr(text, "layer.weight"));
    assert_non_null(strstr(text, "(2, 3)"));
}

// A header that is longer than most is read in a second piece.
static void an_entry_may_have_a_long_header(void **unused)
{
    (void)unused;
    static const char text[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
    static const float elements[2] = {1, -2};
    static unsigned char array[30000];
    static char header[20000];
    static zip_build z;
    memset(header, ' ', sizeof header - 1);
    memcpy(header, text, sizeof text - 1);
    size_t nbytes = build_npy(array, sizeof array, 1, header, elements, sizeof elements);
    const zip_part parts[] = {{"a.npy", array, nbytes, false}, {"b.npy", array, nbytes, true}};
    build_zip(&z, parts, 2, false);
    tern_state *state = tern_state_read(write_file("long", z.bytes, z.at.size));
    assert_non_null(state);
    assert_array(state, "a", TERN_FLOAT32, tern_dims(2), (double[]){1, -2});
    assert_array(state, "b", TERN_FLOAT32, tern_dims(2), (double[]){1, -2});
    tern_state_free(state);
}

static void names_are_names_and_no_paths(void **unused)
{
    (void)unused;
    static zip_build z;
    unsigned char array[200];
    size_t nbytes =
        build_npy(array, sizeof array, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': ()}",
                  &(float){3}, 4);
    const zip_part parts[] = {{"../../x.npy", array, nbytes, false},
                              {"/etc/passwd.npy", array, nbytes, true},
                              {"%n.npy", array, nbytes, true}};
    build_zip(&z, parts, 3, false);
    tern_state *state = tern_state_read(write_file("names", z.bytes, z.at.size));
    assert_non_null(state);
    assert_array(state, "../../x", TERN_FLOAT32, tern_dims(), (double[]){3});
    assert_array(state, "/etc/passwd", TERN_FLOAT32, tern_dims(), (double[]){3});
    assert_array(state, "%n", TERN_FLOAT32, tern_dims(), (double[]){3});
    tern_state_free(state);
}

// ---- writing ------------------------------------------------------------------------------------

static tern_state *small_state(void)
{
    tern_state *state = tern_state_new();
    static const float values[] = {1, 2, 3};
    tern_tensor *t = tern_from_data(tern_dims(3), values);
    assert_int_equal(tern_state_set_tensor(state, "net.w", t), TERN_OK);
    t = tern_zeros(tern_dims(0, 2), .dtype = TERN_INT64);
    assert_int_equal(tern_state_set_tensor(state, "e", t), TERN_OK);
    return state;
}

static size_t read_bytes(const char *path, unsigned char *to, size_t room)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t nbytes = fread(to, 1, room, file);
    fclose(file);
    return nbytes;
}

static void what_is_written_is_read_again(void **unused)
{
    (void)unused;
    tern_state *state = small_state();
    const char *path = path_of("small.npz");
    assert_int_equal(tern_state_write(state, path), TERN_OK);
    tern_state_free(state);
    state = tern_state_read(path);
    assert_non_null(state);
    assert_int_equal(tern_state_count(state), 2);
    assert_array(state, "net.w", TERN_FLOAT32, tern_dims(3), (double[]){1, 2, 3});
    assert_array(state, "e", TERN_INT64, tern_dims(0, 2), NULL);
    tern_state_free(state);
}

// A record of the archive, "FB" and Z where its data is to begin at a multiple of 64.
static void add_written(zip_build *z, bool local, const char *name, uint32_t crc, size_t nbytes,
                        size_t at)
{
    const size_t padding = local ? 64 - (at + 30 + strlen(name) + 4) % 64 : 0;
    add_le(z, 4, local ? 0x04034b50 : 0x02014b50);
    if (!local)
        add_le(z, 2, 20);
    add_le(z, 2, 20);
    add_le(z, 2, 0x0800);
    add_le(z, 2, 0);
    add_le(z, 4, 0x210000);
    add_le(z, 4, crc);
    add_le(z, 4, nbytes);
    add_le(z, 4, nbytes);
    add_le(z, 2, strlen(name));
    add_le(z, 2, local ? 4 + padding : 0);
    if (!local) {
        add_le(z, 8, 0);
        add_le(z, 2, 0);
        add_le(z, 4, at);
    }
    add_bytes(z, name, strlen(name));
    if (!local)
        return;
    add_bytes(z, "FB", 2);
    add_le(z, 2, padding);
    for (size_t i = 0; i < padding; i++)
        add_bytes(z, "Z", 1);
}

// The array's bytes as the tests of npy have them: 128 of header, then elements.
static size_t array_bytes(unsigned char *to, const char *text, const void *elements, size_t nbytes)
{
    memset(to, ' ', 128);
    memcpy(to, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(to + 10, text, strlen(text));
    to[127] = '\n';
    if (nbytes > 0)
        memcpy(to + 128, elements, nbytes);
    return 128 + nbytes;
}

static void the_bytes_of_a_small_archive_are_these(void **unused)
{
    (void)unused;
    static zip_build z;
    static const float values[] = {1, 2, 3};
    unsigned char w[200], e[200], found[2000];
    size_t w_bytes =
        array_bytes(w, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", values, 12);
    size_t e_bytes =
        array_bytes(e, "{'descr': '<i8', 'fortran_order': False, 'shape': (0, 2), }", NULL, 0);
    const uint32_t w_crc = (uint32_t)crc32(0, w, (uInt)w_bytes);
    const uint32_t e_crc = (uint32_t)crc32(0, e, (uInt)e_bytes);
    add_written(&z, true, "net.w.npy", w_crc, w_bytes, 0);
    assert_int_equal(z.at.size, 64);
    add_bytes(&z, w, w_bytes);
    const size_t second = z.at.size;
    add_written(&z, true, "e.npy", e_crc, e_bytes, second);
    assert_int_equal(z.at.size % 64, 0);
    add_bytes(&z, e, e_bytes);
    const size_t first_record = z.at.size;
    add_written(&z, false, "net.w.npy", w_crc, w_bytes, 0);
    add_written(&z, false, "e.npy", e_crc, e_bytes, second);
    const size_t end = z.at.size;
    add_le(&z, 4, 0x06054b50);
    add_le(&z, 4, 0);
    add_le(&z, 4, 2 | 2 << 16);
    add_le(&z, 4, end - first_record);
    add_le(&z, 4, first_record);
    add_le(&z, 2, 0);

    tern_state *state = small_state();
    const char *path = path_of("small.npz");
    assert_int_equal(tern_state_write(state, path), TERN_OK);
    tern_state_free(state);
    assert_int_equal(read_bytes(path, found, sizeof found), z.at.size);
    assert_memory_equal(found, z.bytes, z.at.size);
}

static void assert_not_written(tern_state *state, tern_status code, const char *words)
{
    const char *path = path_of("no.npz");
    assert_int_equal(tern_state_write(state, path), code);
    assert_error(code, words);
    assert_int_equal(access(path, F_OK), -1);
    tern_state_free(state);
}

static void npz_has_tensors_alone(void **unused)
{
    (void)unused;
    tern_state *state = small_state();
    assert_int_equal(tern_state_set_double(state, "lr", 0.1), TERN_OK);
    assert_not_written(state, TERN_ERR_ARG, "npz has tensors alone, and \"lr\" is a number");
    state = small_state();
    tern_tensor *t = tern_zeros(tern_dims(1), .dtype = TERN_BFLOAT16);
    assert_int_equal(tern_state_set_tensor(state, "half", t), TERN_OK);
    assert_not_written(state, TERN_ERR_DTYPE, "\"half\"");
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(arrays_of_savez_have_their_names),
        DATA_TEST(arrays_of_savez_compressed_are_unpacked),
        DATA_TEST(an_archive_without_arrays_is_an_empty_state),
        DATA_TEST(an_archive_is_verified_and_listed),
        DATA_TEST(an_entry_may_have_a_long_header),
        DATA_TEST(names_are_names_and_no_paths),
        DATA_TEST(what_is_written_is_read_again),
        DATA_TEST(the_bytes_of_a_small_archive_are_these),
        DATA_TEST(npz_has_tensors_alone),
    };
    return cmocka_run_group_tests_name("npz", tests, start_group, end_group);
}
