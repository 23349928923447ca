// SPDX-License-Identifier: Apache-2.0
// What all datasets have in common: counting, and checks around what their classes do.
#include "data/dataset.h"

#include "base/callback.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "base/philox.h"
#include "ops/op.h"
#include "tensor/liveness.h"

tern_dataset *tern_dataset_new(const tern_dataset_class *klass)
{
    if (!klass) {
        (void)tern_null_error("dataset_new", "dataset_class");
        return NULL;
    }
    const char *name = klass->name ? klass->name : "a dataset";
    TERN_CHECK_PTR(
        !klass->next || (!klass->count && !klass->item && !klass->get), TERN_ERR_ARG,
        "dataset_new: %s has `next`, and count, item or get: it is a stream or it is not", name);
    TERN_CHECK_PTR(klass->next || !klass->begin, TERN_ERR_ARG,
                   "dataset_new: %s has `begin`, which is for streams, and no `next`", name);
    if (!klass->next && (!klass->count || (!klass->item && !klass->get))) {
        (void)tern_null_error("dataset_new",
                              klass->count ? "the class's item" : "the class's count");
        return NULL;
    }
    TERN_CHECK_PTR(klass->size >= sizeof(tern_dataset), TERN_ERR_ARG,
                   "dataset_new: the struct of %s has %zu bytes, less than the tern_dataset it "
                   "begins with",
                   name, klass->size);
    tern_dataset *dataset = tern_mem_alloc(klass->size);
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
    tern_mem_free_deferred(dataset, dataset->klass->size, sizeof *dataset);
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

tern_dataset *tern_dataset_retain_internal(tern_dataset *dataset)
{
    __atomic_fetch_add(&dataset->loaders_, 1, __ATOMIC_RELAXED);
    return tern_dataset_retain(dataset);
}

void tern_dataset_release_internal(tern_dataset *dataset)
{
    __atomic_fetch_sub(&dataset->loaders_, 1, __ATOMIC_RELAXED);
    drop(dataset);
}

void tern_dataset_count_workers(tern_dataset *dataset, int more)
{
    __atomic_fetch_add(&dataset->workers_, more, __ATOMIC_RELAXED);
    tern_dataset *inner;
    for (int64_t i = 0; dataset->inner_ && (inner = dataset->inner_(dataset, i)); i++)
        tern_dataset_count_workers(inner, more);
}

int64_t tern_dataset_count_for(const char *op, const tern_dataset *dataset)
{
    if (!dataset->klass->count) {
        tern_error_raise(TERN_ERR_UNSUPPORTED,
                         "%s: %s is a stream: its samples have no number, and are not counted", op,
                         tern_dataset_name(dataset));
        return -1;
    }
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

int64_t tern_dataset_count(const tern_dataset *dataset)
{
    if (tern_check_dataset("dataset_count", dataset))
        return -1;
    tern_dataset *held =
        tern_dataset_retain_internal((tern_dataset *)(uintptr_t)dataset); // a count, no value
    int64_t count = tern_dataset_count_for("dataset_count", held);
    tern_dataset_release_internal(held);
    return count;
}

// NULL: no dataset is asked.
static _Thread_local const tern_sample_context *context_of_thread;

const tern_sample_context *tern_dataset_set_context(const tern_sample_context *context)
{
    const tern_sample_context *before = context_of_thread;
    context_of_thread = context;
    return before;
}

// With one seed two datasets around each other would draw the same, and one flip undo the other.
tern_sample_context tern_dataset_inner_context(const tern_sample_context *context, uint64_t number)
{
    tern_sample_context inner = *context;
    const tern_philox_block block = tern_philox(inner.seed, number, UINT64_MAX);
    inner.seed = (uint64_t)block.word[1] << 32 | block.word[0];
    return inner;
}

tern_sample_context tern_dataset_context(void)
{
    return context_of_thread ? tern_dataset_inner_context(context_of_thread, UINT64_MAX)
                             : (tern_sample_context){0};
}

bool tern_dataset_is_serial(const tern_dataset *dataset)
{
    if (!dataset->klass->is_serial)
        return dataset->klass->serial || dataset->klass->next;
    tern_callback_begin();
    const bool serial = dataset->klass->is_serial(dataset);
    tern_callback_end();
    return serial;
}

bool tern_dataset_has_state(const tern_dataset *dataset)
{
    bool has = !dataset->inner_ && dataset->klass->visit;
    tern_dataset *inner;
    for (int64_t i = 0; !has && dataset->inner_ && (inner = dataset->inner_(dataset, i)); i++)
        has = tern_dataset_has_state(inner);
    return has;
}

tern_status tern_dataset_check_result(const char *op, const tern_dataset *dataset,
                                      tern_status status, bool failed_before, const char *what)
{
    if (status && !tern_error_pending())
        return tern_error_raise(status, "%s: %s failed to make %s and did not say why", op,
                                tern_dataset_name(dataset), what);
    return !status && !failed_before ? tern_error_code() : status;
}

tern_status tern_dataset_check_tensors(const char *op, const char *name, int count,
                                       tern_tensor *const *at)
{
    TERN_CHECK(count >= 1 && count <= TERN_BATCH_TENSORS, TERN_ERR_ARG,
               "%s: %s gave %d tensors, but a sample has 1 to %d", op, name, count,
               TERN_BATCH_TENSORS);
    for (int i = 0; i < count; i++)
        TERN_TRY(tern_check_tensor(op,
                                   i == 0   ? "x"
                                   : i == 1 ? "y"
                                            : "a tensor of the batch",
                                   at[i]));
    return TERN_OK;
}
