// SPDX-License-Identifier: Apache-2.0
// Runs that go on, folders that are taken, and how a log ends.
#include "logger_test.h"
#include "processes.h"

static void log_steps(tern_logger *log, int64_t from, int64_t to)
{
    for (int64_t step = from; step <= to; step++)
        assert_int_equal(tern_logger_add_scalar(log, "a", (double)step, step), TERN_OK);
}

// Steps of the points of "a", in their order.
static int read_steps(const char *name, const char *before, int64_t *steps)
{
    const lines *l = lines_of(name);
    int count = 0;
    for (int i = 0; i < l->count; i++) {
        const char *at = strstr(l->at[i], before);
        if (at && line_has(l->at[i], name[4] == 'j' ? "\"tag\":\"a\"" : ",a,"))
            steps[count++] = strtoll(at + strlen(before), NULL, 10);
    }
    return count;
}

static void assert_steps(int64_t last)
{
    int64_t steps[100];
    assert_int_equal(read_steps("log.jsonl", "\"step\":", steps), last + 1);
    for (int64_t i = 0; i <= last; i++)
        assert_int_equal(steps[i], i);
    assert_int_equal(read_steps("log.csv", ",", steps), last + 1);
    for (int64_t i = 0; i <= last; i++)
        assert_int_equal(steps[i], i);
}

// ---- going on -----------------------------------------------------------------------------------

static void a_run_that_goes_on_has_every_step_once(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, .csv = true);
    log_steps(log, 0, 9);
    tern_logger_free(log);
    log = tern_logger_new(folder, .csv = true, .resume_step = 6);
    assert_non_null(log);
    log_steps(log, 7, 12);
    tern_logger_free(log);
    assert_steps(12);
    assert_int_equal(count_event_files(), 2);
    assert_int_equal(count_lines("log.jsonl", "\"kind\":\"run\""), 2);
    assert_int_equal(count_lines("log.jsonl", ",\"resume_step\":6}"), 1);
    assert_int_equal(count_lines("log.csv", "time,step"), 1);
    assert_int_equal(count_files(), 4);
}

static void what_has_no_step_stays(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, .csv = true);
    const tern_setting lr = {"lr", TERN_SETTING_DOUBLE, .number = 1};
    assert_int_equal(tern_logger_add_settings(log, &lr, 1), TERN_OK);
    log_steps(log, 0, 3);
    tern_logger_free(log);
    tern_logger_free(tern_logger_new(folder, .csv = true, .resume_step = 0));
    assert_steps(0);
    assert_int_equal(count_lines("log.jsonl", "settings"), 1);
    assert_int_equal(count_lines("log.jsonl", "\"kind\":\"end\""), 2);
}

static void append(const char *name, const char *bytes)
{
    FILE *file = fopen(path_of(name), "ab");
    assert_non_null(file);
    fputs(bytes, file);
    assert_int_equal(fclose(file), 0);
}

static void a_torn_end_is_cut(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, .tensorboard = false, .csv = true);
    log_steps(log, 0, 3);
    tern_logger_free(log);
    append("log.jsonl", "{\"kind\":\"scalar\",\"step\":4,\"ti");
    append("log.csv", "1795827846.31,4,a");
    log = tern_logger_new(folder, .tensorboard = false, .csv = true, .resume_step = 9);
    log_steps(log, 4, 5);
    tern_logger_free(log);
    assert_steps(5);
}

static void lines_that_no_logger_wrote_are_taken_out(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, .tensorboard = false, .csv = true);
    log_steps(log, 0, 3);
    tern_logger_free(log);
    append("log.jsonl", "\nhello\n{\"kind\":\"scalar\",\"step\":4\n{\"kind\":\"\n");
    append("log.csv", "hello\n");
    log = tern_logger_new(folder, .tensorboard = false, .csv = true, .resume_step = 3);
    log_steps(log, 4, 4);
    tern_logger_free(log);
    assert_steps(4);
    assert_int_equal(lines_of("log.csv")->count, 6);
    assert_int_equal(lines_of("log.jsonl")->count, 9);
}

static void a_run_goes_on_where_there_is_none(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, .csv = true, .resume_step = 0);
    assert_non_null(log);
    log_steps(log, 0, 1);
    tern_logger_free(log);
    assert_steps(1);
}

static void time_goes_on_from_the_last_one(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, .tensorboard = false);
    log_steps(log, 0, 0);
    tern_logger_free(log);
    append("log.jsonl", "{\"kind\":\"scalar\",\"step\":1,\"time\":4000000000.25,\"tag\":\"a\","
                        "\"value\":1}\n");
    log = tern_logger_new(folder, .tensorboard = false, .resume_step = 1);
    log_steps(log, 2, 2);
    tern_logger_free(log);
    assert_true(time_of(line_with("\"step\":2,")) == 4000000000.25);
}

// ---- folders ------------------------------------------------------------------------------------

static void the_log_of_another_run_is_not_mixed_with(void **state)
{
    (void)state;
    tern_logger_free(tern_logger_new(folder, .tensorboard = false));
    assert_null(tern_logger_new(folder, .jsonl = false));
    assert_error(TERN_ERR_STATE, "has the log of another run (log.jsonl): give another folder");
    assert_int_equal(remove(path_of("log.jsonl")), 0);
    tern_logger_free(tern_logger_new(folder, .jsonl = false));
    assert_null(tern_logger_new(folder));
    assert_error(TERN_ERR_STATE, "has the log of another run (an event file)");
}

static void two_loggers_do_not_share_a_folder(void **state)
{
    (void)state;
    char due[64];
    tern_logger *log = tern_logger_new(folder);
    assert_null(tern_logger_new(folder, .resume_step = 0));
    snprintf(due, sizeof due, "process %ld logs to", (long)getpid());
    assert_error(TERN_ERR_STATE, due);
    tern_logger_free(log);
    log = tern_logger_new(folder, .resume_step = 0);
    assert_non_null(log);
    tern_logger_free(log);
}

static int refused_by_another(int number)
{
    char due[64];
    snprintf(due, sizeof due, "process %d logs to", number);
    EXPECT(!tern_logger_new(folder, .resume_step = 0));
    EXPECT(tern_error_code() == TERN_ERR_STATE && strstr(tern_error_message(), due));
    return 0;
}

static int holds_and_asks(int number)
{
    (void)number;
    tern_logger *log = tern_logger_new(folder);
    EXPECT(log);
    const pid_t self = getpid();
    const pid_t child = fork(); // it may only exec and exit: the question is another program's
    EXPECT(child >= 0);
    if (child == 0) {
        char pid[24];
        snprintf(pid, sizeof pid, "%ld", (long)self);
        execl("/proc/self/exe", "test", folder, pid, (char *)NULL);
        _exit(9);
    }
    EXPECT(end_of(child) == 0);
    tern_logger_free(log);
    return 0;
}

static void another_process_is_named_by_its_number(void **state)
{
    (void)state;
    assert_int_equal(end_of(start(holds_and_asks, 0)), 0);
}

static void a_folder_that_cannot_be_written_is_one_warning(void **state)
{
    (void)state;
    watch_log();
    tern_logger *log = tern_logger_new("/proc/nothing", .csv = true);
    assert_non_null(log);
    assert_no_error();
    assert_int_equal(logged.warnings, 1);
    assert_non_null(strstr(logged.last, "nothing is logged to /proc/nothing: logger_new: cannot "
                                        "make the folder"));
    log_steps(log, 0, 4);
    assert_int_equal(tern_logger_add_histogram(log, "b", tern_ones(tern_dims(2)), 1), TERN_OK);
    assert_int_equal(tern_logger_flush(log), TERN_OK);
    assert_int_equal(tern_logger_dropped(log), 6);
    tern_logger_free(log);
    assert_int_equal(logged.warnings, 1);
    assert_int_equal(logged.errors, 0);
}

static void a_file_in_the_place_of_the_folder_is_one_warning(void **state)
{
    (void)state;
    watch_log();
    write_bytes(path_of("file"), "a", 1);
    tern_logger *log = tern_logger_new(path_of("file"));
    assert_non_null(log);
    assert_non_null(strstr(logged.last, "is a file, not a folder"));
    tern_logger_free(log);
    assert_int_equal(logged.warnings, 1);
}

// ---- the end ------------------------------------------------------------------------------------

static int log_and_return(int number)
{
    tern_logger *log = tern_logger_new(folder, .csv = true);
    for (int64_t step = 0; step < 10; step++)
        EXPECT(!tern_logger_add_scalar(log, "a", (double)step, step));
    EXPECT(!tern_logger_add_histogram(log, "b", tern_ones(tern_dims(2)), 1));
    if (number == 1)
        exit(0);
    if (number == 2)
        tern_error_clear();
    return 0;
}

static int log_and_exit(int number)
{
    exit(log_and_return(number));
}

static void an_exit_loses_nothing(void **state)
{
    (void)state;
    assert_int_equal(end_of(start(log_and_exit, 1)), 0);
    assert_steps(9);
    assert_int_equal(count_lines("log.jsonl", "\"kind\":\"histogram\""), 1);
    assert_string_equal(behind_time(line_with("end")), ",\"status\":\"stopped\"}");
    assert_int_equal(count_files(), 3);
}

static int shut_down_while_it_logs(int number)
{
    (void)number;
    tern_logger *log = tern_logger_new(folder);
    tern_shutdown();
    EXPECT(tern_error_code() == TERN_ERR_STATE && strstr(tern_error_message(), "free loggers"));
    tern_error_clear();
    tern_logger_free(log);
    tern_shutdown();
    EXPECT(!tern_error_pending());
    return 0;
}

static void the_library_is_not_shut_down_under_a_logger(void **state)
{
    (void)state;
    assert_int_equal(end_of(start(shut_down_while_it_logs, 0)), 0);
}

static tern_logger *parents;

static int log_in_a_child(int number)
{
    (void)number;
    EXPECT(tern_logger_add_scalar(parents, "a", 99, 99) == TERN_ERR_STATE);
    EXPECT(strstr(tern_error_message(), "when this process was forked"));
    tern_error_clear();
    EXPECT(tern_logger_flush(parents) == TERN_ERR_STATE);
    tern_error_clear();
    EXPECT(tern_logger_dropped(parents) == -1);
    tern_error_clear();
    tern_logger_free(parents);
    return 0;
}

static int log_beside_a_child(int number)
{
    parents = tern_logger_new(folder, .csv = true);
    for (int64_t step = 0; step < 10; step++)
        EXPECT(!tern_logger_add_scalar(parents, "a", (double)step, step));
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        exit(log_in_a_child(number)); // the functions of atexit run in it
    EXPECT(child > 0 && end_of(child) == 0);
    EXPECT(!tern_logger_flush(parents));
    tern_logger_free(parents);
    return 0;
}

static void a_forked_child_logs_nothing(void **state)
{
    (void)state;
    assert_int_equal(end_of(start(log_beside_a_child, 0)), 0);
    assert_steps(9);
    assert_int_equal(count_lines("log.jsonl", "\"kind\":\"end\""), 1);
}

static int use_after_free(int number)
{
    (void)number;
    tern_logger *log = tern_logger_new(folder);
    tern_logger_free(log);
    EXPECT(tern_logger_add_scalar(log, "a", 1, 1) == TERN_ERR_STATE);
    EXPECT(strstr(tern_error_message(), "this logger was freed already"));
    tern_error_clear();
    tern_logger_free(log);
    EXPECT(tern_error_code() == TERN_ERR_STATE);
    tern_error_clear();
    return 0;
}

static void a_logger_that_was_freed_is_found(void **state)
{
    (void)state;
    assert_int_equal(end_of(start(use_after_free, 0)), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        LOGGER_TEST(a_run_that_goes_on_has_every_step_once),
        LOGGER_TEST(what_has_no_step_stays),
        LOGGER_TEST(a_torn_end_is_cut),
        LOGGER_TEST(lines_that_no_logger_wrote_are_taken_out),
        LOGGER_TEST(a_run_goes_on_where_there_is_none),
        LOGGER_TEST(time_goes_on_from_the_last_one),
        LOGGER_TEST(the_log_of_another_run_is_not_mixed_with),
        LOGGER_TEST(two_loggers_do_not_share_a_folder),
        LOGGER_TEST(another_process_is_named_by_its_number),
        LOGGER_TEST(a_folder_that_cannot_be_written_is_one_warning),
        LOGGER_TEST(a_file_in_the_place_of_the_folder_is_one_warning),
        LOGGER_TEST(an_exit_loses_nothing),
        LOGGER_TEST(the_library_is_not_shut_down_under_a_logger),
        LOGGER_TEST(a_forked_child_logs_nothing),
        LOGGER_TEST(a_logger_that_was_freed_is_found),
    };
    if (argc == 3) { // started by holds_and_asks
        snprintf(folder, sizeof folder, "%s", argv[1]);
        return refused_by_another(atoi(argv[2]));
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
