// SPDX-License-Identifier: Apache-2.0
// The first pass over a CSV file: every cell is checked, texts are collected, rows are counted.
#include <string.h>

#include "base/integer.h"
#include "base/text.h"
#include "data/file/csv_columns.h"
#include "data/file/csv_number.h"
#include "io/json.h"

// A cell and where it is.
typedef struct cell {
    tern_csv *csv;
    int64_t number; // of its column
    tern_csv_column *column;
    const char *text;
} cell;

// Raises TERN_ERR_FORMAT: file, line and column, then the words.
static tern_status refuse(const cell *c, const char *format, ...) TERN_PRINTF_(2, 3);
static tern_status refuse(const cell *c, const char *format, ...)
{
    char words[TERN_MESSAGE_SIZE], column[TERN_CSV_COLUMN_SIZE];
    va_list arguments;
    va_start(arguments, format);
    tern_text_format(words, sizeof words, format, arguments);
    va_end(arguments);
    return tern_csv_error(&c->csv->reader, "%s: %s",
                          tern_csv_column_text(c->csv, c->number, column), words);
}

// ---- texts --------------------------------------------------------------------------------------

static tern_status find_text(const cell *c)
{
    const tern_csv_column *column = c->column;
    if (tern_text_set_find(&column->texts, c->text) >= 0)
        return TERN_OK;
    return refuse(c, "\"%.60s\" is none of the %lld texts that it has in %s", c->text,
                  (long long)column->texts.count, c->csv->schema->path);
}

static tern_status add_text(const cell *c)
{
    if (!tern_utf8_valid(c->text, strlen(c->text)))
        return refuse(c, "\"%.60s\" is no UTF-8", c->text);
    return tern_text_set_add(&c->column->texts, &c->csv->schema->arena, c->text);
}

// The first cell decides what a column has. A number among texts, or a text among numbers, is more
// likely a slip than meant.
static tern_status check_kind(const cell *c, bool is_number)
{
    tern_csv_column *column = c->column;
    if (column->kind == TERN_CSV_UNDECIDED && !c->csv->schema->finished)
        column->kind = is_number && !column->declared ? TERN_CSV_NUMBERS : TERN_CSV_TEXTS;
    if (column->kind != TERN_CSV_TEXTS && !is_number)
        return refuse(c, "\"%.60s\" is no number", c->text);
    if (column->kind != TERN_CSV_TEXTS)
        return TERN_OK;
    if (c->csv->schema->finished)
        return find_text(c);
    if (is_number && !column->declared)
        return refuse(c,
                      "\"%.60s\" is a number among texts; .categories with the name of "
                      "the column makes all of them texts",
                      c->text);
    return add_text(c);
}

// ---- labels -------------------------------------------------------------------------------------

static tern_status check_number(const cell *c, int64_t label)
{
    tern_csv *csv = c->csv;
    const int64_t classes = csv->schema->class_count;
    if (csv->schema->finished) {
        if (classes > 0 && (label < 0 || label >= classes))
            return refuse(c, "%lld is none of the %lld classes of %s", (long long)label,
                          (long long)classes, csv->schema->path);
        return TERN_OK;
    }
    const bool counts = csv->max_label >= 0 && label >= 0 && label < INT64_MAX;
    csv->max_label = counts ? max_int64(csv->max_label, label) : -1;
    return TERN_OK;
}

static tern_status scan_class(const cell *c)
{
    int64_t label;
    double number;
    const bool is_number = tern_csv_number(c->text, &number);
    const bool is_integer = tern_csv_integer(c->text, &label);
    const bool texts = c->column->declared || c->column->kind == TERN_CSV_TEXTS;
    if (is_number && !is_integer && !texts)
        return refuse(
            c, "the label \"%.60s\" is no integer; .label_dtype = TERN_FLOAT32 takes numbers",
            c->text);
    TERN_TRY(check_kind(c, is_number));
    return c->column->kind == TERN_CSV_NUMBERS ? check_number(c, label) : TERN_OK;
}

static tern_status scan_real(const cell *c)
{
    double number;
    if (!tern_csv_number(c->text, &number))
        return refuse(c, "the label \"%.60s\" is no number", c->text);
    return TERN_OK;
}

// ---- records ------------------------------------------------------------------------------------

static tern_status scan_cell(tern_csv *csv, int64_t number)
{
    cell c = {.csv = csv, .number = number, .text = tern_csv_cell(&csv->reader, number)};
    const bool is_label = csv->roles[number] == TERN_CSV_LABEL;
    c.column = tern_csv_column_of(csv, number);
    if (tern_csv_is_empty(csv, c.text)) {
        if (is_label)
            return refuse(&c, "the label is missing");
        if (!csv->options->fill_empty)
            return refuse(&c, "the cell is empty; .fill_empty = true puts .fill there");
        return TERN_OK;
    }
    if (is_label)
        return csv->schema->classes ? scan_class(&c) : scan_real(&c);
    double value;
    return check_kind(&c, tern_csv_number(c.text, &value));
}

tern_status tern_csv_scan(tern_csv *csv)
{
    const tern_csv_reader *r = &csv->reader;
    if (r->count != csv->columns)
        return tern_csv_error(r, "its cells number %lld, those of the first line %lld",
                              (long long)r->count, (long long)csv->columns);
    for (int64_t i = 0; i < csv->columns; i++)
        if (csv->roles[i] != TERN_CSV_SKIPPED)
            TERN_TRY(scan_cell(csv, i));
    if (csv->rows == 0)
        csv->first_line = r->line;
    csv->lines_skipped = csv->lines_skipped || r->line != csv->first_line + csv->rows;
    csv->rows++;
    return TERN_OK;
}
