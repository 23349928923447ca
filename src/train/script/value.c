// SPDX-License-Identifier: Apache-2.0
#include "train/script/value.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/text.h"

// Digits with or without a sign. What strtoll takes beside them, as spaces, was not meant.
static bool read_integer(const char *text, int64_t *out)
{
    const char *digits = text + (*text == '-' || *text == '+');
    const int saved = errno;
    errno = 0;
    const long long value = strtoll(text, NULL, 10);
    const bool fits = errno == 0;
    errno = saved;
    *out = value;
    return fits && *digits && digits[strspn(digits, "0123456789")] == 0;
}

static const char *skip_digits(const char *text)
{
    return text + strspn(text, "0123456789");
}

// What strtod takes beside decimal numbers, as 0x1p3, inf and nan, was not meant.
static bool is_decimal(const char *text)
{
    const char *begin = text + (*text == '-' || *text == '+'), *at = skip_digits(begin);
    int64_t digits = at - begin;
    if (*at == '.') {
        begin = at + 1;
        at = skip_digits(begin);
        digits += at - begin;
    }
    if (digits > 0 && (*at == 'e' || *at == 'E')) {
        begin = at + 1 + (at[1] == '-' || at[1] == '+');
        at = skip_digits(begin);
        digits = at - begin;
    }
    return digits > 0 && *at == 0;
}

static tern_status refuse(const char *program, const tern_option *o, const char *value,
                          const char *why, const char *range)
{
    return tern_error_raise(TERN_ERR_ARG, "%s: %s %s: %s%s%s", program, tern_option_label(o).text,
                            tern_label_of(value).text, why, range[0] ? " of " : "", range);
}

static tern_status check_integer(const char *program, const tern_option *o, const char *value)
{
    const tern_option_integer *i = &o->integer;
    int64_t number;
    const bool any = i->low == 0 && i->high == 0;
    if (read_integer(value, &number) && (any || (number >= i->low && number <= i->high)))
        return TERN_OK;
    return refuse(program, o, value, "not a whole number", tern_integer_range(i).text);
}

// 1e-999 is no number that a double has, but would be read as 0.
static bool underflows(const char *value, double number)
{
    const size_t digits = strspn(value, "+-0.");
    return number == 0 && value[digits] >= '1' && value[digits] <= '9';
}

static tern_status check_number(const char *program, const tern_option *o, const char *value)
{
    const tern_option_number *n = &o->number;
    const double number = tern_text_double(value);
    const bool any = n->low == 0 && n->high == 0;
    if (is_decimal(value) && isinf(number))
        return refuse(program, o, value, "larger than any number of a double", "");
    if (is_decimal(value) && underflows(value, number))
        return refuse(program, o, value, "smaller than any number of a double", "");
    if (is_decimal(value) && (any || (number >= n->low && number <= n->high)))
        return TERN_OK;
    return refuse(program, o, value, "not a number", tern_number_range(n).text);
}

static const char *find_choice(const tern_option *o, const char *value)
{
    for (const char *const *name = o->choice.names; *name; name++)
        if (strcmp(*name, value) == 0)
            return *name;
    return NULL;
}

static tern_status check_choice(const char *program, const tern_option *o, const char *value)
{
    char names[384] = "not one of ";
    if (find_choice(o, value))
        return TERN_OK;
    for (const char *const *name = o->choice.names; *name; name++) {
        const size_t length = strlen(names);
        const bool first = name == o->choice.names;
        tern_script_text(names + length, sizeof names - length, "%s%s",
                         first     ? ""
                         : name[1] ? ", "
                                   : " and ",
                         *name);
        if (strlen(names) + 8 > sizeof names) // the rest has no room
            break;
    }
    return refuse(program, o, value, names, "");
}

tern_status tern_option_check(const char *program, const tern_option *o, const char *value)
{
    switch (tern_option_kind(o)) {
    case OPTION_INTEGER:
        return check_integer(program, o, value);
    case OPTION_NUMBER:
        return check_number(program, o, value);
    case OPTION_CHOICE:
        return check_choice(program, o, value);
    case OPTION_FLAG:
    case OPTION_TEXT:
    case OPTION_NONE:
        return TERN_OK;
    }
    return TERN_OK;
}

tern_status tern_script_pass_on(tern_status status, const char *program, const char *what,
                                const char *value)
{
    char why[TERN_MESSAGE_SIZE];
    if (!status && !tern_error_pending())
        return TERN_OK;
    if (tern_error_take(why, sizeof why) == TERN_OK)
        strcpy(why, "refused");
    return tern_error_raise(TERN_ERR_ARG, "%s: %s%s%s%s%s", program, what, what[0] ? " " : "",
                            value, what[0] ? ": " : "", why);
}

tern_status tern_option_call(const char *program, const tern_option *o, const char *value)
{
    if (!o->read)
        return TERN_OK;
    tern_error_delay();
    const tern_status status = tern_script_pass_on(
        o->read(value, o->user), program, tern_option_label(o).text, tern_label_of(value).text);
    tern_error_report();
    return status;
}

void tern_option_set(const tern_option *o, const tern_script_word *word)
{
    switch (tern_option_kind(o)) {
    case OPTION_INTEGER:
        (void)read_integer(word->value, o->integer.variable);
        break;
    case OPTION_NUMBER:
        *o->number.variable = tern_text_double(word->value);
        break;
    case OPTION_CHOICE:
        *o->choice.variable = find_choice(o, word->value);
        break;
    case OPTION_FLAG:
        *o->flag = !word->off;
        break;
    case OPTION_TEXT:
        if (o->text)
            *o->text = word->value;
        break;
    case OPTION_NONE:
        break;
    }
    if (o->given)
        *o->given = true;
}
