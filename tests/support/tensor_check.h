// SPDX-License-Identifier: Apache-2.0
// What the tests of tensors share: a scope a test, comparison with written-out values, and
// failures.
#ifndef TERN_TESTS_SUPPORT_TENSOR_CHECK_H
#define TERN_TESTS_SUPPORT_TENSOR_CHECK_H

#include "check.h"

static tern_scope check_scope;
static int64_t check_live;

static int check_open(void **state)
{
    (void)state;
    tern_error_clear();
    check_live = tern_live_tensors();
    check_scope = tern_scope_open();
    return check_scope ? 0 : -1;
}

// Nothing may be left pending, recording is on again, and every tensor died with the scope.
static int check_close(void **state)
{
    (void)state;
    bool clean = !tern_error_pending() && tern_grad_enabled();
    if (!clean)
        print_error("left pending: %s\n", tern_error_message());
    tern_error_clear();
    tern_scope_close(check_scope);
    if (tern_live_tensors() != check_live)
        print_error("%lld tensors left\n", (long long)(tern_live_tensors() - check_live));
    return clean && tern_live_tensors() == check_live ? 0 : -1;
}

// Caches are not leaks.
static inline int check_shutdown(void **state)
{
    (void)state;
    tern_shutdown();
    return 0;
}

#define CHECK_TEST(name) cmocka_unit_test_setup_teardown(name, check_open, check_close)

// Shape and values of a tensor; every value within `tolerance`, NaN equals NaN.
static inline void check_close_to(tern_tensor *t, tern_shape shape, const double *expected,
                                  int64_t count, double tolerance, const char *file, int line)
{
    if (!t) {
        print_error("NULL: %s\n", tern_error_message());
        _fail(file, line);
        return;
    }
    if (!tern_shape_equal(tern_shape_of(t), shape) || tern_numel(t) != count) {
        print_error("rank %d, %lld elements\n", tern_rank(t), (long long)tern_numel(t));
        _fail(file, line);
    }
    double *values = malloc((size_t)count * sizeof(double) + 1);
    if (!values)
        _fail(file, line);
    bool before = tern_set_grad_enabled(false);
    tern_status status =
        tern_to_host(tern_to_dtype(t, TERN_FLOAT64), values, (size_t)count * sizeof(double));
    tern_set_grad_enabled(before);
    for (int64_t i = 0; !status && i < count; i++) {
        bool same = values[i] == expected[i] || (isnan(values[i]) && isnan(expected[i]));
        if (same || fabs(values[i] - expected[i]) <= tolerance)
            continue;
        print_error("element %lld is %.17g, not %.17g\n", (long long)i, values[i], expected[i]);
        status = TERN_ERR_ARG;
    }
    free(values);
    if (status)
        _fail(file, line);
}

// assert_tensor(t, tern_dims(2), 1, 2)
#define assert_tensor(t, shape, ...)                                                               \
    check_close_to(t, shape, (const double[]){__VA_ARGS__},                                        \
                   (int64_t)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)), 0, __FILE__, \
                   __LINE__)
#define assert_tensor_near(t, tolerance, shape, ...)                                               \
    check_close_to(t, shape, (const double[]){__VA_ARGS__},                                        \
                   (int64_t)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)), tolerance,   \
                   __FILE__, __LINE__)
#define assert_empty(t, shape) check_close_to(t, shape, NULL, 0, 0, __FILE__, __LINE__)

// A call that returns a pointer fails like this; one that returns a status.
#define assert_null_with(call, code, part)                                                         \
    do {                                                                                           \
        assert_null(call);                                                                         \
        assert_error(code, part);                                                                  \
    } while (0)
#define assert_status(call, code, part)                                                            \
    do {                                                                                           \
        assert_int_equal(call, code);                                                              \
        assert_error(code, part);                                                                  \
    } while (0)

// The whole sentence of the error, which is taken.
#define assert_sentence(call, code, sentence)                                                      \
    do {                                                                                           \
        char said_[600];                                                                           \
        assert_int_equal(call, code);                                                              \
        assert_int_equal(tern_error_take(said_, sizeof said_), code);                              \
        assert_string_equal(said_, sentence);                                                      \
    } while (0)

// (2, 3) float32: 0 1 2 / 3 4 5
static inline tern_tensor *check_2x3(bool requires_grad)
{
    const float data[] = {0, 1, 2, 3, 4, 5};
    return tern_from_data(tern_dims(2, 3), data, .requires_grad = requires_grad);
}

#endif
