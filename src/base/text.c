// SPDX-License-Identifier: Apache-2.0
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // newlocale, uselocale
#endif
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

// Leaves room for "..." and removes the rest of a UTF-8 sequence that would be torn.
static void cut(char *buffer, size_t size)
{
    size_t end = size - 4;
    while (end > 0 && ((unsigned char)buffer[end] & 0xC0) == 0x80)
        end--;
    memcpy(buffer + end, "...", 4);
}

static void hide_control_characters(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7F)
            *text = '?';
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

void tern_text_format(char *buffer, size_t size, const char *format, va_list words)
{
    int saved = errno;
    locale_t plain = c_locale();
    locale_t before = plain ? uselocale(plain) : (locale_t)0;
    int length = vsnprintf(buffer, size, format, words);
    if (before)
        uselocale(before);
    if (length < 0)
        snprintf(buffer, size, "%s", format); // not formatted is better than nothing
    else if ((size_t)length >= size)
        cut(buffer, size);
    hide_control_characters(buffer);
    errno = saved;
}

int tern_text_count(const char *text, int most)
{
    int count = 0;
    for (const char *digit = text; *digit; digit++) {
        if (*digit < '0' || *digit > '9' || count > most)
            return 0;
        count = count * 10 + (*digit - '0');
    }
    return count <= most ? count : 0;
}

void tern_write(tern_writer *writer, const char *format, ...)
{
    va_list words;
    va_start(words, format);
    if (writer->file) {
        (void)vfprintf(writer->file, format, words);
    } else {
        size_t used = (size_t)writer->length < writer->size ? (size_t)writer->length : writer->size;
        size_t rest = writer->size - used;
        int length = vsnprintf(rest ? writer->buffer + used : NULL, rest, format, words);
        writer->length += length > 0 ? length : 0;
    }
    va_end(words);
}
