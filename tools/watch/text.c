// SPDX-License-Identifier: Apache-2.0
// Texts for a terminal: what somebody named reaches it without control characters.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "watch.h"

static bool reserve(text *t, size_t more)
{
    if (t->length + more < t->capacity)
        return true;
    const size_t wanted = 2 * t->capacity + more + 64;
    char *grown = realloc(t->at, wanted);
    if (!grown)
        return false;
    t->at = grown;
    t->capacity = wanted;
    return true;
}

void text_add(text *t, const char *format, ...)
{
    va_list words;
    va_start(words, format);
    const int length = vsnprintf(NULL, 0, format, words);
    va_end(words);
    if (length < 0 || !reserve(t, (size_t)length + 1))
        return;
    va_start(words, format);
    (void)vsnprintf(t->at + t->length, t->capacity - t->length, format, words);
    va_end(words);
    t->length += (size_t)length;
}

void text_free(text *t)
{
    free(t->at);
    *t = (text){.colour = t->colour};
}

// ---- characters ---------------------------------------------------------------------------------

// The character that begins there, and its bytes; 0xFFFD for what is no UTF-8.
static uint32_t next_character(const char *at, size_t *size)
{
    const unsigned char first = (unsigned char)*at;
    const int more = first < 0x80                    ? 0
                     : first >= 0xC2 && first < 0xE0 ? 1
                     : first >= 0xE0 && first < 0xF0 ? 2
                     : first >= 0xF0 && first < 0xF5 ? 3
                                                     : -1;
    *size = 1;
    if (more < 0)
        return 0xFFFD;
    uint32_t code = more == 0 ? first : first & (0x3Fu >> more);
    for (int i = 1; i <= more; i++) {
        if (((unsigned char)at[i] & 0xC0) != 0x80)
            return 0xFFFD;
        code = code << 6 | ((unsigned char)at[i] & 0x3Fu);
    }
    *size = (size_t)more + 1;
    return code;
}

// Control characters, those without width, and those that change the direction of what follows.
static bool is_hidden(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0xAD || code == 0x61C ||
           (code >= 0x300 && code < 0x370) || (code >= 0x200B && code <= 0x200F) ||
           (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) ||
           code == 0xFEFF || (code >= 0xFE00 && code <= 0xFE0F) || code >= 0xE0000 ||
           code == 0xFFFD;
}

static bool is_wide(uint32_t code)
{
    static const uint32_t ranges[][2] = {{0x1100, 0x115F}, {0x2E80, 0xA4CF},   {0xAC00, 0xD7A3},
                                         {0xF900, 0xFAFF}, {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},
                                         {0xFFE0, 0xFFE6}, {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1])
            return true;
    return false;
}

// How many columns a name takes.
static int name_columns(const char *name)
{
    int columns = 0;
    for (size_t size; *name; name += size)
        columns += is_wide(next_character(name, &size)) ? 2 : 1;
    return columns;
}

int text_add_name(text *t, const char *name, int columns, int least)
{
    const bool cut = name_columns(name) > columns;
    int used = 0;
    while (*name) {
        size_t size;
        const uint32_t code = next_character(name, &size);
        const int width = is_wide(code) ? 2 : 1;
        if (used + width > columns - (cut ? 1 : 0))
            break;
        if (is_hidden(code))
            text_add(t, "?");
        else
            text_add(t, "%.*s", (int)size, name);
        used += width;
        name += size;
    }
    if (cut && columns > 0) {
        text_add(t, "…");
        used++;
    }
    for (; used < least; used++)
        text_add(t, " ");
    return used;
}

void text_colour(text *t, int colour, bool faint)
{
    // Of the 256 colours: six that are told apart on black and on white, also by the colour-blind.
    static const int codes[] = {33, 208, 35, 170, 178, 37};
    if (!t->colour)
        return;
    if (colour < 0)
        text_add(t, "\033[0m");
    else
        text_add(t, faint ? "\033[2;38;5;%dm" : "\033[38;5;%dm", codes[colour % 6]);
}

// ---- numbers ------------------------------------------------------------------------------------

static bool ends_with(const char *tag, const char *end)
{
    const size_t length = strlen(tag), size = strlen(end);
    return length >= size && strcmp(tag + length - size, end) == 0;
}

// Three digits, or all before the point.
static void add_unit(char out[32], double value, const char *unit)
{
    const double size = fabs(value);
    (void)snprintf(out, 32,
                   size < 999.5 ? "%.3g %s"
                   : size < 1e6 ? "%.0f %s"
                                : "%.2g %s",
                   value, unit);
}

void number_text(char out[32], const char *tag, double value)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    if (!isfinite(value)) {
        (void)snprintf(out, 32, "%s", isnan(value) ? "NaN" : value > 0 ? "inf" : "-inf");
    } else if (ends_with(tag, "bytes")) {
        int power = 0;
        for (; fabs(value) >= 1024 && power < 5; power++)
            value /= 1024;
        add_unit(out, value, units[power]);
    } else if (ends_with(tag, "share")) {
        add_unit(out, 100 * value, "%");
    } else {
        const double size = fabs(value);
        const int length = snprintf(out, 32, size >= 10000 && size < 1e7 ? "%.0f" : "%.4g", value);
        if (length > 8)
            (void)snprintf(out, 32, "%.2g", value);
    }
}

void duration_text(char out[32], double seconds)
{
    const long long whole = (long long)(seconds + 0.5);
    if (whole < 60)
        (void)snprintf(out, 32, "%.3g s", seconds);
    else if (whole < 3600)
        (void)snprintf(out, 32, "%lld min %lld s", whole / 60, whole % 60);
    else if (whole < 86400)
        (void)snprintf(out, 32, "%lld h %lld min", whole / 3600, whole / 60 % 60);
    else
        (void)snprintf(out, 32, "%lld d %lld h", whole / 86400, whole / 3600 % 24);
}

void integer_text(char out[32], int64_t value)
{
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%lld", (long long)value);
    int at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-')
            out[at++] = ' ';
        out[at++] = digits[i];
    }
    out[at] = 0;
}
