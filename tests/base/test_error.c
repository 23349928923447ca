// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tern/memory.h>

#include "base/error.h"
#include "base/path.h"
#include "base/path_table.h"
#include "base/text.h"

// What the log callback saw.
static struct {
    int lines;
    tern_log_level level;
    char last[1024];
} seen;

static void record(tern_log_level level, const char *line, void *user)
{
    assert_ptr_equal(user, &seen);
    seen.lines++;
    seen.level = level;
    snprintf(seen.last, sizeof seen.last, "%s", line);
}

static int fresh(void **state)
{
    (void)state;
    tern_error_clear();
    memset(&seen, 0, sizeof seen);
    tern_set_log(record, &seen);
    errno = 0;
    return 0;
}

static void nothing_is_pending_at_the_start(void **state)
{
    (void)state;
    assert_false(tern_error_pending());
    assert_int_equal(tern_error_code(), TERN_OK);
    assert_string_equal(tern_error_message(), "");
    assert_int_equal(tern_error_print(NULL), 0);
    assert_int_equal(tern_error_take(NULL, 0), TERN_OK);
}

static void the_first_error_stays_and_all_go_to_the_log(void **state)
{
    (void)state;
    assert_int_equal(tern_error_raise(TERN_ERR_SHAPE, "add: %d and %d", 2, 3), TERN_ERR_SHAPE);
    assert_int_equal(seen.lines, 1);
    assert_int_equal(seen.level, TERN_LOG_ERROR);
    assert_string_equal(seen.last, "add: 2 and 3");
    assert_int_equal(tern_error_raise(TERN_ERR_IO, "later"), TERN_ERR_IO);
    assert_int_equal(tern_error_code(), TERN_ERR_SHAPE);
    assert_string_equal(tern_error_message(), "add: 2 and 3");
    assert_int_equal(seen.lines, 2);
    assert_int_equal(seen.level, TERN_LOG_LATER_ERROR);
    assert_string_equal(seen.last, "later");
    tern_error_clear();
    (void)tern_error_raise(TERN_ERR_ARG, "first again");
    assert_int_equal(seen.level, TERN_LOG_ERROR);
}

static void an_error_that_is_held_back_is_told_once_if_it_stays(void **state)
{
    (void)state;
    tern_error_delay();
    (void)tern_error_raise(TERN_ERR_NOMEM, "no bytes");
    tern_error_clear();
    tern_error_report();
    assert_int_equal(seen.lines, 0);
    tern_error_delay();
    (void)tern_error_raise(TERN_ERR_NOMEM, "no bytes");
    tern_error_clear();
    (void)tern_error_raise(TERN_ERR_NOMEM, "no bytes for a table");
    assert_int_equal(seen.lines, 0);
    tern_error_report();
    tern_error_report();
    assert_int_equal(seen.lines, 1);
    assert_int_equal(seen.level, TERN_LOG_ERROR);
    assert_string_equal(seen.last, "no bytes for a table");
}

static void printing_writes_the_sentence_and_clears(void **state)
{
    (void)state;
    char text[1024] = "";
    FILE *file = fmemopen(text, sizeof text, "w");
    assert_non_null(file);
    (void)tern_error_raise(TERN_ERR_ARG, "lr is -1");
    assert_int_equal(tern_error_print(file), 1);
    assert_int_equal(tern_error_print(file), 0);
    fclose(file);
    const char *sentence = "tern: lr is -1\n", *place = text + strlen(sentence);
    assert_memory_equal(text, sentence, strlen(sentence));
    assert_memory_equal(place, "  at ", 5);
    assert_ptr_equal(strchr(place, '\n'), text + strlen(text) - 1); // one line
    assert_false(tern_error_pending());
}

static void taking_copies_what_fits_and_clears(void **state)
{
    (void)state;
    char text[5] = "????";
    (void)tern_error_raise(TERN_ERR_INDEX, "label 12");
    assert_int_equal(tern_error_take(text, sizeof text), TERN_ERR_INDEX);
    assert_string_equal(text, "labe");
    assert_int_equal(tern_error_take(text, sizeof text), TERN_OK);
    assert_string_equal(text, "");
}

static void a_long_sentence_is_cut_between_characters(void **state)
{
    (void)state;
    char text[1201];
    for (int shift = 0; shift < 3; shift++) {
        memset(text, 'x', (size_t)shift);
        for (int i = shift; i + 3 <= 1200; i += 3)
            memcpy(text + i, "\xE2\x82\xAC", 4); // the euro sign, 3 bytes
        tern_error_clear();
        (void)tern_error_raise(TERN_ERR_FORMAT, "%s", text);
        const char *sentence = tern_error_message();
        size_t length = strlen(sentence);
        assert_in_range(length, TERN_MESSAGE_SIZE - 6, TERN_MESSAGE_SIZE - 1);
        assert_string_equal(sentence + length - 3, "...");
        assert_int_equal((length - 3 - (size_t)shift) % 3, 0);
        assert_memory_equal(sentence, text, length - 3);
    }
}

static void a_sentence_that_just_fits_is_whole(void **state)
{
    (void)state;
    char text[TERN_MESSAGE_SIZE + 1];
    memset(text, 'y', sizeof text);
    text[TERN_MESSAGE_SIZE - 1] = 0;
    (void)tern_error_raise(TERN_ERR_FORMAT, "%s", text);
    assert_string_equal(tern_error_message(), text);
}

static void control_characters_from_files_do_not_reach_the_terminal(void **state)
{
    (void)state;
    (void)tern_error_raise(TERN_ERR_FORMAT, "tensor '%s'", "a\x1B[2J\nb\x7F");
    assert_string_equal(tern_error_message(), "tensor 'a?[2J?b?'");
}

static uint32_t child(uint32_t parent, const char *name, const char *class_name)
{
    uint32_t path;
    assert_int_equal(tern_path_child(parent, name, class_name, &path), TERN_OK);
    return path;
}

static void a_sentence_ends_with_the_module_path(void **state)
{
    (void)state;
    const uint32_t root = child(0, NULL, "Sequential"), block = child(root, "0", "Block");
    const uint32_t layer = child(block, "fc1", "Linear");
    tern_path_set(root);
    (void)tern_error_raise(TERN_ERR_SHAPE, "a");
    assert_string_equal(tern_error_message(), "a [in Sequential]");
    tern_error_clear();
    tern_path_set(layer);
    (void)tern_error_raise(TERN_ERR_SHAPE, "b");
    assert_string_equal(tern_error_message(), "b [in 0.fc1 (Linear)]");
    (void)tern_error_raise(TERN_ERR_SHAPE, "c");
    assert_string_equal(seen.last, "c [in 0.fc1 (Linear)]");
    tern_error_clear();
    tern_path_set(block);
    (void)tern_error_raise(TERN_ERR_SHAPE, "d");
    assert_string_equal(tern_error_message(), "d [in 0 (Block)]");
    tern_error_clear();
    tern_path_set(0);
    (void)tern_error_raise(TERN_ERR_SHAPE, "e");
    assert_string_equal(tern_error_message(), "e");
}

static void a_long_path_keeps_its_inner_end_and_a_long_sentence_its_path(void **state)
{
    (void)state;
    char text[1000];
    memset(text, 'z', sizeof text);
    text[sizeof text - 1] = 0;
    for (int i = 0; i < 100; i++)
        tern_path_set(child(tern_path_current(), i == 99 ? "last" : "layer", "Linear"));
    (void)tern_error_raise(TERN_ERR_SHAPE, "%s", text);
    tern_path_set(0);
    const char *end = ".layer.last (Linear)]";
    const char *sentence = tern_error_message();
    assert_int_equal(strlen(sentence), TERN_MESSAGE_SIZE - 1);
    assert_string_equal(sentence + strlen(sentence) - strlen(end), end);
    assert_non_null(strstr(sentence, "zzz... [in "));
}

static void a_path_has_one_number_until_shutdown(void **state)
{
    (void)state;
    char text[64];
    tern_shutdown();
    const uint32_t root = child(0, NULL, "Sequential"), layer = child(root, "0", "Linear");
    assert_int_equal(child(root, "0", "Linear"), layer);
    assert_int_not_equal(child(root, "1", "Linear"), layer);
    assert_int_not_equal(child(root, "0", "ReLU"), layer);
    assert_int_not_equal(child(layer, "0", "Linear"), layer);
    tern_path_format(layer, text, sizeof text);
    assert_string_equal(text, "0 (Linear)");
    tern_shutdown();
    tern_path_format(layer, text, sizeof text);
    assert_string_equal(text, "");
    const uint32_t other = child(child(0, NULL, "Sequential"), "9", "Tanh");
    assert_true(other > child(0, NULL, "Sequential") && other != layer);
    tern_path_format(layer, text, sizeof text);
    assert_string_equal(text, "");
    tern_path_format(other, text, sizeof text);
    assert_string_equal(text, "9 (Tanh)");
}

static void a_full_table_of_paths_forgets_all_and_reuses_no_number(void **state)
{
    (void)state;
    char text[64];
    tern_shutdown();
    const uint32_t root = child(0, NULL, "Sequential");
    uint32_t path = root;
    for (int i = 1; i < TERN_PATH_BLOCKS * TERN_PATH_BLOCK_ENTRIES; i++)
        path = child(path, "0", "Linear");
    const uint32_t added = child(path, "1", "Tanh");
    tern_path_format(added, text, sizeof text);
    assert_string_equal(text, "1 (Tanh)");
    for (uint32_t old = root; old < added; old++) {
        tern_path_format(old, text, sizeof text);
        assert_string_equal(text, "");
    }
    tern_shutdown();
}

static void null_is_named_unless_an_error_is_pending(void **state)
{
    (void)state;
    assert_int_equal(tern_null_error("tern_relu", "x"), TERN_ERR_NULL);
    assert_string_equal(tern_error_message(), "tern_relu: x is NULL");
    tern_error_clear();
    (void)tern_error_raise(TERN_ERR_NOMEM, "first");
    seen.lines = 0;
    assert_int_equal(tern_null_error("tern_relu", "x"), TERN_ERR_NOMEM);
    assert_int_equal(seen.lines, 0);
    assert_string_equal(tern_error_message(), "first");
}

static tern_status checked(int value)
{
    TERN_CHECK(value > 0, TERN_ERR_ARG, "value is %d", value);
    return TERN_OK;
}

static const char *checked_pointer(int value)
{
    TERN_CHECK_PTR(value > 0, TERN_ERR_INDEX, "value is %d", value);
    return "fine";
}

static void checks_fail_the_function_they_stand_in(void **state)
{
    (void)state;
    assert_int_equal(checked(1), TERN_OK);
    assert_non_null(checked_pointer(1));
    assert_false(tern_error_pending());
    assert_int_equal(checked(0), TERN_ERR_ARG);
    assert_string_equal(tern_error_message(), "value is 0");
    tern_error_clear();
    assert_null(checked_pointer(-1));
    assert_int_equal(tern_error_code(), TERN_ERR_INDEX);
}

static void a_failure_never_reads_as_a_success(void **state)
{
    (void)state;
    assert_int_not_equal(tern_error_raise(TERN_OK, "odd"), TERN_OK);
    assert_true(tern_error_pending());
}

static void every_code_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int i = TERN_OK; i <= TERN_ERR_NUMERIC; i++)
        for (int j = TERN_OK; j <= TERN_ERR_NUMERIC; j++)
            assert_int_equal(
                strcmp(tern_status_name((tern_status)i), tern_status_name((tern_status)j)) == 0,
                i == j);
    assert_string_equal(tern_status_name(TERN_ERR_SHAPE), "shape");
    assert_string_equal(tern_status_name((tern_status)99), "unknown");
    assert_string_equal(tern_status_name((tern_status)-1), "unknown");
}

static void *raise_elsewhere(void *sentence)
{
    bool clean = !tern_error_pending();
    (void)tern_error_raise(TERN_ERR_IO, "elsewhere");
    strcpy(sentence, tern_error_message());
    return clean ? sentence : NULL;
}

static void errors_are_per_thread(void **state)
{
    (void)state;
    (void)tern_error_raise(TERN_ERR_SHAPE, "here");
    char sentence[TERN_MESSAGE_SIZE];
    pthread_t thread;
    void *result;
    assert_int_equal(pthread_create(&thread, NULL, raise_elsewhere, sentence), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, sentence);
    assert_string_equal(sentence, "elsewhere");
    assert_string_equal(tern_error_message(), "here");
}

static void errno_is_kept(void **state)
{
    (void)state;
    char text[1000];
    memset(text, 'z', sizeof text);
    text[sizeof text - 1] = 0;
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    setvbuf(full, NULL, _IONBF, 0);
    errno = ERANGE;
    (void)tern_error_raise(TERN_ERR_IO, "%s %g", text, 0.5);
    (void)tern_error_raise(TERN_ERR_IO, "again");
    tern_log_send(TERN_LOG_INFO, "info");
    (void)tern_error_print(full);
    assert_int_equal(errno, ERANGE);
    fclose(full);
}

// The callback may use the library: its own lines are dropped, and it may take itself away.
static void talkative(tern_log_level level, const char *line, void *user)
{
    (void)level;
    (void)line;
    ++*(int *)user;
    tern_log_send(TERN_LOG_WARN, "from inside");
    tern_set_log(NULL, NULL);
}

static void a_callback_may_call_the_library(void **state)
{
    (void)state;
    int calls = 0;
    tern_set_log(talkative, &calls);
    tern_log_send(TERN_LOG_WARN, "one");
    tern_log_send(TERN_LOG_WARN, "two");
    assert_int_equal(calls, 1);
}

// A locale with a decimal comma: an installed one, else one made in a folder of its own.
static const char *comma_locale(void)
{
    const char *name = setlocale(LC_ALL, "de_DE.UTF-8");
    char folder[] = "/tmp/tern-locale-XXXXXX";
    if (name || !mkdtemp(folder))
        return name;
    char command[128];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1",
             folder);
    if (system(command) == 0) {
        setenv("LOCPATH", folder, 1);
        name = setlocale(LC_ALL, "de_DE.UTF-8");
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) == 0 ? name : NULL;
}

static void numbers_in_sentences_do_not_follow_the_locale(void **state)
{
    (void)state;
    if (!comma_locale()) {
        print_message("no locale with a decimal comma is installed or can be made\n");
        skip();
    }
    char libc[8];
    snprintf(libc, sizeof libc, "%g", 0.5);
    (void)tern_error_raise(TERN_ERR_ARG, "lr is %g", 0.5);
    setlocale(LC_ALL, "C");
    assert_string_equal(libc, "0,5");
    assert_string_equal(tern_error_message(), "lr is 0.5");
}

static void the_version_is_that_of_the_headers(void **state)
{
    (void)state;
    char expected[32];
    snprintf(expected, sizeof expected, "%d.%d.%d", TERN_VERSION_MAJOR, TERN_VERSION_MINOR,
             TERN_VERSION_PATCH);
    assert_string_equal(tern_version(), expected);
    assert_true(TERN_CHECK_VERSION(0, 1, 0));
    assert_false(TERN_CHECK_VERSION(99, 0, 0));
}

#define TEST(name) cmocka_unit_test_setup(name, fresh)

// ---- bytes that are no text ---------------------------------------------------------------------

static void format(char *buffer, size_t size, const char *form, ...) TERN_PRINTF_(3, 4);
static void format(char *buffer, size_t size, const char *form, ...)
{
    va_list words;
    va_start(words, form);
    tern_text_format(buffer, size, form, words);
    va_end(words);
}

static void bytes_that_are_no_utf8_are_escaped(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"r\u00e9sum\u00e9 \u20ac \U0001f600", "r\u00e9sum\u00e9 \u20ac \U0001f600"},
        {"a\xff", "a\\xff"},
        {"\x80z", "\\x80z"},
        {"\xc3(", "\\xc3("},
        {"\xc0\x80", "\\xc0\\x80"},                   // a 0 in two bytes
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},          // half of a pair
        {"\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80"}, // beyond U+10FFFF
        {"\xe2\x82", "\\xe2\\x82"},                   // cut
        {"\x1b[31m\x7f", "?[31m?"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tern_error_raise(TERN_ERR_FORMAT, "read: \"%s\"", rows[i][0]);
        char expected[64];
        snprintf(expected, sizeof expected, "read: \"%s\"", rows[i][1]);
        assert_string_equal(tern_error_message(), expected);
        assert_string_equal(seen.last, expected);
        tern_error_clear();
    }
}

// Whatever the bytes and wherever the buffer ends.
static void what_is_escaped_is_cut_cleanly(void **state)
{
    (void)state;
    uint32_t random = 1;
    for (int round = 0; round < 20000; round++) {
        char text[64], buffer[80];
        const size_t length = (size_t)round % 60, size = 4 + (size_t)round % 71;
        memset(buffer, 'x', sizeof buffer);
        for (size_t i = 0; i < length; i++) {
            random = random * 1664525 + 1013904223;
            text[i] = (char)(random >> 24 | (round % 3 ? 0x80 : 1));
        }
        text[length] = 0;
        format(buffer, size, "%s", text);
        const size_t written = strnlen(buffer, size);
        assert_true(written < size && buffer[size] == 'x');
        for (size_t at = 0; at < written;) {
            const size_t step = tern_utf8_length(buffer + at, written - at);
            assert_true(step > 0 && (unsigned char)buffer[at] >= 0x20);
            at += step;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_pending_at_the_start),
        TEST(the_first_error_stays_and_all_go_to_the_log),
        TEST(an_error_that_is_held_back_is_told_once_if_it_stays),
        TEST(printing_writes_the_sentence_and_clears),
        TEST(taking_copies_what_fits_and_clears),
        TEST(a_long_sentence_is_cut_between_characters),
        TEST(bytes_that_are_no_utf8_are_escaped),
        TEST(what_is_escaped_is_cut_cleanly),
        TEST(a_sentence_that_just_fits_is_whole),
        TEST(control_characters_from_files_do_not_reach_the_terminal),
        TEST(a_sentence_ends_with_the_module_path),
        TEST(a_long_path_keeps_its_inner_end_and_a_long_sentence_its_path),
        TEST(a_path_has_one_number_until_shutdown),
        TEST(a_full_table_of_paths_forgets_all_and_reuses_no_number),
        TEST(null_is_named_unless_an_error_is_pending),
        TEST(checks_fail_the_function_they_stand_in),
        TEST(a_failure_never_reads_as_a_success),
        TEST(every_code_has_a_name_of_its_own),
        TEST(errors_are_per_thread),
        TEST(errno_is_kept),
        TEST(a_callback_may_call_the_library),
        TEST(numbers_in_sentences_do_not_follow_the_locale),
        TEST(the_version_is_that_of_the_headers),
    };
    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
