// SPDX-License-Identifier: Apache-2.0
#include "io/npy.h"

#include <string.h>

#include "base/text.h"
#include "base/bytes.h"
#include "io/npy_text.h"

// ---- the header ---------------------------------------------------------------------------------

tern_status tern_npy_header_size(const char *op, const char *what, const unsigned char *bytes,
                                 int64_t got, int64_t *size)
{
    TERN_CHECK(got >= 10 && memcmp(bytes, "\x93NUMPY", 6) == 0, TERN_ERR_FORMAT,
               "%s: %s is no array of numpy's: it does not begin with \\x93NUMPY and a version", op,
               what);
    TERN_CHECK(bytes[6] >= 1 && bytes[6] <= 3 && bytes[7] == 0, TERN_ERR_FORMAT,
               "%s: %s has version %d.%d of numpy's format, not 1.0, 2.0 or 3.0", op, what,
               bytes[6], bytes[7]);
    TERN_CHECK(bytes[6] == 1 || got >= 12, TERN_ERR_FORMAT,
               "%s: %s ends in the length of its header", op, what);
    const int64_t length = bytes[6] == 1 ? get_u16(bytes + 8) : get_u32(bytes + 8);
    TERN_CHECK(length <= TERN_NPY_MAX_TEXT, TERN_ERR_FORMAT,
               "%s: %s has a header of %lld bytes, more than %d", op, what, (long long)length,
               TERN_NPY_MAX_TEXT);
    *size = (bytes[6] == 1 ? 10 : 12) + length;
    return TERN_OK;
}

// The dtypes that both have, and how numpy calls them after the byte order.
static const struct {
    const char *name;
    tern_dtype dtype;
} dtypes[] = {
    {"f4", TERN_FLOAT32}, {"f8", TERN_FLOAT64}, {"f2", TERN_FLOAT16}, {"i8", TERN_INT64},
    {"i4", TERN_INT32},   {"u1", TERN_UINT8},   {"b1", TERN_BOOL},
};

// Bytes of an element of a dtype "i2"; -1: nobody knows.
static int64_t element_size(const char *name)
{
    int64_t count = 0;
    const char *at = name[0] ? name + 1 : name;
    for (; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(count, 10, &count) ||
            __builtin_add_overflow(count, *at - '0', &count))
            return -1;
    const bool counted = at > name + 1 && !*at;
    switch (name[0]) {
    case 'b':
    case 'i':
    case 'u':
    case 'f':
    case 'c':
    case 'S':
    case 'V':
        return counted ? count : -1;
    case 'U': // characters of 4 bytes
        return counted && !__builtin_mul_overflow(count, 4, &count) ? count : -1;
    case 'm':
    case 'M': // "M8[ns]"
        return 8;
    }
    return -1;
}

// Reads the dtype; the bytes of an element, -1 where nobody knows.
static int64_t read_descr(tern_npy_header *h)
{
    const bool order = h->descr[0] && strchr("<>|=", h->descr[0]);
    const char *name = h->descr + order;
    h->swapped = h->descr[0] == '>';
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(name, dtypes[i].name) == 0)
            h->dtype = dtypes[i].dtype;
    return h->dtype ? (int64_t)tern_dtype_size(h->dtype) : element_size(name);
}

// False where there are more bytes than can be; a size of 0 makes none, whatever the others are.
static bool count_bytes(tern_npy_header *h, int64_t size)
{
    int64_t nbytes = size;
    for (int i = 0; i < h->rank; i++)
        if (h->shape[i] == 0)
            nbytes = 0;
    for (int i = 0; i < h->rank && nbytes > 0; i++)
        if (__builtin_mul_overflow(nbytes, h->shape[i], &nbytes))
            return false;
    h->nbytes = nbytes;
    return true;
}

tern_status tern_npy_header_read(const char *op, const char *what, const unsigned char *bytes,
                                 int64_t size, tern_arena *arena, tern_npy_header *h)
{
    tern_npy_text text;
    const int start = bytes[6] == 1 ? 10 : 12;
    const char *wrong =
        tern_npy_text_read((const char *)bytes + start, (size_t)(size - start), &text);
    TERN_CHECK(!wrong, TERN_ERR_FORMAT, "%s: %s: %s", op, what, wrong);
    *h = (tern_npy_header){.fortran_order = text.fortran_order, .rank = text.rank, .size = size};
    h->descr = tern_arena_text(arena, text.descr, text.descr_length);
    h->shape = tern_arena_alloc(arena, sizeof text.shape);
    if (!h->descr || !h->shape)
        return TERN_ERR_NOMEM;
    memcpy(h->shape, text.shape, sizeof text.shape);
    const int64_t element = read_descr(h);
    TERN_CHECK(h->descr[strspn(h->descr, "<>|=")] != 'O', TERN_ERR_FORMAT,
               "%s: %s holds Python objects, which are never read", op, what);
    TERN_CHECK(count_bytes(h, element), TERN_ERR_FORMAT,
               "%s: %s has a shape of more elements than can be", op, what);
    return TERN_OK;
}

// ---- the array ----------------------------------------------------------------------------------

// Strides of the order in which the first index runs fastest.
static int64_t *fortran_strides(tern_arena *arena, const tern_npy_header *h)
{
    int64_t *stride = tern_arena_alloc(arena, (size_t)h->rank * sizeof *stride);
    for (int i = 0; stride && i < h->rank; i++)
        stride[i] = i ? stride[i - 1] * h->shape[i - 1] : 1;
    return stride;
}

tern_status tern_npy_add(tern_archive *c, const char *what, const char *name,
                         const tern_npy_header *h, int64_t left, tern_file_storage storage)
{
    const int64_t nbytes = h->nbytes < 0 ? left : h->nbytes;
    TERN_CHECK(left >= nbytes, TERN_ERR_FORMAT,
               "%s: %s ends after %lld bytes of elements, but its shape wants %lld", c->file->op,
               what, (long long)left, (long long)nbytes);
    TERN_CHECK(left == nbytes, TERN_ERR_FORMAT,
               "%s: %s goes on after the %lld bytes of its elements", c->file->op, what,
               (long long)nbytes);
    storage.nbytes = nbytes;
    storage.dtype = h->dtype;
    storage.swapped = h->swapped;
    tern_file_value value = {.name = name, .type = TERN_STATE_TENSOR, .dtype = h->descr};
    value.rank = h->rank;
    value.shape = h->shape;
    if (h->fortran_order && h->rank > 1 && nbytes > 0) {
        value.stride = fortran_strides(&c->arena, h);
        if (!value.stride)
            return TERN_ERR_NOMEM;
    }
    value.storage = tern_archive_add_storage(c, storage);
    return value.storage < 0 ? TERN_ERR_NOMEM : tern_archive_add(c, value);
}

// Reads the whole header into `bytes`, whose first ones are there.
static tern_status read_array(tern_archive *c, unsigned char *bytes, int64_t size)
{
    tern_npy_header header;
    tern_file *file = c->file;
    TERN_TRY(tern_file_read_at(file, 0, bytes, (size_t)size));
    TERN_TRY(tern_npy_header_read(file->op, file->path, bytes, size, &c->arena, &header));
    const int64_t left = file->size - size;
    const tern_file_storage storage = {.at = size, .packed = left};
    return tern_npy_add(c, file->path, "array", &header, left, storage);
}

tern_status tern_npy_read_archive(tern_archive *c)
{
    tern_file *file = c->file;
    unsigned char first[TERN_NPY_FIRST_BYTES];
    const int64_t got = file->size < (int64_t)sizeof first ? file->size : (int64_t)sizeof first;
    int64_t size;
    c->format = "npy";
    TERN_TRY(tern_file_read_at(file, 0, first, (size_t)got));
    TERN_TRY(tern_npy_header_size(file->op, file->path, first, got, &size));
    TERN_CHECK(size <= file->size, TERN_ERR_FORMAT, "%s: %s ends in its header of %lld bytes",
               file->op, file->path, (long long)size);
    unsigned char *bytes = tern_arena_alloc(&c->arena, (size_t)size);
    return bytes ? read_array(c, bytes, size) : TERN_ERR_NOMEM;
}
