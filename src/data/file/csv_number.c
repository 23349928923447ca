// SPDX-License-Identifier: Apache-2.0
#include "data/file/csv_number.h"

#include <stddef.h>

#include "base/text.h"

// Both are exact, and so is one rounding of their product or quotient: W. Clinger, "How to read
// floating point numbers accurately", PLDI 1990.
#define MAX_EXACT_DIGITS (UINT64_C(1) << 53)
#define MAX_EXACT_POWER  22

static const double powers[MAX_EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// A number taken apart: digits * 10^exponent.
typedef struct decimal {
    bool negative;
    bool exact; // all digits are in `digits`, and the exponent is right
    uint64_t digits;
    int64_t exponent;
} decimal;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

static const char *take_sign(const char *at, bool *negative)
{
    *negative = *at == '-';
    return at + (*at == '-' || *at == '+');
}

// Digits behind a point count down the exponent.
static const char *take_digits(const char *at, decimal *d, int64_t step)
{
    for (; is_digit(*at); at++) {
        if (d->digits > (UINT64_MAX - 9) / 10) {
            d->exact = false;
            continue;
        }
        d->digits = d->digits * 10 + (uint64_t)(*at - '0');
        d->exponent -= step;
    }
    return at;
}

// NULL where no digit follows.
static const char *take_exponent(const char *at, decimal *d)
{
    bool negative;
    int64_t exponent = 0;
    at = take_sign(at + 1, &negative);
    if (!is_digit(*at))
        return NULL;
    for (; is_digit(*at); at++)
        if (exponent < 100000)
            exponent = exponent * 10 + (*at - '0');
    d->exponent += negative ? -exponent : exponent;
    return at;
}

static bool scale(const decimal *d, double *value)
{
    if (!d->exact || d->digits > MAX_EXACT_DIGITS || d->exponent < -MAX_EXACT_POWER ||
        d->exponent > MAX_EXACT_POWER)
        return false;
    const double digits = (double)d->digits;
    const double size =
        d->exponent < 0 ? digits / powers[-d->exponent] : digits * powers[d->exponent];
    *value = d->negative ? -size : size;
    return true;
}

bool tern_csv_number(const char *text, double *value)
{
    decimal d = {.exact = true};
    text = skip_blanks(text);
    const char *at = take_sign(text, &d.negative), *first = at;
    at = take_digits(at, &d, 0);
    int64_t digits = at - first;
    if (*at == '.') {
        first = ++at;
        at = take_digits(at, &d, 1);
        digits += at - first;
    }
    if (digits == 0)
        return false;
    if (*at == 'e' || *at == 'E')
        at = take_exponent(at, &d);
    if (!at || *skip_blanks(at))
        return false;
    if (!scale(&d, value))
        *value = tern_text_double(text);
    return true;
}

bool tern_csv_integer(const char *text, int64_t *value)
{
    bool negative;
    int64_t size = 0; // negative: there is one more of those
    text = take_sign(skip_blanks(text), &negative);
    if (!is_digit(*text))
        return false;
    for (; is_digit(*text); text++)
        if (__builtin_mul_overflow(size, 10, &size) ||
            __builtin_sub_overflow(size, *text - '0', &size))
            return false;
    if (*skip_blanks(text) || (!negative && size == INT64_MIN))
        return false;
    *value = negative ? size : -size;
    return true;
}
