// SPDX-License-Identifier: Apache-2.0
// A strict reader of JSON (RFC 8259) for headers whose form is known: the caller asks for what
// comes next, and anything else is an error with its place.
#ifndef TERN_SRC_IO_JSON_H
#define TERN_SRC_IO_JSON_H

#include "base/error.h"

typedef struct tern_json {
    const char *op, *path; // of the file, for messages; NULL: errors are returned, not raised
    const char *what;      // "header"
    char *start, *at, *end;
} tern_json;

// The next character that is no white space, without taking it; 0 at the end.
char tern_json_peek(tern_json *json);
// Takes that character when it is `mark`.
bool tern_json_accept(tern_json *json, char mark);
// Likewise; TERN_ERR_FORMAT when it is another.
tern_status tern_json_expect(tern_json *json, char mark);
// Takes a string: *text is a 0-terminated text without escapes, in the place of the original. UTF-8
// is checked, and the character 0 refused.
tern_status tern_json_string(tern_json *json, const char **text);
// Takes an integer in decimal digits, `-` included.
tern_status tern_json_integer(tern_json *json, int64_t *value);
// Takes a number: the nearest double, infinity where it is past all of them. At `end` is a 0.
tern_status tern_json_number(tern_json *json, double *value);
// Takes any value that is well formed.
tern_status tern_json_skip(tern_json *json);
// Takes `null`, when that is next.
bool tern_json_accept_null(tern_json *json);
// Likewise another word.
bool tern_json_accept_word(tern_json *json, const char *word);
// Between the members of an object or array that was opened: true when there is another one, having
// taken the comma before it unless it is the first; false at `close`, which it takes.
tern_status tern_json_next(tern_json *json, char close, bool *first, bool *another);
// White space is all that is left.
tern_status tern_json_end(tern_json *json);
// Raises TERN_ERR_FORMAT: the place, then the words.
tern_status tern_json_error(const tern_json *json, const char *format, ...) TERN_PRINTF_(2, 3);

// Doubles as texts that give the same bits back.
#define TERN_JSON_DOUBLE_SIZE 32
void tern_json_double_text(char text[TERN_JSON_DOUBLE_SIZE], double value);
// False, with *value undefined, for a text that is not exactly what the other wrote.
bool tern_json_double_parse(const char *text, double *value);

// Whether `length` bytes are UTF-8 (RFC 3629: shortest forms, no surrogates).
bool tern_utf8_valid(const char *text, size_t length);

#endif
