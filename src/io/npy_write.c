// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "io/npy.h"
#include "io/archive_entries.h"
#include "io/zip.h"
#include "tensor/tensor.h"

#define ALIGNMENT 64

// "<f4"; NULL: numpy has no such dtype.
static const char *descr_of(tern_dtype dtype)
{
    switch (dtype) {
    case TERN_FLOAT32:
        return "<f4";
    case TERN_FLOAT64:
        return "<f8";
    case TERN_FLOAT16:
        return "<f2";
    case TERN_INT64:
        return "<i8";
    case TERN_INT32:
        return "<i4";
    case TERN_UINT8:
        return "|u1";
    case TERN_BOOL:
        return "|b1";
    case TERN_BFLOAT16:
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return NULL;
}

// "(2, 3)", "(3,)", "()".
static int put_shape(char *to, size_t capacity, tern_shape shape)
{
    int used = snprintf(to, capacity, "(");
    for (int i = 0; i < shape.rank; i++)
        used += snprintf(to + used, capacity - (size_t)used, i ? ", %lld" : "%lld",
                         (long long)shape.dim[i]);
    return used + snprintf(to + used, capacity - (size_t)used, shape.rank == 1 ? ",)" : ")");
}

tern_status tern_npy_header_write(const char *op, const char *what, tern_dtype dtype,
                                  tern_shape shape, char to[TERN_NPY_MAX_HEADER], size_t *nbytes)
{
    const char *descr = descr_of(dtype);
    TERN_CHECK(descr, TERN_ERR_DTYPE, "%s: %s: npy has no %s; tern_to_dtype first", op, what,
               tern_dtype_name(dtype));
    char *text = to + 10;
    const size_t capacity = TERN_NPY_MAX_HEADER - 10;
    int used = snprintf(text, capacity, "{'descr': '%s', 'fortran_order': False, 'shape': ", descr);
    used += put_shape(text + used, capacity - (size_t)used, shape);
    used += snprintf(text + used, capacity - (size_t)used, ", }");
    // numpy also leaves capacity for the first size to grow to 21 digits: with 8 sizes that changes
    // nothing, the header has 128 bytes all the same.
    const size_t unpadded = 10 + (size_t)used + 1;
    *nbytes = (unpadded + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(text + used, ' ', *nbytes - 10 - (size_t)used - 1);
    to[*nbytes - 1] = '\n';
    memcpy(to, "\x93NUMPY\1", 8);
    put_uint((unsigned char *)to + 8, 2, *nbytes - 10);
    return TERN_OK;
}

static tern_status check_tensor(const tern_save *save, const char *format,
                                const tern_archive_entry *value)
{
    TERN_CHECK(value->tensor, TERN_ERR_ARG, "%s: %s: %s has tensors alone, and \"%.200s\" is %s",
               save->op, save->shown, format, value->name,
               tern_state_type_name(value->value->type));
    return TERN_OK;
}

static tern_status write_header(const tern_save *save, const tern_archive_entry *value,
                                char header[TERN_NPY_MAX_HEADER], size_t *nbytes)
{
    char what[512];
    snprintf(what, sizeof what, "\"%.200s\" for %s", value->name, save->shown);
    return tern_npy_header_write(save->op, what, tern_dtype_of(value->tensor),
                                 tern_shape_of(value->tensor), header, nbytes);
}

tern_status tern_npy_write(tern_save *save, const tern_archive_entries *entries)
{
    char header[TERN_NPY_MAX_HEADER];
    size_t nbytes;
    TERN_CHECK(entries->count == 1, TERN_ERR_ARG,
               "%s: %s: npy has exactly one tensor, and the state has %lld values", save->op,
               save->shown, (long long)entries->count);
    TERN_TRY(check_tensor(save, "npy", entries->at));
    TERN_TRY(write_header(save, entries->at, header, &nbytes));
    TERN_TRY(tern_save_write(save, header, nbytes));
    return tern_body_write(&entries->at->body, save);
}

static tern_status write_entry(tern_zip_writer *zip, const tern_archive_entry *value)
{
    char header[TERN_NPY_MAX_HEADER], name[TERN_STATE_NAME_SIZE + 4];
    size_t nbytes;
    TERN_TRY(check_tensor(zip->save, "npz", value));
    TERN_TRY(write_header(zip->save, value, header, &nbytes));
    snprintf(name, sizeof name, "%s.npy", value->name);
    return tern_zip_add_body(zip, name, header, nbytes, &value->body);
}

tern_status tern_npz_write(tern_save *save, const tern_archive_entries *entries)
{
    tern_zip_writer zip = {.save = save};
    tern_status status = TERN_OK;
    for (int64_t i = 0; i < entries->count && !status; i++)
        status = write_entry(&zip, &entries->at[i]);
    if (!status)
        status = tern_zip_end(&zip);
    tern_zip_writer_free(&zip);
    return status;
}
