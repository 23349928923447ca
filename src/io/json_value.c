// SPDX-License-Identifier: Apache-2.0
// Numbers, and values that nobody asked for.
#include "base/text.h"
#include "io/json.h"

// Arrays and objects inside each other that are read; deeper ones would need the stack.
#define MAX_DEPTH 64

static bool is_digit(const tern_json *json)
{
    return json->at < json->end && *json->at >= '0' && *json->at <= '9';
}

// Digits, which make the number longer: *significand takes what fits, `*dropped` counts the rest.
static int digits(tern_json *json, uint64_t *significand, int *dropped)
{
    int count = 0;
    for (; is_digit(json); json->at++, count++) {
        if (*significand < UINT64_MAX / 10 - 1)
            *significand = *significand * 10 + (uint64_t)(*json->at - '0');
        else
            ++*dropped;
    }
    return count;
}

static bool exponent(tern_json *json, int *value)
{
    uint64_t power = 0;
    int dropped = 0;
    json->at++;
    const bool negative = json->at < json->end && *json->at == '-';
    json->at += json->at < json->end && (*json->at == '-' || *json->at == '+');
    if (digits(json, &power, &dropped) == 0)
        return false;
    *value = dropped || power > 9999 ? 9999 : (int)power;
    *value = negative ? -*value : *value;
    return true;
}

// A significand of 53 bits and a power of ten that a double holds: one operation, which rounds
// once (Clinger, "How to read floating point numbers accurately", 1990).
static bool exact(uint64_t significand, int power, double *value)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (significand >> 53 || power < -22 || power > 22)
        return false;
    *value = power < 0 ? (double)significand / tens[-power] : (double)significand * tens[power];
    return true;
}

// The number that is there ends before json->end, which holds no digit: a text ends with a 0.
static void round_number(const char *begin, uint64_t significand, int dropped, int power,
                         double *value)
{
    const bool negative = *begin == '-';
    if (dropped == 0 && exact(significand, power, value))
        *value = negative ? -*value : *value;
    else
        *value = tern_text_double(begin);
}

tern_status tern_json_number(tern_json *json, double *value)
{
    uint64_t significand = 0;
    int dropped = 0, behind = 0, power = 0;
    (void)tern_json_peek(json);
    char *const begin = json->at;
    json->at += json->at < json->end && *json->at == '-';
    const char *first = json->at;
    const int before = digits(json, &significand, &dropped);
    if (before == 0 || (*first == '0' && before > 1))
        return tern_json_error(json, "a number is due");
    if (json->at < json->end && *json->at == '.') {
        json->at++;
        behind = digits(json, &significand, &dropped);
        if (behind == 0)
            return tern_json_error(json, "digits are due behind the point");
    }
    if (json->at < json->end && (*json->at | 0x20) == 'e' && !exponent(json, &power))
        return tern_json_error(json, "digits are due in the exponent");
    round_number(begin, significand, dropped, power - behind, value);
    return TERN_OK;
}

static tern_status skip(tern_json *json, int depth);

static tern_status skip_members(tern_json *json, char close, int depth)
{
    bool first = true, another;
    const char *key;
    json->at++;
    for (;;) {
        TERN_TRY(tern_json_next(json, close, &first, &another));
        if (!another)
            return TERN_OK;
        if (close == '}') {
            TERN_TRY(tern_json_string(json, &key));
            TERN_TRY(tern_json_expect(json, ':'));
        }
        TERN_TRY(skip(json, depth + 1));
    }
}

static tern_status skip(tern_json *json, int depth)
{
    const char *text;
    double number;
    const char next = tern_json_peek(json);
    if (depth > MAX_DEPTH)
        return tern_json_error(json, "it is nested too deeply");
    if (next == '{' || next == '[')
        return skip_members(json, next == '{' ? '}' : ']', depth);
    if (next == '"')
        return tern_json_string(json, &text);
    if (tern_json_accept_word(json, "true") || tern_json_accept_word(json, "false") ||
        tern_json_accept_null(json))
        return TERN_OK;
    return tern_json_number(json, &number);
}

tern_status tern_json_skip(tern_json *json)
{
    return skip(json, 0);
}
