// SPDX-License-Identifier: Apache-2.0
// The words of a command line, one option after another.
#ifndef TERN_SRC_TRAIN_SCRIPT_WORDS_H
#define TERN_SRC_TRAIN_SCRIPT_WORDS_H

#include "train/script/table.h"

// A command line that is read.
typedef struct tern_script_words {
    const tern_option_list *list;
    const char *program; // in messages
    int argc;
    char **argv;
    int at;              // the next word
    const char *letters; // what follows in a word of letters; NULL: none
    bool arguments_only; // after --
    int arguments;       // taken so far
} tern_script_words;

// Options that are in no table.
enum { TERN_SCRIPT_WORD_HELP = -2, TERN_SCRIPT_WORD_VERSION = -3 };

// An option with its value, or an argument.
typedef struct tern_script_word {
    int option;        // its index in the list, or one of the above
    const char *value; // NULL: none
    bool off;          // --no-name of a flag
} tern_script_word;

// The next one; *more is false at the end. TERN_ERR_ARG for a word that is no option.
tern_status tern_script_next(tern_script_words *words, tern_script_word *word, bool *more);

// The option whose name is nearest to a word without dashes, NULL where none is near.
const char *tern_option_nearest(const tern_option_list *list, const char *word);

#endif
