// SPDX-License-Identifier: Apache-2.0
// What a file holds, for people.
#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "io/archive.h"
#include "io/json.h"

#define WIDEST_NAME 48

// Texts may come from a file: what controls a terminal is left out.
static void put(FILE *file, const char *format, ...) TERN_PRINTF_(2, 3);
static void put(FILE *file, const char *format, ...)
{
    char text[1024];
    va_list words;
    va_start(words, format);
    tern_text_format(text, sizeof text, format, words);
    va_end(words);
    fputs(text, file);
}

static void end_line(FILE *file)
{
    fputc('\n', file);
}

// "float32", or what the file calls a dtype that tern does not have.
static const char *dtype_of(const tern_archive *c, const tern_file_value *v)
{
    const tern_dtype dtype = c->storages[v->storage].dtype;
    return dtype == TERN_DTYPE_UNSPECIFIED ? v->dtype : tern_dtype_name(dtype);
}

static int64_t numel_of(const tern_file_value *v)
{
    int64_t numel = 1;
    for (int i = 0; i < v->rank; i++)
        if (__builtin_mul_overflow(numel, v->shape[i], &numel))
            return 0; // beside a 0
    return numel;
}

static void list_tensor(FILE *w, const tern_archive *c, const tern_file_value *v)
{
    const tern_file_storage *s = &c->storages[v->storage];
    put(w, "%-8s (", dtype_of(c, v));
    for (int i = 0; i < v->rank; i++)
        put(w, i ? ", %lld" : "%lld", (long long)v->shape[i]);
    put(w, ")");
    if (s->location && strcmp(s->location, "cpu") != 0)
        put(w, " on %.32s", s->location);
    put(w, "%s", s->dtype == TERN_DTYPE_UNSPECIFIED ? ", which tern cannot load" : "");
}

static void list_value(FILE *w, const tern_archive *c, const tern_file_value *v, int width)
{
    char number[TERN_JSON_DOUBLE_SIZE];
    put(w, "  %-*.200s  ", width, v->name);
    switch (v->type) {
    case TERN_STATE_TENSOR:
        list_tensor(w, c, v);
        break;
    case TERN_STATE_BYTES:
        put(w, "bytes    %lld", (long long)v->shape[0]);
        break;
    case TERN_STATE_INT:
        put(w, "int      %lld", (long long)v->integer);
        break;
    case TERN_STATE_DOUBLE:
        tern_json_double_text(number, v->number);
        put(w, "double   %.17g (%s)", v->number, number);
        break;
    case TERN_STATE_TEXT:
        put(w, "text     \"%.200s\"", v->text);
        break;
    case TERN_STATE_UNSPECIFIED:
        put(w, "         %.200s, which tern cannot load", v->text);
        break;
    }
    end_line(w);
}

static int width_of(const tern_archive *c)
{
    size_t width = 4;
    for (int64_t i = 0; i < c->count; i++) {
        const size_t length = strlen(c->values[i].name);
        width = length > width && length <= WIDEST_NAME ? length : width;
    }
    return (int)width;
}

static void list_sums(FILE *w, const tern_archive *c)
{
    int64_t tensors = 0, elements = 0, nbytes = 0;
    for (int64_t i = 0; i < c->count; i++) {
        const bool has_elements = tern_file_value_has_elements(&c->values[i]);
        tensors += has_elements;
        elements += has_elements ? numel_of(&c->values[i]) : 0;
    }
    for (int64_t i = 0; i < c->storage_count; i++)
        nbytes += c->storages[i].nbytes;
    put(w, "%lld values, of them %lld tensors with %lld elements; %lld bytes of elements",
        (long long)c->count, (long long)tensors, (long long)elements, (long long)nbytes);
    end_line(w);
}

tern_status tern_archive_list(const tern_archive *c, FILE *file)
{
    const int width = width_of(c);
    put(file, "%.200s: %s%s%.200s", c->file->path, c->format, c->metadata ? ", metadata: " : "",
        c->metadata ? c->metadata : "");
    end_line(file);
    for (int64_t i = 0; i < c->count; i++)
        list_value(file, c, &c->values[i], width);
    list_sums(file, c);
    TERN_CHECK(!fflush(file) && !ferror(file), TERN_ERR_IO, "%s: cannot write the list",
               c->file->op);
    return TERN_OK;
}
