// SPDX-License-Identifier: Apache-2.0
// Terminals of a test's own, and what is shown on them.
#ifndef TERN_TESTS_TRAIN_TERMINAL_TEST_H
#define TERN_TESTS_TRAIN_TERMINAL_TEST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE // posix_openpt, open_memstream
#endif
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "support/tensor_check.h"

// ---- terminals ----------------------------------------------------------------------------------

typedef struct terminal {
    int master;
    FILE *file;
} terminal;

static inline void set_columns(const terminal *t, int columns)
{
    struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)columns};
    assert_int_equal(ioctl(t->master, TIOCSWINSZ, &size), 0);
}

static inline terminal terminal_open(int columns)
{
    terminal t = {.master = posix_openpt(O_RDWR | O_NOCTTY)};
    assert_true(t.master >= 0 && !grantpt(t.master) && !unlockpt(t.master));
    t.file = fopen(ptsname(t.master), "w");
    assert_non_null(t.file);
    set_columns(&t, columns);
    return t;
}

// What came since the last call, until nothing comes for a while; waits for its first byte.
static inline const char *seen_after(const terminal *t, int milliseconds)
{
    static char text[8192];
    size_t count = 0;
    struct pollfd master = {.fd = t->master, .events = POLLIN};
    while (count < sizeof text - 1 && poll(&master, 1, count ? 20 : milliseconds) == 1) {
        const ssize_t more = read(t->master, text + count, sizeof text - 1 - count);
        if (more <= 0)
            break;
        count += (size_t)more;
    }
    text[count] = 0;
    return text;
}

static inline const char *seen(const terminal *t)
{
    return seen_after(t, 5000);
}

static inline bool is_silent(const terminal *t)
{
    return strlen(seen_after(t, 50)) == 0;
}

static inline void terminal_close(terminal *t)
{
    fclose(t->file);
    close(t->master);
}

static inline void use_plain_terminal(void)
{
    setenv("TERM", "xterm", 1);
    setenv("NO_COLOR", "1", 1);
}

// What is written elsewhere than on a terminal.
typedef struct text_file {
    char *text;
    size_t size;
    FILE *file;
} text_file;

static inline void text_open(text_file *f)
{
    f->file = open_memstream(&f->text, &f->size);
    assert_non_null(f->file);
}

static inline void text_close(text_file *f)
{
    fclose(f->file);
    free(f->text);
}

#endif
