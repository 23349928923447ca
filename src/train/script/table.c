// SPDX-License-Identifier: Apache-2.0
#include "train/script/table.h"
#include <math.h>
#include <string.h>
#include "base/error.h"
#include "base/text.h"

option_kind tern_option_kind(const tern_option *o)
{
    const option_kind kinds[] = {
        o->integer.variable ? OPTION_INTEGER : OPTION_NONE,
        o->number.variable ? OPTION_NUMBER : OPTION_NONE,
        o->choice.variable ? OPTION_CHOICE : OPTION_NONE,
        o->flag ? OPTION_FLAG : OPTION_NONE,
        o->text || o->read ? OPTION_TEXT : OPTION_NONE,
    };
    option_kind found = OPTION_NONE;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i] && found)
            return OPTION_NONE;
        found = kinds[i] ? kinds[i] : found;
    }
    return found;
}

int tern_option_find(const tern_option_list *list, const char *name, size_t length)
{
    for (int i = 0; i < list->count; i++) {
        const tern_option *o = list->at[i];
        if (o->name && !o->argument && strlen(o->name) == length &&
            memcmp(o->name, name, length) == 0)
            return i;
    }
    return -1;
}

int tern_option_find_letter(const tern_option_list *list, char letter)
{
    for (int i = 0; i < list->count; i++)
        if (list->at[i]->name && list->at[i]->letter == letter)
            return i;
    return -1;
}

static bool is_listed(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names;
}

bool tern_option_has_value(const tern_option *o)
{
    const tern_option_integer *i = &o->integer;
    const tern_option_number *n = &o->number;
    switch (tern_option_kind(o)) {
    case OPTION_INTEGER:
        return (i->low == 0 && i->high == 0) || (*i->variable >= i->low && *i->variable <= i->high);
    case OPTION_NUMBER:
        return isfinite(*n->variable) && ((n->low == 0 && n->high == 0) ||
                                          (*n->variable >= n->low && *n->variable <= n->high));
    case OPTION_CHOICE:
        return *o->choice.variable;
    case OPTION_TEXT:
        return o->text && *o->text;
    case OPTION_FLAG:
        return true;
    case OPTION_NONE:
        return false;
    }
    return false;
}

// ---- texts --------------------------------------------------------------------------------------

void tern_script_text(char *buffer, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tern_text_format(buffer, size, format, arguments);
    va_end(arguments);
}

tern_label tern_label_of(const char *text)
{
    tern_label label;
    tern_script_text(label.text, sizeof label.text, "%s", text);
    return label;
}

tern_label tern_option_label(const tern_option *option)
{
    tern_label label;
    tern_script_text(label.text, sizeof label.text, "%s%s", option->argument ? "" : "--",
                     option->name);
    return label;
}

tern_label tern_integer_range(const tern_option_integer *i)
{
    tern_label label = {""};
    const long long low = i->low, high = i->high;
    if (low == 0 && high == 0)
        return label;
    if (i->high == INT64_MAX && i->low == INT64_MIN)
        return label;
    if (i->high == INT64_MAX)
        tern_script_text(label.text, sizeof label.text, "%lld or more", low);
    else if (i->low == INT64_MIN)
        tern_script_text(label.text, sizeof label.text, "%lld or less", high);
    else
        tern_script_text(label.text, sizeof label.text, "%lld to %lld", low, high);
    return label;
}

tern_label tern_number_range(const tern_option_number *n)
{
    tern_label label = {""};
    if ((n->low == 0 && n->high == 0) || (isinf(n->low) && isinf(n->high)))
        return label;
    if (isinf(n->high))
        tern_script_text(label.text, sizeof label.text, "%.15g or more", n->low);
    else if (isinf(n->low))
        tern_script_text(label.text, sizeof label.text, "%.15g or less", n->high);
    else
        tern_script_text(label.text, sizeof label.text, "%.15g to %.15g", n->low, n->high);
    return label;
}

// ---- a table that makes sense -------------------------------------------------------------------

static bool is_letter(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9');
}

static bool is_taken(const char *name)
{
    return strcmp(name, "help") == 0 || strcmp(name, "version") == 0;
}

// A name that can be typed, of an option that takes something.
static tern_status check_row(const tern_option *o, const char *name)
{
    const bool dashed = o->name[0] == '-' || o->name[strcspn(o->name, "= \t\n")] != 0;
    TERN_CHECK(o->name[0] && !dashed, TERN_ERR_ARG,
               "script: option \"%s\": no name for an option: it is written without dashes, "
               "spaces and =",
               name);
    TERN_CHECK(!is_taken(o->name) && o->letter != 'h', TERN_ERR_ARG,
               "script: option \"%s\": --help, -h and --version are always there", name);
    TERN_CHECK(!o->letter || is_letter(o->letter), TERN_ERR_ARG,
               "script: option \"%s\": its .letter is neither a letter nor a digit", name);
    TERN_CHECK(tern_option_kind(o), TERN_ERR_ARG,
               "script: option \"%s\": give one of .integer, .number, .choice, .flag, .text "
               "and .read (.text and .read may go together)",
               name);
    TERN_CHECK(o->integer.low <= o->integer.high && o->number.low <= o->number.high, TERN_ERR_ARG,
               "script: option \"%s\": its range ends before it begins", name);
    TERN_CHECK(!o->argument || (!o->flag && !o->letter), TERN_ERR_ARG,
               "script: argument \"%s\": takes its place's value, and has neither .flag nor "
               ".letter",
               name);
    return TERN_OK;
}

static tern_status check_choice(const tern_option *o, const char *name)
{
    if (!o->choice.variable)
        return TERN_OK;
    TERN_CHECK(o->choice.names && o->choice.names[0], TERN_ERR_ARG,
               "script: option \"%s\": its .choice has no names", name);
    const char *now = *o->choice.variable;
    TERN_CHECK(!now || is_listed(now, o->choice.names), TERN_ERR_ARG,
               "script: option \"%s\": its default \"%s\" is not one of its names", name,
               tern_label_of(now).text);
    return TERN_OK;
}

// The options before it are checked already.
static tern_status check_against_others(const tern_option_list *list, int index)
{
    const tern_option *o = list->at[index];
    const tern_label name = tern_label_of(o->name);
    const int same = tern_option_find(list, o->name, strlen(o->name));
    TERN_CHECK(o->argument || same == index, TERN_ERR_ARG, "script: option \"%s\" is there twice",
               name.text);
    TERN_CHECK(!o->letter || tern_option_find_letter(list, o->letter) == index, TERN_ERR_ARG,
               "script: option \"%s\": -%c is another option's already", name.text, o->letter);
    const char *const others[] = {o->needs, o->excludes};
    for (int i = 0; i < 2; i++)
        TERN_CHECK(!others[i] || tern_option_find(list, others[i], strlen(others[i])) >= 0,
                   TERN_ERR_ARG, "script: option \"%s\": .%s is \"%s\", which is no option",
                   name.text, i ? "excludes" : "needs", tern_label_of(others[i]).text);
    for (int i = 0; i < index && o->argument && o->required; i++)
        TERN_CHECK(!list->at[i]->argument || list->at[i]->required, TERN_ERR_ARG,
                   "script: argument \"%s\" is required, and stands after \"%s\", which is not",
                   name.text, tern_label_of(list->at[i]->name).text);
    return TERN_OK;
}

static tern_status add_rows(tern_option_list *list, const tern_option *row)
{
    for (; row && (row->name || row->section); row++) {
        TERN_CHECK(list->count < TERN_SCRIPT_OPTIONS, TERN_ERR_ARG,
                   "script: at most %d options, and {0} ends a table", TERN_SCRIPT_OPTIONS);
        list->at[list->count++] = row;
    }
    return TERN_OK;
}

tern_status tern_option_list_make(tern_option_list *list, const char *function,
                                  const tern_script *script)
{
    if (!script)
        return tern_null_error(function, "script");
    list->count = 0;
    TERN_TRY(add_rows(list, script->options));
    TERN_TRY(add_rows(list, script->more));
    for (int i = 0; i < list->count; i++) {
        if (!list->at[i]->name)
            continue;
        const tern_label name = tern_label_of(list->at[i]->name);
        TERN_TRY(check_row(list->at[i], name.text));
        TERN_TRY(check_choice(list->at[i], name.text));
    }
    for (int i = 0; i < list->count; i++)
        if (list->at[i]->name)
            TERN_TRY(check_against_others(list, i));
    return TERN_OK;
}
