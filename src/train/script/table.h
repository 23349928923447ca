// SPDX-License-Identifier: Apache-2.0
// The options of a script as one list, and what they are called.
#ifndef TERN_SRC_TRAIN_SCRIPT_TABLE_H
#define TERN_SRC_TRAIN_SCRIPT_TABLE_H

#include <tern/script.h>

// What an option takes.
typedef enum option_kind {
    OPTION_NONE, // a heading, or a row that makes no sense
    OPTION_INTEGER,
    OPTION_NUMBER,
    OPTION_CHOICE,
    OPTION_FLAG,
    OPTION_TEXT // .text, .read or both
} option_kind;

// Rows of both tables, headings too, in order.
typedef struct tern_option_list {
    const tern_option *at[TERN_SCRIPT_OPTIONS];
    int count;
} tern_option_list;

// Fills the list; TERN_ERR_NULL without a script, TERN_ERR_ARG where a row makes no sense.
tern_status tern_option_list_make(tern_option_list *list, const char *function,
                                  const tern_script *script);

option_kind tern_option_kind(const tern_option *option);

// The option of that name or letter, -1 when there is none. Arguments and headings have neither.
int tern_option_find(const tern_option_list *list, const char *name, size_t length);
int tern_option_find_letter(const tern_option_list *list, char letter);

// Whether its variable holds a value that the option could have been given.
bool tern_option_has_value(const tern_option *option);

// A text that may be cut, "..." at its end then, with what is no text escaped.
typedef struct tern_label {
    char text[104];
} tern_label;

tern_label tern_label_of(const char *text);
// "--name", or "NAME" of an argument.
tern_label tern_option_label(const tern_option *option);

// What the script is called where argv[0] is not at hand.
const char *tern_script_name(const tern_script *script);

// "1 to 10", "0 or more", "5 or less", or "".
tern_label tern_integer_range(const tern_option_integer *integer);
tern_label tern_number_range(const tern_option_number *number);

// Formats as in the C locale.
void tern_script_text(char *buffer, size_t size, const char *format, ...) TERN_PRINTF_(3, 4);

#endif
