// SPDX-License-Identifier: Apache-2.0
#include "io/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"

tern_status tern_json_error(const tern_json *json, const char *format, ...)
{
    char why[TERN_MESSAGE_SIZE];
    va_list words;
    if (!json->op)
        return TERN_ERR_FORMAT;
    va_start(words, format);
    tern_text_format(why, sizeof why, format, words);
    va_end(words);
    return tern_error_raise(TERN_ERR_FORMAT,
                            "%s: %s: its %s is not as it should be at byte %lld: %s", json->op,
                            json->path, json->what, (long long)(json->at - json->start), why);
}

// ---- UTF-8 --------------------------------------------------------------------------------------

bool tern_utf8_valid(const char *text, size_t length)
{
    for (size_t size; length > 0; text += size, length -= size) {
        size = (unsigned char)*text < 0x80 ? 1 : tern_utf8_length(text, length);
        if (size == 0)
            return false;
    }
    return true;
}

static char *put_character(char *out, uint32_t code)
{
    if (code < 0x80) {
        *out++ = (char)code;
        return out;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    *out++ = (char)(0xFF00u >> (more + 1) | code >> 6 * more); // the mark of a first byte
    for (int i = more - 1; i >= 0; i--)
        *out++ = (char)(0x80 | (code >> 6 * i & 0x3F));
    return out;
}

// ---- marks --------------------------------------------------------------------------------------

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

char tern_json_peek(tern_json *json)
{
    while (json->at < json->end && is_space(*json->at))
        json->at++;
    return json->at < json->end ? *json->at : 0;
}

bool tern_json_accept(tern_json *json, char mark)
{
    if (tern_json_peek(json) != mark || json->at == json->end)
        return false;
    json->at++;
    return true;
}

// What is found there, for messages.
static const char *found(tern_json *json, char buffer[8])
{
    const unsigned char next = (unsigned char)tern_json_peek(json);
    if (json->at == json->end)
        return "the end";
    snprintf(buffer, 8, next > 0x20 && next < 0x7F ? "'%c'" : "0x%02x", next);
    return buffer;
}

tern_status tern_json_expect(tern_json *json, char mark)
{
    char buffer[8];
    if (tern_json_accept(json, mark))
        return TERN_OK;
    return tern_json_error(json, "'%c' is due, not %s", mark, found(json, buffer));
}

tern_status tern_json_next(tern_json *json, char close, bool *first, bool *another)
{
    *another = !tern_json_accept(json, close);
    if (*another && !*first)
        TERN_TRY(tern_json_expect(json, ','));
    *first = false;
    return TERN_OK;
}

tern_status tern_json_end(tern_json *json)
{
    char buffer[8];
    (void)tern_json_peek(json);
    return json->at == json->end
               ? TERN_OK
               : tern_json_error(json, "nothing is due, not %s", found(json, buffer));
}

bool tern_json_accept_word(tern_json *json, const char *word)
{
    const size_t length = strlen(word);
    (void)tern_json_peek(json);
    if ((size_t)(json->end - json->at) < length || memcmp(json->at, word, length) != 0)
        return false;
    json->at += length;
    return true;
}

bool tern_json_accept_null(tern_json *json)
{
    return tern_json_accept_word(json, "null");
}

// ---- values -------------------------------------------------------------------------------------

tern_status tern_json_integer(tern_json *json, int64_t *value)
{
    char buffer[8];
    const bool negative = tern_json_accept(json, '-');
    const char *digits = json->at;
    int64_t below = 0; // the opposite: that of INT64_MIN would not fit
    bool fits = true;
    for (; json->at < json->end && *json->at >= '0' && *json->at <= '9'; json->at++)
        fits = fits && !__builtin_mul_overflow(below, 10, &below) &&
               !__builtin_sub_overflow(below, *json->at - '0', &below);
    if (json->at == digits || (*digits == '0' && json->at > digits + 1))
        return tern_json_error(json, "an integer is due, not %s", found(json, buffer));
    if (json->at < json->end && (*json->at == '.' || (*json->at | 0x20) == 'e'))
        return tern_json_error(json, "an integer is due, not a fraction");
    *value = below;
    if (!fits || (!negative && __builtin_sub_overflow(0, below, value)))
        return tern_json_error(json, "this integer has more than 64 bits");
    return TERN_OK;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// The four digits behind \u.
static tern_status code_unit(tern_json *json, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++) {
        const int digit = json->at < json->end ? hex_digit(*json->at) : -1;
        if (digit < 0)
            return tern_json_error(json, "four hexadecimal digits are due behind \\u");
        *code = *code << 4 | (uint32_t)digit;
        json->at++;
    }
    return TERN_OK;
}

static tern_status unicode_escape(tern_json *json, char **out)
{
    uint32_t code, low;
    TERN_TRY(code_unit(json, &code));
    if (code >= 0xD800 && code <= 0xDBFF) {
        if (json->end - json->at < 2 || json->at[0] != '\\' || json->at[1] != 'u')
            return tern_json_error(json, "half of a surrogate pair");
        json->at += 2;
        TERN_TRY(code_unit(json, &low));
        if (low < 0xDC00 || low > 0xDFFF)
            return tern_json_error(json, "half of a surrogate pair");
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    if (code >= 0xDC00 && code <= 0xDFFF)
        return tern_json_error(json, "half of a surrogate pair");
    if (code == 0)
        return tern_json_error(json, "the character 0 in a string");
    *out = put_character(*out, code);
    return TERN_OK;
}

static tern_status escape(tern_json *json, char **out)
{
    static const char letters[] = "\"\\/bfnrt", stand_for[] = "\"\\/\b\f\n\r\t";
    const char letter = json->at < json->end ? *json->at : 0;
    const char *known = letter ? strchr(letters, letter) : NULL;
    if (!known && letter != 'u')
        return tern_json_error(json, "no such escape");
    json->at++;
    if (!known)
        return unicode_escape(json, out);
    *(*out)++ = stand_for[known - letters];
    return TERN_OK;
}

// What an escape stands for is never longer than it.
tern_status tern_json_string(tern_json *json, const char **text)
{
    TERN_TRY(tern_json_expect(json, '"'));
    char *const begin = json->at, *out = begin;
    while (json->at < json->end && *json->at != '"') {
        const char next = *json->at;
        if ((unsigned char)next < 0x20)
            return tern_json_error(json, "a control character in a string");
        json->at++;
        if (next != '\\')
            *out++ = next;
        else
            TERN_TRY(escape(json, &out));
    }
    if (json->at == json->end)
        return tern_json_error(json, "it ends within a string");
    json->at++;
    if (!tern_utf8_valid(begin, (size_t)(out - begin)))
        return tern_json_error(json, "the string before this is not UTF-8");
    *out = 0;
    *text = begin;
    return TERN_OK;
}
