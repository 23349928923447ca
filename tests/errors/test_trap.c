// SPDX-License-Identifier: Apache-2.0
// TERN_TRAP=1 stops a debugger at the first error, and does nothing else. The variable is read
// once, so each part runs in a process of its own, from the start on.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // setenv
#endif
#include <signal.h>
#include <sys/resource.h>

#include "support/child.h"

static char **arguments;
static volatile sig_atomic_t traps;

static void count_trap(int signal)
{
    (void)signal;
    traps++;
}

// The line that a debugger is to show.
__attribute__((noinline)) static int fail_once(void)
{
    tern_tensor *x = tern_zeros(tern_dims(2, 3));
    tern_tensor *y = tern_matmul(x, x); // here
    bool failed = !y && tern_error_code() == TERN_ERR_SHAPE;
    if (failed)
        fprintf(stderr, "went on after the error\n");
    return failed ? 0 : 1;
}

// The exit status: 10 times the traps at first errors, and 1 for each other.
static int count_traps(void)
{
    struct sigaction action = {.sa_handler = count_trap};
    if (sigaction(SIGTRAP, &action, NULL))
        return 97;
    int status = 10 * (fail_once() ? 9 : traps);
    traps = 0;
    (void)!tern_narrow(NULL, 0, 0, 1);
    (void)tern_error_raise(TERN_ERR_ARG, "later");
    status += traps;
    tern_error_clear();
    traps = 0;
    (void)tern_error_raise(TERN_ERR_ARG, "first again");
    status += 10 * traps;
    tern_error_clear();
    return status;
}

// The status of this program's `part`, with TERN_TRAP as said.
static int status_of(const char *part, const char *setting)
{
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        if (setting)
            setenv("TERN_TRAP", setting, 1);
        else
            unsetenv("TERN_TRAP");
        execl("/proc/self/exe", arguments[0], part, (char *)NULL);
        _exit(99);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void the_first_error_sends_a_trap(void **state)
{
    (void)state;
    int status = status_of("fail", "1");
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTRAP);
}

static void without_the_setting_there_is_none(void **state)
{
    (void)state;
    static const char *const settings[] = {NULL, "", "0", "yes"};
    for (int i = 0; i < 4; i++) {
        int status = status_of("fail", settings[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        status = status_of("count", settings[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

static void later_errors_send_none(void **state)
{
    (void)state;
    int status = status_of("count", "1");
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 20);
}

int main(int argc, char **argv)
{
    arguments = argv;
    if (argc > 1)
        return strcmp(argv[1], "count") == 0 ? count_traps() : fail_once();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_error_sends_a_trap),
        cmocka_unit_test(without_the_setting_there_is_none),
        cmocka_unit_test(later_errors_send_none),
    };
    return cmocka_run_group_tests_name("trap", tests, NULL, NULL);
}
