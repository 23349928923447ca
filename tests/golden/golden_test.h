// SPDX-License-Identifier: Apache-2.0
// What the tests against PyTorch's training runs share. Include <cmocka.h> before.
#ifndef TERN_TESTS_GOLDEN_TEST_H
#define TERN_TESTS_GOLDEN_TEST_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tern/tern.h>

#include "golden.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

// The bytes have the 64-bit FNV-1a hash that a word tells.
static inline void assert_hash(const golden_case *c, const char *word, const void *data,
                               size_t nbytes)
{
    const char *told = golden_text(c, word);
    if (!told || strtoull(told, NULL, 16) != golden_hash(0, data, nbytes))
        fail_msg("%s: the %s is not %s", c->name, word, told);
}

static inline void assert_near(const char *what, int64_t at, double value, double expected,
                               double atol, double rtol)
{
    if (!(fabs(value - expected) <= atol + rtol * fabs(expected)))
        fail_msg("%s [%lld]: %.17g instead of %.17g (difference %.3g)", what, (long long)at, value,
                 expected, value - expected);
}

static inline void assert_fine(void)
{
    if (tern_error_pending())
        fail_msg("%s", tern_error_message());
}

static int64_t live_before; // tensors

static inline int start(void **state)
{
    (void)state;
    tern_error_clear();
    live_before = tern_live_tensors();
    return 0;
}

static inline int leaves_nothing(void **state)
{
    (void)state;
    return tern_live_tensors() != live_before;
}

// Runs the test on every case of a family.
static inline int golden_run(const char *family, CMUnitTestFunction test)
{
    const golden_file *file = golden_read(family);
    struct CMUnitTest *tests = calloc((size_t)file->count, sizeof *tests);
    if (!tests)
        return 1;
    for (int i = 0; i < file->count; i++)
        tests[i] = (struct CMUnitTest){file->cases[i].name, test, start, leaves_nothing,
                                       (void *)(uintptr_t)&file->cases[i]};
    const int failed = _cmocka_run_group_tests(family, tests, (size_t)file->count, NULL, NULL);
    free(tests);
    return failed;
}

static inline tern_module *make_mlp(void)
{
    return tern_nn_sequential(tern_nn_flatten(), tern_nn_linear(784, 512), tern_nn_relu(),
                              tern_nn_linear(512, 512), tern_nn_relu(), tern_nn_linear(512, 10));
}

#endif
