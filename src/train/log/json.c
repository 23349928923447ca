// SPDX-License-Identifier: Apache-2.0
#include "train/log/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"

// What stands for a character that a string must not have as it is; NULL: it may.
static const char *escape_of(unsigned char byte, char buffer[8])
{
    switch (byte) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\n':
        return "\\n";
    case '\t':
        return "\\t";
    case '\r':
        return "\\r";
    }
    if (byte >= 0x20 && byte != 0x7F)
        return NULL;
    snprintf(buffer, 8, "\\u%04x", byte);
    return buffer;
}

void tern_json_add_string(tern_log_bytes *to, const char *text)
{
    char buffer[8];
    const size_t length = strlen(text);
    size_t plain = 0, used; // bytes from `plain` on are not added yet
    tern_log_add(to, "\"", 1);
    for (size_t at = 0; at < length; at += used) {
        used = tern_utf8_length(text + at, length - at);
        const char *escaped = used == 1   ? escape_of((unsigned char)text[at], buffer)
                              : used == 0 ? "\\ufffd"
                                          : NULL;
        used = used ? used : 1;
        if (!escaped)
            continue;
        tern_log_add(to, text + plain, at - plain);
        tern_log_add_text(to, escaped);
        plain = at + used;
    }
    tern_log_add(to, text + plain, length - plain);
    tern_log_add(to, "\"", 1);
}

void tern_json_add_double(tern_log_bytes *to, double value)
{
    if (isfinite(value))
        tern_log_add_number(to, value);
    else
        tern_log_add_text(to, "null");
}

void tern_json_add_name(tern_log_bytes *to, const char *name)
{
    tern_log_add(to, ",", 1);
    tern_json_add_string(to, name);
    tern_log_add(to, ":", 1);
}
