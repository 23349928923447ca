// SPDX-License-Identifier: Apache-2.0
// Linked into every test program: with TERN_TEST_LOCALE set it runs in the locale of the
// environment, as hosts with a user interface do.
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((constructor)) static void take_the_locale(void)
{
    const char *wanted = getenv("TERN_TEST_LOCALE");
    if (!wanted)
        return;
    if (!setlocale(LC_ALL, "") || strcmp(localeconv()->decimal_point, wanted) != 0) {
        fprintf(stderr, "the locale's decimal point is not \"%s\"\n", wanted);
        abort();
    }
}
