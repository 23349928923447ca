// SPDX-License-Identifier: Apache-2.0
// Doubles as texts that give the same bits back, the same in every locale: "0x1.8p+1", as %a
// writes them, "inf", "-inf" and "nan(0x7ff8000000000000)".
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "io/json.h"

static void format(char *text, size_t size, const char *form, ...)
{
    va_list words;
    va_start(words, form);
    tern_text_format(text, size, form, words);
    va_end(words);
}

void tern_json_double_text(char text[TERN_JSON_DOUBLE_SIZE], double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (isnan(value))
        format(text, TERN_JSON_DOUBLE_SIZE, "nan(0x%016llx)", (unsigned long long)bits);
    else
        format(text, TERN_JSON_DOUBLE_SIZE, "%a", value);
}

// What the digits say, whatever else is there.
static double hexadecimal(const char *text)
{
    const bool negative = *text == '-';
    const char *point = strchr(text, '.'), *power = strchr(text, 'p');
    uint64_t digits = strtoull(text + negative, NULL, 16); // the one before the point
    int exponent = power ? (int)strtol(power + 1, NULL, 10) : 0;
    if (point)
        for (point++; *point && *point != 'p' && digits >> 60 == 0; point++, exponent -= 4)
            digits = digits << 4 | (uint64_t)(*point <= '9' ? *point - '0' : *point - 'a' + 10);
    const double value = ldexp((double)digits, exponent);
    return negative ? -value : value;
}

bool tern_json_double_parse(const char *text, double *value)
{
    char again[TERN_JSON_DOUBLE_SIZE];
    const bool negative = *text == '-';
    if (strncmp(text, "nan(0x", 6) == 0) {
        const uint64_t bits = strtoull(text + 4, NULL, 16);
        memcpy(value, &bits, sizeof bits);
    } else {
        const double inf = negative ? -INFINITY : INFINITY;
        *value = strcmp(text + negative, "inf") == 0 ? inf : hexadecimal(text);
    }
    tern_json_double_text(again, *value);
    return strcmp(again, text) == 0;
}
