// SPDX-License-Identifier: Apache-2.0
// Rows of a CSV file, in memory once it was read.
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "data/compose/inner.h"
#include "data/file/csv_columns.h"
#include "data/file/path.h"
#include "ops/op.h"
#include "tensor/header.h"

static const char op[] = "data_csv";

typedef struct table {
    tern_wrapper over; // of the tensors
    tern_csv_schema *schema;
    char *path;
    int64_t first_line;
    int64_t *lines; // (rows): where each begins; NULL: from first_line on
    int64_t rows;
} table;

static tern_status get(const tern_dataset *dataset, const tern_sample_context *context,
                       const int64_t *index, int64_t count, tern_batch *out)
{
    tern_batch made;
    TERN_TRY(
        tern_dataset_fetch(op, ((const table *)dataset)->over.inner, context, index, count, &made));
    tern_inner_hand_on(&made, out);
    return TERN_OK;
}

static int64_t class_count(const tern_dataset *dataset)
{
    return ((const table *)dataset)->schema->class_count;
}

static const char *class_name(const tern_dataset *dataset, int64_t label)
{
    const tern_csv_schema *schema = ((const table *)dataset)->schema;
    return schema->label.kind == TERN_CSV_TEXTS ? schema->label.texts.items[label].text : NULL;
}

static bool sample_name(const tern_dataset *dataset, int64_t index, char *buffer, size_t size)
{
    const table *self = (const table *)dataset;
    snprintf(buffer, size, "%s, line %lld", tern_path_name(self->path),
             (long long)(self->lines ? self->lines[index] : self->first_line + index));
    return true;
}

static void release(tern_dataset *dataset)
{
    table *self = (table *)dataset;
    tern_csv_schema_release(self->schema);
    tern_mem_free_string(self->path);
    tern_mem_free(self->lines, (size_t)self->rows * sizeof *self->lines);
    tern_wrapper_free(dataset);
}

static const tern_dataset_class table_class = {
    .name = op,
    .size = sizeof(table),
    .count = tern_wrapper_count,
    .get = get,
    .free = release,
    .to = tern_wrapper_to,
    .class_count = class_count,
    .class_name = class_name,
    .sample_name = sample_name,
};

// ---- reading ------------------------------------------------------------------------------------

static tern_status scan_all(tern_csv *csv)
{
    bool another;
    TERN_TRY(tern_csv_next(&csv->reader, &another));
    TERN_CHECK(another, TERN_ERR_FORMAT, "%s: %s is empty", op, csv->reader.file->path);
    TERN_TRY(tern_csv_begin_columns(csv));
    if (!csv->options->header)
        TERN_TRY(tern_csv_scan(csv));
    for (;;) {
        TERN_TRY(tern_csv_next(&csv->reader, &another));
        if (!another)
            break;
        TERN_TRY(tern_csv_scan(csv));
    }
    TERN_CHECK(csv->rows > 0, TERN_ERR_FORMAT, "%s: %s has a header and no rows", op,
               csv->reader.file->path);
    if (!csv->schema->finished)
        tern_csv_schema_finish(csv->schema, csv->max_label);
    return TERN_OK;
}

static tern_status fill_all(tern_csv *csv)
{
    const int64_t rows = csv->rows;
    bool another, header = csv->options->header;
    for (csv->rows = 0;; header = false) {
        TERN_TRY(tern_csv_next(&csv->reader, &another));
        if (!another)
            break;
        TERN_CHECK(csv->rows < rows, TERN_ERR_IO, "%s: %s was written to while it was read", op,
                   csv->reader.file->path);
        if (!header)
            TERN_TRY(tern_csv_fill(csv));
    }
    TERN_CHECK(csv->rows == rows, TERN_ERR_IO, "%s: %s was written to while it was read", op,
               csv->reader.file->path);
    return tern_file_check_same(csv->reader.file);
}

// One pass over the file.
static tern_status run(tern_csv *csv, tern_file *file, tern_status (*pass)(tern_csv *csv))
{
    TERN_TRY(tern_csv_begin(&csv->reader, file, (char)csv->options->separator));
    tern_status status = pass(csv);
    tern_csv_end(&csv->reader);
    return status;
}

static bool is_labelled(const tern_csv *csv)
{
    bool labelled = false;
    for (int64_t i = 0; i < csv->columns; i++)
        labelled = labelled || csv->roles[i] == TERN_CSV_LABEL;
    return labelled;
}

static tern_status make_tensors(tern_csv *csv, tern_tensor *at[2], int *count)
{
    const tern_data_csv_options *o = csv->options;
    at[0] = tern_tensor_new(op, o->dtype, tern_cpu(0), tern_dims(csv->rows, csv->schema->count));
    if (!at[0])
        return tern_error_code();
    csv->x = at[0]->storage->data;
    *count = 1;
    if (is_labelled(csv)) {
        at[1] = tern_tensor_new(op, o->label_dtype, tern_cpu(0), tern_dims(csv->rows));
        if (!at[1])
            return tern_error_code();
        csv->y = at[1]->storage->data;
        *count = 2;
    }
    if (!csv->lines_skipped)
        return TERN_OK;
    csv->lines = tern_mem_alloc((size_t)csv->rows * sizeof *csv->lines);
    return csv->lines ? TERN_OK : TERN_ERR_NOMEM;
}

// Takes the schema and the lines over.
static tern_dataset *make_table(tern_csv *csv, tern_tensor **at, int count)
{
    tern_dataset *rows = tern_data_tensors_new(count, at);
    if (!rows)
        return NULL;
    table *self = (table *)tern_wrapper_new(&table_class, rows);
    tern_dataset_free(rows); // the table holds it
    if (!self)
        return NULL;
    self->path = tern_mem_string(csv->options->path);
    self->first_line = csv->first_line;
    self->rows = csv->rows;
    self->lines = csv->lines;
    self->schema = csv->schema;
    csv->lines = NULL;
    csv->schema = NULL;
    if (self->path)
        return &self->over.base;
    tern_dataset_free(&self->over.base);
    return NULL;
}

static tern_dataset *read_file(tern_csv *csv, tern_file *file)
{
    tern_tensor *at[2];
    int count = 0;
    tern_status status = tern_file_stat(file);
    if (!status)
        status = run(csv, file, scan_all);
    if (!status)
        status = make_tensors(csv, at, &count);
    const int64_t rows = csv->rows; // the passes count them
    if (!status)
        status = run(csv, file, fill_all);
    tern_dataset *made = status ? NULL : make_table(csv, at, count);
    tern_mem_free(csv->lines, (size_t)rows * sizeof *csv->lines);
    tern_mem_free(csv->roles, (size_t)csv->columns * sizeof *csv->roles);
    tern_csv_schema_release(csv->schema);
    return made;
}

// ---- the constructor ----------------------------------------------------------------------------

static bool is_floating(tern_dtype dtype)
{
    return dtype == TERN_FLOAT32 || dtype == TERN_FLOAT64;
}

static tern_status check_options(const tern_data_csv_options *o)
{
    if (!o || !o->path)
        return tern_null_error(op, o ? "path" : "options");
    TERN_CHECK(o->separator > ' ' ? o->separator != '"' && o->separator < 0x7f
                                  : o->separator == '\t' || o->separator == ' ',
               TERN_ERR_ARG,
               "%s: separator is the byte %d, but must be a visible character, not a "
               "quote, or a tab or blank",
               op, o->separator);
    TERN_CHECK(is_floating(o->dtype), TERN_ERR_DTYPE,
               "%s: dtype is %s, but must be float32 or float64", op, tern_dtype_name(o->dtype));
    TERN_CHECK(o->dtype == TERN_FLOAT64 || !isfinite(o->fill) || isfinite((float)o->fill),
               TERN_ERR_ARG, "%s: fill is %g, which float32 does not hold", op, o->fill);
    TERN_CHECK(is_floating(o->label_dtype) || o->label_dtype == TERN_INT64, TERN_ERR_DTYPE,
               "%s: label_dtype is %s, but must be int64, float32 or float64", op,
               tern_dtype_name(o->label_dtype));
    TERN_CHECK(!o->label || o->label_column == TERN_CSV_NO_COLUMN, TERN_ERR_ARG,
               "%s: give .label or .label_column, not both", op);
    if (!o->like)
        return TERN_OK;
    TERN_TRY(tern_check_dataset(op, o->like));
    TERN_CHECK(o->like->klass == &table_class, TERN_ERR_ARG,
               "%s: like is %s, but must be a dataset that data_csv made", op,
               tern_dataset_name(o->like));
    TERN_CHECK(!o->categories, TERN_ERR_ARG,
               "%s: give .categories for the file that this one is to be like", op);
    return TERN_OK;
}

static tern_dataset *open_and_read(const tern_data_csv_options *options)
{
    tern_file file;
    tern_csv csv = {.options = options};
    if (tern_file_open(&file, op, options->path))
        return NULL;
    if (options->like)
        csv.schema = tern_csv_schema_retain(((const table *)options->like)->schema);
    tern_scope scope = tern_scope_open();
    tern_dataset *made = scope ? read_file(&csv, &file) : NULL;
    if (scope)
        tern_scope_close(scope);
    else
        tern_csv_schema_release(csv.schema);
    tern_file_close(&file);
    return made;
}

tern_dataset *tern_data_csv_with(const tern_data_csv_options *options)
{
    if (check_options(options))
        return NULL;
    const int saved = errno, cancel_state = tern_cancel_disable();
    tern_dataset *made = open_and_read(options);
    tern_cancel_restore(cancel_state);
    errno = saved;
    return made;
}
