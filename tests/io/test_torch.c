// SPDX-License-Identifier: Apache-2.0
// Files of PyTorch's, made by tests/golden/make_files_torch.py, and those that tern writes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/data_fixture.h"
#include "torch_bytes.h"
#include "support/state_check.h"

static const char *golden(const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/torch_%s", TERN_IO_DATA, name);
    return path;
}

static tern_state *read_golden(const char *name)
{
    tern_state *read = tern_state_read(golden(name));
    if (!read)
        fail_msg("%s", tern_error_message());
    return read;
}

// The tensor has that shape and these elements, row by row.
static void assert_tensor(const tern_state *state, const char *name, tern_shape shape,
                          const double *expected)
{
    tern_tensor *t = tern_state_tensor(state, name);
    if (!t)
        fail_msg("%s", tern_error_message());
    assert_true(tern_shape_equal(tern_shape_of(t), shape));
    tern_tensor *flat = tern_reshape(t, tern_dims(-1));
    for (int64_t i = 0; i < tern_numel(t); i++)
        if (tern_item(tern_select(flat, 0, i)) != expected[i])
            fail_msg("element %d of %s is %g, not %g", (int)i, name,
                     tern_item(tern_select(flat, 0, i)), expected[i]);
}

#define VALUES(...)                                                                                \
    (const double[])                                                                               \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static void assert_int(const tern_state *state, const char *name, int64_t expected)
{
    int64_t value = expected - 1;
    assert_int_equal(tern_state_get_int(state, name, &value), TERN_OK);
    assert_true(value == expected);
}

static void assert_double(const tern_state *state, const char *name, double expected)
{
    double value = expected - 1;
    assert_int_equal(tern_state_type_of(state, name), TERN_STATE_DOUBLE);
    assert_int_equal(tern_state_get_double(state, name, &value), TERN_OK);
    assert_true(value == expected);
}

// ---- reading ------------------------------------------------------------------------------------

// A third's neighbours are by the definitions of the formats.
static const struct {
    const char *name;
    tern_dtype dtype;
    double values[6];
} dtypes[] = {
    {"float32", TERN_FLOAT32, {0, 1, 2, 200, 11184811 / 33554432.0, 5}},
    // The script's numbers are of float32 before they become float64.
    {"float64", TERN_FLOAT64, {0, 1, 2, 200, 11184811 / 33554432.0, 5}},
    {"float16", TERN_FLOAT16, {0, 1, 2, 200, 1365 / 4096.0, 5}},
    {"bfloat16", TERN_BFLOAT16, {0, 1, 2, 200, 171 / 512.0, 5}},
    {"int64", TERN_INT64, {0, 1, 2, 200, 0, 5}},
    {"int32", TERN_INT32, {0, 1, 2, 200, 0, 5}},
    {"uint8", TERN_UINT8, {0, 1, 2, 200, 0, 5}},
    {"bool", TERN_BOOL, {0, 1, 1, 1, 1, 1}},
};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

static void assert_dtypes(const tern_state *read)
{
    assert_int_equal(tern_state_count(read), DTYPES);
    for (int i = 0; i < DTYPES; i++) {
        assert_string_equal(tern_state_name_at(read, i), dtypes[i].name);
        assert_int_equal(tern_dtype_of(tern_state_tensor(read, dtypes[i].name)), dtypes[i].dtype);
        assert_tensor(read, dtypes[i].name, tern_dims(2, 3), dtypes[i].values);
    }
}

static void each_dtype_is_read(void **state)
{
    (void)state;
    tern_state *read = read_golden("dtypes.pt");
    assert_dtypes(read);
    tern_state_free(read);
}

static void big_endian_elements_are_swapped(void **state)
{
    (void)state;
    tern_state *read = read_golden("big.pt");
    assert_dtypes(read);
    tern_state_free(read);
}

static void deflated_entries_are_unpacked(void **state)
{
    (void)state;
    tern_state *read = read_golden("deflated.pt");
    assert_dtypes(read);
    tern_state_free(read);
}

static void a_dtype_that_tern_lacks_is_listed_but_not_loaded(void **state)
{
    (void)state;
    static const char *const lacking[] = {"int16", "int8", "uint16", "float8_e4m3fn", "complex64"};
    char text[2000] = "";
    FILE *list = fmemopen(text, sizeof text, "w");
    assert_int_equal(tern_state_list(golden("others.pt"), list), TERN_OK);
    fclose(list);
    for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++) {
        char pattern[32];
        snprintf(pattern, sizeof pattern, "%s", lacking[i]);
        assert_non_null(strstr(text, lacking[i]));
        assert_null(tern_state_read(golden("others.pt"), .only = pattern));
        assert_error(TERN_ERR_DTYPE, lacking[i]);
    }
    assert_int_equal(tern_state_verify(golden("others.pt")), TERN_OK);
}

// Of make_files_torch.py's shapes(): 0 to 5, seen in several ways.
static void assert_shapes(const tern_state *read, const char *prefix)
{
    char name[64];
#define NAMED(what) (snprintf(name, sizeof name, "%s%s", prefix, what), name)
    assert_tensor(read, NAMED("base"), tern_dims(2, 3), VALUES(0, 1, 2, 3, 4, 5));
    assert_tensor(read, NAMED("column"), tern_dims(2), VALUES(1, 4));
    assert_tensor(read, NAMED("transposed"), tern_dims(3, 2), VALUES(0, 3, 1, 4, 2, 5));
    assert_tensor(read, NAMED("tail"), tern_dims(2), VALUES(4, 5));
    assert_tensor(read, NAMED("tied"), tern_dims(2, 3), VALUES(0, 1, 2, 3, 4, 5));
    assert_tensor(read, NAMED("rows"), tern_dims(2, 3), VALUES(0, 1, 2, 0, 1, 2));
    assert_tensor(read, NAMED("scalar"), tern_dims(), VALUES(-2.5));
    assert_tensor(read, NAMED("empty"), tern_dims(0, 3), VALUES(0));
    float *base = tern_data(tern_state_tensor(read, NAMED("base")));
    assert_ptr_equal(tern_data(tern_state_tensor(read, NAMED("tied"))), base);
    base[4] = 40; // of one storage: a change shows in every view
    assert_tensor(read, NAMED("column"), tern_dims(2), VALUES(1, 40));
    assert_tensor(read, NAMED("transposed"), tern_dims(3, 2), VALUES(0, 3, 1, 40, 2, 5));
    assert_tensor(read, NAMED("tail"), tern_dims(2), VALUES(40, 5));
#undef NAMED
}

static void views_of_one_storage_share_it(void **state)
{
    (void)state;
    tern_state *read = read_golden("shapes.pt");
    assert_int_equal(tern_state_count(read), 8);
    assert_shapes(read, "");
    tern_state_free(read);
}

static void a_file_from_before_1_6_is_read(void **state)
{
    (void)state;
    tern_state *read = read_golden("legacy.pt");
    assert_int_equal(tern_state_count(read), 9);
    assert_shapes(read, "model.");
    assert_tensor(read, "count", tern_dims(2), VALUES(3, 4));
    assert_int_equal(tern_dtype_of(tern_state_tensor(read, "count")), TERN_INT64);
    tern_state_free(read);
}

static void a_tensor_alone_has_a_name(void **state)
{
    (void)state;
    tern_state *read = read_golden("tensor.pt");
    assert_int_equal(tern_state_count(read), 1);
    assert_tensor(read, "tensor", tern_dims(2), VALUES(1.5, -2));
    tern_state_free(read);
}

// Element j of parameter i is j / 8 + i.
static void assert_network(const tern_state *read, const char *prefix)
{
    char name[64];
#define NAMED(what) (snprintf(name, sizeof name, "%s%s", prefix, what), name)
    assert_tensor(read, NAMED("0.weight"), tern_dims(2, 3),
                  VALUES(0, 0.125, 0.25, 0.375, 0.5, 0.625));
    assert_tensor(read, NAMED("0.bias"), tern_dims(2), VALUES(1, 1.125));
    assert_tensor(read, NAMED("2.weight"), tern_dims(1, 2), VALUES(2, 2.125));
    assert_tensor(read, NAMED("2.bias"), tern_dims(1), VALUES(3));
#undef NAMED
}

static void a_state_dict_loads_into_a_module_of_its_shape(void **state)
{
    (void)state;
    tern_module *net =
        tern_nn_sequential(tern_nn_linear(3, 2), tern_nn_relu(), tern_nn_linear(2, 1));
    tern_state *read = read_golden("network.pt");
    assert_int_equal(tern_state_count(read), 4); // _metadata is no value
    assert_int_equal(tern_module_load_state_dict(net, read), TERN_OK);
    tern_state *own = tern_module_state_dict(net);
    assert_network(own, "");
    tern_state_free(own);
    tern_state_free(read);
    tern_module_free(net);
}

// PyTorch's rule: num_batches_tracked came with version 2, which `_metadata` says.
static void a_file_that_says_version_2_must_count_its_batches(void **state)
{
    (void)state;
    tern_state *read = read_golden("batch_norms.pt");
    tern_module *net = tern_nn_sequential(tern_nn_linear(3, 4), tern_nn_batch_norm1d(4));
    assert_int_equal(tern_module_load_state_dict(net, read, .prefix = "whole."), TERN_OK);
    tern_tensor *count = tern_module_buffer(net, "1.num_batches_tracked");
    assert_int_equal(tern_item_int(count), 1);
    assert_int_equal(tern_module_load_state_dict(net, read, .prefix = "older."), TERN_OK);
    assert_int_equal(tern_item_int(count), 1);
    assert_int_equal(tern_module_load_state_dict(net, read, .prefix = "newer."), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "missing 1: \"1.num_batches_tracked\"");
    tern_state *copy = tern_state_copy(read);
    assert_int_equal(tern_module_load_state_dict(net, copy, .prefix = "newer."), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "missing 1: \"1.num_batches_tracked\"");
    tern_state_free(copy);
    tern_state_free(read);
    tern_module_free(net);
}

static void assert_checkpoint(const tern_state *read)
{
    assert_int(read, "epoch", 7);
    assert_int(read, "done", 0);
    assert_int(read, "best", 1);
    assert_int(read, "list.0", 1);
    assert_int(read, "list.4.0", -5);
    assert_int(read, "pair.0", 3);
    assert_int(read, "pair.1", 400);
    assert_int(read, "kilo", 70000);
    assert_int(read, "tera", (int64_t)1 << 40);
    assert_int(read, "minus", -((int64_t)1 << 62));
    assert_int(read, "size.1", 3);
    assert_int(read, "counter.10", 1);
    assert_int(read, "pairs.a", 1);
    assert_int(read, "optimizer.param_groups.0.params.3", 3);
    assert_double(read, "loss", 0.25);
    assert_double(read, "list.1", 2.5);
    assert_double(read, "optimizer.param_groups.0.betas.1", 0.999);
    assert_string_equal(tern_state_text(read, "name"), "r\xc3\xa9sum\xc3\xa9");
    assert_string_equal(tern_state_text(read, "text"), "");
    assert_string_equal(tern_state_text(read, "list.2"), "x");
    assert_string_equal(tern_state_text(read, "5"), "five");
    assert_string_equal(tern_state_text(read, "device"), "cuda:1");
    assert_string_equal(tern_state_text(read, "dtype"), "torch.float16");
    assert_string_equal(tern_state_text(read, "optimizer.param_groups.0.param_names.2"),
                        "2.weight");
    assert_tensor(read, "parameter", tern_dims(2), VALUES(1, 1));
    assert_tensor(read, "optimizer.state.3.step", tern_dims(), VALUES(1));
}

static void a_checkpoint_has_its_values_by_dotted_names(void **state)
{
    (void)state;
    tern_state *read = read_golden("checkpoint.pt");
    assert_checkpoint(read);
    static const char *const absent[] = {"nothing", "empty", "list.3",
                                         "optimizer.param_groups.0.fused"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        assert_int_equal(tern_state_type_of(read, absent[i]), TERN_STATE_UNSPECIFIED);
    tern_state_free(read);
    read = tern_state_read(golden("checkpoint.pt"), .only = "model.*");
    assert_int_equal(tern_state_count(read), 4);
    tern_state_free(read);
}

static void more_than_255_storages_and_values_are_read(void **state)
{
    (void)state;
    tern_state *read = read_golden("many.pt");
    assert_int_equal(tern_state_count(read), 300);
    for (int i = 0; i < 300; i++) {
        char name[32];
        snprintf(name, sizeof name, "layer.%d.weight", i);
        assert_string_equal(tern_state_name_at(read, i), name);
        tern_scope scope_of_one = tern_scope_open();
        assert_tensor(read, name, tern_dims(2), VALUES(i, i));
        tern_scope_close(scope_of_one);
    }
    tern_state_free(read);
}

static void a_file_from_a_device_that_is_not_here_loads_where_it_is_told_to(void **state)
{
    (void)state;
    assert_null(tern_state_read(golden("cuda.pt")));
    assert_error(TERN_ERR_DEVICE, "on CUDA device cuda:1, but no CUDA device is available");
    const char *const places[] = {"cpu", "cuda:1=cpu", "cuda:2=cpu,cuda:1=cpu"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        tern_state *read = tern_state_read(golden("cuda.pt"), .map_location = places[i]);
        if (!read)
            fail_msg("%s", tern_error_message());
        tern_state *cpu = read_golden("network.pt");
        for (int k = 0; k < 4; k++) {
            tern_tensor *a = tern_state_tensor(read, tern_state_name_at(cpu, k));
            tern_tensor *b = tern_state_tensor(cpu, tern_state_name_at(cpu, k));
            assert_memory_equal(tern_data(a), tern_data(b), 4 * (size_t)tern_numel(b));
        }
        tern_state_free(cpu);
        tern_state_free(read);
    }
}

// ---- writing ------------------------------------------------------------------------------------

static void set(tern_status status)
{
    if (status)
        fail_msg("%s", tern_error_message());
}

// Every kind of value, integers at the edges of what an opcode holds among them.
static tern_state *every_kind(void)
{
    static const int64_t integers[] = {0,         255,       256,        65535,     65536,    -1,
                                       INT32_MAX, INT32_MIN, 2147483648, INT64_MAX, INT64_MIN};
    tern_state *s = tern_state_new();
    tern_tensor *matrix =
        tern_reshape(tern_arange(0, 6, 1, .dtype = TERN_FLOAT32), tern_dims(2, 3));
    set(tern_state_set_tensor(s, "base", matrix));
    set(tern_state_set_tensor(s, "transposed", tern_transpose(matrix, 0, 1)));
    set(tern_state_set_tensor(s, "tied", matrix));
    set(tern_state_set_tensor(s, "scalar", tern_full(tern_dims(), 2.5)));
    set(tern_state_set_tensor(s, "empty", tern_zeros(tern_dims(0, 3))));
    for (int i = 0; i < DTYPES; i++)
        set(tern_state_set_tensor(s, dtypes[i].name, tern_to_dtype(matrix, dtypes[i].dtype)));
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        char name[32];
        snprintf(name, sizeof name, "int.%zu", i);
        set(tern_state_set_int(s, name, integers[i]));
    }
    set(tern_state_set_double(s, "double", -0.1));
    set(tern_state_set_double(s, "infinity", INFINITY));
    set(tern_state_set_text(s, "text", "r\xc3\xa9sum\xc3\xa9"));
    set(tern_state_set_text(s, "no text", ""));
    return s;
}

static void every_kind_of_value_is_written_and_read(void **state)
{
    (void)state;
    tern_state *saved = every_kind();
    set(tern_state_write(saved, path_of("all.pt")));
    set(tern_state_verify(path_of("all.pt")));
    tern_state *read = tern_state_read(path_of("all.pt"));
    check_states(saved, read, true);
    assert_ptr_equal(tern_data(tern_state_tensor(read, "base")),
                     tern_data(tern_state_tensor(read, "tied")));
    tern_state_free(read);
    tern_state_free(saved);
}

static void bytes_become_a_tensor(void **state)
{
    (void)state;
    tern_state *saved = tern_state_new();
    set(tern_state_set_bytes(saved, "bytes", "\0\xff\7", 3));
    set(tern_state_set_bytes(saved, "none", NULL, 0));
    set(tern_state_write(saved, path_of("bytes.pt")));
    tern_state *read = tern_state_read(path_of("bytes.pt"));
    assert_int_equal(tern_dtype_of(tern_state_tensor(read, "bytes")), TERN_UINT8);
    assert_tensor(read, "bytes", tern_dims(3), VALUES(0, 255, 7));
    assert_tensor(read, "none", tern_dims(0), VALUES(0));
    tern_state_free(read);
    tern_state_free(saved);
}

static void a_state_without_values_is_written_and_read(void **state)
{
    (void)state;
    tern_state *saved = tern_state_new();
    set(tern_state_write(saved, path_of("empty.pt")));
    tern_state *read = tern_state_read(path_of("empty.pt"));
    assert_int_equal(tern_state_count(read), 0);
    tern_state_free(read);
    tern_state_free(saved);
}

static bool has(const byte_string *in, const void *what, size_t count, size_t *at)
{
    const unsigned char *found = memmem(in->at, in->count, what, count);
    *at = found ? (size_t)(found - in->at) : 0;
    return found;
}

// The pickle written out, as the page on pickles has the opcodes, and where the entries begin.
static void the_bytes_of_a_small_file_are_known(void **state)
{
    (void)state;
    static const float two[] = {1.5f, -2};
    static const char pickle[] = PROTO ORDERED "(" TEXT("\1", "a")
        TENSOR_OF(ID("FloatStorage", KEY("0"), CPU, "K\2"), "K\0", "(K\2t", "(K\1t") TEXT("\1", "b")
            TENSOR_OF(ID("FloatStorage", KEY("0"), CPU, "K\2"), "K\0", "(K\2t", "(K\1t")
                TEXT("\1", "n") "M\x2c\1" TEXT("\1", "x") "G\x3f\xd0\0\0\0\0\0\0" TEXT("\1", "t")
                    TEXT("\2", "hi") "u.";
    size_t at;
    tern_state *saved = tern_state_new();
    tern_tensor *t = tern_from_data(tern_dims(2), two);
    set(tern_state_set_tensor(saved, "a", t));
    set(tern_state_set_tensor(saved, "b", t));
    set(tern_state_set_int(saved, "n", 300));
    set(tern_state_set_double(saved, "x", 0.25));
    set(tern_state_set_text(saved, "t", "hi"));
    set(tern_state_write(saved, path_of("small.pt")));
    set(tern_state_write(saved, path_of("again.pt")));
    byte_string file = read_bytes(path_of("small.pt")), again = read_bytes(path_of("again.pt"));
    assert_true(has(&file, pickle, sizeof pickle - 1, &at) && at % 64 == 0);
    assert_true(has(&file, two, sizeof two, &at) && at % 64 == 0);
    assert_true(has(&file, "archive/data/0", 14, &at));
    assert_false(has(&file, "archive/data/1", 14, &at)); // tied
    assert_int_equal(file.count, again.count);
    assert_memory_equal(file.at, again.at, file.count);
    free_bytes(&file);
    free_bytes(&again);
    tern_state_free(saved);
}

static void a_text_of_more_than_a_megabyte_is_refused(void **state)
{
    (void)state;
    char *text = malloc((1 << 20) + 2);
    memset(text, 'x', (1 << 20) + 1);
    text[(1 << 20) + 1] = 0;
    tern_state *saved = tern_state_new();
    set(tern_state_set_text(saved, "poem", text));
    assert_int_equal(tern_state_write(saved, path_of("text.pt")), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "the text \"poem\" has 1048577 bytes, more than 1048576");
    assert_int_equal(access(path_of("text.pt"), F_OK), -1);
    text[1 << 20] = 0;
    set(tern_state_set_text(saved, "poem", text));
    set(tern_state_write(saved, path_of("text.pt")));
    tern_state *read = tern_state_read(path_of("text.pt"));
    assert_string_equal(tern_state_text(read, "poem"), text);
    tern_state_free(read);
    tern_state_free(saved);
    free(text);
}

static void a_write_that_finds_no_memory_leaves_nothing(void **state)
{
    (void)state;
    tern_state *saved = every_kind();
    tern_status status = TERN_ERR_NOMEM;
    for (int64_t n = 1; status; n++) {
        fail_nth_allocation(n);
        status = tern_state_write(saved, path_of("memory.pt"));
        assert_true(status ? memory.failed > 0 : memory.failed == 0);
        fail_nth_allocation(0);
        assert_int_equal(access(path_of("memory.pt"), F_OK), status ? -1 : 0);
        if (status)
            assert_error(TERN_ERR_NOMEM, "");
    }
    tern_state_free(saved);
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(each_dtype_is_read),
        DATA_TEST(big_endian_elements_are_swapped),
        DATA_TEST(deflated_entries_are_unpacked),
        DATA_TEST(a_dtype_that_tern_lacks_is_listed_but_not_loaded),
        DATA_TEST(views_of_one_storage_share_it),
        DATA_TEST(a_file_from_before_1_6_is_read),
        DATA_TEST(a_tensor_alone_has_a_name),
        DATA_TEST(a_state_dict_loads_into_a_module_of_its_shape),
        DATA_TEST(a_file_that_says_version_2_must_count_its_batches),
        DATA_TEST(a_checkpoint_has_its_values_by_dotted_names),
        DATA_TEST(more_than_255_storages_and_values_are_read),
        DATA_TEST(a_file_from_a_device_that_is_not_here_loads_where_it_is_told_to),
        DATA_TEST(every_kind_of_value_is_written_and_read),
        DATA_TEST(bytes_become_a_tensor),
        DATA_TEST(a_state_without_values_is_written_and_read),
        DATA_TEST(the_bytes_of_a_small_file_are_known),
        DATA_TEST(a_text_of_more_than_a_megabyte_is_refused),
        DATA_TEST(a_write_that_finds_no_memory_leaves_nothing),
    };
    return cmocka_run_group_tests_name("torch", tests, start_group, end_group);
}
