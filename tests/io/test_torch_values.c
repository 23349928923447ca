// SPDX-License-Identifier: Apache-2.0
// What stands beside weights in PyTorch's files: values that are read, and those that are named and
// passed by. The files are made by tests/golden/make_files_torch.py.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/data_fixture.h"
#include "torch_bytes.h"

static const char *golden(const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/torch_%s.pt", TERN_IO_DATA, name);
    return path;
}

static tern_state *read_only(const char *name, const char *only)
{
    tern_state *read = tern_state_read(golden(name), .only = only);
    if (!read)
        fail_msg("%s: %s", only ? only : name, tern_error_message());
    return read;
}

static void assert_elements(const tern_state *state, const char *name, float value)
{
    tern_tensor *t = tern_state_tensor(state, name);
    assert_non_null(t);
    assert_int_equal(tern_numel(t), 2);
    assert_true(((float *)tern_data(t))[0] == value && ((float *)tern_data(t))[1] == value);
}

static void assert_int(const tern_state *state, const char *name, int64_t expected)
{
    int64_t value = ~expected;
    assert_int_equal(tern_state_get_int(state, name, &value), TERN_OK);
    assert_true(value == expected);
}

static void assert_bytes(const tern_state *state, const char *name, const char *expected,
                         size_t expected_size)
{
    size_t size;
    const void *bytes = tern_state_bytes(state, name, &size);
    assert_non_null(bytes);
    assert_int_equal(size, expected_size);
    assert_memory_equal(bytes, expected, size);
}

// ---- what is read -------------------------------------------------------------------------------

static void sets_bytes_and_layouts_are_read(void **state)
{
    (void)state;
    tern_state *read = read_only("beside", "[!clsmzqnrkd]*"); // by its first letter
    assert_bytes(read, "bytes", "ab\xff\0\x80", 5);
    assert_bytes(read, "bytearray", "cd", 2);
    assert_string_equal(tern_state_text(read, "texts.0"), "x");
    assert_int(read, "int64.0", INT64_MAX);
    assert_int(read, "int64.1", INT64_MIN);
    assert_int(read, "ordered.a", 1);
    tern_state_free(read);
    read = read_only("beside", "set.*");
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "set.%d", i);
        assert_int(read, name, i + 1); // small integers lie in a set by their value
    }
    assert_int_equal(tern_state_count(read), 3);
    tern_state_free(read);
    read = read_only("beside", "layout");
    assert_string_equal(tern_state_text(read, "layout"), "torch.strided");
    tern_state_free(read);
}

static void tensors_with_attributes_are_read_without_them(void **state)
{
    (void)state;
    char text[4000] = "";
    static const char *const names[] = {"w", "parameter", "tensor", "buffer"};
    static const float values[] = {1, 3, 4, 5};
    for (int i = 0; i < 4; i++) {
        tern_state *read = read_only("beside", names[i]);
        assert_elements(read, names[i], values[i]);
        tern_state_free(read);
    }
    // Two of the parameter, the tensor and the dictionary, and two that a buffer has.
    FILE *list = fmemopen(text, sizeof text, "w");
    assert_int_equal(tern_state_list(golden("beside"), list), TERN_OK);
    fclose(list);
    assert_non_null(strstr(text, "attributes: 8"));
}

static void protocol_3_is_read(void **state)
{
    (void)state;
    tern_state *read = read_only("protocol_3", NULL);
    assert_elements(read, "w", 1);
    assert_int(read, "set.0", 1);
    tern_state_free(read);
    read = read_only("legacy_3", NULL);
    assert_elements(read, "w", 1);
    tern_state_free(read);
    read = read_only("bytes_3", NULL); // which torch.load refuses
    assert_elements(read, "w", 1);
    assert_bytes(read, "bytes", "ab\xff\0\x80", 5);
    tern_state_free(read);
}

static void protocol_4_is_refused_as_torch_load_does(void **state)
{
    (void)state;
    assert_null(tern_state_read(golden("protocol_4")));
    assert_error(TERN_ERR_FORMAT, "is of protocol 4, which torch.load does not read either");
}

// Python 2's texts, a set by its opcode, a parameter by NEWOBJ and a tensor of PyTorch 0.3.
static void opcodes_of_older_files_are_read(void **state)
{
    (void)state;
    static const char pickle[] =
        PROTO "}(U\1ac__builtin__\nset\n]K\7a\x85RU\1b\x8fU\1c"
              "ctorch.nn.parameter\nParameter\nctorch._utils\n_rebuild_tensor\n(" FLOATS
              "K\0K\6\x85K\1\x85tR\x85\x81u.";
    byte_string zip = archive_of_pickle(pickle, sizeof pickle - 1);
    tern_state *read = tern_state_read(write_file("older", zip.at, zip.count));
    free_bytes(&zip);
    if (!read)
        fail_msg("%s", tern_error_message());
    assert_int(read, "a.0", 7);
    assert_int_equal(tern_state_count(read), 2);
    assert_memory_equal(tern_data(tern_state_tensor(read, "c")), elements, sizeof elements);
    tern_state_free(read);
}

// ---- what is passed by --------------------------------------------------------------------------

static const struct {
    const char *file, *name, *words;
} unreadable[] = {
    {"beside", "complex", "is a complex number"},
    {"beside", "long", "is an integer of 9 bytes"},
    {"beside", "sparse", "needs Python's torch._utils._rebuild_sparse_tensor"},
    {"beside", "meta", "needs Python's torch._utils._rebuild_meta_tensor_no_storage"},
    {"beside", "zero", "is a text with the byte 0"},
    {"beside", "surrogate", "is a text that is not UTF-8"},
    {"beside", "quantized", "needs Python's torch._utils._rebuild_qtensor"},
    {"beside", "negative", "is a tensor that is the negative or the conjugate"},
    {"beside", "rank", "is a tensor of more than 8 dimensions"},
    {"beside", "storage", "is a storage and no tensor"},
    {"beside", "keys.key 0", "has a key that is no text and no integer"},
    {"beside", "keys.key 1", "has a key that is no text and no integer"},
    {"beside", "keys.key 2", "has a key that is no text and no integer"},
    {"beside", "qscheme", "needs Python's torch.per_tensor_affine"},
    {"beside", "dtype", "needs Python's torch.uint4"},
    {"objects", "deque", "needs Python's collections.deque"},
    {"objects", "default", "needs Python's collections.defaultdict"},
    {"objects", "frozen", "needs Python's builtins.frozenset"},
    {"objects", "args", "needs Python's argparse.Namespace"},
    {"objects", "range", "needs Python's builtins.xrange"},
};

static void each_value_that_cannot_be_read_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof unreadable / sizeof *unreadable; i++) {
        char name[64];
        snprintf(name, sizeof name, "\"%s\" in ", unreadable[i].name);
        assert_null(tern_state_read(golden(unreadable[i].file), .only = unreadable[i].name));
        assert_non_null(strstr(tern_error_message(), name));
        assert_non_null(strstr(tern_error_message(), unreadable[i].words));
        assert_error(TERN_ERR_FORMAT, "which tern cannot load; .only reads the others");
    }
    assert_null(tern_state_read(golden("objects")));
    assert_error(TERN_ERR_FORMAT, "needs Python's");
}

static void only_passes_by_what_cannot_be_read(void **state)
{
    (void)state;
    tern_state *read = read_only("objects", "model.*");
    assert_int_equal(tern_state_count(read), 1);
    assert_elements(read, "model.w", 1);
    tern_state_free(read);
    assert_int_equal(tern_state_verify(golden("objects")), TERN_OK);
    assert_int_equal(tern_state_verify(golden("beside")), TERN_OK);
}

static void the_list_has_what_cannot_be_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof unreadable / sizeof *unreadable; i++) {
        char text[8000] = "", line[128];
        FILE *list = fmemopen(text, sizeof text, "w");
        assert_int_equal(tern_state_list(golden(unreadable[i].file), list), TERN_OK);
        fclose(list);
        snprintf(line, sizeof line, "\n  %s ", unreadable[i].name);
        assert_non_null(strstr(text, line));
        assert_non_null(strstr(text, unreadable[i].words));
    }
}

// ---- without checksums --------------------------------------------------------------------------

static int told;

static void count_lines(tern_log_level level, const char *line, void *user)
{
    told += level == TERN_LOG_WARN && strstr(line, user) && strstr(line, "has no checksums");
}

static void verify_says_which_file_has_no_checksums(void **state)
{
    (void)state;
    const char *path = golden("no_checksums");
    tern_set_log(count_lines, (void *)(uintptr_t)path);
    told = 0;
    assert_int_equal(tern_state_verify(path), TERN_OK);
    assert_int_equal(told, 1);
    path = golden("protocol_3");
    assert_int_equal(tern_state_verify(path), TERN_OK);
    assert_int_equal(told, 1);
    tern_set_log(NULL, NULL);
}

// All are left out, or none.
static void a_file_is_read_without_checksums(void **state)
{
    (void)state;
    tern_state *read = read_only("no_checksums", NULL);
    assert_elements(read, "w", 1);
    tern_state_free(read);
    const uint32_t pickle_sum =
        (uint32_t)crc32(0, (const void *)DICT(TENSOR), sizeof(DICT(TENSOR)) - 1);
    const uint32_t data_sum = (uint32_t)crc32(0, (const void *)elements, sizeof elements);
    const uint32_t version_sum = (uint32_t)crc32(0, (const void *)"3\n", 2);
    for (int kept = 0; kept < 4; kept++) { // 3: none is kept
        const entry entries[] = {
            {"t/data.pkl", DICT(TENSOR), sizeof(DICT(TENSOR)) - 1, kept == 0 ? 0 : pickle_sum},
            {"t/data/0", elements, sizeof elements, kept == 1 ? 0 : data_sum},
            {"t/version", "3\n", 2, kept == 2 ? 0 : version_sum}};
        byte_string zip = archive_of(entries, 3);
        read = tern_state_read(write_file("some", zip.at, zip.count));
        free_bytes(&zip);
        assert_int_equal(read != NULL, kept == 3);
        if (!read)
            assert_error(TERN_ERR_FORMAT, "checksum");
        tern_state_free(read);
    }
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(sets_bytes_and_layouts_are_read),
        DATA_TEST(tensors_with_attributes_are_read_without_them),
        DATA_TEST(protocol_3_is_read),
        DATA_TEST(protocol_4_is_refused_as_torch_load_does),
        DATA_TEST(opcodes_of_older_files_are_read),
        DATA_TEST(each_value_that_cannot_be_read_is_named),
        DATA_TEST(only_passes_by_what_cannot_be_read),
        DATA_TEST(the_list_has_what_cannot_be_read),
        DATA_TEST(verify_says_which_file_has_no_checksums),
        DATA_TEST(a_file_is_read_without_checksums),
    };
    return cmocka_run_group_tests_name("torch_values", tests, start_group, end_group);
}
