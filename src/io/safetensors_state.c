// SPDX-License-Identifier: Apache-2.0
// tern.tied and tern.state: from the tensors of a safetensors file to the values it was made of.
#include "io/safetensors_state.h"

#include <string.h>
#include "base/mem.h"
#include "io/json.h"

// A word of the metadata as JSON of its own. It is read in place: the arena's text is ours.
static tern_json json_of(const tern_archive *c, const char *what, const char *word)
{
    char *text = (char *)(uintptr_t)word;
    return (tern_json){c->file->op, c->file->path, what, text, text, text + strlen(text)};
}

// ---- tied tensors -------------------------------------------------------------------------------

static bool same_elements(const tern_archive *c, const tern_file_value *a, const tern_file_value *b)
{
    const tern_file_storage *x = &c->storages[a->storage], *y = &c->storages[b->storage];
    return strcmp(a->dtype, b->dtype) == 0 && a->rank == b->rank &&
           memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0 &&
           x->checksum == TERN_CHECKSUM_CRC32C && y->checksum == TERN_CHECKSUM_CRC32C &&
           x->sum == y->sum;
}

static tern_status tie(tern_archive *c, const tern_json *json, const char *name, const char *first)
{
    const tern_file_value *one = tern_archive_find(c, first);
    if (!one || strcmp(name, first) == 0)
        return tern_json_error(json, "\"%.200s\" is tied to \"%.200s\", which is not there", name,
                               first);
    tern_file_value *other = tern_archive_find(c, name);
    if (other && !same_elements(c, one, other))
        return tern_json_error(json, "\"%.200s\" is tied to \"%.200s\", but their elements differ",
                               name, first);
    if (other)
        return other->storage = one->storage, TERN_OK;
    tern_file_value value = *one;
    value.name = name;
    return tern_archive_add(c, value);
}

static tern_status restore_ties(tern_archive *c, const char *word)
{
    tern_json json = json_of(c, "tern.tied", word);
    bool first = true, another;
    TERN_TRY(tern_json_expect(&json, '{'));
    for (;;) {
        const char *name, *one;
        TERN_TRY(tern_json_next(&json, '}', &first, &another));
        if (!another)
            return tern_json_end(&json);
        TERN_TRY(tern_json_string(&json, &name));
        TERN_TRY(tern_json_expect(&json, ':'));
        TERN_TRY(tern_json_string(&json, &one));
        TERN_TRY(tie(c, &json, name, one));
    }
}

// ---- values -------------------------------------------------------------------------------------

static tern_status take_bytes(tern_json *json, tern_file_value *value)
{
    int64_t nbytes;
    TERN_TRY(tern_json_integer(json, &nbytes));
    if (value->type != TERN_STATE_TENSOR || strcmp(value->dtype, "U8") != 0 || value->rank != 1 ||
        value->shape[0] != nbytes)
        return tern_json_error(json, "\"%.200s\" is %lld bytes, but no such tensor of U8 is there",
                               value->name, (long long)nbytes);
    value->type = TERN_STATE_BYTES;
    return TERN_OK;
}

static tern_status take_double(tern_json *json, tern_file_value *value)
{
    const char *text;
    TERN_TRY(tern_json_string(json, &text));
    value->type = TERN_STATE_DOUBLE;
    if (!tern_json_double_parse(text, &value->number))
        return tern_json_error(json, "\"%.64s\" is no double as %%a writes them", text);
    return TERN_OK;
}

// {"double":"0x1p-3"}, {"text":"a"} or {"bytes":5056}.
static tern_status take_object(tern_json *json, tern_file_value *value)
{
    const char *type;
    TERN_TRY(tern_json_expect(json, '{'));
    TERN_TRY(tern_json_string(json, &type));
    TERN_TRY(tern_json_expect(json, ':'));
    const bool is_bytes = strcmp(type, "bytes") == 0;
    if (!is_bytes && value->type != TERN_STATE_UNSPECIFIED)
        return tern_json_error(json, "\"%.200s\" is a tensor", value->name);
    if (is_bytes) {
        TERN_TRY(take_bytes(json, value));
    } else if (strcmp(type, "double") == 0) {
        TERN_TRY(take_double(json, value));
    } else if (strcmp(type, "text") == 0) {
        value->type = TERN_STATE_TEXT;
        TERN_TRY(tern_json_string(json, &value->text));
    } else {
        return tern_json_error(json, "\"%.200s\" is of the unknown type \"%.32s\"", value->name,
                               type);
    }
    return tern_json_expect(json, '}');
}

// `old` are the file's tensors.
static tern_status take_value(tern_archive *c, const tern_archive *old, tern_json *json)
{
    const char *name;
    TERN_TRY(tern_json_string(json, &name));
    TERN_TRY(tern_json_expect(json, ':'));
    const tern_file_value *tensor = tern_archive_find(old, name);
    tern_file_value value = tensor ? *tensor : (tern_file_value){.name = name};
    if (tern_json_accept_null(json)) {
        if (!tensor)
            return tern_json_error(json, "the tensor \"%.200s\" is not there", name);
    } else if (tern_json_peek(json) == '{') {
        TERN_TRY(take_object(json, &value));
    } else {
        if (tensor)
            return tern_json_error(json, "\"%.200s\" is a tensor", name);
        value.type = TERN_STATE_INT;
        TERN_TRY(tern_json_integer(json, &value.integer));
    }
    return tern_archive_add(c, value);
}

static tern_status take_values(tern_archive *c, const tern_archive *old, tern_json *json)
{
    bool first = true, another;
    int64_t tensors = 0;
    TERN_TRY(tern_json_expect(json, '{'));
    for (;;) {
        TERN_TRY(tern_json_next(json, '}', &first, &another));
        if (!another)
            break;
        TERN_TRY(take_value(c, old, json));
        const tern_state_type type = c->values[c->count - 1].type;
        tensors += type == TERN_STATE_TENSOR || type == TERN_STATE_BYTES;
    }
    if (tensors != old->count)
        return tern_json_error(json, "it has %lld tensors, the file %lld", (long long)tensors,
                               (long long)old->count);
    return TERN_OK;
}

static tern_status take_version(tern_json *json)
{
    const char *key;
    int64_t version;
    TERN_TRY(tern_json_string(json, &key));
    TERN_TRY(tern_json_expect(json, ':'));
    if (strcmp(key, "version") != 0)
        return tern_json_error(json, "\"version\" is due");
    TERN_TRY(tern_json_integer(json, &version));
    TERN_CHECK(
        version <= TERN_SAFETENSORS_STATE_VERSION, TERN_ERR_UNSUPPORTED,
        "%s: %s is of a later version of tern: its state has version %lld, and this one reads "
        "up to %d",
        json->op, json->path, (long long)version, TERN_SAFETENSORS_STATE_VERSION);
    if (version < 1)
        return tern_json_error(json, "it has version %lld", (long long)version);
    return tern_json_expect(json, ',');
}

static tern_status take_state(tern_archive *c, const tern_archive *old, tern_json *json)
{
    const char *key;
    TERN_TRY(tern_json_expect(json, '{'));
    TERN_TRY(take_version(json));
    TERN_TRY(tern_json_string(json, &key));
    TERN_TRY(tern_json_expect(json, ':'));
    if (strcmp(key, "values") != 0)
        return tern_json_error(json, "\"values\" is due");
    TERN_TRY(take_values(c, old, json));
    TERN_TRY(tern_json_expect(json, '}'));
    return tern_json_end(json);
}

static tern_status restore_state(tern_archive *c, const char *word)
{
    tern_archive old = {
        .values = c->values, .count = c->count, .capacity = c->capacity, .table = c->table};
    tern_json json = json_of(c, "tern.state", word);
    c->values = NULL;
    c->table = (tern_name_table){0};
    c->count = c->capacity = 0;
    tern_status status = take_state(c, &old, &json);
    tern_archive_free(&old);
    return status;
}

tern_status tern_safetensors_restore(tern_archive *c, const tern_safetensors_words *words)
{
    if (words->tied)
        TERN_TRY(restore_ties(c, words->tied));
    return words->state ? restore_state(c, words->state) : TERN_OK;
}
