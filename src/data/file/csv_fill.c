// SPDX-License-Identifier: Apache-2.0
// The second pass over a CSV file: cells become elements.
#include <math.h>

#include "data/file/csv_columns.h"
#include "data/file/csv_number.h"

// Beyond this float32 does not tell two codes apart.
#define MAX_FLOAT32_CODE (INT64_C(1) << 24)

static tern_status store(const tern_csv *csv, int64_t column, double value, tern_dtype dtype,
                         void *to, int64_t at)
{
    char where[TERN_CSV_COLUMN_SIZE];
    if (dtype == TERN_FLOAT64)
        ((double *)to)[at] = value;
    else
        ((float *)to)[at] = (float)value;
    if (dtype == TERN_FLOAT64 ? isfinite(value) : isfinite((float)value))
        return TERN_OK;
    return tern_csv_error(&csv->reader, "%s: \"%.60s\" is beyond what %s holds",
                          tern_csv_column_text(csv, column, where),
                          tern_csv_cell(&csv->reader, column), tern_dtype_name(dtype));
}

// What the first pass found was changed since.
static tern_status refuse_change(const tern_csv *csv)
{
    return tern_error_raise(TERN_ERR_IO, "data_csv: %s was written to while it was read",
                            csv->reader.file->path);
}

static tern_status fill_code(const tern_csv *csv, int64_t column, int64_t at)
{
    const int64_t code = tern_text_set_find(&tern_csv_column_of(csv, column)->texts,
                                            tern_csv_cell(&csv->reader, column));
    if (code < 0)
        return refuse_change(csv);
    TERN_CHECK(
        code < MAX_FLOAT32_CODE || csv->options->dtype == TERN_FLOAT64, TERN_ERR_UNSUPPORTED,
        "data_csv: %s has more than %lld different texts in a column, which float32 does not "
        "tell apart; .dtype = TERN_FLOAT64 does",
        csv->reader.file->path, (long long)MAX_FLOAT32_CODE);
    return store(csv, column, (double)code, csv->options->dtype, csv->x, at);
}

static tern_status fill_feature(const tern_csv *csv, int64_t column, int64_t at)
{
    const tern_data_csv_options *o = csv->options;
    const char *cell = tern_csv_cell(&csv->reader, column);
    double value;
    if (tern_csv_is_empty(csv, cell)) {
        if (o->dtype == TERN_FLOAT64)
            ((double *)csv->x)[at] = o->fill;
        else
            ((float *)csv->x)[at] = (float)o->fill;
        return TERN_OK;
    }
    if (tern_csv_column_of(csv, column)->kind == TERN_CSV_TEXTS)
        return fill_code(csv, column, at);
    return tern_csv_number(cell, &value) ? store(csv, column, value, o->dtype, csv->x, at)
                                         : refuse_change(csv);
}

static tern_status fill_label(const tern_csv *csv, int64_t column, int64_t at)
{
    const tern_csv_column *label = tern_csv_column_of(csv, column);
    const char *cell = tern_csv_cell(&csv->reader, column);
    if (!csv->schema->classes) {
        double value;
        return tern_csv_number(cell, &value)
                   ? store(csv, column, value, csv->options->label_dtype, csv->y, at)
                   : refuse_change(csv);
    }
    int64_t *to = (int64_t *)csv->y + at;
    if (label->kind == TERN_CSV_TEXTS) {
        *to = tern_text_set_find(&label->texts, cell);
        return *to >= 0 ? TERN_OK : refuse_change(csv);
    }
    return tern_csv_integer(cell, to) ? TERN_OK : refuse_change(csv);
}

tern_status tern_csv_fill(tern_csv *csv)
{
    const int64_t row = csv->rows, features = csv->schema->count;
    if (csv->reader.count != csv->columns)
        return refuse_change(csv);
    for (int64_t i = 0; i < csv->columns; i++) {
        const int64_t role = csv->roles[i];
        if (role == TERN_CSV_LABEL)
            TERN_TRY(fill_label(csv, i, row));
        else if (role >= 0)
            TERN_TRY(fill_feature(csv, i, row * features + role));
    }
    if (csv->lines)
        csv->lines[row] = csv->reader.line;
    csv->rows++;
    return TERN_OK;
}
