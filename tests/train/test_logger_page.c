// SPDX-License-Identifier: Apache-2.0
// The page that a logger writes, and captions of images, which the page shows.
#include "logger_test.h"

static bool page_has(const char *part)
{
    size_t size;
    char *page = read_bytes(path_of("run.html"), &size);
    page[size] = 0;
    const bool has = strstr(page, part);
    free(page);
    return has;
}

static void a_page_has_what_was_logged_before_it(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, LINES_ALONE, .name = "first");
    assert_int_equal(tern_logger_add_scalar(log, "valid/loss", 0.7313, 5), TERN_OK);
    assert_int_equal(tern_logger_add_page(log), TERN_OK);
    assert_int_equal(tern_logger_flush(log), TERN_OK);
    assert_true(page_has("<title>first</title>"));
    assert_true(page_has("0.7313"));
    assert_true(page_has("\"status\":\"running\""));
    assert_false(page_has("0.5251"));
    assert_int_equal(tern_logger_add_scalar(log, "valid/loss", 0.5251, 6), TERN_OK);
    assert_int_equal(tern_logger_add_page(log), TERN_OK);
    assert_int_equal(tern_logger_flush(log), TERN_OK);
    assert_true(page_has("0.7313"));
    assert_true(page_has("0.5251"));
    tern_logger_free(log);
    assert_no_error();
}

static void the_last_page_is_that_of_a_run_that_has_ended(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    assert_int_equal(tern_logger_add_page(log), TERN_OK);
    assert_int_equal(tern_logger_add_scalar(log, "late", 0.1357, 5), TERN_OK);
    tern_logger_free(log);
    assert_true(page_has("0.1357"));
    assert_true(page_has("\"status\":\"finished\""));
}

static void a_run_that_asks_for_no_page_has_none(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    assert_int_equal(tern_logger_add_scalar(log, "a", 1, 0), TERN_OK);
    tern_logger_free(log);
    assert_int_equal(access(path_of("run.html"), F_OK), -1);
}

static void a_page_is_refused_where_there_are_no_lines(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, .jsonl = false, .csv = true);
    assert_int_equal(tern_logger_add_page(log), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "logger_add_page: the page is made of log.jsonl, which .jsonl = "
                                 "false leaves out");
    tern_logger_free(log);
}

static void an_image_may_have_a_caption(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    tern_tensor *image = tern_full(tern_dims(1, 2, 2), 0.5);
    assert_int_equal(
        tern_logger_add_image(log, "with", image, 1, .caption = "a \"Shirt\" <taken> for\nCoat"),
        TERN_OK);
    assert_int_equal(tern_logger_add_image(log, "without", image, 1), TERN_OK);
    assert_int_equal(tern_logger_add_image(log, "bad", image, 1, .caption = "\xC3"), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "logger_add_image: .caption is not UTF-8");
    assert_int_equal(tern_logger_add_page(log), TERN_OK);
    tern_logger_free(log);
    const char *line = line_with("\"tag\":\"with\"");
    assert_non_null(strstr(line, ",\"text\":\"a \\\"Shirt\\\" <taken> for\\nCoat\"}"));
    assert_null(strstr(line_with("\"tag\":\"without\""), "\"text\""));
    assert_int_equal(count_lines("log.jsonl", "\"tag\":\"bad\""), 0);
    assert_true(page_has("\\u003ctaken"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOGGER_TEST(a_page_has_what_was_logged_before_it),
        LOGGER_TEST(the_last_page_is_that_of_a_run_that_has_ended),
        LOGGER_TEST(a_run_that_asks_for_no_page_has_none),
        LOGGER_TEST(a_page_is_refused_where_there_are_no_lines),
        LOGGER_TEST(an_image_may_have_a_caption),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
