// SPDX-License-Identifier: Apache-2.0
// The place that an error names is the line that this file knows by __LINE__. Compiled several
// times: WITHOUT_LINES has no debug information, WITHOUT_NAMES is stripped of symbols too.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // mkdtemp
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

#include "support/child.h"

#define HERE __attribute__((noinline)) static

static char **arguments;
static int line; // of the call that fails

// The call that fails stands in this line. What follows keeps it from being the function's last.
#define FAILS_HERE(call)                                                                           \
    do {                                                                                           \
        line = __LINE__;                                                                           \
        bool failed_ = !(call);                                                                    \
        assert_true(failed_ &&tern_error_pending());                                               \
    } while (0)

static void expect_location(char *text, size_t size, const char *function)
{
#if defined(WITHOUT_NAMES)
    (void)function;
    snprintf(text, size, "%s+0x", arguments[0]);
#elif defined(WITHOUT_LINES)
    snprintf(text, size, "%s in %s (compile with -g to see the line)", function, arguments[0]);
#else
    snprintf(text, size, "%s (%s:%d)", function, __FILE__, line);
#endif
}

static void assert_location(const char *function)
{
    char expected[600], found[600];
    expect_location(expected, sizeof expected, function);
    assert_true(tern_error_location(found, sizeof found));
#ifdef WITHOUT_NAMES
    assert_non_null(strstr(found, "(compile with -g to see the line)"));
    found[strlen(expected)] = 0;
#endif
    assert_string_equal(found, expected);
    tern_error_clear();
}

// ---- calls that fail ----------------------------------------------------------------------------

HERE void multiply(void)
{
    tern_tensor *x = tern_zeros(tern_dims(2, 3));
    FAILS_HERE(tern_matmul(x, x));
}

HERE void raise_one(void)
{
    FAILS_HERE(tern_error_raise(TERN_ERR_ARG, "one of ours") == TERN_OK);
}

static volatile int steps;

// What the call returns to belongs to the next line.
HERE void raise_and_go_on(void)
{
    line = __LINE__ + 1;
    (void)tern_error_raise(TERN_ERR_ARG, "one of ours");
    steps++;
}

HERE tern_status narrow_call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    (void)module;
    FAILS_HERE(tern_narrow(in->at[0], 0, 1, 9));
    out->at[out->count++] = in->at[0];
    return tern_error_code();
}

static const tern_module_class narrow_class = {
    .name = "Narrow", .size = sizeof(tern_module), .call = narrow_call};

// ---- cases --------------------------------------------------------------------------------------

static void it_is_the_line_of_the_call(void **state)
{
    (void)state;
    multiply();
    assert_location("multiply");
    raise_one();
    assert_location("raise_one");
    raise_and_go_on();
    assert_location("raise_and_go_on");
}

static void it_is_the_line_in_a_module_of_ones_own(void **state)
{
    (void)state;
    tern_module *net = tern_nn_sequential(
        tern_nn_relu(), tern_nn_sequential(tern_module_done(tern_module_new(&narrow_class))));
    assert_no_error();
    assert_null(tern_forward(net, tern_zeros(tern_dims(4))));
    assert_location("narrow_call");
    tern_module_free(net);
}

static void *fail_in_a_thread(void *unused)
{
    multiply();
    assert_location("multiply");
    return unused;
}

static void it_is_that_of_the_thread(void **state)
{
    (void)state;
    pthread_t thread;
    raise_one();
    int line_here = line;
    assert_int_equal(pthread_create(&thread, NULL, fail_in_a_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    line = line_here;
    assert_location("raise_one");
}

static void a_later_error_does_not_change_it(void **state)
{
    (void)state;
    raise_one();
    int first = line;
    multiply();
    assert_int_not_equal(line, first);
    line = first;
    assert_location("raise_one");
}

static void it_is_printed_below_the_sentence(void **state)
{
    (void)state;
    char text[1024] = "", expected[600], whole[700];
    FILE *file = fmemopen(text, sizeof text, "w");
    assert_non_null(file);
    raise_one();
    errno = ERANGE;
    assert_int_equal(tern_error_print(file), 1);
    assert_int_equal(errno, ERANGE);
    fclose(file);
    expect_location(expected, sizeof expected, "raise_one");
    snprintf(whole, sizeof whole, "tern: one of ours\n  at %s", expected);
    assert_memory_equal(text, whole, strlen(whole));
    assert_int_equal(text[strlen(text) - 1], '\n');
}

static void without_an_error_there_is_none(void **state)
{
    (void)state;
    char text[8] = "as was";
    assert_false(tern_error_location(text, sizeof text));
    assert_string_equal(text, "");
    raise_one();
    assert_true(tern_error_location(text, 4));
    assert_int_equal(strlen(text), 3);
    assert_false(tern_error_location(NULL, 0));
    tern_error_clear();
}

// ---- without libdw ------------------------------------------------------------------------------

static int status_again(const char *name, const char *value, const char *part)
{
    pid_t child = fork();
    if (child == 0) {
        setenv(name, value, 1);
        execl("/proc/self/exe", arguments[0], part, (char *)NULL);
        _exit(99);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A file that is no library stands where the loader looks first.
static void without_libdw_it_says_so(void **state)
{
    (void)state;
    char folder[] = "/tmp/tern-libdw-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/libdw.so.1", folder);
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(file >= 0 && close(file) == 0);
    int status = status_again("LD_LIBRARY_PATH", folder, "without-libdw");
    assert_true(unlink(path) == 0 && rmdir(folder) == 0);
    assert_int_equal(status, 0);
}

// The exit status: 0 when the place says what would give the line.
static int look_without_libdw(void)
{
    char text[600];
    multiply();
    if (dlopen("libdw.so.1", RTLD_LAZY) || !tern_error_location(text, sizeof text))
        return 98;
    fputs(text, stderr);
    tern_error_clear();
    return strstr(text, "(install libdw to see") ? 0 : 1;
}

// ---- in a forked child --------------------------------------------------------------------------

static int fail_in_a_child(void)
{
    char text[8];
    multiply();
    return tern_error_location(text, sizeof text);
}

static int look_in_a_child(void)
{
    char text[8];
    return !tern_error_pending() || tern_error_location(text, sizeof text);
}

// The loader's locks may be held for good there: nothing is looked up, of the parent's error too.
static void in_a_forked_child_there_is_none(void **state)
{
    (void)state;
    int status = status_of_child(fail_in_a_child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    raise_one();
    status = status_of_child(look_in_a_child);
    tern_error_clear();
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(int argc, char **argv)
{
    arguments = argv;
    if (argc > 1)
        return look_without_libdw();
    if (!dlopen("libdw.so.1", RTLD_LAZY)) {
        printf("skipped: there is no libdw.so.1 (libdw1, elfutils)\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_line_of_the_call),
        cmocka_unit_test(it_is_the_line_in_a_module_of_ones_own),
        cmocka_unit_test(it_is_that_of_the_thread),
        cmocka_unit_test(a_later_error_does_not_change_it),
        cmocka_unit_test(it_is_printed_below_the_sentence),
        cmocka_unit_test(without_an_error_there_is_none),
        cmocka_unit_test(without_libdw_it_says_so),
        cmocka_unit_test(in_a_forked_child_there_is_none),
    };
    return cmocka_run_group_tests_name("location", tests, NULL, NULL);
}
