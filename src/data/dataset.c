// SPDX-License-Identifier: Apache-2.0
// What all datasets have in common: counting, and checks around what their classes do.
#include "data/dataset.h"

#include "base/callback.h"
#include "base/cancel.h"
#include "base/fork.h"
#include "base/mem.h"
#include "ops/op.h"

tern_dataset *tern_dataset_new(const tern_dataset_class *klass)
{
    if (!klass) {
        (void)tern_null_error("dataset_new", "dataset_class");
        return NULL;
    }
    if (!klass->count || !klass->get) {
        (void)tern_null_error("dataset_new",
                              klass->count ? "the class's get" : "the class's count");
        return NULL;
    }
    const char *name = klass->name ? klass->name : "a dataset";
    TERN_CHECK_PTR(klass->nbytes >= sizeof(tern_dataset), TERN_ERR_ARG,
                   "dataset_new: the struct of %s has %zu bytes, less than the tern_dataset it "
                   "begins with",
                   name, klass->nbytes);
    tern_dataset *dataset = tern_mem_alloc(klass->nbytes);
    if (!dataset)
        return NULL;
    dataset->klass = klass;
    dataset->refs_ = 1;
    return dataset;
}

const char *tern_dataset_name(const tern_dataset *dataset)
{
    return dataset->klass->name ? dataset->klass->name : "the dataset";
}

tern_status tern_check_dataset(const char *function, const tern_dataset *dataset)
{
    if (!dataset)
        return tern_null_error(function, "dataset");
    TERN_CHECK(__atomic_load_n(&dataset->refs_, __ATOMIC_RELAXED) > 0, TERN_ERR_STATE,
               "%s: %s was freed already", function, tern_dataset_name(dataset));
    return TERN_OK;
}

tern_dataset *tern_dataset_retain(tern_dataset *dataset)
{
    if (!dataset || tern_check_dataset("dataset_retain", dataset))
        return NULL;
    __atomic_fetch_add(&dataset->refs_, 1, __ATOMIC_RELAXED);
    return dataset;
}

static void drop(tern_dataset *dataset)
{
    if (__atomic_sub_fetch(&dataset->refs_, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    int cancel_state = tern_cancel_disable();
    if (dataset->klass->free)
        dataset->klass->free(dataset);
    tern_cancel_restore(cancel_state);
    tern_mem_free_late(dataset, dataset->klass->nbytes, sizeof *dataset);
}

void tern_dataset_free(tern_dataset *dataset)
{
    if (!dataset || tern_check_dataset("dataset_free", dataset))
        return;
    int64_t refs = __atomic_load_n(&dataset->refs_, __ATOMIC_RELAXED);
    if (refs > __atomic_load_n(&dataset->loaders_, __ATOMIC_RELAXED))
        drop(dataset);
    else
        tern_error_raise(
            TERN_ERR_STATE,
            "dataset_free: %s was freed already; only loaders and calls in progress still hold it",
            tern_dataset_name(dataset));
}

tern_dataset *tern_dataset_hold(tern_dataset *dataset)
{
    __atomic_fetch_add(&dataset->loaders_, 1, __ATOMIC_RELAXED);
    return tern_dataset_retain(dataset);
}

void tern_dataset_drop(tern_dataset *dataset)
{
    __atomic_fetch_sub(&dataset->loaders_, 1, __ATOMIC_RELAXED);
    drop(dataset);
}

int64_t tern_dataset_size_for(const char *op, const tern_dataset *dataset)
{
    tern_callback_begin();
    int64_t count = dataset->klass->count(dataset);
    tern_callback_end();
    if (count >= 0)
        return count;
    if (!tern_error_pending())
        tern_error_raise(TERN_ERR_STATE, "%s: %s says that it has %lld samples", op,
                         tern_dataset_name(dataset), (long long)count);
    return -1;
}

int64_t tern_dataset_size(const tern_dataset *dataset)
{
    if (tern_check_dataset("dataset_size", dataset))
        return -1;
    tern_dataset *held = tern_dataset_hold((tern_dataset *)(uintptr_t)dataset); // a count, no value
    int64_t count = tern_dataset_size_for("dataset_size", held);
    tern_dataset_drop(held);
    return count;
}

static tern_status check_made(const char *op, const tern_dataset *dataset, int64_t count,
                              const tern_batch *made)
{
    TERN_CHECK(made->count >= 1 && made->count <= TERN_BATCH_TENSORS, TERN_ERR_ARG,
               "%s: %s gave %d tensors, but a sample has 1 to %d", op, tern_dataset_name(dataset),
               made->count, TERN_BATCH_TENSORS);
    for (int i = 0; i < made->count; i++) {
        tern_tensor *t = made->at[i];
        TERN_TRY(tern_check_tensor(op, i == 0 ? "x" : i == 1 ? "y" : "a tensor of the batch", t));
        TERN_CHECK(t->rank >= 1 && t->size[0] == count, TERN_ERR_SHAPE,
                   "%s: %s gave tensor %d of shape %s for %lld samples: its first size must be "
                   "their number",
                   op, tern_dataset_name(dataset), i, tern_shape_string(tern_shape_get(t)),
                   (long long)count);
    }
    return TERN_OK;
}

static tern_status make(const char *op, tern_dataset *dataset, const int64_t *index, int64_t count,
                        tern_batch *made)
{
    tern_callback_begin();
    tern_status status = dataset->klass->get(dataset, index, count, made);
    tern_callback_end();
    if (status && !tern_error_pending())
        return tern_error_raise(status, "%s: %s failed to make a batch and did not say why", op,
                                tern_dataset_name(dataset));
    return status ? status : check_made(op, dataset, count, made);
}

tern_status tern_dataset_fetch(const char *op, tern_dataset *dataset, const int64_t *index,
                               int64_t count, tern_batch *out)
{
    tern_batch made = {0};
    bool before = tern_set_grad_enabled(false);
    tern_status status = make(op, dataset, index, count, &made);
    (void)tern_set_grad_enabled(before);
    *out = (tern_batch){0};
    if (status)
        return status;
    made.x = made.at[0];
    made.y = made.count > 1 ? made.at[1] : NULL;
    made.size = count;
    made.index = index;
    *out = made;
    return TERN_OK;
}

static tern_status check_index(const tern_dataset *dataset, const int64_t *index, int64_t count)
{
    TERN_CHECK(count >= 1, TERN_ERR_ARG, "dataset_get: count is %lld, but must be at least 1",
               (long long)count);
    int64_t size = tern_dataset_size_for("dataset_get", dataset);
    if (size < 0)
        return tern_error_code();
    for (int64_t i = 0; i < count; i++)
        TERN_CHECK(index[i] >= 0 && index[i] < size, TERN_ERR_INDEX,
                   "dataset_get: index[%lld] is %lld, but %s has samples 0 to %lld", (long long)i,
                   (long long)index[i], tern_dataset_name(dataset), (long long)size - 1);
    return TERN_OK;
}

tern_status tern_dataset_get(tern_dataset *dataset, const int64_t *index, int64_t count,
                             tern_batch *out)
{
    if (out)
        *out = (tern_batch){0};
    TERN_TRY(tern_check_dataset("dataset_get", dataset));
    if (!index || !out)
        return tern_null_error("dataset_get", index ? "out" : "index");
    TERN_TRY(tern_fork_check());
    (void)tern_dataset_hold(dataset);
    tern_status status = check_index(dataset, index, count);
    if (!status)
        status = tern_dataset_fetch("dataset_get", dataset, index, count, out);
    tern_dataset_drop(dataset);
    return status;
}
