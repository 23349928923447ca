// SPDX-License-Identifier: Apache-2.0
// Where the system gives no threads, one CPU or little memory, there are fewer threads or an error:
// never a crash or a hang, and a training that ends well has the same bits.
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "training.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

#define SEED  3
#define MIB   (1024 * 1024)
#define SKIP  77
#define WRONG 90 // and above: what a child says

// ---- a pthread_create that may fail -------------------------------------------------------------

static int allowed = 1000; // threads that may still be started
static int started;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*fn)(void *),
                          void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*fn)(void *),
                          void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*fn)(void *),
                          void *argument)
{
    if (allowed <= 0)
        return EAGAIN;
    allowed--;
    started++;
    return __real_pthread_create(thread, attributes, fn, argument);
}

static int warnings;

static void count_warnings(tern_log_level level, const char *line, void *user)
{
    (void)user;
    warnings += level == TERN_LOG_WARN && strstr(line, "threads could be started");
}

static uint64_t alone(void)
{
    assert_int_equal(tern_set_num_threads(1), TERN_OK);
    uint64_t hash = training_run(SEED);
    assert_true(hash != 0);
    return hash;
}

static void where_threads_cannot_be_started_there_are_fewer(void **state)
{
    (void)state;
    uint64_t expected = alone();
    for (int possible = 0; possible < 4; possible++) {
        allowed = possible;
        warnings = 0;
        tern_set_log(count_warnings, NULL);
        assert_int_equal(tern_set_num_threads(6), TERN_OK);
        assert_true(training_run(SEED) == expected);
        tern_set_log(NULL, NULL);
        assert_no_error();
        assert_int_equal(tern_num_threads(), possible + 1);
        assert_int_equal(warnings, 1);
    }
    allowed = 1000;
    assert_int_equal(tern_set_num_threads(6), TERN_OK);
    assert_true(training_run(SEED) == expected);
    assert_int_equal(tern_num_threads(), 6);
}

// ---- a thread for each device -------------------------------------------------------------------

#define DEVICES 3

static double parallel_step(tern_module *parallel, tern_tensor *x)
{
    tern_scope scope = tern_scope_open();
    tern_module_zero_grad(parallel);
    tern_tensor *y = tern_forward(parallel, x);
    assert_int_equal(tern_backward(tern_sum(tern_mul(y, y), TERN_ALL_AXES, false)), TERN_OK);
    tern_tensor *grad = tern_grad(tern_module_parameter(parallel, "module.0.weight"));
    const double sum = tern_item(tern_sum(tern_mul(grad, grad), TERN_ALL_AXES, false));
    tern_scope_close(scope);
    return sum;
}

// So many threads can be started for the others: threads of the pool there are none.
static double steps_with(int possible)
{
    const tern_device devices[DEVICES] = {tern_cpu(0), tern_cpu(1), tern_cpu(2)};
    tern_shutdown(); // threads are kept until then
    tern_scope scope = tern_scope_open();
    tern_manual_seed(SEED);
    tern_module *net = tern_nn_sequential(tern_nn_linear(5, 4), tern_nn_dropout(0.5));
    tern_module *parallel = tern_nn_data_parallel(net, .devices = devices, .count = DEVICES);
    tern_tensor *x = tern_randn(tern_dims(7, 5)), *wrong = tern_randn(tern_dims(7, 4));
    allowed = possible;
    const double sum = parallel_step(parallel, x);
    allowed = 0; // no step after the first starts one
    const int before = started;
    for (int i = 0; i < 5; i++)
        (void)parallel_step(parallel, x);
    assert_int_equal(started, before);
    assert_null(tern_forward(parallel, wrong));
    assert_error(TERN_ERR_SHAPE, ", replica on cpu:0]");
    assert_true(tern_grad_enabled());
    allowed = 1000;
    tern_module_free(parallel);
    tern_scope_close(scope);
    return sum;
}

static void where_a_device_gets_no_thread_the_caller_does_its_work(void **state)
{
    (void)state;
    assert_int_equal(tern_set_num_threads(1), TERN_OK);
    const double expected = steps_with(DEVICES - 1);
    for (int possible = 0; possible < DEVICES - 1; possible++)
        assert_true(steps_with(possible) == expected);
}

// ---- in processes of their own ------------------------------------------------------------------

// Trains; 0 where the bits are those of the parent.
static int train(const char *expected)
{
    char hash[32];
    snprintf(hash, sizeof hash, "%llx", (unsigned long long)training_run(SEED));
    return strcmp(hash, expected) == 0 && !tern_error_pending() ? 0 : WRONG;
}

static int threads_of_this_process(void)
{
    int threads = 0;
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        (void)sscanf(line, "Threads: %d", &threads);
    if (file)
        fclose(file);
    return threads;
}

// With one CPU there are no workers at all.
static int on_one_cpu(const char *expected)
{
    cpu_set_t mask, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof mask, &mask) != 0)
        return WRONG + 1;
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &mask))
            CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        return WRONG + 1;
    int before = threads_of_this_process(); // TSan has one of its own
    int status = train(expected);
    bool fewer = tern_num_threads() == 1 && threads_of_this_process() == before;
    return status || fewer ? status : WRONG + 2;
}

// Limits on processes do not count for root, so it becomes nobody first. At the end the limit goes:
// LeakSanitizer looks from a thread of its own.
static int without_processes(const char *expected)
{
    struct rlimit before;
    if (getrlimit(RLIMIT_NPROC, &before) != 0 || (getuid() == 0 && setuid(65534) != 0))
        return SKIP;
    const struct rlimit limit = {1, before.rlim_max};
    if (setrlimit(RLIMIT_NPROC, &limit) != 0 || prctl(PR_SET_DUMPABLE, 1) != 0)
        return SKIP;
    int status = tern_set_num_threads(100) ? WRONG + 3 : train(expected);
    (void)setrlimit(RLIMIT_NPROC, &before);
    return status || tern_num_threads() == 1 ? status : WRONG + 4;
}

static int64_t address_space(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

static int limit_memory(int64_t more)
{
    int64_t most = address_space() + more;
    struct rlimit limit = {(rlim_t)most, (rlim_t)most};
    struct rlimit stack = {8 * MIB, RLIM_INFINITY};
    return setrlimit(RLIMIT_STACK, &stack) || setrlimit(RLIMIT_AS, &limit);
}

// Room for two or three stacks of 8 MiB only, 100 threads wanted. What a child says is how many
// there are then.
static int with_few_stacks(const char *expected)
{
    tern_set_log(count_warnings, NULL);
    if (limit_memory(40 * MIB) || tern_set_num_threads(100))
        return WRONG + 5;
    int status = train(expected);
    return status ? status : warnings == 1 ? tern_num_threads() : WRONG + 6;
}

// From nothing upwards: the training fails with a sentence until there is enough for it.
static int with_little_memory(const char *expected)
{
    int64_t room = atoll(getenv("TERN_TEST_ROOM"));
    if (limit_memory(room))
        return WRONG + 7;
    uint64_t hash = training_run(SEED);
    if (hash == 0 && tern_error_code() != TERN_ERR_NOMEM)
        return WRONG + 8;
    tern_error_clear();
    tern_tensor *vast = tern_zeros(tern_dims(1 << 28));
    if (vast || tern_error_code() != TERN_ERR_NOMEM)
        return WRONG + 9;
    tern_error_clear();
    return hash ? train(expected) : 1;
}

typedef int mode_fn(const char *expected);
static const struct {
    const char *name;
    mode_fn *run;
} modes[] = {
    {"one-cpu", on_one_cpu},
    {"no-processes", without_processes},
    {"few-stacks", with_few_stacks},
    {"little-memory", with_little_memory},
};

// Runs this program again as a mode; its exit status. One that hangs is killed.
static int status_of(const char *mode)
{
    char expected[32];
    snprintf(expected, sizeof expected, "%llx", (unsigned long long)alone());
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        execl("/proc/self/exe", "R39", mode, expected, (char *)NULL);
        _exit(WRONG + 10);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void on_one_cpu_there_are_no_workers(void **state)
{
    (void)state;
    assert_int_equal(status_of("one-cpu"), 0);
}

static void where_no_process_may_be_added_the_caller_works_alone(void **state)
{
    (void)state;
    int status = status_of("no-processes");
    if (status == SKIP) {
        print_message("the limit on processes cannot be set here\n");
        skip();
    }
    assert_int_equal(status, 0);
}

static void skip_under_sanitizers(void)
{
#ifdef SANITIZED
    print_message("sanitizers do not live with a limit on the address space\n");
    skip();
#endif
}

static void where_stacks_find_no_room_there_are_fewer_threads(void **state)
{
    (void)state;
    skip_under_sanitizers();
    assert_in_range(status_of("few-stacks"), 1, 10);
}

static void where_memory_is_short_there_is_an_error(void **state)
{
    (void)state;
    skip_under_sanitizers();
    int failed = 0, trained = 0;
    for (int64_t room = 0; room <= 64 * MIB; room = room ? room * 4 : MIB / 4) {
        char text[32];
        snprintf(text, sizeof text, "%lld", (long long)room);
        setenv("TERN_TEST_ROOM", text, 1);
        int status = status_of("little-memory");
        assert_in_range(status, 0, 1);
        failed += status == 1;
        trained += status == 0;
    }
    assert_true(failed > 0 && trained > 0);
}

int main(int argc, char **argv)
{
    setenv("TERN_CPU_DEVICES", "3", 1);
    for (size_t i = 0; argc > 2 && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(argv[1], modes[i].name) == 0)
            return modes[i].run(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_threads_cannot_be_started_there_are_fewer),
        cmocka_unit_test(where_a_device_gets_no_thread_the_caller_does_its_work),
        cmocka_unit_test(on_one_cpu_there_are_no_workers),
        cmocka_unit_test(where_no_process_may_be_added_the_caller_works_alone),
        cmocka_unit_test(where_stacks_find_no_room_there_are_fewer_threads),
        cmocka_unit_test(where_memory_is_short_there_is_an_error),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tern_shutdown();
    return failed;
}
