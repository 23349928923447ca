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
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, TERN_LOG_NUMBER_SIZE, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            return;
    }
}

void tern_log_add_number(tern_log_bytes *bytes, double value)
{
    char text[TERN_LOG_NUMBER_SIZE];
    tern_log_number_text(text, value);
    tern_log_add_text(bytes, text);
}

void tern_log_add_integer(tern_log_bytes *bytes, int64_t value)
{
    char text[TERN_LOG_NUMBER_SIZE];
    snprintf(text, sizeof text, "%lld", (long long)value);
    tern_log_add_text(bytes, text);
}

void tern_log_add_time(tern_log_bytes *bytes, double time)
{
    char text[48];
    snprintf(text, sizeof text, "%.6f", time);
    tern_log_add_text(bytes, text);
}
