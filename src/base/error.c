// SPDX-License-Identifier: Apache-2.0
// The pending error of each thread: a code and one message in a fixed buffer.
#include "base/error.h"
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/backtrace.h"
#include "base/cancel.h"
#include "base/path.h"
#include "base/saved_error.h"
#include "base/text.h"

// The module path may take this much of the message, the sample, and the replica; they stay whole
// when the message is cut.
#define PATH_SIZE    160
#define SAMPLE_SIZE  240
#define SOURCE_SIZE  120
#define REPLICA_SIZE 40
#define CONTEXT_SIZE (PATH_SIZE + SAMPLE_SIZE + REPLICA_SIZE)

// Before it, the operation whose backward ran out of memory.
#define OPERATION_SIZE 96

static _Thread_local tern_status pending_code;
static _Thread_local char pending_message[TERN_MESSAGE_SIZE];

// The calls that led to it.
static _Thread_local const void *pending_frames[TERN_MAX_FRAMES];
static _Thread_local int pending_frame_count;

// Between tern_error_delay and tern_error_report; an error has come since.
static _Thread_local bool delayed, unreported;

// Told elsewhere: see tern_error_defer.
static _Thread_local bool deferred;

static const char *const status_names[] = {
    [TERN_OK] = "ok",
    [TERN_ERR_NULL] = "null",
    [TERN_ERR_ARG] = "argument",
    [TERN_ERR_SHAPE] = "shape",
    [TERN_ERR_DTYPE] = "dtype",
    [TERN_ERR_DEVICE] = "device",
    [TERN_ERR_INDEX] = "index",
    [TERN_ERR_STATE] = "state",
    [TERN_ERR_NOMEM] = "out of memory",
    [TERN_ERR_IO] = "input/output",
    [TERN_ERR_FORMAT] = "format",
    [TERN_ERR_UNSUPPORTED] = "unsupported",
    [TERN_ERR_NUMERIC] = "numeric",
};

static bool is_status(tern_status code)
{
    return (unsigned)code < sizeof status_names / sizeof status_names[0];
}

const char *tern_status_name(tern_status code)
{
    return is_status(code) ? status_names[code] : "unknown";
}

bool tern_error_pending(void)
{
    return pending_code != TERN_OK;
}

tern_status tern_error_code(void)
{
    return pending_code;
}

const char *tern_error_message(void)
{
    return tern_error_pending() ? pending_message : "";
}

void tern_error_clear(void)
{
    pending_code = TERN_OK;
}

bool tern_error_location(char *buffer, size_t size)
{
    const int count = tern_error_pending() ? pending_frame_count : 0;
    return tern_location(pending_frames, count, buffer, size);
}

int tern_error_print(FILE *file)
{
    char context[TERN_MESSAGE_SIZE];
    if (!tern_error_pending())
        return 0;
    int saved = errno, cancel_state = tern_cancel_disable();
    file = file ? file : stderr;
    fprintf(file, "tern: %s\n", pending_message);
    if (tern_error_location(context, sizeof context))
        fprintf(file, "  at %s\n", context);
    tern_cancel_restore(cancel_state);
    errno = saved;
    tern_error_clear();
    return 1;
}

tern_status tern_error_take(char *buffer, size_t size)
{
    tern_status code = pending_code;
    if (buffer && size > 0) {
        const char *message = tern_error_message();
        size_t length = strlen(message);
        length = length < size ? length : size - 1;
        memcpy(buffer, message, length);
        buffer[length] = 0;
    }
    tern_error_clear();
    return code;
}

// What needs memory seldom knows for whom.
static size_t begin_for_memory(char *message)
{
    const char *operation = tern_backward_of_thread;
    if (!operation)
        return 0;
    snprintf(message, OPERATION_SIZE, "backward of %.*s: ", OPERATION_SIZE / 2, operation);
    return strlen(message);
}

static void format_text(char *buffer, size_t size, const char *format, ...) TERN_PRINTF_(3, 4);
static void format_text(char *buffer, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tern_text_format(buffer, size, format, arguments);
    va_end(arguments);
}

// ", from cat/17.png", its end if it is long; or "".
static void format_source(char source[SOURCE_SIZE])
{
    const tern_sample_position *sample = &tern_sample_of_thread;
    char name[4096];
    source[0] = 0;
    if (!sample->name || !sample->name(sample->object, sample->index, name, sizeof name))
        return;
    const size_t length = strlen(name), max = SOURCE_SIZE - 20;
    format_text(source, SOURCE_SIZE, ", from %s%s", length > max ? "..." : "",
                length > max ? name + length - max : name);
}

// "0.fc1 (Linear)", "sample 17 of squares", "replica on cuda:1", some of them or "".
static void format_context(char context[CONTEXT_SIZE])
{
    tern_path_format(tern_path_current(), context, PATH_SIZE);
    const tern_sample_position *sample = &tern_sample_of_thread;
    size_t length = strlen(context);
    if (sample->dataset) {
        char source[SOURCE_SIZE];
        format_source(source);
        snprintf(context + length, SAMPLE_SIZE, "%ssample %lld of %.48s%s", length > 0 ? ", " : "",
                 (long long)sample->index, sample->dataset, source);
    }
    length = strlen(context);
    if (tern_replica_of_thread[0])
        snprintf(context + length, REPLICA_SIZE, "%sreplica on %s", length > 0 ? ", " : "",
                 tern_replica_of_thread);
}

// The message, then where it was raised. What holds back that there is no memory says it again.
static void compose(char *message, tern_status code, const char *format, va_list arguments)
    TERN_PRINTF_(3, 0);
static void compose(char *message, tern_status code, const char *format, va_list arguments)
{
    char context[CONTEXT_SIZE] = "";
    const bool for_memory = code == TERN_ERR_NOMEM, is_delayed = for_memory && delayed;
    if (!is_delayed)
        format_context(context);
    size_t suffix = context[0] ? strlen(context) + strlen(" [in ]") : 0;
    size_t begun = for_memory && !is_delayed ? begin_for_memory(message) : 0;
    tern_text_format(message + begun, TERN_MESSAGE_SIZE - suffix - begun, format, arguments);
    if (suffix) {
        strcat(message, " [in ");
        strcat(message, context);
        strcat(message, "]");
    }
}

tern_status tern_error_raise(tern_status code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    code = tern_error_raise_v(code, format, arguments);
    va_end(arguments);
    return code;
}

// The callback may raise and clear errors of its own: the message is not the pending one.
static void report(const char *message)
{
    if (!deferred)
        tern_log_line(TERN_LOG_ERROR, message);
    tern_trap();
}

tern_status tern_error_raise_v(tern_status code, const char *format, va_list arguments)
{
    char message[TERN_MESSAGE_SIZE];
    compose(message, code, format ? format : "an error without a sentence", arguments);
    if (code == TERN_OK || !is_status(code)) // a failure must not read as a success
        code = TERN_ERR_ARG;
    if (tern_error_pending()) {
        tern_log_line(TERN_LOG_LATER_ERROR, message);
        return code;
    }
    memcpy(pending_message, message, sizeof message);
    pending_frame_count = tern_backtrace(pending_frames, TERN_MAX_FRAMES);
    pending_code = code;
    unreported = delayed;
    if (!delayed)
        report(message);
    return code;
}

bool tern_error_defer(bool on)
{
    const bool before = deferred;
    deferred = on;
    return before;
}

void tern_error_save(tern_saved_error *saved)
{
    saved->frame_count = pending_frame_count;
    memcpy(saved->frames, pending_frames, sizeof pending_frames);
    saved->code = tern_error_take(saved->message, sizeof saved->message);
}

void tern_error_restore(const tern_saved_error *saved)
{
    const bool later = tern_error_pending();
    if (saved->code == TERN_OK)
        return;
    if (!later) {
        memcpy(pending_message, saved->message, sizeof pending_message);
        memcpy(pending_frames, saved->frames, sizeof pending_frames);
        pending_frame_count = saved->frame_count;
        pending_code = saved->code;
    }
    tern_log_line(later ? TERN_LOG_LATER_ERROR : TERN_LOG_ERROR, saved->message);
}

void tern_error_delay(void)
{
    delayed = true;
    unreported = false;
}

void tern_error_report(void)
{
    char message[TERN_MESSAGE_SIZE];
    const bool due = unreported && tern_error_pending();
    delayed = unreported = false;
    if (!due)
        return;
    memcpy(message, pending_message, sizeof message);
    report(message);
}

tern_status tern_null_error(const char *function, const char *argument)
{
    if (tern_error_pending())
        return pending_code;
    return tern_error_raise(TERN_ERR_NULL, "%s: %s is NULL", function, argument);
}
