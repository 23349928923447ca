// SPDX-License-Identifier: Apache-2.0
// The line of a run, on a terminal of the test's own and elsewhere.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // posix_openpt, open_memstream
#endif
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "support/memory_hook.h"
#include "support/small_run.h"
#include "support/tensor_check.h"

// ---- terminals ----------------------------------------------------------------------------------

typedef struct terminal {
    int master;
    FILE *file;
} terminal;

static void set_columns(const terminal *t, int columns)
{
    struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)columns};
    assert_int_equal(ioctl(t->master, TIOCSWINSZ, &size), 0);
}

static terminal terminal_open(int columns)
{
    terminal t = {.master = posix_openpt(O_RDWR | O_NOCTTY)};
    assert_true(t.master >= 0 && !grantpt(t.master) && !unlockpt(t.master));
    t.file = fopen(ptsname(t.master), "w");
    assert_non_null(t.file);
    set_columns(&t, columns);
    return t;
}

// What came since the last call, until nothing comes for a while; waits for its first byte.
static const char *seen_after(const terminal *t, int milliseconds)
{
    static char text[8192];
    size_t count = 0;
    struct pollfd master = {.fd = t->master, .events = POLLIN};
    while (count < sizeof text - 1 && poll(&master, 1, count ? 20 : milliseconds) == 1) {
        const ssize_t more = read(t->master, text + count, sizeof text - 1 - count);
        if (more <= 0)
            break;
        count += (size_t)more;
    }
    text[count] = 0;
    return text;
}

static const char *seen(const terminal *t)
{
    return seen_after(t, 5000);
}

static bool is_silent(const terminal *t)
{
    return strlen(seen_after(t, 50)) == 0;
}

static void terminal_close(terminal *t)
{
    fclose(t->file);
    close(t->master);
}

static void wait_until_due(const tern_progress *p)
{
    while (!tern_progress_due(p))
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

static void use_plain_terminal(void)
{
    setenv("TERM", "xterm", 1);
    setenv("NO_COLOR", "1", 1);
}

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
    wait_until_due(p);
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

// ---- when it is drawn ---------------------------------------------------------------------------

static void a_line_is_drawn_at_the_first_step_and_then_after_a_tenth_of_a_second(void **state)
{
    (void)state;
    use_plain_terminal();
    terminal t = terminal_open(80);
    tern_progress *p = tern_progress_new(t.file, .epochs = 1, .samples = 1000000);
    struct timespec before, after;
    tern_progress_begin(p, 1);
    assert_true(tern_progress_due(p));
    assert_int_equal(tern_progress_step(p, 1, NULL), TERN_OK);
    clock_gettime(CLOCK_MONOTONIC, &before);
    assert_int_equal(strlen(seen(&t)), 80);
    assert_false(tern_progress_due(p));
    assert_int_equal(tern_progress_step(p, 1, NULL), TERN_OK);
    assert_true(is_silent(&t));
    wait_until_due(p);
    clock_gettime(CLOCK_MONOTONIC, &after);
    const double seconds =
        difftime(after.tv_sec, before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
    assert_true(seconds > 0.09);
    assert_int_equal(tern_progress_step(p, 1, NULL), TERN_OK);
    assert_int_equal(strlen(seen(&t)), 80);
    tern_progress_free(p);
    assert_string_equal(seen(&t), "\r\n"); // what follows has a line of its own
    terminal_close(&t);
}

static void the_loss_is_an_average_of_what_was_read_when_it_was_drawn(void **state)
{
    (void)state;
    use_plain_terminal();
    terminal t = terminal_open(200);
    tern_progress *p = tern_progress_new(t.file, .epochs = 1, .samples = 1000);
    tern_tensor *loss = tern_full(tern_dims(), 4), *next = tern_full(tern_dims(), 2);
    tern_progress_begin(p, 1);
    assert_int_equal(tern_progress_step(p, 1, loss), TERN_OK);
    assert_non_null(strstr(seen(&t), "loss 4.0000"));
    assert_int_equal(tern_progress_step(p, 1, tern_full(tern_dims(), 1000)), TERN_OK); // not read
    wait_until_due(p);
    assert_int_equal(tern_progress_step(p, 1, next), TERN_OK);
    assert_non_null(strstr(seen(&t), "loss 2.9474")); // (0.9 * 4 + 2) / 1.9
    wait_until_due(p);
    assert_int_equal(tern_progress_step(p, 1, tern_full(tern_dims(), (double)NAN)), TERN_OK);
    assert_non_null(strstr(seen(&t), "loss nan"));
    wait_until_due(p);
    assert_int_equal(tern_progress_step(p, 1, next), TERN_OK);
    assert_non_null(strstr(seen(&t), "loss 2.5978")); // (0.81 * 4 + 0.9 * 2 + 2) / 2.71
    tern_progress_free(p);
    terminal_close(&t);
}

static void a_loss_that_cannot_be_read_fails_where_it_is_read_and_only_there(void **state)
{
    (void)state;
    use_plain_terminal();
    terminal t = terminal_open(80);
    tern_progress *p = tern_progress_new(t.file);
    tern_tensor *two = tern_zeros(tern_dims(2));
    tern_progress_begin(p, 1);
    assert_status(tern_progress_step(p, 1, two), TERN_ERR_SHAPE, "item");
    assert_int_equal(tern_progress_step(p, 1, NULL), TERN_OK);
    assert_int_equal(tern_progress_step(p, 1, two), TERN_OK);
    tern_progress_free(p);
    terminal_close(&t);
}

// ---- what it says -------------------------------------------------------------------------------

// The last line of an epoch elsewhere than on a terminal; and that nothing else is written.
typedef struct text_file {
    char *text;
    size_t size;
    FILE *file;
} text_file;

static void text_open(text_file *f)
{
    f->file = open_memstream(&f->text, &f->size);
    assert_non_null(f->file);
}

static void text_close(text_file *f)
{
    fclose(f->file);
    free(f->text);
}

static void elsewhere_there_is_one_line_an_epoch(void **state)
{
    (void)state;
    text_file f;
    text_open(&f);
    tern_progress *p = tern_progress_new(f.file, .epochs = 2, .samples = 100);
    tern_tensor *unreadable = tern_zeros(tern_dims(2));
    tern_progress_begin(p, 1);
    assert_false(tern_progress_due(p));
    assert_int_equal(tern_progress_step(p, 100, unreadable), TERN_OK);
    fflush(f.file);
    assert_int_equal(f.size, 0);
    tern_progress_show(p, "loss", 0.5);
    tern_progress_show(p, "loss", 0.25); // again
    tern_progress_show(p, "test accuracy", 0.9, .bold = true);
    tern_progress_show(p, "f1", 0.75);
    tern_progress_end(p);
    assert_memory_equal(f.text, "epoch 1/2  loss 0.2500  f1 0.7500  ", 35);
    assert_non_null(strstr(f.text, " samples/s  test accuracy 0.9000\n"));
    tern_progress_begin(p, 2);
    assert_int_equal(tern_progress_step(p, 30, NULL), TERN_OK);
    tern_progress_stop(p);
    tern_progress_note(p, "resume from %s", "a\nb\033[");
    assert_string_equal(strchr(f.text, '\n') + 1,
                        "epoch 2/2  stopped after 30 of 100 samples\nresume from a?b?[\n");
    tern_progress_free(p);
    text_close(&f);
}

static void a_quiet_one_writes_nothing(void **state)
{
    (void)state;
    terminal t = terminal_open(80);
    tern_progress *p = tern_progress_new(t.file, .quiet = true);
    tern_progress_begin(p, 1);
    assert_false(tern_progress_due(p));
    assert_int_equal(tern_progress_step(p, 100, NULL), TERN_OK);
    tern_progress_note(p, "nothing");
    tern_progress_end(p);
    tern_progress_stop(p);
    tern_progress_free(p);
    assert_true(is_silent(&t));
    terminal_close(&t);
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

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void the_rate_is_that_of_the_steps_alone(void **state)
{
    (void)state;
    text_file f;
    text_open(&f);
    tern_progress *p = tern_progress_new(f.file, .samples = 100);
    const double begin = seconds_now();
    tern_progress_begin(p, 1);
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    assert_int_equal(tern_progress_step(p, 100, NULL), TERN_OK);
    const double steps = seconds_now() - begin;
    nanosleep(&(struct timespec){.tv_nsec = 400000000}, NULL); // an evaluation
    tern_progress_end(p);
    int rate = 0;
    assert_int_equal(sscanf(f.text, "epoch 1  %d samples/s", &rate), 1);
    assert_true(rate >= (int)(100 / steps) && rate <= 1000);
    tern_progress_free(p);
    text_close(&f);
}

static void time_left_counts_this_epoch_and_those_that_follow(void **state)
{
    (void)state;
    use_plain_terminal();
    terminal t = terminal_open(200);
    tern_progress *p = tern_progress_new(t.file, .epochs = 3, .samples = 100);
    tern_progress_begin(p, 1, .done = 50);
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    assert_int_equal(tern_progress_step(p, 1, NULL), TERN_OK); // 249 to go, 0.2 s each
    const char *left = strstr(seen(&t), "samples/s");
    assert_non_null(left);
    int seconds = 0;
    assert_int_equal(sscanf(left, "samples/s %d s left", &seconds), 1);
    assert_in_range(seconds, 49, 80);
    tern_progress_free(p);
    terminal_close(&t);
}

static void the_share_of_waiting_is_the_loaders(void **state)
{
    (void)state;
    use_plain_terminal();
    terminal t = terminal_open(200);
    run r = run_begin(1);
    tern_progress *p = tern_progress_new(t.file, .loader = r.loader);
    tern_progress_begin(p, 1);
    tern_each_batch (b, r.loader)
        assert_int_equal(tern_progress_step(p, b.size, NULL), TERN_OK);
    int share = -1;
    const char *waits = strstr(seen(&t), "waits");
    assert_non_null(waits);
    assert_int_equal(sscanf(waits, "waits %d %%", &share), 1);
    assert_in_range(share, 0, 100);
    tern_progress_free(p);
    run_end(&r);
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

static void a_terminal_that_went_away_ends_nothing(void **state)
{
    (void)state;
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    tern_progress *p = tern_progress_new(full);
    tern_progress_begin(p, 1);
    tern_progress_end(p);
    assert_no_error();
    tern_progress_free(p);
    fclose(full);
}

// ---- wrong calls --------------------------------------------------------------------------------

static void wrong_calls_are_refused(void **state)
{
    (void)state;
    assert_null_with(tern_progress_new(NULL), TERN_ERR_NULL, "progress_new: file is NULL");
    assert_null_with(tern_progress_new(stdout, .epochs = -1), TERN_ERR_ARG, "epochs is -1");
    assert_null_with(tern_progress_new(stdout, .samples = -1), TERN_ERR_ARG, "samples is -1");
    tern_progress_begin(NULL, 1);
    assert_error(TERN_ERR_NULL, "progress_begin: progress is NULL");
    tern_progress *p = tern_progress_new(stdout, .quiet = true);
    tern_progress_show(p, NULL, 1);
    assert_error(TERN_ERR_NULL, "progress_show: name is NULL");
    assert_status(tern_progress_step(p, -1, NULL), TERN_ERR_ARG, "samples is -1");
    tern_progress_free(p);
    assert_false(tern_progress_due(p));
    assert_error(TERN_ERR_STATE, "progress_due: this progress was freed already");
    tern_progress_free(p);
    assert_error(TERN_ERR_STATE, "progress_free: this progress was freed already");
    tern_progress_free(NULL);
}

static void without_memory_there_is_none(void **state)
{
    (void)state;
    fail_nth_allocation(1);
    memory.fail_onwards = true;
    const tern_progress *p = tern_progress_new(stdout, .quiet = true);
    memory.fail_onwards = false;
    fail_nth_allocation(0);
    assert_null(p);
    assert_error(TERN_ERR_NOMEM, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_line_is_as_wide_as_the_terminal),
        CHECK_TEST(a_line_follows_the_terminal_that_changes_its_width),
        CHECK_TEST(at_20_columns_the_end_of_an_epoch_is_what_it_is_read_for),
        CHECK_TEST(colours_are_where_the_terminal_has_them_and_nobody_says_no),
        CHECK_TEST(a_line_is_drawn_at_the_first_step_and_then_after_a_tenth_of_a_second),
        CHECK_TEST(the_loss_is_an_average_of_what_was_read_when_it_was_drawn),
        CHECK_TEST(a_loss_that_cannot_be_read_fails_where_it_is_read_and_only_there),
        CHECK_TEST(elsewhere_there_is_one_line_an_epoch),
        CHECK_TEST(a_quiet_one_writes_nothing),
        CHECK_TEST(numbers_are_the_same_in_every_locale),
        CHECK_TEST(a_line_is_never_wider_than_the_terminal_with_a_name_beyond_ascii),
        CHECK_TEST(the_rate_is_that_of_the_steps_alone),
        CHECK_TEST(time_left_counts_this_epoch_and_those_that_follow),
        CHECK_TEST(the_share_of_waiting_is_the_loaders),
        CHECK_TEST(more_figures_than_there_is_room_for_are_left_out),
        CHECK_TEST(a_terminal_that_went_away_ends_nothing),
        CHECK_TEST(wrong_calls_are_refused),
        CHECK_TEST(without_memory_there_is_none),
    };
    if (use_memory_hook())
        return 1;
    return cmocka_run_group_tests_name("progress", tests, NULL, check_shutdown);
}
