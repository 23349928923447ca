// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cgroup.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "support/child.h"
#include <tern/tern.h>

#define MOST 5000

// How often each piece was done. Not atomic: a piece that two threads do is a race for TSan to
// find.
static int done[MOST];

static void count(void *context, int64_t index)
{
    ((int *)context)[index]++;
}

static void run_and_check(int64_t pieces)
{
    memset(done, 0, sizeof done);
    tern_pool_run(pieces, count, done);
    for (int64_t i = 0; i < MOST; i++)
        assert_int_equal(done[i], i < pieces);
}

static int clean(void **state)
{
    (void)state;
    tern_error_clear();
    return tern_set_num_threads(3);
}

static void every_piece_is_done_once_for_any_number_of_threads(void **state)
{
    (void)state;
    const int threads[] = {1, 2, 3, 8};
    const int64_t pieces[] = {0, 1, 2, 3, 7, 16, 23, 24, 25, 100, 1001, MOST};
    for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
        assert_int_equal(tern_set_num_threads(threads[t]), TERN_OK);
        assert_int_equal(tern_num_threads(), threads[t]);
        for (size_t p = 0; p < sizeof pieces / sizeof pieces[0]; p++)
            run_and_check(pieces[p]);
    }
}

static void regions_follow_each_other_without_a_gap(void **state)
{
    (void)state;
    memset(done, 0, sizeof done);
    for (int i = 0; i < 2000; i++)
        tern_pool_run(4, count, done);
    for (int i = 0; i < 4; i++)
        assert_int_equal(done[i], 2000);
}

static void pause_milliseconds(long milliseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

static void sleeping_workers_are_woken(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        run_and_check(50);
        pause_milliseconds(2);
    }
}

// What a piece saw of the thread it ran on.
typedef struct witness {
    pthread_t thread;
    char name[16];
    bool signals_blocked;
} witness;

static void look_around(void *context, int64_t index)
{
    witness *seen = (witness *)context + index;
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    seen->thread = pthread_self();
    seen->signals_blocked = sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGTERM) == 1;
    pthread_getname_np(pthread_self(), seen->name, sizeof seen->name);
    pause_milliseconds(1); // so that every thread gets a piece
}

static void workers_take_part_are_named_and_take_no_signals(void **state)
{
    (void)state;
    witness seen[60] = {0};
    int elsewhere = 0;
    tern_pool_run(60, look_around, seen);
    for (int i = 0; i < 60; i++) {
        if (pthread_equal(seen[i].thread, pthread_self())) {
            assert_false(seen[i].signals_blocked);
            continue;
        }
        elsewhere++;
        assert_true(seen[i].signals_blocked);
        assert_true(strcmp(seen[i].name, "tern-1") == 0 || strcmp(seen[i].name, "tern-2") == 0);
    }
    assert_in_range(elsewhere, 1, 59);
}

static void nest(void *context, int64_t index)
{
    int *row = (int *)context + index * 10;
    tern_pool_run(10, count, row);
}

static void a_region_inside_a_piece_runs_there(void **state)
{
    (void)state;
    memset(done, 0, sizeof done);
    tern_pool_run(100, nest, done);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(done[i], 1);
}

static void change_threads(void *context, int64_t index)
{
    ((tern_status *)context)[index] = tern_set_num_threads(2);
    tern_error_clear();
}

static void threads_cannot_be_changed_from_inside_a_piece(void **state)
{
    (void)state;
    tern_status status[8] = {TERN_OK};
    tern_pool_run(8, change_threads, status);
    for (int i = 0; i < 8; i++)
        assert_int_equal(status[i], TERN_ERR_STATE);
    assert_int_equal(tern_num_threads(), 3);
}

static void *many_regions(void *counts)
{
    for (int i = 0; i < 300; i++)
        tern_pool_run(20, count, counts);
    return NULL;
}

static void callers_at_the_same_time_each_get_their_work_done(void **state)
{
    (void)state;
    int counts[4][20] = {{0}};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, many_regions, counts[i]), 0);
    for (int i = 0; i < 10; i++)
        assert_int_equal(tern_set_num_threads(1 + i % 3), TERN_OK);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 20; k++)
            assert_int_equal(counts[i][k], 300);
}

static void after_a_shutdown_the_next_region_starts_again(void **state)
{
    (void)state;
    run_and_check(100);
    tern_pool_shutdown();
    tern_pool_shutdown();
    run_and_check(100);
}

static void pause_and_count(void *counter, int64_t index)
{
    (void)index;
    pause_milliseconds(1); // where a thread can be cancelled
    atomic_fetch_add((atomic_int *)counter, 1);
}

static void *run_a_region_and_end(void *counter)
{
    tern_pool_run(60, pause_and_count, counter);
    pthread_testcancel();
    return counter;
}

static void a_cancelled_caller_ends_its_region_first(void **state)
{
    (void)state;
    atomic_int counter = 0;
    pthread_t thread;
    void *result;
    assert_int_equal(pthread_create(&thread, NULL, run_a_region_and_end, &counter), 0);
    while (atomic_load(&counter) == 0)
        pause_milliseconds(1);
    assert_int_equal(pthread_cancel(thread), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    assert_int_equal(atomic_load(&counter), 60);
    assert_int_equal(tern_set_num_threads(3), TERN_OK);
    workers_take_part_are_named_and_take_no_signals(state);
}

static void wrong_numbers_of_threads_are_refused(void **state)
{
    (void)state;
    const int wrong[] = {0, -1, 257, INT32_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(tern_set_num_threads(wrong[i]), TERN_ERR_ARG);
        assert_int_equal(tern_num_threads(), 3);
    }
    assert_non_null(strstr(tern_error_message(), "0"));
}

static void count_and_set_errno(void *context, int64_t index)
{
    count(context, index);
    errno = 5;
}

static void errno_is_kept(void **state)
{
    (void)state;
    tern_pool_shutdown();
    errno = 77;
    tern_pool_run(100, count_and_set_errno, done);
    assert_int_equal(errno, 77);
    tern_pool_run(1, count_and_set_errno, done);
    assert_int_equal(errno, 77);
}

// Runs this program again as `mode`, with TERN_NUM_THREADS set; its exit status.
static const char *mode_to_run;
static const char *threads_setting;

static int run_again(void)
{
    if (threads_setting)
        setenv("TERN_NUM_THREADS", threads_setting, 1);
    else
        unsetenv("TERN_NUM_THREADS");
    execl("/proc/self/exe", "test_pool", mode_to_run, (char *)NULL);
    return 99;
}

static int exit_status_of(const char *mode, const char *setting)
{
    mode_to_run = mode;
    threads_setting = setting;
    int status = status_of_child(run_again);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void the_environment_says_how_many_threads(void **state)
{
    (void)state;
    cpu_set_t mask;
    assert_int_equal(sched_getaffinity(0, sizeof mask, &mask), 0);
    int quota = tern_cgroup_cpus("/proc/self/cgroup", "/sys/fs/cgroup"); // 0: none
    int cpus = quota > 0 && quota < CPU_COUNT(&mask) ? quota : CPU_COUNT(&mask);
    assert_int_equal(exit_status_of("threads", NULL), cpus);
    assert_int_equal(exit_status_of("threads", "5"), 5);
    assert_int_equal(exit_status_of("threads", "007"), 7);
    const char *wrong[] = {"", "0", "-3", "4x", "257", "99999999999999999999", " 3"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(exit_status_of("threads", wrong[i]), cpus);
}

static int threads_of_this_process(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (struct dirent *entry; (entry = readdir(tasks));)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

enum { MOST_LAYERS = 64 };

// How many threads a step of an MLP of so many layers starts, where two may work.
static int started_by_a_step(int64_t width, int layers, int64_t batch)
{
    const tern_scope scope = tern_scope_open();
    tern_module *child[2 * MOST_LAYERS];
    for (int i = 0; i < layers; i++) {
        child[2 * i] = tern_nn_linear(width, width);
        child[2 * i + 1] = tern_nn_relu();
    }
    tern_module *net = tern_nn_sequential_new(2 * layers, child);
    tern_optim *opt = tern_optim_adam(net, .lr = 1e-3);
    tern_tensor *x = tern_rand(tern_dims(batch, width));
    assert_int_equal(tern_set_num_threads(2), TERN_OK); // ends those that there are
    const int before = threads_of_this_process();
    tern_tensor *y = tern_forward(net, x);
    assert_int_equal(tern_backward(tern_mean(tern_mul(y, y), TERN_ALL_AXES, false)), TERN_OK);
    assert_int_equal(tern_optim_step(opt), TERN_OK);
    const int started = threads_of_this_process() - before;
    tern_optim_free(opt);
    tern_module_free(net);
    tern_scope_close(scope);
    return started;
}

static void a_second_thread_is_started_only_for_what_is_worth_it(void **state)
{
    (void)state;
    assert_int_equal(started_by_a_step(32, 4, 64), 0);
    assert_int_equal(started_by_a_step(64, 4, 64), 0);
    assert_int_equal(started_by_a_step(128, 4, 64), 0);
    assert_int_equal(started_by_a_step(64, MOST_LAYERS, 64), 0);
    assert_int_equal(started_by_a_step(256, 4, 64), 1);
    assert_int_equal(started_by_a_step(64, 4, 1024), 1);
}

#define TEST(name) cmocka_unit_test_setup(name, clean)

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "threads") == 0)
        return tern_num_threads();
    const struct CMUnitTest tests[] = {
        TEST(every_piece_is_done_once_for_any_number_of_threads),
        TEST(regions_follow_each_other_without_a_gap),
        TEST(sleeping_workers_are_woken),
        TEST(workers_take_part_are_named_and_take_no_signals),
        TEST(a_region_inside_a_piece_runs_there),
        TEST(threads_cannot_be_changed_from_inside_a_piece),
        TEST(callers_at_the_same_time_each_get_their_work_done),
        TEST(after_a_shutdown_the_next_region_starts_again),
        TEST(a_cancelled_caller_ends_its_region_first),
        TEST(wrong_numbers_of_threads_are_refused),
        TEST(errno_is_kept),
        TEST(the_environment_says_how_many_threads),
        TEST(a_second_thread_is_started_only_for_what_is_worth_it),
    };
    return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
