// SPDX-License-Identifier: Apache-2.0
// Memory that is not there while a file is written: an error, and the file stays as it was.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/data_fixture.h"

// Tensors, one of them tied, one turned, and, where the format takes them, all other values.
static tern_state *make_state(bool one, bool others)
{
    tern_state *s = tern_state_new();
    tern_tensor *t = tern_arange(0, 6, 1, .dtype = TERN_FLOAT32);
    tern_tensor *turned = tern_transpose(tern_reshape(t, tern_dims(2, 3)), 0, 1);
    assert_int_equal(tern_state_set_tensor(s, "turned", turned), TERN_OK);
    if (!one) {
        assert_int_equal(tern_state_set_tensor(s, "first", t), TERN_OK);
        assert_int_equal(tern_state_set_tensor(s, "tied", t), TERN_OK);
    }
    if (others) {
        assert_int_equal(tern_state_set_int(s, "int", 1 << 30), TERN_OK);
        assert_int_equal(tern_state_set_double(s, "double", 0.1), TERN_OK);
        assert_int_equal(tern_state_set_text(s, "text", "\"quoted\"\n"), TERN_OK);
        assert_int_equal(tern_state_set_bytes(s, "bytes", "abc", 3), TERN_OK);
    }
    return s;
}

static void assert_still_old(const char *path)
{
    char bytes[4];
    FILE *file = fopen(path, "rb");
    assert_true(file && fread(bytes, 1, sizeof bytes, file) == 3);
    fclose(file);
    assert_memory_equal(bytes, "old", 3);
    assert_int_equal(files_in_directory(), 1);
}

static void check(const char *name, bool one, bool others)
{
    tern_state *s = make_state(one, others);
    const char *path = write_file(name, "old", 3);
    for (int64_t n = 1;; n++) {
        const int64_t before = memory.bytes;
        fail_nth_allocation(n);
        const tern_status status = tern_state_write(s, path);
        const bool failed = memory.failed > 0;
        fail_nth_allocation(0);
        assert_int_equal(memory.bytes, before);
        if (!failed) {
            assert_int_equal(status, TERN_OK);
            assert_true(n > 3);
            break;
        }
        assert_int_equal(status, TERN_ERR_NOMEM);
        assert_error(TERN_ERR_NOMEM, "no memory");
        assert_still_old(path);
    }
    tern_state *read = tern_state_read(path);
    assert_non_null(read);
    assert_int_equal(tern_state_count(read), tern_state_count(s));
    tern_state_free(read);
    tern_state_free(s);
    unlink(path);
}

static void no_memory_for_safetensors_leaves_the_file(void **state)
{
    (void)state;
    check("a.safetensors", false, true);
}

static void no_memory_for_pytorchs_format_leaves_the_file(void **state)
{
    (void)state;
    check("a.pt", false, true);
}

static void no_memory_for_npz_leaves_the_file(void **state)
{
    (void)state;
    check("a.npz", false, false);
}

static void no_memory_for_npy_leaves_the_file(void **state)
{
    (void)state;
    check("a.npy", true, false);
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(no_memory_for_safetensors_leaves_the_file),
        DATA_TEST(no_memory_for_pytorchs_format_leaves_the_file),
        DATA_TEST(no_memory_for_npz_leaves_the_file),
        DATA_TEST(no_memory_for_npy_leaves_the_file),
    };
    return cmocka_run_group_tests_name("write_memory", tests, start_group, end_group);
}
