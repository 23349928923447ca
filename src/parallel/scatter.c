// SPDX-License-Identifier: Apache-2.0
// Batches cut into a piece for each device, and put together again. Gradients flow through both.
#include <tern/ops.h>
#include "parallel/parallel.h"
#include "tensor/liveness.h"

// ---- cutting ------------------------------------------------------------------------------------

static tern_status find_dim(const char *function, const tern_tensor *t, int index, int dim, int *at)
{
    *at = dim < 0 ? dim + t->rank : dim;
    TERN_CHECK(*at >= 0 && *at < t->rank, TERN_ERR_ARG,
               "%s: input %d is %s, which has no dimension %d to be cut along", function, index,
               tern_tensor_string(t), dim);
    return TERN_OK;
}

// The size of the batch, -1 where no input has one.
static tern_status batch_size(const char *function, const tern_tensors *in, int dim, int64_t *size)
{
    int first = -1;
    *size = -1;
    for (int i = 0, at; i < in->count; i++) {
        const tern_tensor *t = in->at[i];
        if (!t || t->rank == 0)
            continue;
        TERN_TRY(find_dim(function, t, i, dim, &at));
        TERN_CHECK(first < 0 || t->size[at] == *size, TERN_ERR_SHAPE,
                   "%s: input %d has %lld elements along dimension %d and input %d has %lld: they "
                   "are not one batch",
                   function, first, (long long)*size, dim, i, (long long)t->size[at]);
        first = i;
        *size = t->size[at];
    }
    return TERN_OK;
}

tern_status tern_tensors_check(const char *function, const tern_tensors *tensors)
{
    TERN_CHECK(tensors->count >= 0 && tensors->count <= TERN_MAX_TENSORS, TERN_ERR_ARG,
               "%s: %d tensors, but 0 to %d are possible", function, tensors->count,
               TERN_MAX_TENSORS);
    for (int i = 0; i < tensors->count; i++)
        if (tensors->at[i])
            TERN_TRY(tern_check_tensor(function, "a tensor", tensors->at[i]));
    return TERN_OK;
}

static tern_tensor *cut(tern_tensor *t, int dim, int64_t begin, int64_t length, tern_device device)
{
    if (t->rank > 0 && t->size[dim < 0 ? dim + t->rank : dim] != length)
        t = tern_narrow(t, dim, begin, length);
    return t ? tern_to_non_blocking(t, device) : NULL;
}

int tern_shards_scatter(const char *function, const tern_tensors *in, const tern_device *devices,
                        int count, int dim, tern_tensors *shards)
{
    int64_t size;
    if (batch_size(function, in, dim, &size))
        return -1;
    int64_t each = size > 0 ? (size + count - 1) / count : 1;
    const int used = in->count == 0 || size == 0 ? 1
                     : size < 0                  ? count
                                                 : (int)((size + each - 1) / each);
    for (int k = 0; k < used; k++) {
        const int64_t begin = k * each, left = size - begin;
        shards[k] = (tern_tensors){.count = in->count};
        for (int i = 0; i < in->count; i++) {
            tern_tensor *t = in->at[i];
            if (!t)
                continue;
            shards[k].at[i] = cut(t, dim, begin, left < each ? left : each, devices[k]);
            if (!shards[k].at[i])
                return -1;
        }
    }
    return used;
}

// ---- joining ------------------------------------------------------------------------------------

static tern_tensor *join(const char *function, const tern_tensors *shards, int count, int index,
                         tern_device device, int dim)
{
    tern_tensor *tensors[TERN_MAX_DEVICES];
    bool scalars = true;
    for (int k = 0; k < count; k++) {
        tern_tensor *t = shards[k].at[index];
        if (!t)
            tern_null_error(function, "a tensor of a piece");
        tensors[k] = t ? tern_to(t, device) : NULL;
        if (!tensors[k])
            return NULL;
        scalars = scalars && t->rank == 0;
    }
    if (scalars)
        return tern_stack(tensors, count, 0);
    return count == 1 ? tensors[0] : tern_cat(tensors, count, dim);
}

tern_status tern_shards_gather(const char *function, const tern_tensors *shards, int count,
                               tern_device device, int dim, tern_tensors *out)
{
    tern_tensors result = {.count = shards[0].count};
    for (int k = 1; k < count; k++)
        TERN_CHECK(shards[k].count == result.count, TERN_ERR_STATE,
                   "%s: piece 0 has %d tensors and piece %d has %d", function, result.count, k,
                   shards[k].count);
    for (int i = 0; i < result.count; i++) {
        result.at[i] = join(function, shards, count, i, device, dim);
        if (!result.at[i])
            return tern_error_code();
    }
    *out = result;
    return TERN_OK;
}
