// SPDX-License-Identifier: Apache-2.0
#include "train/run/page_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static void put_bytes(tern_page *page, const char *bytes, size_t count)
{
    if (!page->status)
        page->status = tern_save_write(&page->save, bytes, count);
}

void tern_page_put(tern_page *page, const char *text)
{
    put_bytes(page, text, strlen(text));
}

void tern_page_format(tern_page *page, const char *format, ...)
{
    char text[TERN_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    tern_text_format(text, sizeof text, format, arguments);
    va_end(arguments);
    tern_page_put(page, text);
}

void tern_page_string(tern_page *page, const char *text)
{
    tern_page_put(page, "\"");
    for (; *text; text++) {
        const size_t plain = strcspn(text, "\"\\<>&\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0A\x0B\x0C"
                                           "\x0D\x0E\x0F\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19"
                                           "\x1A\x1B\x1C\x1D\x1E\x1F\x7F");
        put_bytes(page, text, plain);
        text += plain;
        if (!*text)
            break;
        char escaped[8];
        (void)snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)(unsigned char)*text);
        tern_page_put(page, escaped);
    }
    tern_page_put(page, "\"");
}

void tern_page_escaped(tern_page *page, const char *text)
{
    for (; *text; text++) {
        const size_t plain = strcspn(text, "<>&\"'");
        put_bytes(page, text, plain);
        text += plain;
        if (!*text)
            break;
        tern_page_format(page, "&#%d;", *text);
    }
}

static void number(tern_page *page, double value, int digits)
{
    if (isfinite(value))
        tern_page_format(page, "%.*g", digits, value);
    else
        tern_page_put(page, isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"");
}

void tern_page_number(tern_page *page, double value)
{
    number(page, value, 17);
}

void tern_page_rounded(tern_page *page, double value)
{
    number(page, value, 8);
}
