// SPDX-License-Identifier: Apache-2.0
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // newlocale, uselocale
#endif
#include "base/text.h"
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Leaves room for "..." and removes the rest of a UTF-8 sequence that would be torn.
static void cut(char *buffer, size_t size)
{
    size_t end = size - 4;
    while (end > 0 && ((unsigned char)buffer[end] & 0xC0) == 0x80)
        end--;
    memcpy(buffer + end, "...", 4);
}

size_t tern_utf8_length(const char *text, size_t length)
{
    static const uint32_t min[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *byte = (const unsigned char *)text, first = byte[0];
    const size_t size = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : 4;
    if (size == 1)
        return 1;
    if (size > length || first < 0xC0 || first > 0xF4)
        return 0;
    uint32_t code = first & (0xFFu >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        if (byte[i] >> 6 != 2)
            return 0;
        code = code << 6 | (byte[i] & 0x3F);
    }
    const bool fits = code >= min[size] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
    return fits ? size : 0;
}

// Puts "\xff" in the place of byte `at`. What does not fit then is cut.
static void escape_byte(char *buffer, size_t size, size_t at)
{
    char escape[5];
    const size_t rest = strlen(buffer + at + 1), space = at + 5 < size ? size - at - 5 : 0;
    snprintf(escape, sizeof escape, "\\x%02x", (unsigned char)buffer[at]);
    if (at + 5 <= size) {
        memmove(buffer + at + 4, buffer + at + 1, rest < space ? rest : space);
        buffer[at + 4 + (rest < space ? rest : space)] = 0;
        memcpy(buffer + at, escape, 4);
    }
    if (rest > space || at + 5 > size)
        cut(buffer, size);
}

// What may come from a file and is no text.
static void escape(char *buffer, size_t size)
{
    for (size_t at = 0, length; buffer[at]; at += length) {
        const unsigned char byte = (unsigned char)buffer[at];
        length = byte < 0x80 ? 1 : tern_utf8_length(buffer + at, strlen(buffer + at));
        if (byte < 0x20 || byte == 0x7F)
            buffer[at] = '?';
        if (length > 0)
            continue;
        escape_byte(buffer, size, at);
        length = 1;
    }
}

// The C locale is a static object of the C library: nothing to free.
static locale_t c_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

const char *tern_text_reason(int error)
{
    locale_t plain = c_locale();
    return plain ? strerror_l(error, plain) : "an error of the system";
}

double tern_text_double(const char *text)
{
    const int saved = errno;
    locale_t plain = c_locale();
    const double value = plain ? strtod_l(text, NULL, plain) : strtod(text, NULL);
    errno = saved;
    return value;
}

void tern_text_format(char *buffer, size_t size, const char *format, va_list arguments)
{
    int saved = errno;
    locale_t plain = c_locale();
    locale_t before = plain ? uselocale(plain) : (locale_t)0;
    int length = vsnprintf(buffer, size, format, arguments);
    if (before)
        uselocale(before);
    if (length < 0)
        snprintf(buffer, size, "%s", format); // not formatted is better than nothing
    else if ((size_t)length >= size)
        cut(buffer, size);
    escape(buffer, size);
    errno = saved;
}

int tern_text_count(const char *text, int max)
{
    int count = 0;
    for (const char *digit = text; *digit; digit++) {
        if (*digit < '0' || *digit > '9' || count > max)
            return 0;
        count = count * 10 + (*digit - '0');
    }
    return count <= max ? count : 0;
}

void tern_write(tern_writer *writer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (writer->file) {
        (void)vfprintf(writer->file, format, arguments);
    } else {
        size_t used = (size_t)writer->length < writer->size ? (size_t)writer->length : writer->size;
        size_t rest = writer->size - used;
        int length = vsnprintf(rest ? writer->buffer + used : NULL, rest, format, arguments);
        writer->length += length > 0 ? length : 0;
    }
    va_end(arguments);
}
