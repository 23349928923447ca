// SPDX-License-Identifier: Apache-2.0
// What the columns of a CSV file are: which hold numbers and which texts, and the codes of those. A
// file and those that are read like it share one.
#ifndef TERN_SRC_DATA_FILE_CSV_SCHEMA_H
#define TERN_SRC_DATA_FILE_CSV_SCHEMA_H

#include <tern/dtype.h>
#include "data/file/text_set.h"

typedef enum tern_csv_kind {
    TERN_CSV_UNDECIDED = 0, // no cell was seen that is not empty
    TERN_CSV_NUMBERS,
    TERN_CSV_TEXTS
} tern_csv_kind;

// A column that counts: a feature, or the label.
typedef struct tern_csv_column {
    const char *name; // NULL: the file has no header
    tern_csv_kind kind;
    bool declared;       // texts in any case, also those that are numbers
    tern_text_set texts; // of one of texts
} tern_csv_column;

typedef struct tern_csv_schema {
    int64_t refs;
    tern_arena arena; // of names and texts
    char *path;       // of the file that it was made from
    bool finished;
    tern_csv_column *features; // (count)
    int64_t count;
    bool labelled;
    bool classes; // else labels are numbers
    tern_csv_column label;
    int64_t class_count; // 0: not known
} tern_csv_schema;

// With one reference, no columns.
tern_csv_schema *tern_csv_schema_new(const char *path);
tern_csv_schema *tern_csv_schema_retain(tern_csv_schema *schema);
// NULL is fine.
void tern_csv_schema_release(tern_csv_schema *schema);
// Sorts the texts and counts the classes: nothing changes any more.
void tern_csv_schema_finish(tern_csv_schema *schema, int64_t max_label);

#endif
