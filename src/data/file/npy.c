// SPDX-License-Identifier: Apache-2.0
// Arrays of numpy's that stay in their files: a sample is a row, read when it is asked for.
#include <errno.h>
#include <string.h>
#include <tern/datasets.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "base/path.h"
#include "data/dataset.h"
#include "data/file/path.h"
#include "io/elements.h"
#include "io/file.h"
#include "io/npy.h"
#include "ops/op.h"
#include "tensor/header.h"

static const char op[] = "data_npy";

enum { MAX_ARRAYS = 2 };

// An array in its file, which stays open.
typedef struct rows {
    char *path; // of the dataset's own
    tern_file file;
    tern_dtype dtype;
    bool swapped;
    tern_shape shape; // (N, ..)
    int64_t at;       // byte of the first element
    int64_t nbytes;   // of a row
} rows;

typedef struct npy {
    tern_dataset base;
    rows array[MAX_ARRAYS];
    int count;
} npy;

static int64_t count_samples(const tern_dataset *dataset)
{
    return ((const npy *)dataset)->array[0].shape.dim[0];
}

static bool sample_name(const tern_dataset *dataset, int64_t index, char *buffer, size_t size)
{
    (void)index;
    snprintf(buffer, size, "%s", tern_path_name(((const npy *)dataset)->array[0].path));
    return true;
}

// ---- samples ------------------------------------------------------------------------------------

static tern_status read_row(const rows *r, int64_t index, unsigned char *to)
{
    tern_file file = r->file; // reading at a place changes nothing
    TERN_TRY(tern_file_read_at(&file, r->at + index * r->nbytes, to, (size_t)r->nbytes));
    if (r->dtype == TERN_BOOL) {
        const int64_t other = tern_elements_find_no_bool(to, r->nbytes);
        TERN_CHECK(other < 0, TERN_ERR_FORMAT, "%s: %s has the bool %d, not 0 or 1", op,
                   r->file.path, to[other < 0 ? 0 : other]);
    }
    if (r->swapped)
        tern_elements_swap(to, r->nbytes, tern_dtype_size(r->dtype));
    return TERN_OK;
}

static bool name_of_sample(const void *dataset, int64_t index, char *buffer, size_t size)
{
    return sample_name(dataset, index, buffer, size);
}

// Errors name the sample.
static tern_status read_rows(const npy *self, const rows *r, const int64_t *index, int64_t count,
                             unsigned char *to)
{
    const int saved = errno;
    const tern_sample_position outside = tern_sample_of_thread;
    tern_status status = TERN_OK;
    for (int64_t i = 0; i < count && !status; i++) {
        tern_sample_of_thread = (tern_sample_position){op, index[i], name_of_sample, self};
        if (i == 0)
            status = tern_file_check_same(&r->file);
        if (!status && r->nbytes > 0)
            status = read_row(r, index[i], to + i * r->nbytes);
    }
    tern_sample_of_thread = outside;
    errno = saved;
    return status;
}

static tern_status get(const tern_dataset *dataset, const tern_sample_context *context,
                       const int64_t *index, int64_t count, tern_batch *out)
{
    (void)context;
    const npy *self = (const npy *)dataset;
    for (; out->count < self->count; out->count++) {
        const rows *r = &self->array[out->count];
        tern_shape shape = r->shape;
        shape.dim[0] = count;
        tern_tensor *t = tern_tensor_new(op, r->dtype, tern_cpu(0), shape);
        if (!t)
            return tern_error_code();
        out->at[out->count] = t;
        TERN_TRY(read_rows(self, r, index, count, t->storage->data));
    }
    return TERN_OK;
}

static void release(tern_dataset *dataset)
{
    npy *self = (npy *)dataset;
    for (int i = 0; i < self->count; i++) {
        tern_file_close(&self->array[i].file);
        tern_mem_free_string(self->array[i].path);
    }
}

static const tern_dataset_class npy_class = {
    .name = op,
    .size = sizeof(npy),
    .count = count_samples,
    .get = get,
    .free = release,
    .sample_name = sample_name,
};

// ---- opening ------------------------------------------------------------------------------------

static tern_status check_header(const rows *r, const tern_npy_header *h)
{
    const char *path = r->file.path;
    TERN_CHECK(h->dtype, TERN_ERR_FORMAT,
               "%s: %s has elements of the type %.40s, which tern has not", op, path, h->descr);
    TERN_CHECK(h->rank >= 1, TERN_ERR_FORMAT, "%s: %s has no dimension to count samples by", op,
               path);
    TERN_CHECK(
        !h->fortran_order || h->rank == 1, TERN_ERR_FORMAT,
        "%s: %s is in Fortran's order, in which a sample is all over the file; write it with "
        "numpy.ascontiguousarray",
        op, path);
    TERN_CHECK(r->file.size - h->size == h->nbytes, TERN_ERR_FORMAT,
               "%s: %s has %lld bytes of elements, but its shape wants %lld", op, path,
               (long long)(r->file.size - h->size), (long long)h->nbytes);
    return TERN_OK;
}

static tern_status take_header(rows *r, unsigned char *bytes, int64_t size, tern_arena *arena)
{
    tern_npy_header header;
    TERN_TRY(tern_file_read_at(&r->file, 0, bytes, (size_t)size));
    TERN_TRY(tern_npy_header_read(op, r->file.path, bytes, size, arena, &header));
    TERN_TRY(check_header(r, &header));
    r->dtype = header.dtype;
    r->swapped = header.swapped;
    r->at = size;
    r->shape.rank = header.rank;
    memcpy(r->shape.dim, header.shape, (size_t)header.rank * sizeof *r->shape.dim);
    r->nbytes = r->shape.dim[0] > 0 ? header.nbytes / r->shape.dim[0] : 0;
    return TERN_OK;
}

static tern_status read_header(rows *r)
{
    unsigned char first[TERN_NPY_FIRST_BYTES];
    const int64_t got = r->file.size < (int64_t)sizeof first ? r->file.size : (int64_t)sizeof first;
    int64_t size;
    TERN_TRY(tern_file_read_at(&r->file, 0, first, (size_t)got));
    TERN_TRY(tern_npy_header_size(op, r->file.path, first, got, &size));
    TERN_CHECK(size <= r->file.size, TERN_ERR_FORMAT, "%s: %s ends in its header of %lld bytes", op,
               r->file.path, (long long)size);
    tern_arena arena = {0};
    unsigned char *bytes = tern_arena_alloc(&arena, (size_t)size);
    tern_status status = bytes ? take_header(r, bytes, size, &arena) : TERN_ERR_NOMEM;
    tern_arena_free(&arena);
    return status;
}

static tern_status open_rows(npy *self, const char *path)
{
    rows *r = &self->array[self->count];
    r->path = tern_mem_string(path);
    if (!r->path)
        return TERN_ERR_NOMEM;
    tern_status status = tern_file_open(&r->file, op, r->path);
    self->count++; // it is freed from here on
    if (!status)
        status = tern_file_stat(&r->file);
    return status ? status : read_header(r);
}

static tern_status open_all(npy *self, const tern_data_npy_options *options)
{
    TERN_TRY(open_rows(self, options->path));
    if (!options->labels)
        return TERN_OK;
    TERN_TRY(open_rows(self, options->labels));
    const rows *x = &self->array[0], *y = &self->array[1];
    TERN_CHECK(x->shape.dim[0] == y->shape.dim[0], TERN_ERR_FORMAT,
               "%s: %s has %lld rows, but %s has %lld", op, x->file.path,
               (long long)x->shape.dim[0], y->file.path, (long long)y->shape.dim[0]);
    return TERN_OK;
}

tern_dataset *tern_data_npy_with(const tern_data_npy_options *options)
{
    if (!options || !options->path) {
        (void)tern_null_error(op, options ? "path" : "options");
        return NULL;
    }
    npy *self = (npy *)tern_dataset_new(&npy_class);
    const int saved = errno, cancel_state = tern_cancel_disable();
    tern_status status = self ? open_all(self, options) : TERN_ERR_NOMEM;
    tern_cancel_restore(cancel_state);
    errno = saved;
    if (!status)
        return &self->base;
    tern_dataset_free((tern_dataset *)self);
    return NULL;
}
