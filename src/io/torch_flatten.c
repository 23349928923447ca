// SPDX-License-Identifier: Apache-2.0
// The values of a pickle's dictionaries, lists and tuples, by dotted names. They are gone over
// twice: first everything is checked and counted, then added.
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "io/json.h"
#include "io/torch.h"

#define MAX_DEPTH 64
// For values and their names.
#define BASE_BYTES       32768
#define BYTES_FOR_A_BYTE 64
// What a value has that has no name: only that is told of it.
#define OTHER_KEY "a key that is no text and no integer"

typedef struct level {
    tern_pickle_cursor cursor;
    tern_pickle_ref container;
    size_t name_length; // of the container
} level;

typedef struct walk {
    tern_archive *archive;
    const tern_pickle *p;
    const tern_torch_storages *storages;
    bool adds;             // the second time
    int64_t visits;        // of values
    int64_t count, nbytes; // of values, and of their names and texts
    int64_t nested, nones; // what names do not say: containers inside others, and None
    bool other_key;        // the value's key is no text and no integer
    int depth;
    char name[TERN_STATE_NAME_SIZE];
    level levels[MAX_DEPTH];
} walk;

// Each value has a byte of its own in the pickle, unless values are shared so often that a short
// file becomes endless.
static tern_status count_visit(walk *w)
{
    if (++w->visits > w->p->read)
        return tern_pickle_bad(w->p, "repeats its values more often than it has bytes");
    return TERN_OK;
}

// ---- keys ---------------------------------------------------------------------------------------

static tern_status find_doubles(const walk *w, tern_pickle_ref dict, tern_pickle_ref *table,
                                uint32_t size)
{
    tern_pickle_cursor cursor = tern_pickle_items(w->p, dict);
    for (tern_pickle_ref key, item; tern_pickle_next(&cursor, &key, &item);) {
        const tern_pickle_type type = tern_pickle_type_of(w->p, key);
        if (type != TERN_PICKLE_TEXT && type != TERN_PICKLE_INT)
            continue; // see other_key
        uint32_t at = tern_pickle_hash_key(w->p, key) & (size - 1);
        for (; table[at]; at = (at + 1) & (size - 1))
            if (tern_pickle_same_key(w->p, table[at], key))
                return tern_pickle_bad(w->p, "has a key twice in a dictionary, below \"%.200s\"",
                                       w->name);
        table[at] = key;
    }
    return TERN_OK;
}

static tern_status check_keys(const walk *w, tern_pickle_ref dict)
{
    uint32_t size = 8;
    while (size / 2 < tern_pickle_length(w->p, dict))
        size *= 2;
    tern_pickle_ref *table = tern_mem_alloc(size * sizeof *table);
    if (!table)
        return TERN_ERR_NOMEM;
    tern_status status = find_doubles(w, dict, table, size);
    tern_mem_free(table, size * sizeof *table);
    return status;
}

// ---- names --------------------------------------------------------------------------------------

// What keeps a text from being one of ours; NULL: nothing.
static const char *fault_of(const char *text, size_t length)
{
    if (strlen(text) != length)
        return "a text with the byte 0";
    return tern_utf8_valid(text, length) ? NULL : "a text that is not UTF-8";
}

static bool is_other_key(const walk *w, tern_pickle_ref key)
{
    const tern_pickle_type type = key ? tern_pickle_type_of(w->p, key) : TERN_PICKLE_INT;
    return type != TERN_PICKLE_TEXT && type != TERN_PICKLE_INT;
}

// Writes the name of an item behind that of the level.
static tern_status write_name(walk *w, const level *at, tern_pickle_ref key)
{
    char index[24];
    char *end = w->name + at->name_length;
    *end = 0; // for messages
    const bool is_text = key && tern_pickle_type_of(w->p, key) == TERN_PICKLE_TEXT;
    const bool is_int = key && tern_pickle_type_of(w->p, key) == TERN_PICKLE_INT;
    const int64_t number = is_int ? tern_pickle_int(w->p, key) : at->cursor.index - 1;
    snprintf(index, sizeof index, "%lld", (long long)number);
    if (is_other_key(w, key))
        snprintf(index, sizeof index, "key %u", at->cursor.index - 1);
    const size_t length = is_text ? tern_pickle_length(w->p, key) : strlen(index);
    const bool dotted = at->name_length > 0;
    if (length == 0 || length + dotted >= sizeof w->name - at->name_length)
        return tern_pickle_bad(w->p, "has a name of %s bytes, below \"%.200s\"",
                               length ? "more than 1024" : "0", w->name);
    if (dotted)
        *end++ = '.';
    if (is_text)
        tern_pickle_text(w->p, key, end, length + 1);
    else
        memcpy(end, index, length + 1);
    const char *fault = fault_of(end, length);
    return fault ? tern_pickle_bad(w->p, "has %s as a key: \"%.200s\"", fault, w->name) : TERN_OK;
}

// ---- values -------------------------------------------------------------------------------------

static bool is_contiguous(const tern_pickle *p, const tern_pickle_tensor *t)
{
    int64_t expected = 1;
    for (uint32_t i = tern_pickle_length(p, t->size); i-- > 0;) {
        const int64_t size = tern_pickle_int(p, tern_pickle_item(p, t->size, i));
        if (size == 0)
            return true;
        if (size != 1 && tern_pickle_int(p, tern_pickle_item(p, t->stride, i)) != expected)
            return false;
        expected *= size;
    }
    return true;
}

static int64_t *copy_sizes(walk *w, tern_pickle_ref tuple)
{
    const uint32_t rank = tern_pickle_length(w->p, tuple);
    int64_t *sizes = tern_arena_alloc(&w->archive->arena, (rank + 1) * sizeof *sizes);
    for (uint32_t i = 0; sizes && i < rank; i++)
        sizes[i] = tern_pickle_int(w->p, tern_pickle_item(w->p, tuple, i));
    return sizes;
}

static tern_status take_tensor(walk *w, tern_pickle_ref ref, tern_file_value *value)
{
    const tern_pickle_tensor t = tern_pickle_tensor_of(w->p, ref);
    value->type = TERN_STATE_TENSOR;
    value->dtype = t.dtype->name;
    value->rank = (int)tern_pickle_length(w->p, t.size);
    value->offset = t.offset;
    const uint64_t key = tern_pickle_storage_of(w->p, t.storage).key;
    value->storage = tern_torch_storage_at(w->storages, key)->index;
    value->shape = copy_sizes(w, t.size);
    if (!value->shape)
        return TERN_ERR_NOMEM;
    if (is_contiguous(w->p, &t))
        return TERN_OK;
    value->stride = copy_sizes(w, t.stride);
    return value->stride ? TERN_OK : TERN_ERR_NOMEM;
}

// One that is there, but cannot be read.
static tern_status take_unreadable(walk *w, const char *begin, const char *what,
                                   tern_file_value *value)
{
    const size_t length = strlen(begin);
    char *text = tern_arena_alloc(&w->archive->arena, length + strlen(what) + 1);
    if (!text)
        return TERN_ERR_NOMEM;
    memcpy(text, begin, length);
    strcpy(text + length, what);
    value->type = TERN_STATE_UNSPECIFIED;
    value->text = text;
    return TERN_OK;
}

static tern_status take_object(walk *w, tern_pickle_ref ref, tern_file_value *value)
{
    char what[300];
    tern_pickle_text(w->p, ref, what, sizeof what);
    const bool is_object = tern_pickle_type_of(w->p, ref) == TERN_PICKLE_OBJECT;
    return take_unreadable(w, is_object ? "needs Python's " : "is ", what, value);
}

static tern_status take_text(walk *w, const char *text, size_t length, tern_file_value *value)
{
    value->type = TERN_STATE_TEXT;
    value->text = tern_arena_text(&w->archive->arena, text, length);
    return value->text ? TERN_OK : TERN_ERR_NOMEM;
}

static tern_status take_pickled_text(walk *w, tern_pickle_ref ref, tern_file_value *value)
{
    const size_t length = tern_pickle_length(w->p, ref);
    char *text = tern_arena_alloc(&w->archive->arena, length + 1);
    if (!text)
        return TERN_ERR_NOMEM;
    tern_pickle_text(w->p, ref, text, length + 1);
    value->type = TERN_STATE_TEXT;
    value->text = text;
    const char *fault = fault_of(text, length);
    return fault ? take_unreadable(w, "is ", fault, value) : TERN_OK;
}

static tern_status take_bytes(walk *w, tern_pickle_ref ref, tern_file_value *value)
{
    const size_t length = tern_pickle_length(w->p, ref);
    int64_t *shape = tern_arena_alloc(&w->archive->arena, sizeof *shape + length + 1);
    if (!shape)
        return TERN_ERR_NOMEM;
    *shape = (int64_t)length;
    tern_pickle_text(w->p, ref, (char *)(shape + 1), length + 1);
    *value = (tern_file_value){.type = TERN_STATE_BYTES,
                               .rank = 1,
                               .shape = shape,
                               .storage = -1,
                               .text = (char *)(shape + 1)};
    return TERN_OK;
}

static tern_status take_global(walk *w, tern_pickle_ref ref, tern_file_value *value)
{
    char text[64];
    const tern_torch_dtype *dtype = tern_pickle_dtype(ref);
    if (!dtype)
        return take_unreadable(w, "is ", "no value but a class", value);
    snprintf(text, sizeof text, "torch.%s", dtype->name);
    return take_text(w, text, strlen(text), value);
}

// The value that a leaf is.
static tern_status take_leaf(walk *w, tern_pickle_ref ref, tern_file_value *value)
{
    const tern_pickle_type type = tern_pickle_type_of(w->p, ref);
    switch (type) {
    case TERN_PICKLE_TENSOR:
        return take_tensor(w, ref, value);
    case TERN_PICKLE_TEXT:
        return take_pickled_text(w, ref, value);
    case TERN_PICKLE_BYTES:
        return take_bytes(w, ref, value);
    case TERN_PICKLE_GLOBAL:
        return take_global(w, ref, value);
    case TERN_PICKLE_OBJECT:
    case TERN_PICKLE_UNREADABLE:
        return take_object(w, ref, value);
    case TERN_PICKLE_STORAGE:
        return take_unreadable(w, "is ", "a storage and no tensor", value);
    case TERN_PICKLE_DOUBLE:
        value->type = TERN_STATE_DOUBLE;
        value->number = tern_pickle_double(w->p, ref);
        return TERN_OK;
    case TERN_PICKLE_INT:
    case TERN_PICKLE_BOOL:
        value->type = TERN_STATE_INT;
        value->integer = tern_pickle_int(w->p, ref);
        return TERN_OK;
    case TERN_PICKLE_NONE: // no leaves
    case TERN_PICKLE_TUPLE:
    case TERN_PICKLE_LIST:
    case TERN_PICKLE_DICT:
    case TERN_PICKLE_ORDERED_DICT:
        break;
    }
    return TERN_OK;
}

static tern_status add_leaf(walk *w, tern_pickle_ref ref)
{
    tern_file_value value = {.name = NULL};
    TERN_TRY(w->other_key ? take_unreadable(w, "has ", OTHER_KEY, &value)
                          : take_leaf(w, ref, &value));
    value.name = tern_arena_text(&w->archive->arena, w->name, strlen(w->name));
    return value.name ? tern_archive_add(w->archive, value) : TERN_ERR_NOMEM;
}

// What a leaf will take of the arena.
static void count_leaf(walk *w, tern_pickle_ref ref)
{
    const tern_pickle_type type = tern_pickle_type_of(w->p, ref);
    w->count++;
    w->nbytes += (int64_t)strlen(w->name) + 1;
    if (type == TERN_PICKLE_TENSOR) {
        const tern_pickle_tensor t = tern_pickle_tensor_of(w->p, ref);
        const int64_t nbytes = 8 * (tern_pickle_length(w->p, t.size) + 1) + 16;
        w->nbytes += is_contiguous(w->p, &t) ? nbytes : 2 * nbytes;
    } else if (type == TERN_PICKLE_TEXT || type == TERN_PICKLE_BYTES ||
               type == TERN_PICKLE_OBJECT || type == TERN_PICKLE_UNREADABLE) {
        w->nbytes += tern_pickle_length(w->p, ref) + 64;
    } else if (type == TERN_PICKLE_GLOBAL || type == TERN_PICKLE_STORAGE || w->other_key) {
        w->nbytes += 64;
    }
}

// ---- versions -----------------------------------------------------------------------------------

// The "version" in what `_metadata` has for a module; 1 where it says nothing else.
static int64_t version_in(const walk *w, tern_pickle_ref of_module)
{
    const tern_pickle_type type = tern_pickle_type_of(w->p, of_module);
    if (type != TERN_PICKLE_DICT && type != TERN_PICKLE_ORDERED_DICT)
        return 1;
    tern_pickle_cursor cursor = tern_pickle_items(w->p, of_module);
    for (tern_pickle_ref key, item; tern_pickle_next(&cursor, &key, &item);)
        if (tern_pickle_text_is(w->p, key, "version") &&
            tern_pickle_type_of(w->p, item) == TERN_PICKLE_INT)
            return tern_pickle_int(w->p, item);
    return 1;
}

// Whether values may have names that begin so.
static bool may_begin(const char *name)
{
    for (const char *at = name; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7F)
            return false;
    return strlen(name) + strlen(".version") < TERN_STATE_NAME_SIZE;
}

// That of the module `key`, below the dictionary that is in w->name.
static tern_status add_version(walk *w, tern_pickle_ref key, int64_t version)
{
    char name[sizeof w->name];
    const size_t above = w->depth > 1 ? strlen(w->name) : 0;
    const size_t length = tern_pickle_length(w->p, key);
    if (above + length + 2 > sizeof name)
        return TERN_OK;
    memcpy(name, w->name, above);
    const bool dotted = above && length;
    memcpy(name + above, ".", dotted);
    tern_pickle_text(w->p, key, name + above + dotted, length + 1);
    if (!may_begin(name))
        return TERN_OK;
    if (!w->adds)
        return w->nbytes += (int64_t)(sizeof(tern_file_version) * 2 + above + length + 2), TERN_OK;
    const size_t whole = above + dotted + length;
    tern_file_version entry = {tern_arena_text(&w->archive->arena, name, whole), version};
    return entry.module ? tern_archive_add_version(w->archive, entry) : TERN_ERR_NOMEM;
}

static tern_status take_versions(walk *w, tern_pickle_ref dict)
{
    const tern_pickle_ref metadata = tern_pickle_metadata(w->p, dict);
    if (metadata == TERN_PICKLE_NO_VALUE)
        return TERN_OK;
    tern_pickle_cursor cursor = tern_pickle_items(w->p, metadata);
    for (tern_pickle_ref key, item; tern_pickle_next(&cursor, &key, &item);) {
        TERN_TRY(count_visit(w));
        const int64_t version = version_in(w, item);
        if (version > 1 && tern_pickle_type_of(w->p, key) == TERN_PICKLE_TEXT)
            TERN_TRY(add_version(w, key, version));
    }
    return TERN_OK;
}

// ---- the walk -----------------------------------------------------------------------------------

static tern_status descend(walk *w, tern_pickle_ref container)
{
    const tern_pickle_type type = tern_pickle_type_of(w->p, container);
    for (int i = 0; i < w->depth; i++)
        if (w->levels[i].container == container)
            return tern_pickle_bad(w->p, "has \"%.200s\" as a part of itself", w->name);
    if (w->depth == MAX_DEPTH)
        return tern_pickle_bad(w->p,
                               "has more than %d dictionaries, lists and tuples in one "
                               "another",
                               MAX_DEPTH);
    if (!w->adds && (type == TERN_PICKLE_DICT || type == TERN_PICKLE_ORDERED_DICT))
        TERN_TRY(check_keys(w, container));
    w->nested += w->depth > 0;
    const size_t name_length = w->depth ? strlen(w->name) : 0; // the whole has no name
    w->levels[w->depth++] = (level){tern_pickle_items(w->p, container), container, name_length};
    return type == TERN_PICKLE_ORDERED_DICT ? take_versions(w, container) : TERN_OK;
}

static bool is_container(tern_pickle_type type)
{
    return type == TERN_PICKLE_TUPLE || type == TERN_PICKLE_LIST || type == TERN_PICKLE_DICT ||
           type == TERN_PICKLE_ORDERED_DICT;
}

// A value whose name is written.
static tern_status visit(walk *w, tern_pickle_ref ref)
{
    const tern_pickle_type type = tern_pickle_type_of(w->p, ref);
    TERN_TRY(count_visit(w));
    if (type == TERN_PICKLE_NONE)
        return w->nones++, TERN_OK;
    if (is_container(type) && !w->other_key)
        return descend(w, ref);
    if (w->adds)
        return add_leaf(w, ref);
    count_leaf(w, ref);
    return TERN_OK;
}

static tern_status step(walk *w)
{
    tern_pickle_ref key, item;
    level *at = &w->levels[w->depth - 1];
    if (!tern_pickle_next(&at->cursor, &key, &item)) {
        w->depth--;
        return TERN_OK;
    }
    TERN_TRY(write_name(w, at, key));
    w->other_key = is_other_key(w, key);
    return visit(w, item);
}

static tern_status go(walk *w)
{
    const tern_pickle_type type = tern_pickle_type_of(w->p, w->p->result);
    w->visits = w->nested = w->nones = 0;
    w->other_key = false;
    const char *leaf = type == TERN_PICKLE_TENSOR ? "tensor" : "value";
    snprintf(w->name, sizeof w->name, "%s", is_container(type) ? "" : leaf);
    TERN_TRY(visit(w, w->p->result));
    while (w->depth)
        TERN_TRY(step(w));
    return TERN_OK;
}

// Memory for values that are accepted, numbers and names too, is bounded by their bytes.
static tern_status reserve(walk *w)
{
    tern_archive *c = w->archive;
    const int64_t per_value = sizeof(tern_file_value) + 3 * sizeof *c->table.slots;
    const int64_t wanted = w->count * per_value + w->nbytes + w->nbytes / 8;
    if (wanted > BASE_BYTES + BYTES_FOR_A_BYTE * w->p->read)
        return tern_pickle_bad(w->p, "has %lld values, whose names are too long for its %lld bytes",
                               (long long)w->count, (long long)w->p->read);
    return tern_archive_reserve(c, w->count, 0);
}

static void add_rest(char text[160], const char *what, int64_t count)
{
    const size_t length = strlen(text);
    if (count)
        snprintf(text + length, 160 - length, "%s%s: %lld", length ? ", " : "", what,
                 (long long)count);
}

// What is no value of its own.
static tern_status report_rest(const walk *w)
{
    char text[160] = "";
    add_rest(text, "nested dictionaries and lists", w->nested);
    add_rest(text, "None", w->nones);
    add_rest(text, "attributes", w->p->attributes);
    if (text[0])
        w->archive->metadata = tern_arena_text(&w->archive->arena, text, strlen(text));
    return text[0] && !w->archive->metadata ? TERN_ERR_NOMEM : TERN_OK;
}

tern_status tern_torch_check_whole(const tern_pickle *p)
{
    char what[300];
    if (tern_pickle_type_of(p, p->result) != TERN_PICKLE_OBJECT)
        return TERN_OK;
    tern_pickle_text(p, p->result, what, sizeof what);
    return tern_pickle_bad(p, "uses %s: only state dicts can be read; save net.state_dict()", what);
}

tern_status tern_torch_flatten(tern_archive *archive, const tern_pickle *p,
                               const tern_torch_storages *storages)
{
    walk *w = tern_mem_alloc(sizeof *w);
    if (!w)
        return TERN_ERR_NOMEM;
    *w = (walk){.archive = archive, .p = p, .storages = storages};
    tern_status status = go(w);
    if (!status)
        status = reserve(w);
    w->adds = true;
    if (!status)
        status = go(w);
    if (!status)
        status = report_rest(w);
    tern_mem_free(w, sizeof *w);
    return status;
}
