// SPDX-License-Identifier: Apache-2.0
// The log callback of the process, and log lines.
#include <errno.h>

#include "base/error.h"
#include "base/fork.h"
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

// A line that the callback itself causes is dropped: it would never end. In a forked child all are:
// the callback may have been at work.
void tern_log_line(tern_log_level level, const char *line)
{
    if (inside || tern_forked())
        return;
    int saved = errno;
    tern_lock(&lock);
    if (log_callback) {
        inside = true;
        log_callback(level, line, log_user);
        inside = false;
    }
    tern_unlock(&lock);
    errno = saved;
}

void tern_log_send(tern_log_level level, const char *format, ...)
{
    va_list words;
    va_start(words, format);
    tern_log_send_v(level, format, words);
    va_end(words);
}

void tern_log_send_v(tern_log_level level, const char *format, va_list words)
{
    char line[TERN_SENTENCE_SIZE];
    tern_text_format(line, sizeof line, format, words);
    tern_log_line(level, line);
}
