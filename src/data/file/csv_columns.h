// SPDX-License-Identifier: Apache-2.0
// Reading a CSV file in two passes: the first finds what its columns are and counts the rows, the
// second fills tensors of that size.
#ifndef TERN_SRC_DATA_FILE_CSV_COLUMNS_H
#define TERN_SRC_DATA_FILE_CSV_COLUMNS_H

#include <tern/datasets.h>
#include "data/file/csv_reader.h"
#include "data/file/csv_schema.h"

// What a column of the file is, or the number of a feature.
enum { TERN_CSV_LABEL = -1, TERN_CSV_SKIPPED = -2 };

typedef struct tern_csv {
    const tern_data_csv_options *options;
    tern_csv_reader reader;
    tern_csv_schema *schema; // of the file, or of the one that it is like
    int64_t *roles;          // (columns)
    int64_t columns;
    int64_t rows;
    int64_t max_label;  // -1: one is negative, or beyond what is a class
    int64_t first_line; // of the rows
    bool lines_skipped; // a row is not in the line behind that of the one before
    void *x;            // (rows, features)
    void *y;            // (rows)
    int64_t *lines;     // (rows): where each begins; NULL: from first_line on
} tern_csv;

// Finds the roles of the columns and makes the schema, or compares it: the first record was read,
// which is the header where there is one. The roles are the caller's to free, also on failure.
tern_status tern_csv_begin_columns(tern_csv *csv);

// The column, for messages: its name, or its number.
#define TERN_CSV_COLUMN_SIZE 80
const char *tern_csv_column_text(const tern_csv *csv, int64_t column,
                                 char text[TERN_CSV_COLUMN_SIZE]);
// The feature or label of a column that is not skipped.
tern_csv_column *tern_csv_column_of(const tern_csv *csv, int64_t column);
bool tern_csv_is_empty(const tern_csv *csv, const char *cell);

// What a pass does with the record that was read.
tern_status tern_csv_scan(tern_csv *csv);
tern_status tern_csv_fill(tern_csv *csv);

#endif
