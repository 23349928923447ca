// SPDX-License-Identifier: Apache-2.0
// What all transforms have in common: counting, and checks around what their classes do.
#include "data/transform/transform.h"

#include <math.h>

#include "base/callback.h"
#include "base/cancel.h"
#include "base/fork.h"
#include "base/mem.h"
#include "data/transform/image.h"
#include "ops/op.h"
#include "tensor/liveness.h"

// ---- counting -----------------------------------------------------------------------------------

tern_transform *tern_transform_new(const tern_transform_class *klass)
{
    if (!klass || !klass->apply) {
        (void)tern_null_error("transform_new", klass ? "the class's apply" : "transform_class");
        return NULL;
    }
    const char *name = klass->name ? klass->name : "a transform";
    TERN_CHECK_PTR(klass->size >= sizeof(tern_transform), TERN_ERR_ARG,
                   "transform_new: the struct of %s has %zu bytes, less than the tern_transform it "
                   "begins with",
                   name, klass->size);
    TERN_CHECK_PTR(klass->draws >= 0, TERN_ERR_ARG,
                   "transform_new: %s says that it uses %lld random numbers", name,
                   (long long)klass->draws);
    tern_transform *transform = tern_mem_alloc(klass->size);
    if (!transform)
        return NULL;
    transform->klass = klass;
    transform->draws = klass->draws;
    transform->mixes = klass->mixes;
    transform->refs_ = 1;
    return transform;
}

const char *tern_transform_name(const tern_transform *transform)
{
    return transform->klass->name ? transform->klass->name : "the transform";
}

tern_status tern_check_transform(const char *function, const tern_transform *transform)
{
    if (!transform)
        return tern_null_error(function, "transform");
    TERN_CHECK(__atomic_load_n(&transform->refs_, __ATOMIC_RELAXED) > 0, TERN_ERR_STATE,
               "%s: %s was freed already", function, tern_transform_name(transform));
    return TERN_OK;
}

tern_transform *tern_transform_retain(tern_transform *transform)
{
    if (!transform || tern_check_transform("transform_retain", transform))
        return NULL;
    __atomic_fetch_add(&transform->refs_, 1, __ATOMIC_RELAXED);
    return transform;
}

void tern_transform_free(tern_transform *transform)
{
    if (!transform || tern_check_transform("transform_free", transform) ||
        __atomic_sub_fetch(&transform->refs_, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    int cancel_state = tern_cancel_disable();
    if (transform->klass->free)
        transform->klass->free(transform);
    tern_cancel_restore(cancel_state);
    tern_mem_free_deferred(transform, transform->klass->size, sizeof *transform);
}

// ---- running ------------------------------------------------------------------------------------

static tern_status check_result(const char *op, const tern_transform *transform, tern_status status,
                                bool failed_before)
{
    if (status && !tern_error_pending())
        return tern_error_raise(status, "%s: %s failed and did not say why", op,
                                tern_transform_name(transform));
    return !status && !failed_before ? tern_error_code() : status;
}

static tern_status check_made(const char *op, const tern_transform *transform,
                              const tern_batch *before, const tern_batch *made)
{
    const char *name = tern_transform_name(transform);
    TERN_CHECK(made->count == before->count && made->size == before->size, TERN_ERR_ARG,
               "%s: %s made a batch of %lld samples of %d tensors of one of %lld of %d", op, name,
               (long long)made->size, made->count, (long long)before->size, before->count);
    for (int i = 0; i < made->count; i++) {
        TERN_CHECK(made->at[i], TERN_ERR_NULL, "%s: %s made no tensor %d", op, name, i);
        TERN_TRY(tern_check_tensor(op, i == 0 ? "x" : "a tensor of the batch", made->at[i]));
        TERN_CHECK(made->at[i]->rank >= 1 && made->at[i]->size[0] == made->size, TERN_ERR_SHAPE,
                   "%s: %s made tensor %d of shape %s for %lld samples: its first size must be "
                   "their number",
                   op, name, i, tern_shape_string(tern_shape_get(made->at[i])),
                   (long long)made->size);
    }
    return TERN_OK;
}

static void name_tensors(tern_batch *batch)
{
    batch->x = batch->at[0];
    batch->y = batch->count > 1 ? batch->at[1] : NULL;
}

tern_status tern_transform_run(const char *op, const tern_transform *transform,
                               const tern_sample_context *context, int64_t first_draw,
                               tern_batch *batch)
{
    const bool failed_before = tern_error_pending();
    tern_batch made = *batch;
    name_tensors(&made);
    tern_callback_begin();
    tern_status status = transform->klass->apply(transform, context, first_draw, &made);
    tern_callback_end();
    TERN_TRY(check_result(op, transform, status, failed_before));
    TERN_TRY(check_made(op, transform, batch, &made));
    name_tensors(&made);
    made.index = batch->index;
    *batch = made;
    return TERN_OK;
}

static tern_status check_batch(const char *op, const tern_batch *batch)
{
    TERN_CHECK(batch->count >= 1 && batch->count <= TERN_BATCH_TENSORS && batch->size >= 1,
               TERN_ERR_ARG, "%s: the batch has %lld samples of %d tensors", op,
               (long long)batch->size, batch->count);
    if (!batch->index)
        return tern_null_error(op, "the batch's index");
    for (int i = 0; i < batch->count; i++) {
        const char *name = i == 0 ? "x" : i == 1 ? "y" : "a tensor of the batch";
        TERN_TRY(tern_check_tensor(op, name, batch->at[i]));
        TERN_CHECK(batch->at[i]->rank >= 1 && batch->at[i]->size[0] == batch->size, TERN_ERR_SHAPE,
                   "%s: %s has shape %s, but the batch %lld samples", op, name,
                   tern_shape_string(tern_shape_get(batch->at[i])), (long long)batch->size);
    }
    return TERN_OK;
}

// An x that the transform left as it was is the caller's tensor, with its history.
static tern_status detach_x(tern_batch *batch)
{
    batch->x = batch->at[0] = tern_detach(batch->at[0]);
    return batch->x ? TERN_OK : tern_error_code();
}

tern_status tern_transform_batch(const tern_transform *transform,
                                 const tern_sample_context *context, tern_batch *batch)
{
    static const char op[] = "transform_batch";
    TERN_TRY(tern_check_transform(op, transform));
    if (!context || !batch)
        return tern_null_error(op, context ? "batch" : "context");
    TERN_TRY(tern_fork_check());
    TERN_TRY(check_batch(op, batch));
    const bool before = tern_set_grad_enabled(false);
    tern_batch made = *batch;
    tern_status status = tern_transform_run(op, transform, context, 0, &made);
    if (!status)
        status = detach_x(&made);
    (void)tern_set_grad_enabled(before);
    if (!status)
        *batch = made;
    return status;
}

// ---- to look at ---------------------------------------------------------------------------------

static tern_tensor *run_numbered(const tern_transform *transform, tern_tensor *x, uint64_t seed)
{
    const int64_t count = x->size[0];
    const size_t nbytes = (size_t)count * sizeof(int64_t);
    int64_t *index = tern_cache_alloc(nbytes);
    if (!index)
        return NULL;
    for (int64_t i = 0; i < count; i++)
        index[i] = i;
    const tern_sample_context context = {.seed = seed};
    tern_batch batch = {.x = x, .size = count, .index = index, .count = 1, .at = {x}};
    const tern_status status =
        tern_transform_run("transform_apply", transform, &context, 0, &batch);
    tern_cache_free(index, nbytes);
    return status ? NULL : batch.x;
}

tern_tensor *tern_transform_apply(const tern_transform *transform, tern_tensor *x, uint64_t seed)
{
    static const char op[] = "transform_apply";
    if (tern_check_transform(op, transform) || tern_check_tensor(op, "x", x) || tern_fork_check())
        return NULL;
    TERN_CHECK_PTR((x->rank == 3 || x->rank == 4) && x->size[0] > 0, TERN_ERR_SHAPE,
                   "transform_apply: x has shape %s, but must be (C, H, W) or (N, C, H, W)",
                   tern_shape_string(tern_shape_get(x)));
    const bool before = tern_set_grad_enabled(false);
    const bool single = x->rank == 3;
    tern_tensor *y = run_numbered(transform, single ? tern_unsqueeze(x, 0) : x, seed);
    if (y)
        y = single ? tern_select(y, 0, 0) : tern_detach(y);
    (void)tern_set_grad_enabled(before);
    return y;
}

// ---- options ------------------------------------------------------------------------------------

tern_channel_list tern_channel_list_make(int count, const double *values)
{
    tern_channel_list list = {.count = values ? count : 0};
    for (int i = 0; i < list.count && i < TERN_MAX_CHANNELS; i++)
        list.at[i] = values[i];
    return list;
}

tern_status tern_check_probability(const char *op, double p)
{
    TERN_CHECK(p >= 0 && p <= 1, TERN_ERR_ARG, "%s: p is %g, but must be 0 to 1", op, p);
    return TERN_OK;
}

tern_status tern_check_channels(const char *op, const char *name, const tern_channel_list *list)
{
    TERN_CHECK(list->count >= 0 && list->count <= TERN_MAX_CHANNELS, TERN_ERR_ARG,
               "%s: %s has %d numbers, but at most %d are taken", op, name, list->count,
               TERN_MAX_CHANNELS);
    for (int i = 0; i < list->count; i++)
        TERN_CHECK(isfinite(list->at[i]), TERN_ERR_ARG, "%s: %s[%d] is %g, which is not finite", op,
                   name, i, list->at[i]);
    return TERN_OK;
}

tern_status tern_check_image_size(const char *op, int64_t height, int64_t width)
{
    TERN_CHECK(
        height >= 1 && width >= 1 && height <= INT32_MAX && width <= INT32_MAX, TERN_ERR_ARG,
        "%s: the result would have %lld rows and %lld columns, but must have 1 to 2147483647", op,
        (long long)height, (long long)width);
    return TERN_OK;
}

tern_status tern_check_number_range(const char *op, const char *name, tern_range range)
{
    TERN_CHECK(isfinite(range.low) && isfinite(range.high) && range.low <= range.high, TERN_ERR_ARG,
               "%s: %s is {%g, %g}, but must be two numbers that do not fall", op, name, range.low,
               range.high);
    return TERN_OK;
}
