// SPDX-License-Identifier: Apache-2.0
// What the programs of the guides check themselves with.
#ifndef TERN_DOCS_CHECK_H
#define TERN_DOCS_CHECK_H

#undef NDEBUG
#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <tern/tern.h>

static int failures;

#define expect(condition) expect_at((condition), #condition, __LINE__)

static inline void expect_at(bool holds, const char *condition, int line)
{
    if (holds)
        return;
    printf("line %d: not so: %s\n", line, condition);
    failures++;
}

static inline bool near(double a, double b)
{
    return fabs(a - b) <= 1e-5 * (1 + fabs(b));
}

// The call before left this error. Its sentence is printed: the guide quotes it.
#define expect_error(code) expect_error_at((code), __LINE__)

static inline void expect_error_at(tern_status code, int line)
{
    expect_at(tern_error_code() == code, tern_status_name(code), line);
    tern_error_print(stdout);
}

// The exit status of a guide's program: nothing was wrong, no error pending, no tensor left over.
static inline int finished(void)
{
    expect(!tern_error_pending());
    tern_error_print(stdout);
    expect(tern_live_tensors() == 0);
    return failures > 0;
}

#endif
