// SPDX-License-Identifier: Apache-2.0
// The log callback of the process, and log lines.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/process.h"
#include "base/text.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tern_log_fn *log_callback;
static void *log_user;

// True while this thread is inside the callback and so holds the lock.
static _Thread_local bool inside;

void tern_set_log(tern_log_fn *callback, void *user)
{
    if (!inside)
        tern_lock(&lock);
    log_callback = callback;
    log_user = user;
    if (!inside)
        tern_unlock(&lock);
}

// ---- warnings without a callback ----------------------------------------------------------------

#define MAX_KINDS 64

// The formats of the warnings that were written: a format is a kind.
static const char *kinds[MAX_KINDS];
static int kind_count;

static bool first_of_its_kind(const char *format)
{
    for (int i = 0; i < kind_count; i++)
        if (kinds[i] == format)
            return false;
    if (kind_count == MAX_KINDS)
        return false;
    kinds[kind_count++] = format;
    return true;
}

static bool switched_off(void)
{
    const char *setting = secure_getenv("TERN_LOG");
    return setting && strcmp(setting, "off") == 0;
}

static void warning_print(const char *format, const char *line)
{
    if (first_of_its_kind(format) && !switched_off())
        fprintf(stderr, "tern: warning: %s\n", line);
}

// ---- lines --------------------------------------------------------------------------------------

// A line that the callback itself causes is dropped: it would never end. In a forked child all are:
// the callback may have been at work. Without a format the line is of no kind.
static void deliver(tern_log_level level, const char *format, const char *line)
{
    if (inside || tern_forked())
        return;
    int saved = errno, cancel_state = tern_cancel_disable();
    tern_lock(&lock);
    if (log_callback) {
        inside = true;
        log_callback(level, line, log_user);
        inside = false;
    } else if (level == TERN_LOG_WARN && format) {
        warning_print(format, line);
    }
    tern_unlock(&lock);
    tern_cancel_restore(cancel_state);
    errno = saved;
}

void tern_log_line(tern_log_level level, const char *line)
{
    deliver(level, NULL, line);
}

void tern_log_send(tern_log_level level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tern_log_send_v(level, format, arguments);
    va_end(arguments);
}

void tern_log_send_v(tern_log_level level, const char *format, va_list arguments)
{
    char line[TERN_MESSAGE_SIZE];
    tern_text_format(line, sizeof line, format, arguments);
    deliver(level, format, line);
}
