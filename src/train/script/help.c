// SPDX-License-Identifier: Apache-2.0
// The help of a script, made from its tables.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // program_invocation_short_name
#endif
#include <errno.h>
#include <string.h>
#include "base/cancel.h"
#include "base/error.h"
#include "base/terminal.h"
#include "base/text.h"
#include "train/script/table.h"

#define NAME_COLUMN 25 // where the text begins beside the names
#define NARROW      56 // columns below which it stands under them
#define MIN_WIDTH   20
#define MAX_WIDTH   100

// Text that is wrapped between two columns.
typedef struct page {
    tern_writer writer;
    int width, indent; // columns of the lines, and before each of them
    int column;        // where the next word goes
} page;

static int count_columns(const char *text, size_t length)
{
    int columns = 0;
    for (size_t i = 0; i < length; i++)
        columns += ((unsigned char)text[i] & 0xC0) != 0x80;
    return columns;
}

static void end_line(page *p)
{
    if (p->column > 0)
        tern_write(&p->writer, "\n");
    p->column = 0;
}

static void write_word(page *p, const char *word, size_t length)
{
    const int columns = count_columns(word, length);
    if (p->column > p->indent && p->column + 1 + columns > p->width)
        end_line(p);
    if (p->column > p->indent)
        tern_write(&p->writer, " ");
    else
        tern_write(&p->writer, "%*s", p->indent - p->column, "");
    p->column = (p->column > p->indent ? p->column + 1 : p->indent) + columns;
    tern_write(&p->writer, "%.*s", (int)length, word);
}

// Lines end where the text says so, and those that begin with a space stay as they are.
static void write_text(page *p, const char *text)
{
    while (*text) {
        const size_t line = strcspn(text, "\n");
        if (*text == ' ') {
            end_line(p);
            write_word(p, text, line);
            text += line;
        } else {
            const size_t length = strcspn(text, " \n");
            write_word(p, text, length);
            text += length;
            text += strspn(text, " ");
        }
        if (*text != '\n')
            continue;
        if (p->column == 0)
            tern_write(&p->writer, "\n");
        end_line(p);
        text++;
    }
}

// ---- options ------------------------------------------------------------------------------------

static const char *value_of(const tern_option *o)
{
    static const char *const values[] = {
        [OPTION_NONE] = "",       [OPTION_INTEGER] = "N", [OPTION_NUMBER] = "X",
        [OPTION_CHOICE] = "NAME", [OPTION_FLAG] = "",     [OPTION_TEXT] = "TEXT",
    };
    return o->value ? o->value : values[tern_option_kind(o)];
}

static void format_default(const tern_option *o, char *buffer, size_t size)
{
    const option_kind kind = tern_option_kind(o);
    buffer[0] = 0;
    if (o->default_help || !tern_option_has_value(o))
        tern_script_text(buffer, size, "%s", o->default_help ? o->default_help : "");
    else if (kind == OPTION_INTEGER)
        tern_script_text(buffer, size, "%lld", (long long)*o->integer.variable);
    else if (kind == OPTION_NUMBER)
        tern_script_text(buffer, size, "%g", *o->number.variable);
    else if (kind == OPTION_CHOICE || kind == OPTION_TEXT)
        tern_script_text(buffer, size, "%s", kind == OPTION_TEXT ? *o->text : *o->choice.variable);
}

static void write_default(page *p, const tern_option *o)
{
    char value[256], text[260];
    format_default(o, value, sizeof value);
    if (!value[0])
        return;
    tern_script_text(text, sizeof text, "(%s)", value);
    write_text(p, text);
}

static void write_choices(page *p, const tern_option *o)
{
    if (!o->choice.variable)
        return;
    write_text(p, "one of");
    for (const char *const *name = o->choice.names; *name; name++) {
        char word[128];
        tern_script_text(word, sizeof word, "%s%s", *name, name[1] ? "," : "");
        write_word(p, word, strlen(word));
    }
}

// "  -e, --epochs N". A flag that is on is shown by what turns it off.
static void write_names(page *p, const tern_option *o)
{
    char names[160], letter[8] = "";
    const bool off = o->flag && *o->flag;
    const char *value = o->argument ? "" : value_of(o);
    if (o->letter)
        tern_script_text(letter, sizeof letter, "-%c, ", o->letter);
    tern_script_text(names, sizeof names, "  %s%s%s%s%s%s", letter, o->argument ? "" : "--",
                     off ? "no-" : "", o->name, value[0] ? " " : "", value);
    tern_write(&p->writer, "%s", names);
    p->column = count_columns(names, strlen(names));
    if (p->column >= p->indent)
        end_line(p);
}

static void write_option(page *p, const tern_option *o)
{
    write_names(p, o);
    if (o->help)
        write_text(p, o->help);
    write_choices(p, o);
    write_default(p, o);
    end_line(p);
}

// Of what is taken by its place.
static void write_usage(page *p, const tern_option_list *list, const char *program)
{
    char word[160];
    tern_script_text(word, sizeof word, "Usage: %s [OPTION..]", program);
    write_word(p, word, strlen(word));
    p->indent = 6;
    for (int i = 0; i < list->count; i++) {
        const tern_option *o = list->at[i];
        if (!o->name || (!o->required && !o->argument))
            continue;
        tern_script_text(word, sizeof word, "%s%s%s%s%s%s", o->required ? "" : "[",
                         o->argument ? "" : "--", o->name, o->argument ? "" : " ",
                         o->argument ? "" : value_of(o), o->required ? "" : "]");
        write_word(p, word, strlen(word));
    }
    end_line(p);
    p->indent = 0;
}

static void write_options(page *p, const tern_option_list *list)
{
    bool flag = false;
    const tern_option always[] = {
        {"help", 'h', .flag = &flag, .help = "this text"},
        {"version", 0, .flag = &flag, .help = "the version"},
    };
    p->indent = p->width < NARROW ? 6 : NAME_COLUMN;
    for (int i = 0; i < list->count; i++)
        if (list->at[i]->name)
            write_option(p, list->at[i]);
        else
            tern_write(&p->writer, "%s%s:\n", i > 0 ? "\n" : "", list->at[i]->section);
    for (int i = 0; i < 2; i++)
        write_option(p, &always[i]);
    p->indent = 0;
}

static void write_help(page *p, const tern_script *script, const tern_option_list *list)
{
    write_usage(p, list, tern_script_name(script));
    write_text(p, script->about ? script->about : "");
    end_line(p);
    tern_write(&p->writer, "\n");
    write_options(p, list);
    if (!script->epilog)
        return;
    tern_write(&p->writer, "\n");
    write_text(p, script->epilog);
    end_line(p);
}

// ---- where it goes ------------------------------------------------------------------------------

const char *tern_script_name(const tern_script *script)
{
    return script->name ? script->name : program_invocation_short_name;
}

static int page_width(FILE *file)
{
    const int columns = tern_terminal_columns(file, 80);
    return columns > MAX_WIDTH ? MAX_WIDTH : columns < MIN_WIDTH ? MIN_WIDTH : columns;
}

static tern_status write_action(const tern_script *script, tern_script_action action, FILE *file)
{
    tern_option_list list;
    TERN_TRY(tern_option_list_make(&list, "script_print", script));
    page p = {.writer = {.file = file}, .width = page_width(file)};
    const int saved = errno; // the first write to a stream may set it even if all goes well
    const int cancel_state = tern_cancel_disable();
    if (action == TERN_SCRIPT_HELP)
        write_help(&p, script, &list);
    else
        tern_write(&p.writer, "%s %s\n", tern_script_name(script),
                   script->version ? script->version : tern_version());
    const bool written = !fflush(file) && !ferror(file);
    tern_cancel_restore(cancel_state);
    errno = saved;
    TERN_CHECK(written, TERN_ERR_IO, "script_print: the file cannot be written");
    return TERN_OK;
}

static int print_error(FILE *file)
{
    char sentence[TERN_MESSAGE_SIZE];
    const int saved = errno, cancel_state = tern_cancel_disable();
    const bool pending = tern_error_take(sentence, sizeof sentence) != TERN_OK;
    if (pending)
        (void)fprintf(file, "%s\n", sentence);
    tern_cancel_restore(cancel_state);
    errno = saved;
    return pending ? 2 : 0;
}

int tern_script_print(const tern_script *script, tern_script_action action, FILE *file)
{
    switch (action) {
    case TERN_SCRIPT_HELP:
    case TERN_SCRIPT_VERSION:
        return write_action(script, action, file ? file : stdout) ? 1 : 0;
    case TERN_SCRIPT_WRONG:
        return print_error(file ? file : stderr);
    case TERN_SCRIPT_RUN:
    case TERN_SCRIPT_UNSPECIFIED:
        return 0;
    }
    return 0;
}
