// SPDX-License-Identifier: Apache-2.0
// What every test file includes: cmocka and the checks that tern's tests share.
#ifndef TERN_TESTS_SUPPORT_CHECK_H
#define TERN_TESTS_SUPPORT_CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tern/tern.h>

#include "wrong_calls.h"

// The call worked: no error is pending.
#define assert_no_error()                                                                          \
    do {                                                                                           \
        if (tern_error_pending()) {                                                                \
            char sentence_[600];                                                                   \
            tern_error_take(sentence_, sizeof sentence_);                                          \
            fail_msg("unexpected error: %s", sentence_);                                           \
        }                                                                                          \
    } while (0)

// An error of this code is pending, its sentence contains `part`, and is taken.
#define assert_error(code, part)                                                                   \
    do {                                                                                           \
        char sentence_[600];                                                                       \
        tern_status code_ = tern_error_take(sentence_, sizeof sentence_);                          \
        if (code_ != (code))                                                                       \
            fail_msg("expected the error %s, got %s: %s", tern_status_name(code),                  \
                     tern_status_name(code_), sentence_);                                          \
        if (!strstr(sentence_, (part)))                                                            \
            fail_msg("\"%s\" does not contain \"%s\"", sentence_, (part));                         \
    } while (0)

// |actual - expected| <= atol + rtol |expected|; NaN equals NaN.
#define assert_near(actual, expected, rtol, atol)                                                  \
    do {                                                                                           \
        double a_ = (actual), e_ = (expected);                                                     \
        bool same_ = a_ == e_ || (isnan(a_) && isnan(e_));                                         \
        if (!same_ && !(fabs(a_ - e_) <= (atol) + fabs(e_) * (rtol)))                              \
            fail_msg("%s is %.17g, expected %.17g", #actual, a_, e_);                              \
    } while (0)

// Element `index` of a tensor, row-major, as a double.
static inline double value_at(tern_tensor *t, int64_t index)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *flat = tern_reshape(t, tern_dims(-1));
    double value = flat ? tern_item(tern_select(flat, 0, index)) : NAN;
    tern_scope_close(scope);
    return value;
}

// The elements of `t` are these doubles, exactly.
#define assert_values(t, ...)                                                                      \
    do {                                                                                           \
        const double expected_[] = {__VA_ARGS__};                                                  \
        int64_t count_ = (int64_t)(sizeof expected_ / sizeof *expected_);                          \
        tern_tensor *t_ = (t);                                                                     \
        assert_no_error();                                                                         \
        assert_int_equal(tern_numel(t_), count_);                                                  \
        for (int64_t i_ = 0; i_ < count_; i_++)                                                    \
            assert_near(value_at(t_, i_), expected_[i_], 0, 0);                                    \
    } while (0)

// 0 where there is a CUDA device, else what a program that needs one exits with.
static inline int cuda_missing(void)
{
    if (tern_cuda_is_available())
        return 0;
    printf("skipped: %s\n", tern_cuda_reason());
    return getenv("TERN_REQUIRE_CUDA") ? 1 : 77;
}

#endif
