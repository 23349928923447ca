// SPDX-License-Identifier: Apache-2.0
#include "train/log/bytes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

void tern_log_bytes_free(tern_log_bytes *bytes)
{
    tern_mem_free(bytes->data, (size_t)bytes->capacity);
    *bytes = (tern_log_bytes){0};
}

void tern_log_bytes_cut(tern_log_bytes *bytes, int64_t count)
{
    bytes->count = count;
    bytes->failed = false;
}

void tern_log_add(tern_log_bytes *bytes, const void *data, size_t count)
{
    if (bytes->failed || count == 0)
        return;
    const int64_t needed = bytes->count + (int64_t)count;
    bytes->failed = tern_mem_grow((void **)&bytes->data, &bytes->capacity, needed, 1) != TERN_OK;
    if (bytes->failed)
        return;
    memcpy(bytes->data + bytes->count, data, count);
    bytes->count = needed;
}

void tern_log_add_text(tern_log_bytes *bytes, const char *text)
{
    tern_log_add(bytes, text, strlen(text));
}

void tern_log_number_text(char text[TERN_LOG_NUMBER_SIZE], double value)
{
    // -0 has a sign, which an integer has not
    if (fabs(value) < 1e15 && value == (double)(int64_t)value && !(value == 0 && signbit(value))) {
        snprintf(text, TERN_LOG_NUMBER_SIZE, "%lld", (long long)value);
        return;
    }
    snprintf(text, TERN_LOG_NUMBER_SIZE, "%.15g", value);
    if (strtod(text, NULL) != value)
        snprintf(text, TERN_LOG_NUMBER_SIZE, "%.17g", value);
}

void tern_log_add_number(tern_log_bytes *bytes, double value)
{
    char text[TERN_LOG_NUMBER_SIZE];
    tern_log_number_text(text, value);
    tern_log_add_text(bytes, text);
}

// The digits of `value`, at least `width` of them, that end at `end`. Returns where they begin.
static char *put_digits(char *end, uint64_t value, int width)
{
    for (; value > 0 || width > 0; value /= 10, width--)
        *--end = (char)('0' + value % 10);
    return end;
}

void tern_log_add_integer(tern_log_bytes *bytes, int64_t value)
{
    char text[24], *end = text + sizeof text;
    char *at = put_digits(end, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 1);
    if (value < 0)
        *--at = '-';
    tern_log_add(bytes, at, (size_t)(end - at));
}

void tern_log_add_time(tern_log_bytes *bytes, double time)
{
    char text[48], *end = text + sizeof text;
    const uint64_t micros = time > 0 && time < 1e12 ? (uint64_t)(time * 1e6 + 0.5) : 0;
    char *at = put_digits(end, micros % 1000000, 6);
    *--at = '.';
    at = put_digits(at, micros / 1000000, 1);
    tern_log_add(bytes, at, (size_t)(end - at));
}
