// SPDX-License-Identifier: Apache-2.0
// The control of the sanitized builds: a fault that is made on purpose, in a child, must be
// reported and end the child with failure. In a plain build there is nobody to see it.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WATCHES_ADDRESSES 1
#endif
#if __has_feature(thread_sanitizer)
#define WATCHES_THREADS 1
#endif
#if __has_feature(undefined_behavior_sanitizer)
#define WATCHES_UNDEFINED 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define WATCHES_ADDRESSES 1
#endif
#ifdef __SANITIZE_THREAD__
#define WATCHES_THREADS 1
#endif
#ifndef WATCHES_ADDRESSES
#define WATCHES_ADDRESSES 0
#endif
#ifndef WATCHES_THREADS
#define WATCHES_THREADS 0
#endif
#ifndef WATCHES_UNDEFINED
#define WATCHES_UNDEFINED TERN_TEST_UNDEFINED // gcc does not say
#endif

static char said[20000]; // by the last child, on stderr

static int status_of_child(void (*fault)(void))
{
    int ends[2], status = -1;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        fault();
        exit(0); // not _exit: reports may come at the end
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got; (got = read(ends[0], said + length, sizeof said - 1 - length)) > 0;)
        length += (size_t)got;
    said[length] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void must_report(bool watched, void (*fault)(void), const char *report)
{
    if (!watched) {
        print_message("not built with this sanitizer\n");
        skip();
    }
    int status = status_of_child(fault);
    if (status == 0)
        fail_msg("the fault went unseen: %s", said);
    if (!strstr(said, report))
        fail_msg("\"%s\" is not reported: %s", report, said);
}

// volatile: what a compiler can see to be wrong it may do away with.
static volatile int one = 1;
static volatile double huge = 1e30;
static volatile int result;

static void *(*volatile allocate)(size_t nbytes) = malloc; // of a size that gcc cannot see

static void write_past_a_block(void)
{
    volatile char *block = allocate(10);
    if (block)
        block[10 * one] = 1;
}

// Storage of a tensor from the cache: the bytes past the end belong to nobody.
static void write_past_a_tensor(void)
{
    tern_tensor *t = tern_zeros(tern_dims(5));
    volatile float *data = tern_data(t);
    data[5 * one] = 1;
}

static void overflow_an_int(void)
{
    result = INT32_MAX;
    result = result + one;
}

static void divide_by_zero(void)
{
    result = one / (one - 1);
}

static void convert_a_huge_number(void)
{
    result = (int)huge;
}

static int shared;

static void *count(void *unused)
{
    for (int i = 0; i < 1000; i++)
        shared += one;
    return unused;
}

static void race(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, count, NULL) == 0) {
        (void)count(NULL);
        pthread_join(thread, NULL);
    }
}

static void a_write_past_a_block_is_reported(void **state)
{
    (void)state;
    must_report(WATCHES_ADDRESSES, write_past_a_block, "heap-buffer-overflow");
}

static void a_write_past_a_tensor_is_reported(void **state)
{
    (void)state;
    must_report(WATCHES_ADDRESSES, write_past_a_tensor, "AddressSanitizer");
}

static void an_overflow_of_an_int_is_reported(void **state)
{
    (void)state;
    must_report(WATCHES_UNDEFINED, overflow_an_int, "signed integer overflow");
}

static void a_division_by_zero_is_reported(void **state)
{
    (void)state;
    must_report(WATCHES_UNDEFINED, divide_by_zero, "division by zero");
}

static void a_number_too_large_for_an_int_is_reported(void **state)
{
    (void)state;
    must_report(TERN_TEST_FLOAT_CAST, convert_a_huge_number, "outside the range");
}

static void a_race_is_reported(void **state)
{
    (void)state;
    must_report(WATCHES_THREADS, race, "data race");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_past_a_block_is_reported),
        cmocka_unit_test(a_write_past_a_tensor_is_reported),
        cmocka_unit_test(an_overflow_of_an_int_is_reported),
        cmocka_unit_test(a_division_by_zero_is_reported),
        cmocka_unit_test(a_number_too_large_for_an_int_is_reported),
        cmocka_unit_test(a_race_is_reported),
    };
    if (!WATCHES_ADDRESSES && !WATCHES_THREADS && !WATCHES_UNDEFINED && !TERN_TEST_FLOAT_CAST) {
        print_message("skipped: this build has no sanitizer\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
