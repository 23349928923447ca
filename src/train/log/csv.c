// SPDX-License-Identifier: Apache-2.0
#include "train/log/csv.h"

#include <math.h>
#include <string.h>

// In quotes where it has to be.
static void add_field(tern_log_bytes *to, const char *text)
{
    const bool quoted = strpbrk(text, ",\"") || *text == ' ' || text[strlen(text) - 1] == ' ';
    if (!quoted) {
        tern_log_add_text(to, text);
        return;
    }
    tern_log_add_text(to, "\"");
    for (const char *at = text; *at; at++)
        tern_log_add(to, *at == '"' ? "\"\"" : at, *at == '"' ? 2 : 1);
    tern_log_add_text(to, "\"");
}

void tern_log_csv(tern_log_bytes *to, const tern_log_record *record)
{
    if (record->kind != TERN_ENTRY_SCALAR)
        return;
    tern_log_add_time(to, record->time);
    tern_log_add_text(to, ",");
    tern_log_add_integer(to, record->step);
    tern_log_add_text(to, ",");
    add_field(to, record->tag);
    tern_log_add_text(to, ",");
    if (isfinite(record->value))
        tern_log_add_number(to, record->value);
    else
        tern_log_add_text(to, isnan(record->value) ? "nan" : record->value > 0 ? "inf" : "-inf");
    tern_log_add_text(to, "\n");
}
