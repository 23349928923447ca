// SPDX-License-Identifier: Apache-2.0
#include "io/npy_text.h"

#include <string.h>

typedef struct cursor {
    const char *at, *end;
} cursor;

typedef struct text {
    const char *at;
    size_t length;
} text;

enum { DESCR = 1, FORTRAN_ORDER = 2, SHAPE = 4, ALL = 7 };

static void skip_spaces(cursor *c)
{
    while (c->at < c->end && *c->at == ' ')
        c->at++;
}

// Takes a character, and spaces before it, if it comes next.
static bool take(cursor *c, char wanted)
{
    skip_spaces(c);
    const bool there = c->at < c->end && *c->at == wanted;
    c->at += there;
    return there;
}

static bool take_word(cursor *c, const char *word)
{
    skip_spaces(c);
    const size_t length = strlen(word);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0)
        return false;
    c->at += length;
    return true;
}

// A string without escapes, in quotes of either kind.
static bool take_string(cursor *c, text *found)
{
    skip_spaces(c);
    const char quote = c->at < c->end ? *c->at : 0;
    if (quote != '\'' && quote != '"')
        return false;
    found->at = ++c->at;
    while (c->at < c->end && *c->at != quote) {
        if (*c->at < 0x20 || *c->at == 0x7F || *c->at == '\\')
            return false;
        c->at++;
    }
    found->length = (size_t)(c->at - found->at);
    return take(c, quote);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// Decimal digits, with the L of Python 2's long integers.
static const char *take_size(cursor *c, int64_t *size)
{
    skip_spaces(c);
    const char *start = c->at;
    *size = 0;
    for (; c->at < c->end && is_digit(*c->at); c->at++)
        if (__builtin_mul_overflow(*size, 10, size) ||
            __builtin_add_overflow(*size, *c->at - '0', size))
            return "a size in its shape is larger than 2^63 - 1";
    if (c->at == start)
        return "its shape is no tuple of sizes";
    if (c->at - start > 1 && *start == '0')
        return "a size in its shape begins with 0";
    if (c->at < c->end && *c->at == 'L')
        c->at++;
    return NULL;
}

static const char *take_shape(cursor *c, tern_npy_text *found)
{
    bool comma = true;
    if (!take(c, '('))
        return "its shape is no tuple of sizes";
    while (!take(c, ')')) {
        if (!comma)
            return "its shape is no tuple of sizes";
        if (found->rank == TERN_MAX_RANK)
            return "its shape has more than 8 dimensions";
        const char *wrong = take_size(c, &found->shape[found->rank++]);
        if (wrong)
            return wrong;
        comma = take(c, ',');
    }
    return found->rank == 1 && !comma ? "its shape is no tuple: (n) is one as (n,)" : NULL;
}

static const char *take_descr(cursor *c, tern_npy_text *found)
{
    text descr;
    skip_spaces(c);
    if (c->at < c->end && (*c->at == '[' || *c->at == '('))
        return "it is a structured array";
    if (!take_string(c, &descr) || descr.length == 0)
        return "its descr is no string";
    found->descr = descr.at;
    found->descr_length = descr.length;
    return NULL;
}

static const char *take_order(cursor *c, tern_npy_text *found)
{
    found->fortran_order = take_word(c, "True");
    return found->fortran_order || take_word(c, "False")
               ? NULL
               : "its fortran_order is neither True nor False";
}

static bool is_text(text t, const char *wanted)
{
    return t.length == strlen(wanted) && memcmp(t.at, wanted, t.length) == 0;
}

static const char *take_pair(cursor *c, tern_npy_text *found, int *seen)
{
    text key;
    if (!take_string(c, &key))
        return "its header is no dictionary";
    const int which = is_text(key, "descr")           ? DESCR
                      : is_text(key, "fortran_order") ? FORTRAN_ORDER
                      : is_text(key, "shape")         ? SHAPE
                                                      : 0;
    if (!which)
        return "its header has another key than descr, fortran_order and shape";
    if (*seen & which)
        return "its header has a key twice";
    *seen |= which;
    if (!take(c, ':'))
        return "its header is no dictionary";
    return which == DESCR           ? take_descr(c, found)
           : which == FORTRAN_ORDER ? take_order(c, found)
                                    : take_shape(c, found);
}

static const char *take_dictionary(cursor *c, tern_npy_text *found)
{
    int seen = 0;
    bool comma = true;
    if (!take(c, '{'))
        return "its header is no dictionary";
    while (!take(c, '}')) {
        const char *wrong = comma ? take_pair(c, found, &seen) : "its header is no dictionary";
        if (wrong)
            return wrong;
        comma = take(c, ',');
    }
    return seen == ALL ? NULL : "its header lacks one of descr, fortran_order and shape";
}

const char *tern_npy_text_read(const char *header, size_t length, tern_npy_text *found)
{
    cursor c = {header, header + length};
    *found = (tern_npy_text){.rank = 0};
    const char *wrong = take_dictionary(&c, found);
    if (wrong)
        return wrong;
    (void)take(&c, '\n');
    return c.at == c.end ? NULL : "its header goes on after the dictionary";
}
