// SPDX-License-Identifier: Apache-2.0
// Sentences in fixed buffers: the same in every locale, without the allocator, cut cleanly.
#ifndef TERN_SRC_BASE_TEXT_H
#define TERN_SRC_BASE_TEXT_H

#include <stdarg.h>
#include <stdio.h>
#include <tern/error.h>

// Bytes of an error sentence or a log line, the final 0 included.
#define TERN_MESSAGE_SIZE 512

// Formats into `buffer` (size >= 4) as in the C locale. What does not fit is cut, never inside a
// UTF-8 sequence, and ends with "..."; control characters, which may come from a file, become '?',
// bytes that are no UTF-8 their escapes, "\xff". Keeps errno.
void tern_text_format(char *buffer, size_t size, const char *format, va_list arguments)
    TERN_PRINTF_(3, 0);

// Bytes of the UTF-8 sequence that begins at `text` (RFC 3629); 0 where none does.
size_t tern_utf8_length(const char *text, size_t length);

// The number that `text` is, in decimal digits; 0 where it is none from 1 to `max`.
int tern_text_count(const char *text, int max);

// The number that begins a text, as strtod reads it in the C locale. Keeps errno.
double tern_text_double(const char *text);

// What an errno stands for, as in the C locale. Thread-safe; valid until the thread's next call.
const char *tern_text_reason(int error);

// Where a text of many pieces goes: to a file, or to a buffer that may be too small for it.
typedef struct tern_writer {
    FILE *file;     // NULL: the buffer
    char *buffer;   // what does not fit is cut; NULL when size is 0
    size_t size;    // of the buffer, the final 0 included
    int64_t length; // of the text so far, uncut
} tern_writer;

// The next piece.
void tern_write(tern_writer *writer, const char *format, ...) TERN_PRINTF_(2, 3);

// Sends a finished line to the log callback.
void tern_log_line(tern_log_level level, const char *line);

#endif
