// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder share.
#ifndef TERN_TESTS_DOCS_ADDITIONS_CHECK_H
#define TERN_TESTS_DOCS_ADDITIONS_CHECK_H

#include <math.h>
#include <stdio.h>
#include <tern/tern.h>

// 1, and a line that says so, unless they agree in float32.
static inline int differs(const char *what, double got, double expected)
{
    if (fabs(got - expected) <= 1e-6)
        return 0;
    fprintf(stderr, "%s is %.9g, not %.9g\n", what, got, expected);
    return 1;
}

#endif
