// SPDX-License-Identifier: Apache-2.0
// The pending error of each thread: a code and one sentence in a fixed buffer.
#include "base/error.h"
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/backtrace.h"
#include "base/cancel.h"
#include "base/path.h"
#include "base/saved_error.h"
#include "base/text.h"

// The module path may take this much of the sentence, the sample, and the replica; they stay whole
// when the sentence is cut.
#define PATH_SIZE    160
#define SAMPLE_SIZE  96
#define REPLICA_SIZE 40
#define PLACE_SIZE   (PATH_SIZE + SAMPLE_SIZE + REPLICA_SIZE)

// Before it, the operation whose backward ran out of memory.
#define OPERATION_SIZE 96

static _Thread_local tern_status pending_code;
static _Thread_local char pending_sentence[TERN_SENTENCE_SIZE];

// The calls that led to it.
static _Thread_local const void *pending_frames[TERN_MOST_FRAMES];
static _Thread_local int pending_frame_count;

// Between tern_error_hold and tern_error_tell; an error has come since.
static _Thread_local bool held, untold;

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
    return tern_error_pending() ? pending_sentence : "";
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
    char place[TERN_SENTENCE_SIZE];
    if (!tern_error_pending())
        return 0;
    int saved = errno, cancel_state = tern_cancel_disable();
    file = file ? file : stderr;
    fprintf(file, "tern: %s\n", pending_sentence);
    if (tern_error_location(place, sizeof place))
        fprintf(file, "  at %s\n", place);
    tern_cancel_restore(cancel_state);
    errno = saved;
    tern_error_clear();
    return 1;
}

tern_status tern_error_take(char *buffer, size_t size)
{
    tern_status code = pending_code;
    if (buffer && size > 0) {
        const char *sentence = tern_error_message();
        size_t length = strlen(sentence);
        length = length < size ? length : size - 1;
        memcpy(buffer, sentence, length);
        buffer[length] = 0;
    }
    tern_error_clear();
    return code;
}

// What needs memory seldom knows for whom.
static size_t begin_for_memory(char *sentence)
{
    const char *operation = tern_backward_of_thread;
    if (!operation)
        return 0;
    snprintf(sentence, OPERATION_SIZE, "backward of %.*s: ", OPERATION_SIZE / 2, operation);
    return strlen(sentence);
}

// "0.fc1 (Linear)", "sample 17 of squares", "replica on cuda:1", some of them or "".
static void format_place(char place[PLACE_SIZE])
{
    tern_path_format(tern_path_current(), place, PATH_SIZE);
    const tern_sample_place *sample = &tern_sample_of_thread;
    size_t length = strlen(place);
    if (sample->dataset)
        snprintf(place + length, SAMPLE_SIZE, "%ssample %lld of %.48s", length > 0 ? ", " : "",
                 (long long)sample->index, sample->dataset);
    length = strlen(place);
    if (tern_replica_of_thread[0])
        snprintf(place + length, REPLICA_SIZE, "%sreplica on %s", length > 0 ? ", " : "",
                 tern_replica_of_thread);
}

// The sentence, then where it was raised. What holds back that there is no memory says it again.
static void compose(char *sentence, tern_status code, const char *format, va_list words)
    TERN_PRINTF_(3, 0);
static void compose(char *sentence, tern_status code, const char *format, va_list words)
{
    char place[PLACE_SIZE] = "";
    const bool for_memory = code == TERN_ERR_NOMEM, said_again = for_memory && held;
    if (!said_again)
        format_place(place);
    size_t suffix = place[0] ? strlen(place) + strlen(" [in ]") : 0;
    size_t begun = for_memory && !said_again ? begin_for_memory(sentence) : 0;
    tern_text_format(sentence + begun, TERN_SENTENCE_SIZE - suffix - begun, format, words);
    if (suffix) {
        strcat(sentence, " [in ");
        strcat(sentence, place);
        strcat(sentence, "]");
    }
}

tern_status tern_error_raise(tern_status code, const char *format, ...)
{
    va_list words;
    va_start(words, format);
    code = tern_error_raise_v(code, format, words);
    va_end(words);
    return code;
}

// The callback may raise and clear errors of its own: the sentence is not the pending one.
static void tell(const char *sentence)
{
    if (!deferred)
        tern_log_line(TERN_LOG_ERROR, sentence);
    tern_trap();
}

tern_status tern_error_raise_v(tern_status code, const char *format, va_list words)
{
    char sentence[TERN_SENTENCE_SIZE];
    compose(sentence, code, format ? format : "an error without a sentence", words);
    if (code == TERN_OK || !is_status(code)) // a failure must not read as a success
        code = TERN_ERR_ARG;
    if (tern_error_pending()) {
        tern_log_line(TERN_LOG_LATER_ERROR, sentence);
        return code;
    }
    memcpy(pending_sentence, sentence, sizeof sentence);
    pending_frame_count = tern_backtrace(pending_frames, TERN_MOST_FRAMES);
    pending_code = code;
    untold = held;
    if (!held)
        tell(sentence);
    return code;
}

bool tern_error_defer(bool on)
{
    const bool before = deferred;
    deferred = on;
    return before;
}

void tern_error_keep(tern_error_kept *kept)
{
    kept->frame_count = pending_frame_count;
    memcpy(kept->frames, pending_frames, sizeof pending_frames);
    kept->code = tern_error_take(kept->sentence, sizeof kept->sentence);
}

void tern_error_put_back(const tern_error_kept *kept)
{
    const bool later = tern_error_pending();
    if (kept->code == TERN_OK)
        return;
    if (!later) {
        memcpy(pending_sentence, kept->sentence, sizeof pending_sentence);
        memcpy(pending_frames, kept->frames, sizeof pending_frames);
        pending_frame_count = kept->frame_count;
        pending_code = kept->code;
    }
    tern_log_line(later ? TERN_LOG_LATER_ERROR : TERN_LOG_ERROR, kept->sentence);
}

void tern_error_hold(void)
{
    held = true;
    untold = false;
}

void tern_error_tell(void)
{
    char sentence[TERN_SENTENCE_SIZE];
    const bool due = untold && tern_error_pending();
    held = untold = false;
    if (!due)
        return;
    memcpy(sentence, pending_sentence, sizeof sentence);
    tell(sentence);
}

tern_status tern_null_error(const char *function, const char *argument)
{
    if (tern_error_pending())
        return pending_code;
    return tern_error_raise(TERN_ERR_NULL, "%s: %s is NULL", function, argument);
}
