// SPDX-License-Identifier: Apache-2.0
// Disks that are full or slow, and clocks that go back. write(2), open(2) and the clocks are the
// test's (the linker's --wrap).
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <time.h>

#include "logger_test.h"
#include "support/memory_hook.h"

static struct {
    _Atomic int writes_fail;  // errno of write(2), 0: it works
    _Atomic int short_writes; // so many bytes are written before that
    _Atomic bool writes_wait;
    _Atomic int writes;
    _Atomic int64_t back; // seconds that the clock is slow
    _Atomic bool no_threads;
} faults;

ssize_t __real_write(int fd, const void *bytes, size_t nbytes);
ssize_t __wrap_write(int fd, const void *bytes, size_t nbytes);
int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*body)(void *), void *user);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*body)(void *), void *user);

static void sleep_a_little(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

ssize_t __wrap_write(int fd, const void *bytes, size_t nbytes)
{
    faults.writes++;
    while (faults.writes_wait)
        sleep_a_little();
    const int short_write = faults.short_writes;
    if (short_write > 0 && (size_t)short_write < nbytes) {
        faults.short_writes = 0;
        return __real_write(fd, bytes, (size_t)short_write);
    }
    errno = faults.writes_fail;
    return faults.writes_fail ? -1 : __real_write(fd, bytes, nbytes);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    const int failed = __real_clock_gettime(clock, now);
    if (clock == CLOCK_REALTIME)
        now->tv_sec -= faults.back;
    return failed;
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*body)(void *), void *user)
{
    return faults.no_threads ? EAGAIN : __real_pthread_create(thread, attributes, body, user);
}

static double seconds(void)
{
    struct timespec now;
    __real_clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void log_steps(tern_logger *log, int64_t from, int64_t to)
{
    for (int64_t step = from; step <= to; step++)
        assert_int_equal(tern_logger_add_scalar(log, "a", (double)step, step), TERN_OK);
}

// ---- a full disk --------------------------------------------------------------------------------

static void a_full_disk_is_one_warning_and_the_log_goes_on_when_there_is_space(void **state)
{
    (void)state;
    watch_log();
    tern_logger *log = tern_logger_new(folder, .csv = true);
    log_steps(log, 0, 2);
    assert_int_equal(tern_logger_flush(log), TERN_OK);
    faults.writes_fail = ENOSPC;
    for (int i = 0; i < 3; i++) {
        log_steps(log, 3 + 2 * i, 4 + 2 * i);
        assert_int_equal(tern_logger_flush(log), TERN_OK);
    }
    assert_int_equal(tern_logger_dropped(log), 6);
    faults.writes_fail = 0;
    log_steps(log, 9, 9);
    tern_logger_free(log);
    assert_no_error();
    assert_int_equal(logged.warnings, 1);
    assert_non_null(strstr(logged.last, "No space left"));
    assert_int_equal(count_lines("log.jsonl", "\"kind\":\"scalar\""), 4);
    assert_int_equal(count_lines("log.csv", ",a,"), 4);
    assert_string_equal(behind_time(line_with("dropped")), ",\"count\":6}");
}

static void what_is_torn_by_a_full_disk_is_taken_away(void **state)
{
    (void)state;
    watch_log();
    tern_logger *log = tern_logger_new(folder, .tensorboard = false);
    log_steps(log, 0, 2);
    assert_int_equal(tern_logger_flush(log), TERN_OK);
    faults.short_writes = 10;
    faults.writes_fail = ENOSPC;
    log_steps(log, 3, 3);
    assert_int_equal(tern_logger_flush(log), TERN_OK);
    faults.writes_fail = 0;
    log_steps(log, 4, 4);
    tern_logger_free(log);
    const lines *l = lines_of("log.jsonl");
    for (int i = 0; i < l->count; i++)
        assert_true(strncmp(l->at[i], "{\"kind\":", 8) == 0);
    assert_int_equal(count_lines("log.jsonl", "\"step\":3,"), 0);
    assert_int_equal(count_lines("log.jsonl", "\"step\":4,"), 1);
}

static void short_writes_are_completed(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, .tensorboard = false);
    log_steps(log, 0, 20);
    faults.short_writes = 10;
    tern_logger_free(log);
    assert_int_equal(count_lines("log.jsonl", "\"tag\":\"a\",\"value\":"), 21);
}

static void a_disk_that_is_full_at_the_start_is_one_warning(void **state)
{
    (void)state;
    watch_log();
    faults.writes_fail = ENOSPC;
    tern_logger *log = tern_logger_new(folder);
    assert_non_null(log);
    log_steps(log, 0, 2);
    tern_logger_free(log);
    faults.writes_fail = 0;
    assert_no_error();
    assert_int_equal(logged.warnings, 1);
    assert_non_null(strstr(logged.last, "nothing is logged to"));
    log = tern_logger_new(folder); // when there is space again
    assert_non_null(log);
    log_steps(log, 1, 2);
    tern_logger_free(log);
    assert_int_equal(count_lines("log.jsonl", "\"kind\":\"scalar\""), 2);
}

// The signal that the kernel sends there is not for the program's threads.
static void a_limit_of_file_sizes_ends_no_process(void **state)
{
    (void)state;
    struct rlimit before;
    watch_log();
    tern_logger *log = tern_logger_new(folder, LINES_ALONE);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(tern_logger_add_page(log), TERN_OK);
    assert_int_equal(tern_logger_flush(log), TERN_OK);
    const struct rlimit low = {.rlim_cur = 2048, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    log_steps(log, 1, 100);
    tern_logger_free(log);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_no_error();
    assert_true(logged.warnings > 0);
    assert_int_equal(count_lines("log.jsonl", "\"status\":\"finished\""), 1);
}

// ---- a slow disk --------------------------------------------------------------------------------

static void a_disk_that_waits_keeps_nobody_and_what_does_not_fit_is_counted(void **state)
{
    (void)state;
    enum { STEPS = 1000 };
    watch_log();
    tern_logger *log = tern_logger_new(folder, .tensorboard = false, .capacity = 16);
    faults.writes_wait = true;
    log_steps(log, 0, 0);
    const int before = faults.writes;
    for (int i = 0; i < 5000 && faults.writes == before; i++)
        sleep_a_little(); // until the writer waits
    const double start = seconds();
    log_steps(log, 1, STEPS);
    const double spent = seconds() - start;
    faults.writes_wait = false;
    assert_true(spent < 1);
    const int64_t dropped = tern_logger_dropped(log);
    assert_int_equal(dropped, STEPS - 16);
    tern_logger_free(log);
    char due[64];
    snprintf(due, sizeof due, ",\"count\":%lld}", (long long)dropped);
    assert_string_equal(behind_time(line_with("dropped")), due);
    assert_int_equal(count_lines("log.jsonl", "\"kind\":\"scalar\""), STEPS + 1 - dropped);
    assert_int_equal(logged.warnings, 1);
    assert_non_null(strstr(logged.last, "is full"));
}

static void a_page_is_written_though_the_queue_is_full(void **state)
{
    (void)state;
    watch_log();
    tern_logger *log = tern_logger_new(folder, .tensorboard = false, .capacity = 16);
    faults.writes_wait = true;
    log_steps(log, 0, 100);
    assert_int_equal(tern_logger_add_page(log), TERN_OK);
    faults.writes_wait = false;
    assert_int_equal(tern_logger_flush(log), TERN_OK);
    assert_int_equal(tern_logger_flush(log), TERN_OK); // of all that is asked for by now
    assert_int_equal(access(path_of("run.html"), F_OK), 0);
    assert_int_equal(unlink(path_of("run.html")), 0);
    assert_int_equal(tern_logger_add_page(log), TERN_OK);
    assert_int_equal(tern_logger_flush(log), TERN_OK);
    assert_int_equal(access(path_of("run.html"), F_OK), 0);
    tern_logger_free(log);
}

static void tensors_in_the_queue_are_bounded(void **state)
{
    (void)state;
    watch_log();
    tern_logger *log = tern_logger_new(folder, .tensorboard = false, .max_bytes = 10000);
    faults.writes_wait = true;
    tern_tensor *x = tern_ones(tern_dims(1000)), *large = tern_ones(tern_dims(3000));
    for (int i = 0; i < 5; i++)
        assert_int_equal(tern_logger_add_histogram(log, "a", x, i), TERN_OK);
    assert_int_equal(tern_logger_add_histogram(log, "b", large, 0), TERN_OK);
    faults.writes_wait = false;
    assert_int_equal(tern_logger_dropped(log), 4);
    assert_int_equal(tern_logger_flush(log), TERN_OK);
    assert_int_equal(tern_logger_add_histogram(log, "a", x, 9), TERN_OK);
    tern_logger_free(log);
    assert_int_equal(count_lines("log.jsonl", "histogram"), 3);
}

static void entries_are_in_the_file_soon(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, .tensorboard = false);
    for (int round = 0; round < 5; round++) {
        log_steps(log, round, round);
        const double start = seconds();
        char part[32];
        snprintf(part, sizeof part, "\"step\":%d,", round);
        while (count_lines("log.jsonl", part) == 0) {
            assert_true(seconds() - start < 5); // 0.2 s where the machine has time
            sleep_a_little();
        }
    }
    tern_logger_free(log);
}

// ---- clocks and threads -------------------------------------------------------------------------

static void time_never_decreases(void **state)
{
    (void)state;
    tern_logger *log = tern_logger_new(folder, .tensorboard = false, .csv = true);
    log_steps(log, 0, 3);
    faults.back = 3600;
    log_steps(log, 4, 7);
    tern_logger_free(log);
    faults.back = 0;
    const lines *l = lines_of("log.jsonl");
    for (int i = 1; i < l->count; i++)
        assert_true(time_of(l->at[i]) >= time_of(l->at[i - 1]));
    assert_int_equal(l->count, 10);
}

static void without_a_thread_whoever_logs_writes(void **state)
{
    (void)state;
    watch_log();
    tern_shutdown(); // no thread waits for work
    faults.no_threads = true;
    tern_logger *log = tern_logger_new(folder, .capacity = 16);
    assert_non_null(log);
    assert_non_null(strstr(logged.last, "no thread can be started"));
    for (int64_t step = 0; step < 100; step++)
        assert_int_equal(tern_logger_add_scalar(log, "a", 1, step), TERN_OK);
    assert_int_equal(tern_logger_flush(log), TERN_OK);
    assert_int_equal(count_lines("log.jsonl", "\"kind\":\"scalar\""), 100);
    tern_with_scope
        assert_int_equal(tern_logger_add_histogram(log, "b", tern_ones(tern_dims(3)), 1), TERN_OK);
    tern_logger_free(log);
    faults.no_threads = false;
    assert_no_error();
    assert_int_equal(count_lines("log.jsonl", "histogram"), 1);
    assert_int_equal(count_lines("log.jsonl", "dropped"), 0);
}

// ---- memory -------------------------------------------------------------------------------------

static tern_status log_each_kind(tern_logger *log)
{
    static const char *const names[] = {"x", "y"};
    static const tern_setting lr = {"lr", TERN_SETTING_TEXT, .text = "a"};
    tern_tensor *x = tern_ones(tern_dims(2, 2));
    if (!x)
        return tern_error_code();
    tern_status status = tern_logger_add_scalar(log, "scalar", 1, 1);
    status = status ? status : tern_logger_add_histogram(log, "histogram", x, 1);
    status = status ? status : tern_logger_add_image(log, "image", x, 1);
    status = status ? status : tern_logger_add_text(log, "text", "b", 1);
    status = status ? status : tern_logger_add_confusion_matrix(log, "matrix", x, names, 1);
    status = status ? status : tern_logger_add_pr_curve(log, "curve", x, x, 1);
    status = status ? status : tern_logger_add_settings(log, &lr, 1);
    return status ? status : tern_logger_flush(log);
}

// The n-th allocation fails, in whichever thread: an error, or an entry that is counted.
static bool log_with_fault(int64_t n)
{
    char name[32];
    snprintf(name, sizeof name, "run%lld", (long long)n);
    const tern_scope scope = tern_scope_open();
    fail_nth_allocation(n);
    tern_logger *log = tern_logger_new(path_of(name), .csv = true);
    const tern_status status = log ? log_each_kind(log) : tern_error_code();
    const int64_t dropped = log && !status ? tern_logger_dropped(log) : 0;
    const bool fired = memory.failed > 0;
    fail_nth_allocation(0);
    assert_true(!status || status == TERN_ERR_NOMEM);
    if (fired && !status && log)
        assert_true(dropped <= 1);
    tern_error_clear();
    tern_logger_free(log);
    tern_scope_close(scope);
    assert_no_error();
    return fired;
}

static void a_failed_allocation_is_an_error_or_a_dropped_entry(void **state)
{
    (void)state;
    watch_log();
    assert_false(log_with_fault(1000000));
    tern_memory_trim();
    const int64_t blocks = memory.blocks, bytes = memory.bytes;
    int64_t n = 1;
    for (; log_with_fault(n); n++)
        assert_true(n < 1000);
    assert_true(n > 20);
    tern_memory_trim();
    assert_int_equal(memory.blocks, blocks);
    assert_int_equal(memory.bytes, bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOGGER_TEST(a_full_disk_is_one_warning_and_the_log_goes_on_when_there_is_space),
        LOGGER_TEST(what_is_torn_by_a_full_disk_is_taken_away),
        LOGGER_TEST(short_writes_are_completed),
        LOGGER_TEST(a_disk_that_is_full_at_the_start_is_one_warning),
        LOGGER_TEST(a_limit_of_file_sizes_ends_no_process),
        LOGGER_TEST(a_disk_that_waits_keeps_nobody_and_what_does_not_fit_is_counted),
        LOGGER_TEST(a_page_is_written_though_the_queue_is_full),
        LOGGER_TEST(tensors_in_the_queue_are_bounded),
        LOGGER_TEST(entries_are_in_the_file_soon),
        LOGGER_TEST(time_never_decreases),
        LOGGER_TEST(without_a_thread_whoever_logs_writes),
        LOGGER_TEST(a_failed_allocation_is_an_error_or_a_dropped_entry),
    };
    return use_memory_hook() || cmocka_run_group_tests(tests, NULL, NULL) || all_given_back();
}
