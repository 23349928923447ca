// SPDX-License-Identifier: Apache-2.0
#include "io/safetensors.h"

#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/mem.h"
#include "io/json.h"
#include "io/safetensors_state.h"

#define MAX_HEADER  100000000
#define MAX_ENTRIES 1000000
#define MIN_ENTRY   48 // bytes of JSON that a tensor takes
#define SUM_DIGITS  8
#define HEADER_SUM  "\"tern.header_crc32c\":\""
#define DATA_OFFSET (8 + (int64_t)h->nbytes) // of the first element in the file

const tern_safetensors_dtype tern_safetensors_dtypes[] = {
    {"BOOL", 8, TERN_BOOL},
    {"F4", 4, TERN_DTYPE_UNSPECIFIED},
    {"F6_E2M3", 6, TERN_DTYPE_UNSPECIFIED},
    {"F6_E3M2", 6, TERN_DTYPE_UNSPECIFIED},
    {"U8", 8, TERN_UINT8},
    {"I8", 8, TERN_DTYPE_UNSPECIFIED},
    {"F8_E5M2", 8, TERN_DTYPE_UNSPECIFIED},
    {"F8_E4M3", 8, TERN_DTYPE_UNSPECIFIED},
    {"F8_E8M0", 8, TERN_DTYPE_UNSPECIFIED},
    {"I16", 16, TERN_DTYPE_UNSPECIFIED},
    {"U16", 16, TERN_DTYPE_UNSPECIFIED},
    {"F16", 16, TERN_FLOAT16},
    {"BF16", 16, TERN_BFLOAT16},
    {"I32", 32, TERN_INT32},
    {"U32", 32, TERN_DTYPE_UNSPECIFIED},
    {"F32", 32, TERN_FLOAT32},
    {"C64", 64, TERN_DTYPE_UNSPECIFIED},
    {"F64", 64, TERN_FLOAT64},
    {"I64", 64, TERN_INT64},
    {"U64", 64, TERN_DTYPE_UNSPECIFIED},
    {NULL, 0, TERN_DTYPE_UNSPECIFIED},
};

// Where a key and its text begin in the JSON.
typedef struct metadata {
    uint32_t key, value;
} metadata;

typedef struct header {
    tern_archive *c;
    tern_json json;
    size_t nbytes;         // of the JSON
    uint32_t sum;          // CRC-32C of it, zeros in place of its own
    const char *sum_there; // the digits it was computed without; NULL: there are none
    bool has_metadata;
    metadata *metadata;
    int64_t metadata_count, metadata_capacity;
    tern_safetensors_words words;
    const char *later; // a word that this version does not know; NULL: there is none
} header;

// ---- the bytes ----------------------------------------------------------------------------------

static tern_status refuse(const header *h, const char *why)
{
    return tern_error_raise(TERN_ERR_FORMAT, "%s: %s is not a safetensors file: %s", h->c->file->op,
                            h->c->file->path, why);
}

static tern_status read_header(header *h)
{
    tern_file *file = h->c->file;
    unsigned char size[8];
    if (file->size < 8)
        return refuse(h, "it has less than the 8 bytes of its header's length");
    TERN_TRY(tern_file_read_at(file, 0, size, sizeof size));
    const uint64_t nbytes = get_u64(size);
    if (nbytes > MAX_HEADER)
        return refuse(h, "its header has more than the 100000000 bytes that are allowed");
    if ((int64_t)nbytes > file->size - 8)
        return refuse(h, "it ends within its header");
    if (nbytes < 2)
        return refuse(h, "its header is shorter than {}");
    char *text = tern_arena_alloc(&h->c->arena, nbytes);
    if (!text)
        return TERN_ERR_NOMEM;
    TERN_TRY(tern_file_read_at(file, 8, text, nbytes));
    h->nbytes = nbytes;
    h->json = (tern_json){file->op, file->path, "header", text, text, text + nbytes};
    return *text == '{' ? TERN_OK : refuse(h, "its header does not begin with {");
}

// The JSON is read in place, so this comes first.
static void sum_header(header *h)
{
    static const char zeros[SUM_DIGITS] = "00000000";
    const size_t before = sizeof HEADER_SUM - 1;
    char *found = memmem(h->json.start, h->nbytes, HEADER_SUM, before);
    if (!found || h->json.end - found < (ptrdiff_t)(before + SUM_DIGITS))
        return;
    h->sum_there = found + before;
    h->sum = tern_crc32c(0, h->json.start, (size_t)(h->sum_there - h->json.start));
    h->sum = tern_crc32c(h->sum, zeros, SUM_DIGITS);
    h->sum = tern_crc32c(h->sum, h->sum_there + SUM_DIGITS,
                         (size_t)(h->json.end - h->sum_there) - SUM_DIGITS);
}

// ---- a tensor -----------------------------------------------------------------------------------

typedef struct entry {
    const char *name, *dtype;
    int64_t shape[TERN_MAX_RANK];
    int rank; // -1: the shape is not there yet
    int64_t offset[2];
    bool has_offsets;
} entry;

static tern_status take_shape(header *h, entry *e)
{
    tern_json *json = &h->json;
    bool first = true, another;
    TERN_TRY(tern_json_expect(json, '['));
    for (e->rank = 0;; e->rank++) {
        TERN_TRY(tern_json_next(json, ']', &first, &another));
        if (!another)
            return TERN_OK;
        if (e->rank == TERN_MAX_RANK)
            return tern_json_error(json, "\"%.200s\" has more than %d dimensions", e->name,
                                   TERN_MAX_RANK);
        TERN_TRY(tern_json_integer(json, &e->shape[e->rank]));
        if (e->shape[e->rank] < 0)
            return tern_json_error(json, "\"%.200s\" has a size below 0", e->name);
    }
}

static tern_status take_offsets(header *h, entry *e)
{
    tern_json *json = &h->json;
    e->has_offsets = true;
    TERN_TRY(tern_json_expect(json, '['));
    TERN_TRY(tern_json_integer(json, &e->offset[0]));
    TERN_TRY(tern_json_expect(json, ','));
    TERN_TRY(tern_json_integer(json, &e->offset[1]));
    TERN_TRY(tern_json_expect(json, ']'));
    const int64_t elements = h->c->file->size - DATA_OFFSET;
    if (e->offset[0] < 0 || e->offset[0] > e->offset[1] || e->offset[1] > elements)
        return tern_json_error(
            json, "\"%.200s\" has the bytes %lld to %lld of the %lld that there are", e->name,
            (long long)e->offset[0], (long long)e->offset[1], (long long)elements);
    return TERN_OK;
}

static tern_status take_field(header *h, entry *e)
{
    const char *key;
    TERN_TRY(tern_json_string(&h->json, &key));
    TERN_TRY(tern_json_expect(&h->json, ':'));
    if (strcmp(key, "dtype") == 0 && !e->dtype)
        return tern_json_string(&h->json, &e->dtype);
    if (strcmp(key, "shape") == 0 && e->rank < 0)
        return take_shape(h, e);
    if (strcmp(key, "data_offsets") == 0 && !e->has_offsets)
        return take_offsets(h, e);
    return tern_json_error(&h->json, "\"%.200s\" has a field \"%.64s\", unknown or twice", e->name,
                           key);
}

// Bytes of the elements, exactly; -1 where they cannot be counted, also beside a 0, or are no whole
// number.
static int64_t bytes_of(const entry *e, int bits)
{
    int64_t count = bits;
    bool empty = false;
    for (int i = 0; i < e->rank; i++) {
        empty = empty || e->shape[i] == 0;
        if (e->shape[i] > 0 && __builtin_mul_overflow(count, e->shape[i], &count))
            return -1;
    }
    return empty ? 0 : count % 8 ? -1 : count / 8;
}

static tern_status add_tensor(header *h, const entry *e)
{
    const tern_safetensors_dtype *type = tern_safetensors_dtypes;
    while (type->name && strcmp(type->name, e->dtype) != 0)
        type++;
    if (!type->name)
        return tern_json_error(&h->json, "\"%.200s\" is of the unknown dtype \"%.32s\"", e->name,
                               e->dtype);
    const int64_t nbytes = e->offset[1] - e->offset[0];
    if (bytes_of(e, type->bits) != nbytes)
        return tern_json_error(&h->json,
                               "\"%.200s\" has %lld bytes, which its shape and dtype %s "
                               "do not make",
                               e->name, (long long)nbytes, type->name);
    int64_t *shape = tern_arena_alloc(&h->c->arena, (size_t)(e->rank + 1) * sizeof *shape);
    if (!shape)
        return TERN_ERR_NOMEM;
    memcpy(shape, e->shape, (size_t)e->rank * sizeof *shape);
    const int64_t storage =
        tern_archive_add_storage(h->c, (tern_file_storage){.at = DATA_OFFSET + e->offset[0],
                                                           .packed = nbytes,
                                                           .nbytes = nbytes,
                                                           .dtype = type->dtype});
    if (storage < 0)
        return TERN_ERR_NOMEM;
    return tern_archive_add(h->c, (tern_file_value){.name = e->name,
                                                    .type = TERN_STATE_TENSOR,
                                                    .rank = e->rank,
                                                    .dtype = type->name,
                                                    .shape = shape,
                                                    .storage = storage});
}

static tern_status take_tensor(header *h, const char *name)
{
    entry e = {.name = name, .rank = -1};
    bool first = true, another;
    TERN_TRY(tern_json_expect(&h->json, '{'));
    for (;;) {
        TERN_TRY(tern_json_next(&h->json, '}', &first, &another));
        if (!another)
            break;
        TERN_TRY(take_field(h, &e));
    }
    if (!e.dtype || e.rank < 0 || !e.has_offsets)
        return tern_json_error(&h->json, "\"%.200s\" has no %s", name,
                               !e.dtype     ? "dtype"
                               : e.rank < 0 ? "shape"
                                            : "data_offsets");
    if (h->c->count == MAX_ENTRIES)
        return tern_json_error(&h->json, "it has more than %d tensors", MAX_ENTRIES);
    return add_tensor(h, &e);
}

// ---- metadata -----------------------------------------------------------------------------------

static tern_status take_metadata(header *h)
{
    tern_json *json = &h->json;
    bool first = true, another;
    if (h->has_metadata)
        return tern_json_error(json, "\"__metadata__\" is there twice");
    h->has_metadata = true;
    if (tern_json_accept_null(json))
        return TERN_OK;
    TERN_TRY(tern_json_expect(json, '{'));
    for (;;) {
        TERN_TRY(tern_json_next(json, '}', &first, &another));
        if (!another)
            return TERN_OK;
        const char *key, *value;
        if (h->metadata_count == MAX_ENTRIES)
            return tern_json_error(json, "it has more than %d metadata", MAX_ENTRIES);
        TERN_TRY(tern_json_string(json, &key));
        TERN_TRY(tern_json_expect(json, ':'));
        TERN_TRY(tern_json_string(json, &value));
        TERN_TRY(tern_mem_grow((void **)&h->metadata, &h->metadata_capacity, h->metadata_count + 1,
                               sizeof *h->metadata));
        h->metadata[h->metadata_count++] =
            (metadata){(uint32_t)(key - json->start), (uint32_t)(value - json->start)};
    }
}

static const char *key_at(const header *h, int64_t i)
{
    return h->json.start + h->metadata[i].key;
}

static const char *value_at(const header *h, int64_t i)
{
    return h->json.start + h->metadata[i].value;
}

static int by_key(const void *a, const void *b, void *text)
{
    return strcmp((const char *)text + ((const metadata *)a)->key,
                  (const char *)text + ((const metadata *)b)->key);
}

static const char **word_for(tern_safetensors_words *words, const char *key)
{
    return strcmp(key, "tern.crc32c") == 0          ? &words->sums
           : strcmp(key, "tern.header_crc32c") == 0 ? &words->header_sum
           : strcmp(key, "tern.tied") == 0          ? &words->tied
           : strcmp(key, "tern.state") == 0         ? &words->state
                                                    : NULL;
}

// The rest of the metadata as one text, "a=b, c=d".
static tern_status report_metadata(header *h)
{
    size_t length = 0;
    for (int64_t i = 0; i < h->metadata_count; i++)
        if (!word_for(&h->words, key_at(h, i)))
            length += strlen(key_at(h, i)) + strlen(value_at(h, i)) + 3;
    char *text = length ? tern_arena_alloc(&h->c->arena, length) : NULL;
    if (length && !text)
        return TERN_ERR_NOMEM;
    h->c->metadata = text;
    for (int64_t i = 0; i < h->metadata_count; i++) {
        if (word_for(&h->words, key_at(h, i)))
            continue;
        text = stpcpy(stpcpy(text, text == h->c->metadata ? "" : ", "), key_at(h, i));
        text = stpcpy(stpcpy(text, "="), value_at(h, i));
    }
    return TERN_OK;
}

static tern_status sort_metadata(header *h)
{
    if (h->metadata_count)
        qsort_r(h->metadata, (size_t)h->metadata_count, sizeof *h->metadata, by_key, h->json.start);
    for (int64_t i = 0; i < h->metadata_count; i++) {
        const char *key = key_at(h, i), **word = word_for(&h->words, key);
        if (i > 0 && strcmp(key_at(h, i - 1), key) == 0)
            return tern_json_error(&h->json, "its metadata have \"%.64s\" twice", key);
        if (!word && strncmp(key, "tern.", 5) == 0)
            h->later = key;
        if (word)
            *word = value_at(h, i);
    }
    return report_metadata(h);
}

// ---- what is true of the whole ------------------------------------------------------------------

static int by_offset(const void *a, const void *b, void *storages)
{
    const tern_file_storage *x = (const tern_file_storage *)storages + *(const int32_t *)a;
    const tern_file_storage *y = (const tern_file_storage *)storages + *(const int32_t *)b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->nbytes > y->nbytes) - (x->nbytes < y->nbytes);
}

// "01234567,89abcdef": those of the storages in the order of their places.
static tern_status take_sums(header *h, const int32_t *order)
{
    const char *at = h->words.sums;
    for (int64_t i = 0; i < h->c->storage_count; i++) {
        uint32_t sum = 0;
        for (int digit = 0; digit < SUM_DIGITS; digit++, at++) {
            const bool letter = *at >= 'a' && *at <= 'f';
            if (!letter && (*at < '0' || *at > '9'))
                return refuse(h, "its checksums are not one of 8 digits for each tensor");
            sum = sum << 4 | (uint32_t)(letter ? *at - 'a' + 10 : *at - '0');
        }
        const bool last = i == h->c->storage_count - 1;
        if (*at != (last ? 0 : ','))
            return refuse(h, "its checksums are not one of 8 digits for each tensor");
        at += !last;
        tern_file_storage *storage = &h->c->storages[order[i]];
        storage->checksum = TERN_CHECKSUM_CRC32C;
        storage->sum = sum;
    }
    return *at ? refuse(h, "its checksums are more than its tensors") : TERN_OK;
}

static tern_status check_offsets(header *h, int32_t *order)
{
    const tern_archive *c = h->c;
    for (int64_t i = 0; i < c->storage_count; i++)
        order[i] = (int32_t)i;
    qsort_r(order, (size_t)c->storage_count, sizeof *order, by_offset, c->storages);
    int64_t end = DATA_OFFSET;
    for (int64_t i = 0; i < c->storage_count; i++) {
        const tern_file_storage *storage = &c->storages[order[i]];
        if (storage->at != end)
            return refuse(h, storage->at > end ? "it has bytes between its tensors that are none's"
                                               : "two of its tensors have the same bytes");
        end += storage->nbytes;
    }
    if (end != c->file->size)
        return refuse(h, "it has bytes behind its tensors");
    return h->words.sums ? take_sums(h, order) : TERN_OK;
}

static tern_status check_whole(header *h)
{
    int32_t *order = tern_mem_alloc((size_t)(h->c->storage_count + 1) * sizeof *order);
    if (!order)
        return TERN_ERR_NOMEM;
    tern_status status = check_offsets(h, order);
    tern_mem_free(order, (size_t)(h->c->storage_count + 1) * sizeof *order);
    return status;
}

// What tern wrote has a checksum of the header wherever it has one of the elements, so that a
// damaged name of either is noticed.
static tern_status check_sum(const header *h)
{
    const tern_safetensors_words *w = &h->words;
    if (!w->header_sum)
        return w->sums || w->tied || w->state || h->later
                   ? refuse(h, "its header has lost its checksum")
                   : TERN_OK;
    char right[SUM_DIGITS + 1];
    snprintf(right, sizeof right, "%08x", h->sum);
    if (!h->sum_there || strcmp(w->header_sum, right) != 0)
        return refuse(h, "its header is damaged: the checksum does not fit");
    TERN_CHECK(!h->later, TERN_ERR_UNSUPPORTED,
               "%s: %s is of a later version of tern, which knows \"%.64s\"", h->c->file->op,
               h->c->file->path, h->later);
    return w->sums ? TERN_OK : refuse(h, "its tensors have lost their checksums");
}

static tern_status take_all(header *h)
{
    bool first = true, another;
    TERN_TRY(tern_json_expect(&h->json, '{'));
    for (;;) {
        const char *name;
        TERN_TRY(tern_json_next(&h->json, '}', &first, &another));
        if (!another)
            break;
        TERN_TRY(tern_json_string(&h->json, &name));
        TERN_TRY(tern_json_expect(&h->json, ':'));
        TERN_TRY(strcmp(name, "__metadata__") == 0 ? take_metadata(h) : take_tensor(h, name));
    }
    TERN_TRY(tern_json_end(&h->json));
    TERN_TRY(sort_metadata(h));
    TERN_TRY(check_sum(h));
    return check_whole(h);
}

// Room for the tensors at once, no more than the header's bytes can be.
static tern_status reserve(header *h)
{
    int64_t braces = 0;
    for (const char *at = h->json.start; at < h->json.end; at++)
        braces += *at == '{';
    const int64_t max = (int64_t)h->nbytes / MIN_ENTRY;
    const int64_t tensors = braces < max ? braces : max;
    return tern_archive_reserve(h->c, tensors, tensors);
}

tern_status tern_safetensors_read_archive(tern_archive *archive)
{
    header h = {.c = archive};
    archive->format = "safetensors";
    TERN_TRY(read_header(&h));
    sum_header(&h);
    tern_status status = reserve(&h);
    if (!status)
        status = take_all(&h);
    if (!status)
        status = tern_safetensors_restore(archive, &h.words);
    tern_mem_free(h.metadata, (size_t)h.metadata_capacity * sizeof *h.metadata);
    return status;
}
