// SPDX-License-Identifier: Apache-2.0
// The layout of a printed tensor: nested brackets, columns of one width, lines of 80 characters.
#include <errno.h>
#include <locale.h>
#include <string.h>
#include "base/cancel.h"
#include "base/integer.h"
#include "base/mem.h"
#include "tensor/liveness.h"
#include "tensor/node.h"
#include "tensor/print_values.h"

// Text that is cut where the buffer ends and counted on.
typedef struct sink {
    char *buffer;
    size_t size;
    int64_t length;
    int64_t line_start;
} sink;

static void put_char(sink *s, char c)
{
    if ((size_t)s->length + 1 < s->size)
        s->buffer[s->length] = c;
    s->length++;
    if (c == '\n')
        s->line_start = s->length;
}

static void put(sink *s, const char *text)
{
    while (*text)
        put_char(s, *text++);
}

static void put_repeated(sink *s, char c, int64_t times)
{
    for (int64_t i = 0; i < times; i++)
        put_char(s, c);
}

static void put_value(sink *s, const tern_shown *shown, int64_t index)
{
    char text[TERN_PRINT_VALUE_SIZE];
    int length = tern_shown_value(shown, index, text);
    put_repeated(s, ' ', shown->width - length);
    put(s, text);
}

// One row from value `first` on, in as many lines as it needs.
static void put_row(sink *s, const tern_shown *shown, int64_t first, int indent)
{
    int dim = shown->shape.rank - 1;
    const int64_t per_line = max_int64((TERN_PRINT_LINE - indent) / (shown->width + 2), 1);
    int64_t entries = shown->shape.dim[dim] + shown->cut[dim];
    put_char(s, '[');
    for (int64_t i = 0; i < entries; i++) {
        bool gap = shown->cut[dim] && i == TERN_PRINT_EDGE;
        bool after_gap = shown->cut[dim] && i > TERN_PRINT_EDGE;
        if (i > 0 && i % per_line == 0) {
            put(s, ",\n");
            put_repeated(s, ' ', indent + 1);
        } else if (i > 0) {
            put(s, ", ");
        }
        if (gap)
            put(s, " ...");
        else
            put_value(s, shown, first + i - after_gap);
    }
    put_char(s, ']');
}

static void put_block(sink *s, const tern_shown *shown, int dim, int64_t first, int indent)
{
    int left = shown->shape.rank - dim;
    if (left == 0) {
        put_value(s, shown, first);
        return;
    }
    if (left == 1) {
        put_row(s, shown, first, indent);
        return;
    }
    int64_t step = 1;
    for (int i = dim + 1; i < shown->shape.rank && i < TERN_MAX_RANK; i++)
        step *= shown->shape.dim[i];
    put_char(s, '[');
    for (int64_t i = 0; i < shown->shape.dim[dim]; i++) {
        if (i > 0) {
            put_char(s, ',');
            put_repeated(s, '\n', left - 1);
            put_repeated(s, ' ', indent + 1);
        }
        if (shown->cut[dim] && i == TERN_PRINT_EDGE) {
            put(s, "...,");
            put_repeated(s, '\n', left - 1);
            put_repeated(s, ' ', indent + 1);
        }
        put_block(s, shown, dim + 1, first + i * step, indent + 1);
    }
    put_char(s, ']');
}

static void put_suffix(sink *s, int indent, const char *name, const char *value)
{
    int64_t length = (int64_t)(strlen(name) + strlen(value)) + 1;
    if (s->length - s->line_start + 2 + length + 2 > TERN_PRINT_LINE) {
        put(s, ",\n");
        put_repeated(s, ' ', indent);
    } else {
        put(s, ", ");
    }
    put(s, name);
    put_char(s, '=');
    put(s, value);
}

// "cross_entropy" is <CrossEntropyBackward0>, as PyTorch names its nodes.
static const char *name_grad_fn(const tern_node *node, char *text, size_t size)
{
    static const char end[] = "Backward0>";
    size_t used = 0;
    bool first = true;
    text[used++] = '<';
    for (const char *c = node->name; *c && used + sizeof end < size; c++) {
        if (*c != '_')
            text[used++] = (char)(first && *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
        first = *c == '_';
    }
    memcpy(text + used, end, sizeof end);
    return text;
}

static void put_suffixes(sink *s, const tern_tensor *t, int indent)
{
    tern_device device = tern_dev(t);
    bool empty = t->numel == 0;
    if (device.type != TERN_CPU || device.index != 0)
        put_suffix(s, indent, "device", tern_device_string(device));
    if (empty && t->rank != 1)
        put_suffix(s, indent, "size", tern_shape_string(tern_shape_get(t)));
    if (t->dtype != tern_default_dtype() &&
        (empty || (t->dtype != TERN_INT64 && t->dtype != TERN_BOOL)))
        put_suffix(s, indent, "dtype", tern_dtype_name(t->dtype));
    char grad_fn[64];
    if (t->node)
        put_suffix(s, indent, "grad_fn", name_grad_fn(t->node, grad_fn, sizeof grad_fn));
    else if (t->requires_grad)
        put_suffix(s, indent, "requires_grad", "true");
}

static void put_tensor(sink *s, const tern_shown *shown)
{
    const char *opening = "tensor(";
    int indent = (int)strlen(opening);
    // The C locale is a static object of the C library: nothing to free.
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = plain ? uselocale(plain) : (locale_t)0;
    put(s, opening);
    if (shown->numel == 0)
        put(s, "[]");
    else
        put_block(s, shown, 0, 0, indent);
    put_suffixes(s, shown->t, indent);
    put_char(s, ')');
    if (before)
        uselocale(before);
    if (s->size > 0)
        s->buffer[(size_t)s->length < s->size ? (size_t)s->length : s->size - 1] = '\0';
}

int64_t tern_format(const tern_tensor *t, char *buffer, size_t size)
{
    tern_shown shown;
    if (tern_check_tensor("format", "t", t))
        return -1;
    if (!buffer && size > 0) {
        tern_null_error("format", "buffer");
        return -1;
    }
    if (tern_shown_load(t, &shown))
        return -1;
    sink s = {.buffer = buffer, .size = size};
    put_tensor(&s, &shown);
    tern_shown_free(&shown);
    return s.length;
}

static tern_status write_text(const tern_shown *shown, FILE *file)
{
    sink measure = {0};
    put_tensor(&measure, shown);
    size_t size = (size_t)measure.length + 1;
    char *text = tern_mem_alloc(size);
    if (!text)
        return tern_error_code();
    sink s = {.buffer = text, .size = size};
    put_tensor(&s, shown);
    int saved = errno; // the first write to a stream may set it even if all goes well
    int cancel_state = tern_cancel_disable();
    bool written = fputs(text, file) != EOF && fputc('\n', file) != EOF && !fflush(file);
    tern_cancel_restore(cancel_state);
    errno = saved;
    tern_mem_free(text, size);
    TERN_CHECK(written, TERN_ERR_IO, "print: the file cannot be written");
    return TERN_OK;
}

tern_status tern_print(const tern_tensor *t, FILE *file)
{
    tern_shown shown;
    TERN_TRY(tern_check_tensor("print", "t", t));
    TERN_TRY(tern_shown_load(t, &shown));
    tern_status status = write_text(&shown, file ? file : stdout);
    tern_shown_free(&shown);
    return status;
}
