// SPDX-License-Identifier: Apache-2.0
// Windows of a text, for language models.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data_fixture.h"

static const char *text(const char *words)
{
    return write_file("a.txt", words, strlen(words));
}

static void assert_window(tern_dataset *set, int64_t index, int64_t length, const char *words)
{
    tern_sample s;
    assert_int_equal(tern_dataset_item(set, index, &s), TERN_OK);
    assert_int_equal(tern_dtype_of(s.x), TERN_INT64);
    assert_int_equal(tern_dtype_of(s.y), TERN_INT64);
    assert_true(tern_shape_equal(tern_shape_of(s.x), tern_dims(length)));
    assert_true(tern_shape_equal(tern_shape_of(s.y), tern_dims(length)));
    for (int64_t i = 0; i < length; i++) {
        assert_int_equal(((int64_t *)tern_data(s.x))[i], (unsigned char)words[i]);
        assert_int_equal(((int64_t *)tern_data(s.y))[i], (unsigned char)words[i + 1]);
    }
}

static void y_is_x_one_further(void **state)
{
    (void)state;
    tern_dataset *set = tern_data_text(text("abcdefg\xFF"), 3);
    assert_int_equal(tern_dataset_count(set), 2); // "abc" and "def", each with what follows
    assert_window(set, 0, 3, "abcd");
    assert_window(set, 1, 3, "defg");
    assert_int_equal(tern_dataset_class_count(set), 256);
    char name[32];
    assert_true(tern_dataset_sample_name(set, 1, name, sizeof name));
    assert_string_equal(name, "byte 3 of a.txt");
    tern_dataset_free(set);
}

static void windows_may_overlap_and_leave_gaps(void **state)
{
    (void)state;
    tern_dataset *every = tern_data_text(text("abcdefg\xFF"), 3, .stride = 1);
    assert_int_equal(tern_dataset_count(every), 5);
    assert_window(every, 4, 3, "efg\xFF");
    tern_dataset *gaps = tern_data_text(path_of("a.txt"), 1, .stride = 3);
    assert_int_equal(tern_dataset_count(gaps), 3);
    assert_window(gaps, 2, 1, "g\xFF");
    tern_free(every, gaps);
}

static void a_batch_has_the_windows_asked_for(void **state)
{
    (void)state;
    tern_dataset *set = tern_data_text(text("abcdefg"), 2, .stride = 1);
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, (int64_t[]){4, 0}, 2, &b), TERN_OK);
    assert_memory_equal(tern_data(b.x), ((int64_t[]){'e', 'f', 'a', 'b'}), 32);
    assert_memory_equal(tern_data(b.y), ((int64_t[]){'f', 'g', 'b', 'c'}), 32);
    tern_dataset_free(set);
}

static void tokens_may_have_two_or_four_bytes(void **state)
{
    (void)state;
    const unsigned char bytes[] = {1, 0, 0x50, 0xC3, 3, 0, 4, 1};
    const char *path = write_file("tokens.bin", bytes, sizeof bytes);
    tern_dataset *two = tern_data_text(path, 3, .token_bytes = 2);
    tern_dataset *four = tern_data_text(path, 1, .token_bytes = 4);
    tern_batch b;
    assert_int_equal(tern_dataset_get(two, (int64_t[]){0}, 1, &b), TERN_OK);
    assert_memory_equal(tern_data(b.x), ((int64_t[]){1, 50000, 3}), 24);
    assert_memory_equal(tern_data(b.y), ((int64_t[]){50000, 3, 260}), 24);
    assert_int_equal(tern_dataset_get(four, (int64_t[]){0}, 1, &b), TERN_OK);
    assert_memory_equal(tern_data(b.x), ((int64_t[]){0xC3500001}), 8);
    assert_int_equal(tern_dataset_class_count(two), 65536);
    assert_int_equal(tern_dataset_class_count(four), INT64_C(1) << 32);
    tern_free(two, four);
}

static void files_that_are_too_short_or_uneven_are_refused(void **state)
{
    (void)state;
    assert_null(tern_data_text(text("abc"), 3));
    assert_error(TERN_ERR_FORMAT, "a.txt has 3 tokens, fewer than the 3 of a window");
    tern_dataset *set = tern_data_text(text("abcd"), 3);
    assert_int_equal(tern_dataset_count(set), 1);
    tern_dataset_free(set);
    assert_null(tern_data_text(text("abcde"), 1, .token_bytes = 2));
    assert_error(TERN_ERR_FORMAT, "a.txt has 5 bytes, which are no tokens of 2 bytes each");
    assert_null(tern_data_text(text(""), 1));
    assert_error(TERN_ERR_FORMAT, "a.txt has 0 tokens");
    assert_null(tern_data_text(directory, 1));
    assert_error(TERN_ERR_IO, "is a directory");
}

static void a_text_that_changes_names_its_sample(void **state)
{
    (void)state;
    tern_dataset *set = tern_data_text(text("abcdefg"), 2);
    tern_batch b;
    assert_int_equal(truncate(path_of("a.txt"), 4), 0);
    assert_true(tern_dataset_get(set, (int64_t[]){2}, 1, &b) != TERN_OK);
    assert_true(strstr(tern_error_message(), "a.txt was written to") != NULL);
    assert_error(TERN_ERR_IO, "[in sample 2 of data_text, from byte 4 of a.txt]");
    tern_dataset_free(set);
}

static void without_memory_no_text(void **state)
{
    (void)state;
    const char *path = text("abcdefg");
    for (int64_t n = 1;; n++) {
        tern_scope inner = tern_scope_open();
        const int64_t before = memory.bytes;
        tern_batch b;
        fail_nth_allocation(n);
        tern_dataset *set = tern_data_text(path, 2);
        tern_status status =
            set ? tern_dataset_get(set, (int64_t[]){2, 0}, 2, &b) : tern_error_code();
        const bool failed = memory.calls >= n;
        fail_nth_allocation(0);
        assert_int_equal(status, failed ? TERN_ERR_NOMEM : TERN_OK);
        tern_error_clear();
        tern_dataset_free(set);
        tern_scope_close(inner);
        (void)tern_memory_trim();
        assert_true(memory.bytes <= before);
        if (!failed) {
            assert_true(n > 3);
            return;
        }
    }
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(y_is_x_one_further),
        DATA_TEST(windows_may_overlap_and_leave_gaps),
        DATA_TEST(a_batch_has_the_windows_asked_for),
        DATA_TEST(tokens_may_have_two_or_four_bytes),
        DATA_TEST(files_that_are_too_short_or_uneven_are_refused),
        DATA_TEST(a_text_that_changes_names_its_sample),
        DATA_TEST(without_memory_no_text),
    };
    return cmocka_run_group_tests_name("text_dataset", tests, start_group, end_group);
}
