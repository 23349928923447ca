// SPDX-License-Identifier: Apache-2.0
// Comma-separated values as RFC 4180 has them, record by record in memory of bounded size. Lines
// end with LF or CRLF, empty ones are passed over, and a byte order mark of UTF-8 is no part of a
// cell.
#ifndef TERN_SRC_DATA_FILE_CSV_READER_H
#define TERN_SRC_DATA_FILE_CSV_READER_H

#include "io/file.h"

// The most bytes of a record: a quote that is never closed makes the rest of a file one.
#define TERN_CSV_MAX_RECORD (16 << 20)

typedef struct tern_csv_reader {
    tern_file *file;
    char separator;
    unsigned char *buffer; // what was read of the file
    size_t next, end;      // of the bytes in it
    int64_t offset;        // of the file: what comes after the buffer
    int64_t next_line;     // where the reader is
    char *text;            // the cells of the record, each with a final 0
    int64_t text_size, text_capacity;
    uint32_t *begin; // (count): of each cell in the text
    int64_t count, capacity;
    int64_t line; // of the record's beginning, from 1
} tern_csv_reader;

// Begins before the first record. On failure there is nothing to end.
tern_status tern_csv_begin(tern_csv_reader *reader, tern_file *file, char separator);
void tern_csv_end(tern_csv_reader *reader);

// Reads the next record; *another is false where there is none.
tern_status tern_csv_next(tern_csv_reader *reader, bool *another);

// A cell of the record: a text without the byte 0.
static inline const char *tern_csv_cell(const tern_csv_reader *reader, int64_t column)
{
    return reader->text + reader->begin[column];
}

// Raises TERN_ERR_FORMAT: file and line of the record, then the words.
tern_status tern_csv_error(const tern_csv_reader *reader, const char *format, ...)
    TERN_PRINTF_(2, 3);

#endif
