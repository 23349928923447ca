// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <tern/idx.h>

#include <string.h>
#include "base/cancel.h"
#include "base/mem.h"
#include "io/gzip.h"
#include "tensor/tensor.h"

// Data is taken in pieces that double from the first size to the largest, so that a header that
// lies costs no more memory than the file has bytes.
#define FIRST_CHUNK   4096
#define LARGEST_CHUNK (16 << 20)

typedef struct chunk {
    struct chunk *next;
    size_t nbytes;
    unsigned char data[];
} chunk;

// Writes `count` elements to `out` from big-endian bytes.
typedef void decode_fn(void *out, const unsigned char *bytes, size_t count);

typedef struct element_type {
    size_t nbytes; // in the file; 0: no such type
    tern_dtype dtype;
    decode_fn *decode;
} element_type;

typedef struct header {
    const element_type *type;
    tern_shape shape;
    size_t nbytes; // of the data
} header;

static uint32_t word_at(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void decode_uint8(void *out, const unsigned char *bytes, size_t count)
{
    memcpy(out, bytes, count);
}

static void decode_int8(void *out, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((int32_t *)out)[i] = (int8_t)bytes[i];
}

static void decode_int16(void *out, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((int32_t *)out)[i] = (int16_t)(bytes[2 * i] << 8 | bytes[2 * i + 1]);
}

static void decode_32(void *out, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((uint32_t *)out)[i] = word_at(bytes + 4 * i);
}

static void decode_64(void *out, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((uint64_t *)out)[i] = (uint64_t)word_at(bytes + 8 * i) << 32 | word_at(bytes + 8 * i + 4);
}

static const element_type element_types[] = {
    [0x08] = {1, TERN_UINT8, decode_uint8}, [0x09] = {1, TERN_INT32, decode_int8},
    [0x0B] = {2, TERN_INT32, decode_int16}, [0x0C] = {4, TERN_INT32, decode_32},
    [0x0D] = {4, TERN_FLOAT32, decode_32},  [0x0E] = {8, TERN_FLOAT64, decode_64},
};

#define ELEMENT_TYPES (sizeof element_types / sizeof element_types[0])

static tern_status check_magic(const tern_gzip *s, const unsigned char magic[4])
{
    const tern_file *f = &s->file;
    bool gzip = magic[0] == 0x1f && magic[1] == 0x8b;
    TERN_CHECK(!gzip, TERN_ERR_FORMAT, "%s: %s looks like gzip within gzip: unpack it once", f->op,
               f->path);
    TERN_CHECK(magic[0] == 0 && magic[1] == 0, TERN_ERR_FORMAT,
               "%s: %s is not an IDX file: it begins with %02x %02x %02x %02x, not with 00 00",
               f->op, f->path, magic[0], magic[1], magic[2], magic[3]);
    TERN_CHECK(magic[2] < ELEMENT_TYPES && element_types[magic[2]].nbytes, TERN_ERR_FORMAT,
               "%s: %s has elements of type 0x%02x, which is not one of 0x08, 0x09, 0x0b to 0x0e",
               f->op, f->path, magic[2]);
    TERN_CHECK(magic[3] >= 1 && magic[3] <= TERN_MAX_RANK, TERN_ERR_FORMAT,
               "%s: %s has %d dimensions, but must have 1 to %d", f->op, f->path, magic[3],
               TERN_MAX_RANK);
    return TERN_OK;
}

// Reads exactly `nbytes` of the header.
static tern_status read_header_bytes(tern_gzip *s, unsigned char *bytes, size_t nbytes)
{
    size_t got;
    TERN_TRY(tern_gzip_read(s, bytes, nbytes, &got));
    TERN_CHECK(got == nbytes, TERN_ERR_FORMAT,
               "%s: %s ends within its header: %zu bytes where %zu are due", s->file.op,
               s->file.path, got, nbytes);
    return TERN_OK;
}

static tern_status read_header(tern_gzip *s, header *h)
{
    unsigned char magic[4], sizes[4 * TERN_MAX_RANK];
    TERN_TRY(read_header_bytes(s, magic, sizeof magic));
    TERN_TRY(check_magic(s, magic));
    h->type = &element_types[magic[2]];
    h->shape.rank = magic[3];
    TERN_TRY(read_header_bytes(s, sizes, 4 * (size_t)h->shape.rank));
    int64_t nbytes = 8; // of the largest element, so that tensors of any dtype can be counted
    bool wraps = false;
    for (int i = 0; i < h->shape.rank; i++) {
        h->shape.dim[i] = word_at(sizes + 4 * i);
        TERN_CHECK(h->shape.dim[i] > 0, TERN_ERR_FORMAT, "%s: %s has size 0 in dimension %d",
                   s->file.op, s->file.path, i);
        wraps = wraps || __builtin_mul_overflow(nbytes, h->shape.dim[i], &nbytes);
    }
    TERN_CHECK(!wraps, TERN_ERR_FORMAT, "%s: %s claims more elements, %s, than can be counted",
               s->file.op, s->file.path, tern_shape_string(h->shape));
    h->nbytes = (size_t)(nbytes / 8) * h->type->nbytes;
    return TERN_OK;
}

static void free_chunks(chunk *list)
{
    while (list) {
        chunk *next = list->next;
        tern_mem_free(list, sizeof *list + list->nbytes);
        list = next;
    }
}

// Reads the data into a list of pieces, which is the caller's also on failure.
static tern_status read_data(tern_gzip *s, const header *h, chunk **list)
{
    size_t size = FIRST_CHUNK, done = 0;
    for (chunk **end = list; done < h->nbytes; end = &(*end)->next) {
        size_t wanted = h->nbytes - done < size ? h->nbytes - done : size;
        chunk *p = *end = tern_mem_alloc(sizeof *p + wanted);
        if (!p)
            return TERN_ERR_NOMEM;
        p->nbytes = wanted;
        size_t got;
        TERN_TRY(tern_gzip_read(s, p->data, wanted, &got));
        done += got;
        TERN_CHECK(got == wanted, TERN_ERR_FORMAT,
                   "%s: %s ends after %zu bytes of data, but its header %s wants %zu", s->file.op,
                   s->file.path, done, tern_shape_string(h->shape), h->nbytes);
        size = size < LARGEST_CHUNK ? 2 * size : size;
    }
    return TERN_OK;
}

static tern_status check_end(tern_gzip *s, const header *h)
{
    unsigned char extra;
    size_t got;
    TERN_TRY(tern_gzip_read(s, &extra, 1, &got));
    TERN_CHECK(got == 0, TERN_ERR_FORMAT,
               "%s: %s goes on after the %zu bytes of data that its header %s wants", s->file.op,
               s->file.path, h->nbytes, tern_shape_string(h->shape));
    return TERN_OK;
}

// Every piece but the last has a multiple of the largest element's bytes.
static tern_tensor *decode(const header *h, const chunk *list)
{
    tern_tensor *t = tern_tensor_new("idx_read", h->type->dtype, tern_cpu(0), h->shape);
    if (!t)
        return NULL;
    char *out = t->storage->data;
    for (; list; list = list->next) {
        size_t count = list->nbytes / h->type->nbytes;
        h->type->decode(out, list->data, count);
        out += count * tern_dtype_size(h->type->dtype);
    }
    return t;
}

static tern_status read_all(tern_gzip *s, header *h, chunk **list)
{
    TERN_TRY(read_header(s, h));
    TERN_TRY(read_data(s, h, list));
    return check_end(s, h);
}

static tern_tensor *read_file(const char *path)
{
    tern_gzip stream;
    if (tern_gzip_open(&stream, "idx_read", path))
        return NULL;
    header h = {0};
    chunk *list = NULL;
    tern_status status = read_all(&stream, &h, &list);
    tern_gzip_close(&stream);
    tern_tensor *t = status ? NULL : decode(&h, list);
    free_chunks(list);
    return t;
}

tern_tensor *tern_idx_read(const char *path)
{
    if (!path) {
        (void)tern_null_error("idx_read", "path");
        return NULL;
    }
    int saved = errno, cancel_state = tern_cancel_disable();
    tern_tensor *t = read_file(path);
    tern_cancel_restore(cancel_state);
    errno = saved;
    return t;
}
