// SPDX-License-Identifier: Apache-2.0
// script.h
#include "errors.h"

static int64_t epochs = 1;
static const char *name;
static const tern_option options[] = {
    {"epochs", .integer = {&epochs, 1, 9}},
    {"name", .text = &name},
    {0},
};
static const tern_option senseless[] = {{"epochs", .help = "takes nothing"}, {0}};
static const tern_script script = {.name = "prog", .options = options};
static const tern_script wrong = {.name = "prog", .options = senseless};

// With a word behind the program's name.
static int refuses(const tern_script *s, char *word)
{
    char *argv[] = {(char[]){"prog"}, word, NULL};
    return tern_script_read(s, word ? 2 : 1, argv) == TERN_SCRIPT_WRONG;
}

#define WORD(text) ((char[]){text})

REFUSES(tern_script_read, "a script that is NULL", TERN_ERR_NULL, "script_read: script is NULL",
        refuses(NULL, NULL))
REFUSES(tern_script_read, "words that are NULL", TERN_ERR_NULL, "script_read: argv is NULL",
        tern_script_read(&script, 1, NULL) == TERN_SCRIPT_WRONG)
REFUSES(tern_script_read, "a word that is NULL", TERN_ERR_NULL,
        "script_read: a word of argv is NULL",
        tern_script_read(&script, 2, (char *[]){WORD("prog"), NULL}) == TERN_SCRIPT_WRONG)
REFUSES(tern_script_read, "a table that makes no sense", TERN_ERR_ARG,
        "script: option \"epochs\": give one of .integer", refuses(&wrong, NULL))
REFUSES(tern_script_read, "an option that is none", TERN_ERR_ARG,
        "prog: --epoch: no such option; did you mean --epochs?", refuses(&script, WORD("--epoch")))
REFUSES(tern_script_read, "a value out of range", TERN_ERR_ARG,
        "prog: --epochs 10: not a whole number of 1 to 9", refuses(&script, WORD("--epochs=10")))
REFUSES(tern_script_read, "a value that is missing", TERN_ERR_ARG, "prog: --name: needs a value",
        refuses(&script, WORD("--name")))
REFUSES(tern_script_read, "a word too many", TERN_ERR_ARG, "prog: more: no option",
        refuses(&script, WORD("more")))
TAKES(tern_script_read, "no word at all", tern_script_read(&script, 0, NULL) == TERN_SCRIPT_RUN)

REFUSES(tern_script_print, "a script that is NULL", TERN_ERR_NULL, "script_print: script is NULL",
        tern_script_print(NULL, TERN_SCRIPT_HELP, NULL) == 1)
TAKES(tern_script_print, "nothing to show", tern_script_print(&script, TERN_SCRIPT_RUN, NULL) == 0)

REFUSES(tern_script_settings, "a script that is NULL", TERN_ERR_NULL,
        "script_settings: script is NULL", tern_script_settings(NULL, NULL, 0) == -1)
REFUSES(tern_script_settings, "an array that is NULL", TERN_ERR_NULL,
        "script_settings: settings is NULL", tern_script_settings(&script, NULL, 1) == -1)
REFUSES(tern_script_settings, "a table that makes no sense", TERN_ERR_ARG,
        "script: option \"epochs\": give one of .integer",
        tern_script_settings(&wrong, NULL, 0) == -1)
