// SPDX-License-Identifier: Apache-2.0
// When the line of a run is drawn, and what it says.
#include "terminal_test.h"

#include <time.h>

#include "support/memory_hook.h"
#include "support/small_run.h"
#include "train/fit/progress_line.h"

// ---- when it is drawn ---------------------------------------------------------------------------

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void a_line_is_drawn_at_the_first_step_and_then_ten_times_a_second(void **state)
{
    (void)state;
    use_plain_terminal();
    terminal t = terminal_open(80);
    tern_progress *p = tern_progress_new(t.file, .epochs = 1, .samples = INT64_MAX);
    tern_progress_begin(p, 1);
    assert_true(tern_progress_due(p));
    const double begin = seconds_now();
    assert_int_equal(tern_progress_step(p, 1, NULL), TERN_OK);
    while (seconds_now() - begin < 0.35)
        assert_int_equal(tern_progress_step(p, 1, NULL), TERN_OK);
    const double drawn = (double)strlen(seen(&t)) / 80;
    assert_true(drawn >= 2 && drawn <= 1 + (seconds_now() - begin) / 0.1);
    tern_progress_free(p);
    assert_string_equal(seen(&t), "\r\n"); // what follows has a line of its own
    terminal_close(&t);
}

// As if the line had been drawn long ago, or were drawn only now.
static void make_due(tern_progress *p, bool due)
{
    p->drawn = due ? 0 : INT64_MAX;
    assert_int_equal(tern_progress_due(p), due);
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
    make_due(p, false);
    assert_int_equal(tern_progress_step(p, 1, tern_full(tern_dims(), 1000)), TERN_OK);
    make_due(p, true);
    assert_int_equal(tern_progress_step(p, 1, next), TERN_OK);
    assert_non_null(strstr(seen(&t), "loss 2.9474")); // (0.9 * 4 + 2) / 1.9
    make_due(p, true);
    assert_int_equal(tern_progress_step(p, 1, tern_full(tern_dims(), (double)NAN)), TERN_OK);
    assert_non_null(strstr(seen(&t), "loss nan"));
    make_due(p, true);
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
    make_due(p, false);
    assert_int_equal(tern_progress_step(p, 1, two), TERN_OK);
    tern_progress_free(p);
    terminal_close(&t);
}

// ---- what it says -------------------------------------------------------------------------------

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
        CHECK_TEST(a_line_is_drawn_at_the_first_step_and_then_ten_times_a_second),
        CHECK_TEST(the_loss_is_an_average_of_what_was_read_when_it_was_drawn),
        CHECK_TEST(a_loss_that_cannot_be_read_fails_where_it_is_read_and_only_there),
        CHECK_TEST(elsewhere_there_is_one_line_an_epoch),
        CHECK_TEST(a_quiet_one_writes_nothing),
        CHECK_TEST(the_rate_is_that_of_the_steps_alone),
        CHECK_TEST(time_left_counts_this_epoch_and_those_that_follow),
        CHECK_TEST(the_share_of_waiting_is_the_loaders),
        CHECK_TEST(a_terminal_that_went_away_ends_nothing),
        CHECK_TEST(wrong_calls_are_refused),
        CHECK_TEST(without_memory_there_is_none),
    };
    if (use_memory_hook())
        return 1;
    return cmocka_run_group_tests_name("progress", tests, NULL, check_shutdown);
}
