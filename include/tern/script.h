// SPDX-License-Identifier: Apache-2.0
/// @file
/// The command line of a program: a table of options is all that it takes.
///
///     static int64_t epochs = 5;
///     static const tern_option options[] = {
///         {"epochs", 'e', .integer = {&epochs, 1, 1000}, .help = "passes over the images"},
///         {0},
///     };
///     static const tern_script script = {.about = "Trains a net.", .options = options};
///     tern_script_action action = tern_script_read(&script, argc, argv);
///     if (action != TERN_SCRIPT_RUN)
///         return tern_script_print(&script, action, NULL);
///
/// Options are written `--name value`, `--name=value`, `-e value` or `-evalue`, flags `--name` or
/// `--no-name`, and flags with letters may be joined (`-qv`). A name is written in full, so that a
/// command line means the same when a later version has more options. Options and arguments come in
/// any order; after `--` all are arguments. The last of an option that is given twice counts.
/// `--help`, `-h` and `--version` are always there.
///
/// Tables, variables and texts are the caller's and have to stay; texts that are read point into
/// argv. The library keeps nothing, takes no memory, and writes in tern_script_print alone.
/// Threads: any, one at a time for one table.
#ifndef TERN_SCRIPT_H
#define TERN_SCRIPT_H

#include <stdio.h>
#include <tern/error.h>
#include <tern/setting.h>

TERN_BEGIN_DECLS

/// Takes the value of an option: TERN_OK, or tern_error_raise with why not: "not up to 8 widths".
/// An error that is left pending is one whatever is returned, here and of the next.
typedef tern_status tern_option_fn(const char *value, void *user);
/// Whether the options fit each other, when all variables are set: TERN_OK, or tern_error_raise
/// with why not: "--warmup: counts steps, and this schedule counts epochs".
typedef tern_status tern_script_check_fn(void *user);

/// A whole number in decimal digits.
typedef struct tern_option_integer {
    int64_t *variable; ///< NULL: the option is of another type
    int64_t low;       ///< included, as high is; both 0: any
    int64_t high;      ///< the greatest
} tern_option_integer;

/// A finite number, as "0.5" or "1e-3" in any locale.
typedef struct tern_option_number {
    double *variable; ///< NULL: the option is of another type
    double low;       ///< included, as high is; -INFINITY for no bound; both 0: any
    double high;      ///< the greatest; INFINITY for no bound
} tern_option_number;

/// One of several names.
typedef struct tern_option_choice {
    const char **variable;    ///< NULL: the option is of another type
    const char *const *names; ///< NULL ends them
} tern_option_choice;

/// A row of the table: one of .integer, .number, .choice, .flag, .text and .read, or a .section. A
/// variable holds the default when the line is read. One that is NULL, or outside of its range,
/// says that there is no default. A row without name and section ends a table.
typedef struct tern_option {
    const char *name;            ///< without dashes: "batch-size"; of an argument as help shows it
    char letter;                 ///< a letter or digit for `-e`; 0: none
    tern_option_integer integer; ///< a whole number
    tern_option_number number;   ///< a finite number
    tern_option_choice choice;   ///< one of several names
    bool *flag;                  ///< true where it is given, false by --no-name
    const char **text;           ///< any text
    tern_option_fn *read;        ///< takes the value, before it is stored in .text where that is
    void *user;                  ///< handed to .read
    const char *value;           ///< what help calls the value; NULL: N, X, NAME or TEXT
    const char *help;            ///< one or two sentences; help wraps them
    const char *default_help;    ///< shown as the default; NULL: what the variable holds
    bool *given;                 ///< set to true where the option is given; or NULL
    bool argument;               ///< taken by its place, without a name before it
    bool required;               ///< has to be there
    const char *needs;           ///< the option without which it is refused; or NULL
    const char *excludes;        ///< the option together with which it is refused; or NULL
    const char *section;         ///< a heading in the help instead of an option
} tern_option;

/// Most options that a script has, in both tables.
#define TERN_SCRIPT_OPTIONS 256

/// The command line of a program.
typedef struct tern_script {
    const char *name;            ///< in help and messages; NULL: the last part of argv[0]
    const char *about;           ///< what the program does, under the usage line; or NULL
    const tern_option *options;  ///< the table; or NULL
    const tern_option *more;     ///< another one, for options that several programs share; or NULL
    const char *epilog;          ///< what stands under the options; or NULL
    const char *version;         ///< what --version shows after the name; NULL: tern_version()
    tern_script_check_fn *check; ///< called last, when all is set; or NULL
    void *user;                  ///< handed to .check
} tern_script;

/// What to do when the command line was read.
typedef enum tern_script_action {
    TERN_SCRIPT_UNSPECIFIED = 0, ///< nothing was read
    TERN_SCRIPT_RUN,             ///< all variables are set: go on
    TERN_SCRIPT_HELP,            ///< show the help, and end well
    TERN_SCRIPT_VERSION,         ///< show the version, and end well
    TERN_SCRIPT_WRONG            ///< an error is pending that says what is wrong; status 2
} tern_script_action;

/// Reads a command line; argv[0] is the program. Nothing is written, and argv stays as it is. The
/// whole line is checked before a variable is set: the first word that is wrong ends in
/// TERN_SCRIPT_WRONG with the pending error TERN_ERR_ARG, "mlp_mnist: --epochs 0: not a whole
/// number of 1 to 1000", and the variables as before, but for what .read has changed already, and
/// for all where .check refuses. `--help` and `--version` end the reading where they stand, also
/// before words that are wrong. What .read and .check raise comes after the name of the program,
/// and the option. A word that begins with two dashes is no value; `--name=--x` is one.
/// TERN_SCRIPT_WRONG as well where a table makes no sense (TERN_ERR_ARG, "script: option .."), an
/// argument or one of argc words is NULL, or an error is pending already, which stays.
TERN_API tern_script_action tern_script_read(const tern_script *script, int argc, char **argv);

/// Shows what an action is about and returns the exit status for main: the help or the version on
/// `file` or, for NULL, stdout, 0; the sentence of the pending error on `file` or stderr, which
/// clears it, 2. 0 with nothing written for the other actions. 1, with an error pending, where the
/// file cannot be written. Help is as wide as the terminal, 100 columns at most; elsewhere as
/// COLUMNS says, or 80.
TERN_API int tern_script_print(const tern_script *script, tern_script_action action, FILE *file);

/// The options as settings of the run, in the order of the tables: names and values as they are
/// now. Options without a value (NULL, or a number outside of its range) and those of .read without
/// .text are left out. Writes the first `capacity` (NULL with 0 for none) and returns how many
/// there are; -1 on failure, as tern_script_read.
TERN_API int64_t tern_script_settings(const tern_script *script, tern_setting *settings,
                                      int64_t capacity);

TERN_END_DECLS

#endif
