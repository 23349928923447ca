// SPDX-License-Identifier: Apache-2.0
// Which columns of a CSV file are features, which one is the label, and which are skipped.
#include "data/file/csv_columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "io/json.h"

static const char op[] = "data_csv";

// A number as text, without the allocator.
typedef struct number_text {
    char text[24];
} number_text;

static number_text text_of(int64_t number)
{
    number_text t;
    snprintf(t.text, sizeof t.text, "%" PRId64, number);
    return t;
}

tern_csv_column *tern_csv_column_of(const tern_csv *csv, int64_t column)
{
    const int64_t role = csv->roles[column];
    return role == TERN_CSV_LABEL ? &csv->schema->label : &csv->schema->features[role];
}

const char *tern_csv_column_text(const tern_csv *csv, int64_t column,
                                 char text[TERN_CSV_COLUMN_SIZE])
{
    const char *name = tern_csv_column_of(csv, column)->name;
    if (name)
        snprintf(text, TERN_CSV_COLUMN_SIZE, "column \"%.60s\"", name);
    else
        snprintf(text, TERN_CSV_COLUMN_SIZE, "column %" PRId64, column);
    return text;
}

bool tern_csv_is_empty(const tern_csv *csv, const char *cell)
{
    const char *missing = csv->options->missing;
    return !*cell || (missing && strcmp(cell, missing) == 0);
}

// ---- finding columns by name --------------------------------------------------------------------

static bool is_called(const tern_csv *csv, int64_t column, const char *name)
{
    return strcmp(csv->options->header ? tern_csv_cell(&csv->reader, column) : text_of(column).text,
                  name) == 0;
}

static tern_status find(const tern_csv *csv, const char *name, int64_t *column)
{
    int64_t found = 0;
    for (int64_t i = 0; i < csv->columns; i++)
        if (is_called(csv, i, name)) {
            *column = i;
            found++;
        }
    TERN_CHECK(found > 0, TERN_ERR_FORMAT, "%s: %s has no column \"%.60s\"", op,
               csv->reader.file->path, name);
    TERN_CHECK(found == 1, TERN_ERR_FORMAT, "%s: %s has %lld columns \"%.60s\"", op,
               csv->reader.file->path, (long long)found, name);
    return TERN_OK;
}

static tern_status find_label(tern_csv *csv)
{
    const tern_data_csv_options *o = csv->options;
    int64_t column = o->label_column;
    if (!o->label && column == TERN_CSV_NO_COLUMN)
        return TERN_OK;
    if (o->label) {
        TERN_TRY(find(csv, o->label, &column));
    } else {
        column += column < 0 ? csv->columns : 0;
        TERN_CHECK(column >= 0 && column < csv->columns, TERN_ERR_FORMAT,
                   "%s: label_column is %lld, but %s has %lld columns", op,
                   (long long)o->label_column, csv->reader.file->path, (long long)csv->columns);
    }
    csv->roles[column] = TERN_CSV_LABEL;
    return TERN_OK;
}

static tern_status find_skipped(tern_csv *csv)
{
    for (const char *const *name = csv->options->skip; name && *name; name++) {
        int64_t column = 0;
        TERN_TRY(find(csv, *name, &column));
        TERN_CHECK(csv->roles[column] != TERN_CSV_LABEL, TERN_ERR_ARG,
                   "%s: column \"%.60s\" is the label and is to be skipped", op, *name);
        csv->roles[column] = TERN_CSV_SKIPPED;
    }
    return TERN_OK;
}

// Numbers the rest; how many.
static int64_t number_features(tern_csv *csv)
{
    int64_t count = 0;
    for (int64_t i = 0; i < csv->columns; i++)
        if (csv->roles[i] >= 0)
            csv->roles[i] = count++;
    return count;
}

// ---- a schema of the file's own -----------------------------------------------------------------

static tern_status copy_name(const tern_csv *csv, int64_t column)
{
    const char *name = tern_csv_cell(&csv->reader, column);
    if (!tern_utf8_valid(name, strlen(name)))
        return tern_csv_error(&csv->reader, "the name of column %lld is no UTF-8",
                              (long long)column);
    tern_csv_column *to = tern_csv_column_of(csv, column);
    to->name = tern_arena_text(&csv->schema->arena, name, strlen(name));
    return to->name ? TERN_OK : TERN_ERR_NOMEM;
}

static tern_status declare_categories(tern_csv *csv)
{
    for (const char *const *name = csv->options->categories; name && *name; name++) {
        int64_t column = 0;
        TERN_TRY(find(csv, *name, &column));
        TERN_CHECK(csv->roles[column] != TERN_CSV_SKIPPED, TERN_ERR_ARG,
                   "%s: column \"%.60s\" has categories and is to be skipped", op, *name);
        TERN_CHECK(csv->roles[column] != TERN_CSV_LABEL || csv->schema->classes, TERN_ERR_ARG,
                   "%s: column \"%.60s\" has categories, but its labels are numbers "
                   "(.label_dtype)",
                   op, *name);
        tern_csv_column_of(csv, column)->declared = true;
    }
    return TERN_OK;
}

static tern_status make_schema(tern_csv *csv, int64_t features, bool labelled)
{
    tern_csv_schema *schema = tern_csv_schema_new(csv->reader.file->path);
    csv->schema = schema;
    if (!schema)
        return TERN_ERR_NOMEM;
    schema->features = tern_mem_alloc((size_t)features * sizeof *schema->features);
    if (!schema->features)
        return TERN_ERR_NOMEM;
    schema->count = features;
    schema->labelled = labelled;
    schema->classes = labelled && csv->options->label_dtype == TERN_INT64;
    for (int64_t i = 0; i < csv->columns && csv->options->header; i++)
        if (csv->roles[i] != TERN_CSV_SKIPPED)
            TERN_TRY(copy_name(csv, i));
    return declare_categories(csv);
}

// ---- the schema of another file -----------------------------------------------------------------

static tern_status compare_name(const tern_csv *csv, int64_t column)
{
    const char *wanted = tern_csv_column_of(csv, column)->name;
    if (!wanted || !csv->options->header || is_called(csv, column, wanted))
        return TERN_OK;
    return tern_csv_error(&csv->reader, "column %lld is \"%.60s\", but in %s it is \"%.60s\"",
                          (long long)column, tern_csv_cell(&csv->reader, column), csv->schema->path,
                          wanted);
}

static tern_status compare_schema(const tern_csv *csv, int64_t features, bool labelled)
{
    const tern_csv_schema *schema = csv->schema;
    const char *path = csv->reader.file->path;
    TERN_CHECK(features == schema->count, TERN_ERR_FORMAT,
               "%s: %s has %lld columns of features, but %s has %lld", op, path,
               (long long)features, schema->path, (long long)schema->count);
    TERN_CHECK(!labelled || schema->labelled, TERN_ERR_ARG,
               "%s: %s has labels, but %s, which it is to be like, was read without", op, path,
               schema->path);
    TERN_CHECK(!labelled || schema->classes == (csv->options->label_dtype == TERN_INT64),
               TERN_ERR_ARG, "%s: the labels of %s are %s, and so must be those of %s", op,
               schema->path, schema->classes ? "classes" : "numbers", path);
    for (int64_t i = 0; i < csv->columns; i++)
        if (csv->roles[i] >= 0)
            TERN_TRY(compare_name(csv, i));
    return TERN_OK;
}

tern_status tern_csv_begin_columns(tern_csv *csv)
{
    csv->columns = csv->reader.count;
    csv->roles = tern_mem_alloc((size_t)csv->columns * sizeof *csv->roles);
    if (!csv->roles)
        return TERN_ERR_NOMEM;
    TERN_TRY(find_label(csv));
    TERN_TRY(find_skipped(csv));
    const int64_t features = number_features(csv);
    bool labelled = false;
    for (int64_t i = 0; i < csv->columns; i++)
        labelled = labelled || csv->roles[i] == TERN_CSV_LABEL;
    TERN_CHECK(features > 0, TERN_ERR_FORMAT, "%s: %s has no column that is a feature", op,
               csv->reader.file->path);
    return csv->schema ? compare_schema(csv, features, labelled)
                       : make_schema(csv, features, labelled);
}
