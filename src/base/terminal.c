// SPDX-License-Identifier: Apache-2.0
#include "base/terminal.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include "base/text.h"

int tern_terminal_columns(FILE *file, int otherwise)
{
    const int saved = errno;
    struct winsize size = {0};
    const char *setting = getenv("COLUMNS");
    int columns = 0;
    if (ioctl(fileno(file), TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    if (columns == 0 && setting)
        columns = tern_text_count(setting, 10000);
    errno = saved;
    return columns ? columns : otherwise;
}
