// SPDX-License-Identifier: Apache-2.0
#include "io/body.h"

#include <zlib.h>

#include "base/crc32c.h"
#include "tensor/header.h"
#include "tensor/view.h"

// What is gathered at once.
#define CHUNK_BYTES (256 << 10)

// What makes one piece: `rows` of dimension `dim`, from row `first` on.
typedef struct gathered {
    const tern_tensor *all;
    int dim;
    int64_t offset; // where the dimensions before it are
    int64_t first, rows;
} gathered;

static tern_status take_chunk(const gathered *g, tern_body_take *take, void *to)
{
    const tern_tensor *t = g->all;
    tern_shape shape = {.rank = t->rank - g->dim};
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = i == 0 ? g->rows : t->size[g->dim + i];
    const int64_t offset = g->offset + g->first * (shape.rank ? t->stride[g->dim] : 0);
    tern_scope scope = tern_scope_open();
    if (!scope)
        return tern_error_code();
    tern_tensor *chunk = tern_tensor_alias("state_write", t, shape, t->stride + g->dim, offset);
    chunk = chunk ? tern_make_contiguous(chunk) : NULL;
    const int64_t size = (int64_t)tern_dtype_size(t->dtype);
    tern_status status = chunk ? take(to, (const char *)chunk->storage->data + chunk->offset * size,
                                      (size_t)(chunk->numel * size))
                               : tern_error_code();
    tern_scope_close(scope);
    return status;
}

// The elements of the dimensions from `dim` on.
static tern_status gather(const tern_tensor *t, int dim, int64_t offset, tern_body_take *take,
                          void *to)
{
    int64_t row = (int64_t)tern_dtype_size(t->dtype);
    for (int i = dim + 1; i < t->rank; i++)
        row *= t->size[i];
    const int64_t count = dim < t->rank ? t->size[dim] : 1;
    if (row > CHUNK_BYTES) {
        for (int64_t i = 0; i < count; i++)
            TERN_TRY(gather(t, dim + 1, offset + i * t->stride[dim], take, to));
        return TERN_OK;
    }
    const int64_t chunk_rows = CHUNK_BYTES / row;
    for (int64_t first = 0; first < count; first += chunk_rows) {
        const int64_t rows = count - first < chunk_rows ? count - first : chunk_rows;
        TERN_TRY(take_chunk(&(gathered){t, dim, offset, first, rows}, take, to));
    }
    return TERN_OK;
}

tern_status tern_body_each(const tern_body *body, tern_body_take *take, void *to)
{
    if (body->nbytes == 0)
        return TERN_OK;
    if (body->data)
        return take(to, body->data, (size_t)body->nbytes);
    return gather(body->tensor, 0, body->tensor->offset, take, to);
}

// ---- what is done with it -----------------------------------------------------------------------

static tern_status write_chunk(void *save, const void *data, size_t nbytes)
{
    return tern_save_write(save, data, nbytes);
}

tern_status tern_body_write(const tern_body *body, tern_save *save)
{
    return tern_body_each(body, write_chunk, save);
}

static tern_status sum_crc32c(void *sum, const void *data, size_t nbytes)
{
    *(uint32_t *)sum = tern_crc32c(*(uint32_t *)sum, data, nbytes);
    return TERN_OK;
}

tern_status tern_body_crc32c(const tern_body *body, uint32_t *sum)
{
    *sum = 0;
    return tern_body_each(body, sum_crc32c, sum);
}

static tern_status sum_crc32(void *sum, const void *data, size_t nbytes)
{
    *(uint32_t *)sum = (uint32_t)crc32_z(*(uint32_t *)sum, data, nbytes);
    return TERN_OK;
}

tern_status tern_body_crc32(const tern_body *body, uint32_t *sum)
{
    return tern_body_each(body, sum_crc32, sum);
}
