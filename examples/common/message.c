// SPDX-License-Identifier: Apache-2.0
#include "message.h"

#include <stdio.h>
#include <string.h>
#include <tern/tern.h>

void message_print(const char *program, bool of_user)
{
    char text[1024];
    const tern_status code = tern_error_code();
    if (!of_user && code != TERN_ERR_IO && code != TERN_ERR_FORMAT) {
        (void)tern_error_print(stderr);
        return;
    }
    if (tern_error_take(text, sizeof text) == TERN_OK)
        return;
    char *hint = strstr(text, ": load it with "), *end = hint ? strstr(hint, "; ") : NULL;
    if (end) // it is for who writes the program
        memmove(hint, end, strlen(end) + 1);
    const size_t function = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    const bool named = function > 0 && strncmp(text + function, ": ", 2) == 0;
    fprintf(stderr, "%s: %s\n", program, named ? text + function + 2 : text);
}
