// SPDX-License-Identifier: Apache-2.0
// Joining tensors into one, and cutting one into views.
#include <string.h>
#include "base/integer.h"
#include "base/mem.h"
#include "ops/alias.h"
#include "tensor/liveness.h"

// ---- cat ---------------------------------------------------------------------------------------

// Each input gets its slice of dy.
static tern_status cat_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    const tern_op_attrs *attrs = tern_node_attrs(node);
    int dim = (int)attrs->i[0];
    int64_t start = 0;
    for (int i = 0; i < attrs->i[1]; i++) {
        int64_t size = tern_node_input_shape(node, i).dim[dim];
        if (tern_node_needs(node, i)) {
            dx[i] = tern_make_slice(dy[0], dim, start, size, 1);
            if (!dx[i])
                return tern_error_code();
        }
        start += size;
    }
    return TERN_OK;
}

static const tern_op cat_op = {"cat", {"tensors"}, cat_backward};

static tern_status check_list(const char *op, tern_tensor *const *tensors, int64_t count)
{
    if (!tensors)
        return tern_null_error(op, "tensors");
    TERN_CHECK(count >= 1 && count <= INT32_MAX, TERN_ERR_ARG, "%s: count is %lld", op,
               (long long)count);
    for (int64_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "tensors[%lld]", (long long)i);
        TERN_TRY(tern_check_tensor(op, name, tensors[i]));
    }
    return TERN_OK;
}

// Same dtype, device and sizes, but for `dim`, which may be -1.
static tern_status check_joinable(const char *op, const tern_tensor *a, const tern_tensor *b,
                                  int64_t at, int dim)
{
    TERN_CHECK(a->dtype == b->dtype, TERN_ERR_DTYPE,
               "%s: tensors[0] is %s and tensors[%lld] is %s: convert one with tern_to_dtype", op,
               tern_dtype_name(a->dtype), (long long)at, tern_dtype_name(b->dtype));
    TERN_CHECK(tern_device_equal(tern_dev(a), tern_dev(b)), TERN_ERR_DEVICE,
               "%s: tensors[0] is on %s and tensors[%lld] on %s: move one with tern_to", op,
               tern_device_string(tern_dev(a)), (long long)at, tern_device_string(tern_dev(b)));
    bool fits = a->rank == b->rank;
    for (int i = 0; fits && i < a->rank; i++)
        fits = i == dim || a->size[i] == b->size[i];
    char rule[48] = "all must have one shape";
    if (dim >= 0)
        snprintf(rule, sizeof rule, "sizes may differ in dim %d only", dim);
    TERN_CHECK(fits, TERN_ERR_SHAPE, "%s: tensors[0] is %s and tensors[%lld] is %s: %s", op,
               tern_tensor_string(a), (long long)at, tern_tensor_string(b), rule);
    return TERN_OK;
}

// The joined shape.
static tern_status cat_shape(tern_tensor *const *tensors, int64_t count, int *dim, tern_shape *out)
{
    TERN_CHECK(tensors[0]->rank > 0, TERN_ERR_SHAPE,
               "cat: %s has no dimensions: tern_stack joins such tensors",
               tern_tensor_string(tensors[0]));
    TERN_TRY(tern_check_dim("cat", tensors[0]->rank, dim));
    *out = tern_shape_get(tensors[0]);
    for (int64_t i = 1; i < count; i++) {
        TERN_TRY(check_joinable("cat", tensors[0], tensors[i], i, *dim));
        TERN_CHECK(!__builtin_add_overflow(out->dim[*dim], tensors[i]->size[*dim], &out->dim[*dim]),
                   TERN_ERR_SHAPE, "cat: dim %d of the result is too long", *dim);
    }
    return tern_check_shape("cat", *out, tensors[0]->dtype);
}

static tern_status cat_fill(tern_tensor *y, tern_tensor *const *tensors, int64_t count, int dim)
{
    int64_t offset = 0;
    for (int64_t i = 0; i < count; i++) {
        const tern_tensor *x = tensors[i];
        tern_tensor *part = tern_tensor_alias("cat", y, tern_shape_get(x), y->stride, offset);
        if (!part)
            return tern_error_code();
        TERN_TRY(tern_launch_copy(part, x));
        offset += x->size[dim] * y->stride[dim];
    }
    return TERN_OK;
}

static tern_tensor *joined(const char *op, tern_tensor *const *tensors, int64_t count, int dim)
{
    tern_shape shape;
    if (cat_shape(tensors, count, &dim, &shape))
        return NULL;
    tern_tensor *y = tern_tensor_new(op, tensors[0]->dtype, tern_dev(tensors[0]), shape);
    if (!y)
        return NULL;
    tern_scope scope = tern_scope_open(); // for the parts
    bool failed = !scope || cat_fill(y, tensors, count, dim);
    tern_scope_close(scope);
    if (failed)
        return NULL;
    tern_op_call call = {
        .op = &cat_op, .count = (int)count, .many = tensors, .attrs.i = {dim, count}};
    return tern_op_end(&call, y, NULL, 0);
}

tern_tensor *tern_cat(tern_tensor *const *tensors, int64_t count, int dim)
{
    return check_list("cat", tensors, count) ? NULL : joined("cat", tensors, count, dim);
}

// ---- stack -------------------------------------------------------------------------------------

static tern_status check_stack(tern_tensor *const *tensors, int64_t count, int *dim)
{
    TERN_TRY(check_list("stack", tensors, count));
    for (int64_t i = 1; i < count; i++)
        TERN_TRY(check_joinable("stack", tensors[0], tensors[i], i, -1));
    TERN_CHECK(tensors[0]->rank < TERN_MAX_RANK, TERN_ERR_SHAPE,
               "stack: %s has %d dimensions already", tern_tensor_string(tensors[0]),
               TERN_MAX_RANK);
    return tern_check_dim("stack", tensors[0]->rank + 1, dim);
}

tern_tensor *tern_stack(tern_tensor *const *tensors, int64_t count, int dim)
{
    if (check_stack(tensors, count, &dim))
        return NULL;
    size_t nbytes = (size_t)count * sizeof(tern_tensor *);
    tern_tensor **unsqueezed = tern_cache_alloc(nbytes);
    if (!unsqueezed)
        return NULL;
    tern_scope scope = tern_scope_open(); // for the widened views
    bool failed = !scope;
    for (int64_t i = 0; i < count && !failed; i++) {
        unsqueezed[i] = tern_unsqueeze(tensors[i], dim);
        failed = !unsqueezed[i];
    }
    tern_tensor *y = failed ? NULL : joined("stack", unsqueezed, count, dim);
    tern_cache_free(unsqueezed, nbytes);
    y = tern_scope_close_keep(scope, y);
    return y;
}

// ---- split -------------------------------------------------------------------------------------

static tern_status check_split(const char *op, tern_tensor *t, int *dim, tern_tensor **out,
                               int64_t *count)
{
    TERN_TRY(tern_check_tensor(op, "t", t));
    if (!out)
        return tern_null_error(op, "out");
    if (!count)
        return tern_null_error(op, "count");
    TERN_CHECK(t->rank > 0, TERN_ERR_SHAPE, "%s: %s has no dimensions", op, tern_tensor_string(t));
    return tern_check_dim(op, t->rank, dim);
}

static tern_status make_slices(tern_tensor *t, int64_t size, int dim, tern_tensor **slices,
                               int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t start = i * size, left = t->size[dim] - start;
        slices[i] = tern_make_slice(t, dim, start, min_int64(left, size), 1);
        if (!slices[i])
            return tern_error_code();
    }
    return TERN_OK;
}

static tern_status split(const char *op, tern_tensor *t, int64_t size, int dim, tern_tensor **out,
                         int64_t capacity, int64_t *count)
{
    int64_t length = t->size[dim];
    int64_t slices = length > 0 ? (length - 1) / size + 1 : 1;
    TERN_CHECK(slices <= capacity, TERN_ERR_ARG, "%s: %lld pieces of %s, but room for %lld", op,
               (long long)slices, tern_tensor_string(t), (long long)capacity);
    size_t nbytes = (size_t)slices * sizeof *out;
    tern_tensor **made = tern_cache_alloc(nbytes);
    if (!made)
        return tern_error_code();
    tern_status status = make_slices(t, size, dim, made, slices);
    if (!status) {
        memcpy(out, made, nbytes);
        *count = slices;
    }
    tern_cache_free(made, nbytes);
    return status;
}

tern_status tern_split(tern_tensor *t, int64_t size, int dim, tern_tensor **out, int64_t capacity,
                       int64_t *count)
{
    TERN_TRY(check_split("split", t, &dim, out, count));
    TERN_CHECK(size > 0, TERN_ERR_ARG, "split: size %lld is not positive", (long long)size);
    return split("split", t, size, dim, out, capacity, count);
}

tern_status tern_chunk(tern_tensor *t, int64_t chunks, int dim, tern_tensor **out, int64_t capacity,
                       int64_t *count)
{
    TERN_TRY(check_split("chunk", t, &dim, out, count));
    TERN_CHECK(chunks > 0, TERN_ERR_ARG, "chunk: chunks %lld is not positive", (long long)chunks);
    int64_t length = t->size[dim];
    return split("chunk", t, length > 0 ? (length - 1) / chunks + 1 : 1, dim, out, capacity, count);
}
