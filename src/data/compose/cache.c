// SPDX-License-Identifier: Apache-2.0
// Samples that stay in memory once they were made. Several threads may ask at once: what is kept
// never changes, and of two that keep the same sample one comes second and gives up.
#include <stdatomic.h>
#include <string.h>
#include <tern/datasets.h>
#include <tern/ops.h>

#include "base/mem.h"
#include "data/compose/inner.h"
#include "ops/op.h"
#include "tensor/header.h"

static const char op[] = "data_cache";

// A tensor of a sample; its elements are `at` bytes behind the beginning.
typedef struct kept_tensor {
    tern_dtype dtype;
    tern_shape shape;
    size_t at, nbytes;
} kept_tensor;

typedef struct kept {
    size_t nbytes; // of all
    int count;
    kept_tensor tensor[];
} kept;

typedef struct cache {
    tern_wrapper over;
    kept *_Atomic *slots; // (count); NULL: not kept
    int64_t count;        // of the inner dataset, when this one was made
    int64_t max_bytes;
    _Atomic int64_t nbytes; // of what is kept
} cache;

// ---- keeping ------------------------------------------------------------------------------------

static const kept *find(const cache *self, int64_t index)
{
    return index < self->count ? atomic_load_explicit(&self->slots[index], memory_order_acquire)
                               : NULL;
}

// The bytes of a sample that is kept; 0: it is none that can be.
static size_t measure(const tern_sample *sample)
{
    size_t nbytes = sizeof(kept) + (size_t)sample->count * sizeof(kept_tensor);
    for (int i = 0; i < sample->count; i++) {
        if (!tern_device_equal(tern_dev(sample->at[i]), tern_cpu(0)))
            return 0;
        nbytes += (size_t)sample->at[i]->numel * tern_dtype_size(sample->at[i]->dtype);
    }
    return nbytes;
}

// Counts the bytes of another sample, where the limit lets it in.
static bool admit(cache *self, size_t nbytes)
{
    const int64_t before = atomic_fetch_add(&self->nbytes, (int64_t)nbytes);
    if (before <= self->max_bytes - (int64_t)nbytes)
        return true;
    atomic_fetch_sub(&self->nbytes, (int64_t)nbytes);
    return false;
}

static tern_status fill(kept *k, const tern_sample *sample)
{
    size_t at = sizeof(kept) + (size_t)sample->count * sizeof(kept_tensor);
    k->count = sample->count;
    for (int i = 0; i < sample->count; i++) {
        const tern_tensor *t = tern_contiguous(sample->at[i]);
        if (!t)
            return tern_error_code();
        const size_t size = tern_dtype_size(t->dtype), nbytes = (size_t)t->numel * size;
        k->tensor[i] = (kept_tensor){t->dtype, tern_shape_get(t), at, nbytes};
        if (nbytes > 0)
            memcpy((char *)k + at, (const char *)t->storage->data + (size_t)t->offset * size,
                   nbytes);
        at += nbytes;
    }
    return TERN_OK;
}

static void forget(cache *self, kept *k)
{
    if (!k)
        return;
    atomic_fetch_sub(&self->nbytes, (int64_t)k->nbytes);
    tern_mem_free(k, k->nbytes);
}

static tern_status keep(cache *self, int64_t index, const tern_sample *sample)
{
    const size_t nbytes = measure(sample);
    if (nbytes == 0 || index >= self->count || !admit(self, nbytes))
        return TERN_OK;
    kept *k = tern_mem_alloc(nbytes), *none = NULL;
    if (!k) {
        atomic_fetch_sub(&self->nbytes, (int64_t)nbytes);
        return TERN_ERR_NOMEM;
    }
    k->nbytes = nbytes;
    tern_status status = fill(k, sample);
    if (status || !atomic_compare_exchange_strong(&self->slots[index], &none, k))
        forget(self, k);
    return status;
}

// ---- samples ------------------------------------------------------------------------------------

static tern_status give(const kept *k, tern_sample *out)
{
    for (; out->count < k->count; out->count++) {
        const kept_tensor *from = &k->tensor[out->count];
        tern_tensor *t = tern_tensor_new(op, from->dtype, tern_cpu(0), from->shape);
        if (!t)
            return tern_error_code();
        if (from->nbytes > 0)
            memcpy(t->storage->data, (const char *)k + from->at, from->nbytes);
        out->at[out->count] = t;
    }
    return TERN_OK;
}

static tern_status item(const tern_dataset *dataset, const tern_sample_context *context,
                        int64_t index, tern_sample *out)
{
    cache *self = (cache *)(uintptr_t)dataset; // what is kept is no part of its value
    tern_dataset *inner = self->over.inner;
    const kept *k = find(self, index);
    if (k)
        return give(k, out);
    TERN_TRY(tern_inner_check(op, inner, index));
    TERN_TRY(tern_dataset_make_sample(op, inner, context, index, out));
    return keep(self, index, out);
}

// ---- batches ------------------------------------------------------------------------------------

static bool alike(const kept *a, const kept *b)
{
    bool same = a->count == b->count;
    for (int i = 0; same && i < a->count; i++)
        same = a->tensor[i].dtype == b->tensor[i].dtype &&
               tern_shape_equal(a->tensor[i].shape, b->tensor[i].shape);
    return same;
}

// All are kept, and stack.
static bool are_kept(const cache *self, const int64_t *index, int64_t count)
{
    const kept *first = find(self, index[0]);
    bool all = first != NULL;
    for (int64_t i = 1; all && i < count; i++) {
        const kept *k = find(self, index[i]);
        all = k && alike(first, k);
    }
    for (int i = 0; all && i < first->count; i++)
        all = first->tensor[i].shape.rank < TERN_MAX_RANK;
    return all;
}

static tern_tensor *gather(const cache *self, int which, const int64_t *index, int64_t count)
{
    const kept_tensor *first = &find(self, index[0])->tensor[which];
    tern_shape shape = {.rank = first->shape.rank + 1, .dim = {count}};
    memcpy(shape.dim + 1, first->shape.dim, (size_t)first->shape.rank * sizeof *shape.dim);
    tern_tensor *t = tern_tensor_new(op, first->dtype, tern_cpu(0), shape);
    for (int64_t i = 0; t && first->nbytes > 0 && i < count; i++) {
        const kept *k = find(self, index[i]);
        memcpy((char *)t->storage->data + (size_t)i * first->nbytes,
               (const char *)k + k->tensor[which].at, first->nbytes);
    }
    return t;
}

static tern_status get(const tern_dataset *dataset, const tern_sample_context *context,
                       const int64_t *index, int64_t count, tern_batch *out)
{
    const cache *self = (const cache *)dataset;
    if (!are_kept(self, index, count))
        return tern_dataset_stack(op, dataset, context, index, count, out);
    const int tensors = find(self, index[0])->count;
    for (; out->count < tensors; out->count++) {
        out->at[out->count] = gather(self, out->count, index, count);
        if (!out->at[out->count])
            return tern_error_code();
    }
    return TERN_OK;
}

// ---- the class ----------------------------------------------------------------------------------

static void forget_all(cache *self)
{
    for (int64_t i = 0; i < self->count; i++)
        forget(self, atomic_exchange(&self->slots[i], NULL));
}

static void release(tern_dataset *dataset)
{
    cache *self = (cache *)dataset;
    forget_all(self);
    tern_mem_free(self->slots, (size_t)self->count * sizeof *self->slots);
    tern_wrapper_free(dataset);
}

// What is kept is on the CPU, and samples are made elsewhere from now on.
static tern_status to(tern_dataset *dataset, tern_device device)
{
    TERN_TRY(tern_wrapper_to(dataset, device));
    forget_all((cache *)dataset);
    return TERN_OK;
}

static const tern_dataset_class cache_class = {
    .name = op,
    .size = sizeof(cache),
    .count = tern_wrapper_count,
    .item = item,
    .get = get,
    .free = release,
    .to = to,
    .visit = tern_wrapper_visit,
    .class_count = tern_wrapper_class_count,
    .class_name = tern_wrapper_class_name,
    .sample_name = tern_wrapper_sample_name,
    .is_serial = tern_wrapper_is_serial,
};

static tern_dataset *make(tern_dataset *inner, int64_t count, int64_t max_bytes)
{
    const size_t nbytes = (size_t)count * sizeof(kept * _Atomic);
    kept *_Atomic *slots = count > 0 ? tern_mem_alloc(nbytes) : NULL;
    if (count > 0 && !slots)
        return NULL;
    cache *self = (cache *)tern_wrapper_new(&cache_class, inner);
    if (!self) {
        tern_mem_free(slots, nbytes);
        return NULL;
    }
    self->slots = slots;
    self->count = count;
    self->max_bytes = max_bytes;
    return &self->over.base;
}

tern_dataset *tern_data_cache_with(const tern_data_cache_options *options)
{
    if (!options) {
        (void)tern_null_error(op, "options");
        return NULL;
    }
    if (tern_check_dataset(op, options->dataset))
        return NULL;
    TERN_CHECK_PTR(options->max_bytes >= 0, TERN_ERR_ARG,
                   "%s: max_bytes is %lld, but must be at least 0", op,
                   (long long)options->max_bytes);
    const int64_t count = tern_dataset_count_for(op, options->dataset);
    return count < 0 ? NULL : make(options->dataset, count, options->max_bytes);
}
