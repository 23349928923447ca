// SPDX-License-Identifier: Apache-2.0
// Writing safetensors: as its library does, tensors lie by dtype, the widest first, then by name,
// so that each is aligned to its elements; the header's order is that of the state.
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/mem.h"
#include "base/text.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "io/safetensors_state.h"
#include "io/archive_entries.h"

#define HEADER_SUM "\"tern.header_crc32c\":\""

typedef struct tensor {
    const tern_archive_entry *value;
    int rank; // of its dtype
    int64_t begin;
    uint32_t sum;
} tensor;

typedef struct writer {
    tern_save *save;
    const tern_archive_entries *entries;
    bool tied_once;
    tensor *tensors; // in the order of their places
    int64_t count;
    int64_t *tensor_index; // of a value: its tensor, or -1
    char *text;            // the header
    int64_t length, capacity;
    int escapes; // 1 inside a string of the header: JSON in JSON
} writer;

// ---- the header's text --------------------------------------------------------------------------

static tern_status put_bytes(writer *w, const char *bytes, size_t count)
{
    TERN_TRY(tern_mem_grow((void **)&w->text, &w->capacity, w->length + (int64_t)count, 1));
    memcpy(w->text + w->length, bytes, count);
    w->length += (int64_t)count;
    return TERN_OK;
}

static tern_status put(writer *w, const char *form, ...) TERN_PRINTF_(2, 3);
static tern_status put(writer *w, const char *form, ...)
{
    char text[256];
    va_list words;
    va_start(words, form);
    tern_text_format(text, sizeof text, form, words);
    va_end(words);
    if (w->escapes == 0)
        return put_bytes(w, text, strlen(text));
    for (const char *at = text; *at; at++) {
        if (*at == '"' || *at == '\\')
            TERN_TRY(put_bytes(w, "\\", 1));
        TERN_TRY(put_bytes(w, at, 1));
    }
    return TERN_OK;
}

static tern_status put_character(writer *w, char c)
{
    if (c == '"' || c == '\\')
        return put(w, "\\%c", c);
    if ((unsigned char)c < 0x20)
        return put(w, "\\u%04x", (unsigned char)c);
    return put_bytes(w, &c, 1);
}

static tern_status put_string(writer *w, const char *text)
{
    TERN_TRY(put(w, "\""));
    for (; *text; text++)
        TERN_TRY(put_character(w, *text));
    return put(w, "\"");
}

// ---- places -------------------------------------------------------------------------------------

static bool is_tensor(const tern_archive_entry *v)
{
    return v->tensor || v->value->type == TERN_STATE_BYTES;
}

static int rank_of(const tern_archive_entry *v)
{
    const tern_dtype dtype = v->tensor ? v->tensor->dtype : TERN_UINT8;
    int rank = 0;
    while (tern_safetensors_dtypes[rank].dtype != dtype)
        rank++;
    return rank;
}

static int by_rank_and_name(const void *a, const void *b)
{
    const tensor *x = a, *y = b;
    if (x->rank != y->rank)
        return y->rank - x->rank;
    return strcmp(x->value->name, y->value->name);
}

static tern_status assign_offsets(writer *w)
{
    const size_t count = (size_t)w->entries->count + 1;
    w->tensors = tern_mem_alloc(count * sizeof *w->tensors);
    w->tensor_index = tern_mem_alloc(count * sizeof *w->tensor_index);
    if (!w->tensors || !w->tensor_index)
        return TERN_ERR_NOMEM;
    for (int64_t i = 0; i < w->entries->count; i++) {
        const tern_archive_entry *v = &w->entries->at[i];
        w->tensor_index[i] = -1;
        if (is_tensor(v) && !(w->tied_once && v->tied != i))
            w->tensors[w->count++] = (tensor){v, rank_of(v), 0, 0};
    }
    qsort(w->tensors, (size_t)w->count, sizeof *w->tensors, by_rank_and_name);
    int64_t end = 0;
    for (int64_t i = 0; i < w->count; i++) {
        tensor *t = &w->tensors[i];
        t->begin = end;
        TERN_TRY(tern_body_crc32c(&t->value->body, &t->sum));
        w->tensor_index[t->value - w->entries->at] = i;
        TERN_CHECK(!__builtin_add_overflow(end, t->value->body.nbytes, &end), TERN_ERR_ARG,
                   "state_write: the tensors have more bytes than can be counted");
    }
    return TERN_OK;
}

// ---- the header ---------------------------------------------------------------------------------

static tern_status put_tensor(writer *w, const tensor *t)
{
    const tern_archive_entry *v = t->value;
    TERN_TRY(put(w, ","));
    TERN_TRY(put_string(w, v->name));
    TERN_TRY(put(w, ":{\"dtype\":\"%s\",\"shape\":[", tern_safetensors_dtypes[t->rank].name));
    const int rank = v->tensor ? v->tensor->rank : 1;
    for (int i = 0; i < rank; i++)
        TERN_TRY(put(w, i ? ",%lld" : "%lld",
                     (long long)(v->tensor ? v->tensor->size[i] : v->body.nbytes)));
    return put(w, "],\"data_offsets\":[%lld,%lld]}", (long long)t->begin,
               (long long)(t->begin + v->body.nbytes));
}

static tern_status put_sums(writer *w)
{
    TERN_TRY(put(w, ",\"tern.crc32c\":\""));
    for (int64_t i = 0; i < w->count; i++)
        TERN_TRY(put(w, i ? ",%08x" : "%08x", w->tensors[i].sum));
    return put(w, "\"," HEADER_SUM "00000000\"");
}

static tern_status put_value(writer *w, const tern_archive_entry *v)
{
    char text[TERN_JSON_DOUBLE_SIZE];
    switch (v->value->type) {
    case TERN_STATE_INT:
        return put(w, "%lld", (long long)v->value->integer);
    case TERN_STATE_DOUBLE:
        tern_json_double_text(text, v->value->number);
        return put(w, "{\"double\":\"%s\"}", text);
    case TERN_STATE_TEXT:
        TERN_TRY(put(w, "{\"text\":"));
        TERN_TRY(put_string(w, v->body.data));
        return put(w, "}");
    case TERN_STATE_BYTES:
        return put(w, "{\"bytes\":%lld}", (long long)v->body.nbytes);
    case TERN_STATE_TENSOR:
    case TERN_STATE_UNSPECIFIED:
        break;
    }
    return put(w, "null");
}

// The order of the header's tensors says that of the state, where there are no other values.
static tern_status put_state(writer *w)
{
    bool needed = w->count != w->entries->count;
    for (int64_t i = 0; i < w->entries->count; i++)
        needed = needed || !w->entries->at[i].tensor;
    if (!needed)
        return TERN_OK;
    TERN_TRY(put(w, ",\"tern.state\":\""));
    w->escapes = 1;
    TERN_TRY(put(w, "{\"version\":%d,\"values\":{", TERN_SAFETENSORS_STATE_VERSION));
    for (int64_t i = 0; i < w->entries->count; i++) {
        if (i > 0)
            TERN_TRY(put(w, ","));
        TERN_TRY(put_string(w, w->entries->at[i].name));
        TERN_TRY(put(w, ":"));
        TERN_TRY(put_value(w, &w->entries->at[i]));
    }
    TERN_TRY(put(w, "}}"));
    w->escapes = 0;
    return put(w, "\"");
}

static tern_status put_ties(writer *w)
{
    bool any = false;
    for (int64_t i = 0; i < w->entries->count; i++) {
        const tern_archive_entry *v = &w->entries->at[i];
        if (v->tied == i)
            continue;
        w->escapes = 0;
        TERN_TRY(put(w, any ? "" : ",\"tern.tied\":\""));
        w->escapes = 1;
        TERN_TRY(put(w, any ? "," : "{"));
        TERN_TRY(put_string(w, v->name));
        TERN_TRY(put(w, ":"));
        TERN_TRY(put_string(w, w->entries->at[v->tied].name));
        any = true;
    }
    if (any)
        TERN_TRY(put(w, "}"));
    w->escapes = 0;
    return put(w, any ? "\"" : "");
}

static tern_status put_header(writer *w, const char *format)
{
    TERN_TRY(put(w, "{\"__metadata__\":{\"format\":"));
    TERN_TRY(put_string(w, format ? format : "tern"));
    TERN_TRY(put_sums(w));
    TERN_TRY(put_state(w));
    TERN_TRY(put_ties(w));
    TERN_TRY(put(w, "}"));
    for (int64_t i = 0; i < w->entries->count; i++)
        if (w->tensor_index[i] >= 0)
            TERN_TRY(put_tensor(w, &w->tensors[w->tensor_index[i]]));
    TERN_TRY(put(w, "}"));
    while (w->length % 8)
        TERN_TRY(put_bytes(w, " ", 1));
    return TERN_OK;
}

static void put_header_sum(writer *w)
{
    char digits[9];
    char *sum = memmem(w->text, (size_t)w->length, HEADER_SUM, sizeof HEADER_SUM - 1);
    snprintf(digits, sizeof digits, "%08x", tern_crc32c(0, w->text, (size_t)w->length));
    memcpy(sum + sizeof HEADER_SUM - 1, digits, sizeof digits - 1);
}

static tern_status write_all(writer *w, const char *format)
{
    unsigned char size[8];
    TERN_TRY(assign_offsets(w));
    TERN_TRY(put_header(w, format));
    put_header_sum(w);
    put_uint(size, 8, (uint64_t)w->length);
    TERN_TRY(tern_save_write(w->save, size, sizeof size));
    TERN_TRY(tern_save_write(w->save, w->text, (size_t)w->length));
    for (int64_t i = 0; i < w->count; i++)
        TERN_TRY(tern_body_write(&w->tensors[i].value->body, w->save));
    return TERN_OK;
}

tern_status tern_safetensors_write(tern_save *save, const tern_archive_entries *entries,
                                   const char *metadata_format, bool tied_once)
{
    writer w = {.save = save, .entries = entries, .tied_once = tied_once};
    const size_t count = (size_t)entries->count + 1;
    tern_status status = write_all(&w, metadata_format);
    tern_mem_free(w.tensors, count * sizeof *w.tensors);
    tern_mem_free(w.tensor_index, count * sizeof *w.tensor_index);
    tern_mem_free(w.text, (size_t)w.capacity);
    return status;
}
