// SPDX-License-Identifier: Apache-2.0
#include "data/file/csv_reader.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define BUFFER_BYTES (16 << 10)
#define END_OF_FILE  (-1)

tern_status tern_csv_begin(tern_csv_reader *r, tern_file *file, char separator)
{
    *r = (tern_csv_reader){.file = file, .separator = separator, .next_line = 1, .line = 1};
    r->buffer = tern_mem_alloc(BUFFER_BYTES);
    if (!r->buffer)
        return TERN_ERR_NOMEM;
    char mark[3];
    if (file->size >= 3) {
        tern_status status = tern_file_read_at(file, 0, mark, sizeof mark);
        if (status) {
            tern_csv_end(r);
            return status;
        }
        r->offset = memcmp(mark, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    }
    return TERN_OK;
}

void tern_csv_end(tern_csv_reader *r)
{
    tern_mem_free(r->buffer, BUFFER_BYTES);
    tern_mem_free(r->text, (size_t)r->text_capacity);
    tern_mem_free(r->begin, (size_t)r->capacity * sizeof *r->begin);
    *r = (tern_csv_reader){0};
}

tern_status tern_csv_error(const tern_csv_reader *r, const char *format, ...)
{
    char words[TERN_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    tern_text_format(words, sizeof words, format, arguments);
    va_end(arguments);
    return tern_error_raise(TERN_ERR_FORMAT, "%s: %s, line %lld: %s", r->file->op, r->file->path,
                            (long long)r->line, words);
}

// A fault in the middle of a record, which may have several lines.
static tern_status refuse(tern_csv_reader *r, const char *why)
{
    r->line = r->next_line;
    return tern_csv_error(r, "%s", why);
}

// ---- bytes --------------------------------------------------------------------------------------

static tern_status fill(tern_csv_reader *r)
{
    const int64_t left = r->file->size - r->offset;
    const int64_t nbytes = left < BUFFER_BYTES ? left : BUFFER_BYTES;
    TERN_TRY(tern_file_read_at(r->file, r->offset, r->buffer, (size_t)nbytes));
    r->offset += nbytes;
    r->next = 0;
    r->end = (size_t)nbytes;
    return TERN_OK;
}

// The next byte, without taking it.
static inline tern_status peek(tern_csv_reader *r, int *byte)
{
    if (r->next == r->end && r->offset < r->file->size)
        TERN_TRY(fill(r));
    *byte = r->next < r->end ? r->buffer[r->next] : END_OF_FILE;
    return TERN_OK;
}

static tern_status append(tern_csv_reader *r, const void *bytes, size_t count)
{
    const int64_t size = r->text_size + (int64_t)count;
    if (size > TERN_CSV_MAX_RECORD)
        return tern_csv_error(r, "the record has more than %d bytes; is a quote not closed?",
                              TERN_CSV_MAX_RECORD);
    TERN_TRY(tern_mem_grow((void **)&r->text, &r->text_capacity, size, 1));
    memcpy(r->text + r->text_size, bytes, count);
    r->text_size = size;
    return TERN_OK;
}

static inline tern_status append_byte(tern_csv_reader *r, int byte)
{
    const char c = (char)byte;
    return append(r, &c, 1);
}

// Takes the end of a line, where it is the next; *found is false where it is not.
static tern_status take_line_end(tern_csv_reader *r, int byte, bool *found)
{
    *found = byte == '\n' || byte == '\r';
    if (!*found)
        return TERN_OK;
    r->next++;
    if (byte == '\r') {
        TERN_TRY(peek(r, &byte));
        if (byte != '\n')
            return refuse(r, "there is a carriage return without a line feed");
        r->next++;
    }
    r->next_line++;
    return TERN_OK;
}

// ---- cells --------------------------------------------------------------------------------------

// What stands between quotes, the first of which was taken.
static tern_status take_quoted(tern_csv_reader *r)
{
    int byte;
    for (;;) {
        TERN_TRY(peek(r, &byte));
        if (byte == END_OF_FILE)
            return tern_csv_error(r, "a quote is opened and never closed");
        r->next++;
        if (byte == '"') {
            TERN_TRY(peek(r, &byte));
            if (byte != '"')
                return TERN_OK;
            r->next++;
        }
        if (byte == 0)
            return refuse(r, "there is a NUL byte");
        r->next_line += byte == '\n';
        TERN_TRY(append_byte(r, byte));
    }
}

// The bytes from the next one on that are part of a cell without quotes, as far as they are there.
static size_t plain_bytes(const tern_csv_reader *r)
{
    size_t at = r->next;
    for (; at < r->end; at++) {
        const unsigned char byte = r->buffer[at];
        if (byte == (unsigned char)r->separator || byte == '\n' || byte == '\r' || byte == '"' ||
            byte == 0)
            break;
    }
    return at - r->next;
}

static tern_status take_plain(tern_csv_reader *r)
{
    int byte;
    for (;;) {
        TERN_TRY(peek(r, &byte));
        if (byte == r->separator || byte == '\n' || byte == '\r' || byte == END_OF_FILE)
            return TERN_OK;
        if (byte == '"')
            return refuse(r, "there is a quote in the middle of a cell");
        if (byte == 0)
            return refuse(r, "there is a NUL byte");
        const size_t count = plain_bytes(r);
        TERN_TRY(append(r, r->buffer + r->next, count));
        r->next += count;
    }
}

// The next cell and what ends it; *last where that is no separator.
static tern_status take_cell(tern_csv_reader *r, bool *last)
{
    int byte;
    TERN_TRY(tern_mem_grow((void **)&r->begin, &r->capacity, r->count + 1, sizeof *r->begin));
    r->begin[r->count++] = (uint32_t)r->text_size;
    TERN_TRY(peek(r, &byte));
    if (byte == '"') {
        r->next++;
        TERN_TRY(take_quoted(r));
    } else {
        TERN_TRY(take_plain(r));
    }
    TERN_TRY(append_byte(r, 0));
    TERN_TRY(peek(r, &byte));
    TERN_TRY(take_line_end(r, byte, last));
    *last = *last || byte == END_OF_FILE;
    if (*last)
        return TERN_OK;
    if (byte != (unsigned char)r->separator)
        return refuse(r, "there is text behind a closing quote");
    r->next++;
    return TERN_OK;
}

tern_status tern_csv_next(tern_csv_reader *r, bool *another)
{
    int byte;
    bool empty = true, last = false;
    r->text_size = r->count = 0;
    while (empty) {
        TERN_TRY(peek(r, &byte));
        TERN_TRY(take_line_end(r, byte, &empty));
    }
    r->line = r->next_line;
    *another = byte != END_OF_FILE;
    while (*another && !last)
        TERN_TRY(take_cell(r, &last));
    return TERN_OK;
}
