// SPDX-License-Identifier: Apache-2.0
// Signals that end a loop after its step; each in a process of its own.
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <tern/tern.h>

#include "support/child.h"

static void send(int number)
{
    if (kill(getpid(), number))
        _exit(99);
}

static void assert_ends_with(int (*body)(void), int status)
{
    const int ended = status_of_child(body);
    assert_true(WIFEXITED(ended));
    assert_int_equal(WEXITSTATUS(ended), status);
}

static void assert_ends_by(int (*body)(void), int number)
{
    const int ended = status_of_child(body);
    assert_true(WIFSIGNALED(ended));
    assert_int_equal(WTERMSIG(ended), number);
}

static bool is_default(int number)
{
    struct sigaction now;
    return !sigaction(number, NULL, &now) && now.sa_handler == SIG_DFL;
}

static int one(void)
{
    tern_interrupt_catch();
    if (tern_interrupted())
        return 1;
    send(SIGINT);
    return tern_interrupted() ? 42 : 2;
}

static int two(void)
{
    tern_interrupt_catch();
    send(SIGINT);
    send(SIGINT);
    return 1;
}

static int another_second(void)
{
    tern_interrupt_catch(.terminate = true);
    send(SIGINT);
    send(SIGTERM);
    return 1;
}

static void the_first_one_is_noted_and_the_second_ends_the_process(void **state)
{
    (void)state;
    assert_ends_with(one, 42);
    assert_ends_by(two, SIGINT);
    assert_ends_by(another_second, SIGTERM);
}

static int one_terminate(void)
{
    tern_interrupt_catch(.terminate = true);
    send(SIGTERM);
    return tern_interrupted() ? 42 : 1;
}

static int unasked_terminate(void)
{
    tern_interrupt_catch();
    send(SIGTERM);
    return 1;
}

static void a_request_to_terminate_is_noted_where_that_is_asked_for(void **state)
{
    (void)state;
    assert_ends_with(one_terminate, 42);
    assert_ends_by(unasked_terminate, SIGTERM);
}

static int ignored(void)
{
    signal(SIGINT, SIG_IGN);
    tern_interrupt_catch();
    send(SIGINT);
    send(SIGINT);
    if (tern_interrupted())
        return 1;
    tern_interrupt_release();
    send(SIGINT);
    return 42;
}

static void a_signal_that_is_ignored_stays_ignored(void **state)
{
    (void)state;
    assert_ends_with(ignored, 42);
}

static int released(void)
{
    tern_interrupt_release(); // of nothing
    tern_interrupt_catch(.terminate = true);
    send(SIGINT);
    tern_interrupt_release();
    if (!tern_interrupted() || !is_default(SIGINT) || !is_default(SIGTERM))
        return 1;
    tern_interrupt_catch(); // it begins without an interrupt
    if (tern_interrupted())
        return 2;
    tern_interrupt_release();
    send(SIGINT);
    return 3;
}

static void afterwards_signals_do_what_they_did_before(void **state)
{
    (void)state;
    assert_ends_by(released, SIGINT);
}

static volatile sig_atomic_t own_calls;

static void own_handler(int number)
{
    (void)number;
    own_calls++;
}

static int own(void)
{
    struct sigaction mine = {.sa_handler = own_handler};
    sigaction(SIGINT, &mine, NULL);
    tern_interrupt_catch();
    send(SIGINT);
    if (own_calls != 0 || !tern_interrupted())
        return 1;
    send(SIGINT);
    if (own_calls != 1)
        return 2;
    tern_interrupt_release();
    send(SIGINT);
    return own_calls == 2 ? 42 : 3;
}

static void a_handler_of_the_programs_own_gets_the_second_one(void **state)
{
    (void)state;
    assert_ends_with(own, 42);
}

static int nested(void)
{
    tern_interrupt_catch();
    send(SIGINT);
    tern_interrupt_catch(); // of a call inside: it does not forget
    if (!tern_interrupted())
        return 1;
    tern_interrupt_release();
    tern_interrupt_release();
    tern_interrupt_catch();
    tern_interrupt_catch();
    tern_interrupt_release();
    send(SIGINT); // the outer one is there still
    return tern_interrupted() ? 42 : 2;
}

static void calls_nest_and_the_outermost_counts(void **state)
{
    (void)state;
    assert_ends_with(nested, 42);
}

static int no_options(void)
{
    tern_interrupt_catch_with(NULL);
    return tern_error_code() == TERN_ERR_NULL && is_default(SIGINT) ? 42 : 1;
}

static void without_options_nothing_is_caught(void **state)
{
    (void)state;
    assert_ends_with(no_options, 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_one_is_noted_and_the_second_ends_the_process),
        cmocka_unit_test(a_request_to_terminate_is_noted_where_that_is_asked_for),
        cmocka_unit_test(a_signal_that_is_ignored_stays_ignored),
        cmocka_unit_test(afterwards_signals_do_what_they_did_before),
        cmocka_unit_test(a_handler_of_the_programs_own_gets_the_second_one),
        cmocka_unit_test(calls_nest_and_the_outermost_counts),
        cmocka_unit_test(without_options_nothing_is_caught),
    };
    return cmocka_run_group_tests_name("interrupt", tests, NULL, NULL);
}
