// SPDX-License-Identifier: Apache-2.0
// The line of a run is as wide as its terminal, and has colours where that has them.
#include "terminal_test.h"

#include <locale.h>

#include "train/fit/progress_line.h"

// A line of the second epoch in its middle, without blanks at its end.
static const char *drawn_at(int columns)
{
    static char line[8192];
    terminal t = terminal_open(columns);
    tern_progress *p = tern_progress_new(t.file, .epochs = 5, .samples = 60000);
    tern_progress_begin(p, 2);
    tern_progress_show(p, "loss", 0.25);
    tern_progress_show(p, "accuracy", 0.875);
    tern_progress_show(p, "f1", 0.75);
    assert_int_equal(tern_progress_step(p, 30000, NULL), TERN_OK);
    snprintf(line, sizeof line, "%s", seen(&t));
    assert_int_equal(strlen(line), (size_t)columns); // "\r", and the last column stays free
    assert_int_equal(line[0], '\r');
    for (size_t end = strlen(line); end > 0 && line[end - 1] == ' '; end--)
        line[end - 1] = 0;
    tern_progress_free(p);
    terminal_close(&t);
    return line + 1;
}

static void a_line_is_as_wide_as_the_terminal(void **state)
{
    (void)state;
    use_plain_terminal();
    assert_string_equal(drawn_at(20), "epoch 2/5");
    assert_string_equal(drawn_at(30), "epoch 2/5  loss 0.2500");
    assert_string_equal(drawn_at(60),
                        "epoch 2/5   50.0 %  loss 0.2500  accuracy 0.8750  f1 0.7500");
    const char *wide = drawn_at(80);
    assert_non_null(strstr(wide, "epoch 2/5   50.0 %  loss 0.2500  accuracy 0.8750  f1 0.7500  "));
    assert_non_null(strstr(wide, " left"));
    assert_null(strstr(wide, "samples/s"));
    wide = drawn_at(200);
    assert_non_null(strstr(wide, "f1 0.7500  "));
    assert_non_null(strstr(wide, " samples/s  "));
    assert_non_null(strstr(wide, " left"));
}

// 15 letters of two bytes fit into 31, and half of the next one would.
static void a_long_name_is_cut_between_characters_and_set_once(void **state)
{
    (void)state;
    static const char name[] = "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4"
                               "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4";
    use_plain_terminal();
    terminal t = terminal_open(200);
    tern_progress *p = tern_progress_new(t.file, .epochs = 5, .samples = 100);
    tern_progress_begin(p, 1);
    tern_progress_show(p, name, 0.25);
    tern_progress_show(p, name, 0.75);
    assert_int_equal(tern_progress_step(p, 10, NULL), TERN_OK);
    char due[64];
    snprintf(due, sizeof due, "  %.30s 0.7500", name);
    const char *line = seen(&t);
    assert_non_null(strstr(line, due));
    assert_null(strstr(line, "0.2500"));
    tern_progress_free(p);
    terminal_close(&t);
}

static void a_line_follows_the_terminal_that_changes_its_width(void **state)
{
    (void)state;
    use_plain_terminal();
    terminal t = terminal_open(200);
    tern_progress *p = tern_progress_new(t.file, .epochs = 5, .samples = 100);
    tern_progress_begin(p, 1);
    assert_int_equal(tern_progress_step(p, 10, NULL), TERN_OK);
    assert_int_equal(strlen(seen(&t)), 200);
    set_columns(&t, 25);
    p->drawn = 0; // long ago
    assert_int_equal(tern_progress_step(p, 10, NULL), TERN_OK);
    assert_int_equal(strlen(seen(&t)), 25);
    tern_progress_free(p);
    terminal_close(&t);
}

static void at_20_columns_the_end_of_an_epoch_is_what_it_is_read_for(void **state)
{
    (void)state;
    use_plain_terminal();
    terminal t = terminal_open(20);
    tern_progress *p = tern_progress_new(t.file, .epochs = 5, .samples = 60000);
    tern_progress_begin(p, 3);
    tern_progress_show(p, "loss", 0.25);
    tern_progress_show(p, "test accuracy", 0.875, .bold = true);
    tern_progress_end(p);
    assert_string_equal(seen(&t), "\raccuracy 0.8750    \r\n");
    tern_progress_begin(p, 4);
    assert_int_equal(tern_progress_step(p, 640, NULL), TERN_OK);
    (void)seen(&t);
    tern_progress_stop(p);
    assert_string_equal(seen(&t), "\rstopped after 640  \r\n");
    tern_progress_free(p);
    assert_true(is_silent(&t));
    terminal_close(&t);
}

static bool has_colours(const char *no_color, const char *term)
{
    terminal t = terminal_open(80);
    unsetenv("NO_COLOR");
    unsetenv("TERM");
    if (no_color)
        setenv("NO_COLOR", no_color, 1);
    if (term)
        setenv("TERM", term, 1);
    tern_progress *p = tern_progress_new(t.file);
    tern_progress_begin(p, 1);
    tern_progress_show(p, "test accuracy", 0.875, .bold = true);
    tern_progress_end(p);
    const char *text = seen(&t);
    const bool has = strstr(text, "\033[1;32mtest accuracy 0.8750\033[0m") != NULL;
    assert_int_equal(has, strchr(text, '\033') != NULL);
    tern_progress_free(p);
    terminal_close(&t);
    return has;
}

static void colours_are_where_the_terminal_has_them_and_nobody_says_no(void **state)
{
    (void)state;
    assert_true(has_colours(NULL, "xterm"));
    assert_true(has_colours("", "xterm"));
    assert_false(has_colours("1", "xterm"));
    assert_false(has_colours(NULL, "dumb"));
    assert_false(has_colours(NULL, NULL));
}

static void numbers_are_the_same_in_every_locale(void **state)
{
    (void)state;
    const char *locale = setlocale(LC_ALL, "de_DE.UTF-8");
    text_file f;
    text_open(&f);
    tern_progress *p = tern_progress_new(f.file);
    tern_progress_begin(p, 1);
    tern_progress_show(p, "loss", -(double)NAN);
    tern_progress_show(p, "caf\xc3\xa9", 1.5);
    tern_progress_show(p, "a name of more than thirty-one bytes", 2.5);
    tern_progress_show(p, "a name of more than thirty-one bytes", 3.5);
    tern_progress_end(p);
    assert_non_null(strstr(f.text, "epoch 1  loss nan  caf\xc3\xa9 1.5000  "
                                   "a name of more than thirty-one  3.5000"));
    tern_progress_free(p);
    text_close(&f);
    if (!locale)
        print_message("de_DE.UTF-8 is not installed: seen in the C locale alone\n");
    setlocale(LC_ALL, "C");
}

static void small_and_large_figures_have_an_exponent(void **state)
{
    static const double values[] = {0, 0.001, 9.994e-4, -3.25e-7, 999999, 1e6, 1e60, -INFINITY};
    static const char *const texts[] = {"0.0000",      "0.0010",    "9.994e-04", "-3.250e-07",
                                        "999999.0000", "1.000e+06", "1.000e+60", "-inf"};
    (void)state;
    text_file f;
    text_open(&f);
    tern_progress *p = tern_progress_new(f.file);
    for (int i = 0; i < 8; i++) {
        char expected[64];
        snprintf(expected, sizeof expected, "epoch %d  mse %s", i + 1, texts[i]);
        tern_progress_begin(p, i + 1);
        tern_progress_show(p, "mse", values[i]);
        tern_progress_end(p);
        assert_non_null(strstr(f.text, expected));
    }
    tern_progress_free(p);
    text_close(&f);
}

static void a_line_is_never_wider_than_the_terminal_with_a_name_beyond_ascii(void **state)
{
    (void)state;
    use_plain_terminal();
    terminal t = terminal_open(20);
    tern_progress *p = tern_progress_new(t.file);
    tern_progress_begin(p, 1);
    tern_progress_show(p, "\xe7\xb2\xbe\xe5\xba\xa6", 1, .bold = true); // two wide characters
    tern_progress_end(p);
    assert_string_equal(seen(&t), "\r\xe7\xb2\xbe\xe5\xba\xa6 1.0000        \r\n");
    tern_progress_free(p);
    terminal_close(&t);
}

static void more_figures_than_there_is_room_for_are_left_out(void **state)
{
    (void)state;
    text_file f;
    text_open(&f);
    tern_progress *p = tern_progress_new(f.file);
    tern_progress_begin(p, 1);
    for (int i = 0; i <= TERN_PROGRESS_FIGURES; i++) {
        char name[8];
        snprintf(name, sizeof name, "m%d", i);
        tern_progress_show(p, name, i);
    }
    tern_progress_end(p);
    assert_non_null(strstr(f.text, "m23 23.0000"));
    assert_null(strstr(f.text, "m24"));
    tern_progress_free(p);
    text_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_line_is_as_wide_as_the_terminal),
        CHECK_TEST(a_long_name_is_cut_between_characters_and_set_once),
        CHECK_TEST(a_line_follows_the_terminal_that_changes_its_width),
        CHECK_TEST(at_20_columns_the_end_of_an_epoch_is_what_it_is_read_for),
        CHECK_TEST(colours_are_where_the_terminal_has_them_and_nobody_says_no),
        CHECK_TEST(numbers_are_the_same_in_every_locale),
        CHECK_TEST(small_and_large_figures_have_an_exponent),
        CHECK_TEST(a_line_is_never_wider_than_the_terminal_with_a_name_beyond_ascii),
        CHECK_TEST(more_figures_than_there_is_room_for_are_left_out),
    };
    return cmocka_run_group_tests_name("progress, its line", tests, NULL, check_shutdown);
}
