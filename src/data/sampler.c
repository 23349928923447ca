// SPDX-License-Identifier: Apache-2.0
// What all samplers have in common: counting, and checks around what their classes do.
#include "data/sampler.h"

#include "base/callback.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/mem.h"
#include "device/generator.h"

tern_sampler *tern_sampler_new(const tern_sampler_class *klass)
{
    if (!klass || !klass->count || !klass->order) {
        (void)tern_null_error("sampler_new", !klass          ? "sampler_class"
                                             : !klass->count ? "the class's count"
                                                             : "the class's order");
        return NULL;
    }
    TERN_CHECK_PTR(klass->size >= sizeof(tern_sampler), TERN_ERR_ARG,
                   "sampler_new: the struct of %s has %zu bytes, less than the tern_sampler it "
                   "begins with",
                   klass->name ? klass->name : "a sampler", klass->size);
    tern_sampler *sampler = tern_mem_alloc(klass->size);
    if (!sampler)
        return NULL;
    sampler->klass = klass;
    sampler->refs_ = 1;
    return sampler;
}

const char *tern_sampler_name(const tern_sampler *sampler)
{
    return sampler->klass->name ? sampler->klass->name : "the sampler";
}

tern_status tern_check_sampler(const char *function, const tern_sampler *sampler)
{
    if (!sampler)
        return tern_null_error(function, "sampler");
    TERN_CHECK(__atomic_load_n(&sampler->refs_, __ATOMIC_RELAXED) > 0, TERN_ERR_STATE,
               "%s: %s was freed already", function, tern_sampler_name(sampler));
    return TERN_OK;
}

tern_sampler *tern_sampler_retain(tern_sampler *sampler)
{
    if (!sampler || tern_check_sampler("sampler_retain", sampler))
        return NULL;
    __atomic_fetch_add(&sampler->refs_, 1, __ATOMIC_RELAXED);
    return sampler;
}

void tern_sampler_free(tern_sampler *sampler)
{
    if (!sampler || tern_check_sampler("sampler_free", sampler) ||
        __atomic_sub_fetch(&sampler->refs_, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    int cancel_state = tern_cancel_disable();
    if (sampler->klass->free)
        sampler->klass->free(sampler);
    tern_cancel_restore(cancel_state);
    tern_mem_free_deferred(sampler, sampler->klass->size, sizeof *sampler);
}

int64_t tern_sampler_count_for(const char *op, const tern_sampler *sampler)
{
    tern_callback_begin();
    const int64_t count = sampler->klass->count(sampler);
    tern_callback_end();
    if (count >= 0)
        return count;
    if (!tern_error_pending())
        tern_error_raise(TERN_ERR_STATE, "%s: %s says that it has %lld samples", op,
                         tern_sampler_name(sampler), (long long)count);
    return -1;
}

int64_t tern_sampler_count(const tern_sampler *sampler)
{
    if (tern_check_sampler("sampler_count", sampler))
        return -1;
    return tern_sampler_count_for("sampler_count", sampler);
}

tern_status tern_sampler_draw(const char *op, const tern_sampler *sampler,
                              tern_generator *generator, int64_t *order)
{
    const bool failed_before = tern_error_pending();
    tern_callback_begin();
    tern_status status = sampler->klass->order(sampler, generator, order);
    tern_callback_end();
    if (status && !tern_error_pending())
        return tern_error_raise(status, "%s: %s failed to give an order and did not say why", op,
                                tern_sampler_name(sampler));
    return !status && !failed_before ? tern_error_code() : status;
}

static int64_t raise_batches(const char *op, const tern_sampler *sampler, int64_t batches)
{
    if (!tern_error_pending())
        tern_error_raise(TERN_ERR_STATE, "%s: %s says that an epoch has %lld batches", op,
                         tern_sampler_name(sampler), (long long)batches);
    return -1;
}

int64_t tern_sampler_cut(const char *op, const tern_sampler *sampler, const int64_t *order,
                         int64_t count, int64_t *sizes)
{
    tern_callback_begin();
    const int64_t batches = sampler->klass->batches(sampler, order, count, sizes);
    tern_callback_end();
    if (!sizes && batches < 0 && !tern_error_pending())
        tern_error_raise(TERN_ERR_UNSUPPORTED,
                         "%s: %s cannot say how many batches an epoch has before it begins", op,
                         tern_sampler_name(sampler));
    if (batches < 0 || batches > count)
        return raise_batches(op, sampler, batches);
    int64_t sum = 0;
    for (int64_t i = 0; sizes && i < batches; i++) {
        if (sizes[i] < 1 || sizes[i] > count - sum) {
            tern_error_raise(TERN_ERR_STATE,
                             "%s: %s gave batch %lld the size %lld, with %lld of %lld samples left",
                             op, tern_sampler_name(sampler), (long long)i, (long long)sizes[i],
                             (long long)(count - sum), (long long)count);
            return -1;
        }
        sum += sizes[i];
    }
    return batches;
}

// Its class's order where a generator of one's own is given, and else what loaders do.
static tern_status draw_order(const tern_sampler *sampler, tern_generator *generator,
                              int64_t *order)
{
    static const char op[] = "sampler_order";
    if (generator || !sampler->klass->fresh_generator)
        return tern_sampler_draw(
            op, sampler, generator ? generator : tern_default_generator(tern_cpu(0)), order);
    tern_generator *shared = tern_default_generator(tern_cpu(0));
    tern_generator *fresh = shared ? tern_generator_new(0) : NULL;
    if (!fresh)
        return tern_error_code();
    tern_generator_lock(shared);
    tern_mt19937_seed(&fresh->mt, (uint64_t)tern_mt19937_random63(&shared->mt));
    tern_generator_unlock(shared);
    const tern_status status = tern_sampler_draw(op, sampler, fresh, order);
    tern_generator_free(fresh);
    return status;
}

tern_status tern_sampler_order(const tern_sampler *sampler, tern_generator *generator,
                               int64_t *order)
{
    static const char op[] = "sampler_order";
    TERN_TRY(tern_check_sampler(op, sampler));
    if (!order)
        return tern_null_error(op, "order");
    TERN_TRY(tern_fork_check());
    TERN_TRY(tern_check_generator(op, generator));
    const int64_t count = tern_sampler_count_for(op, sampler);
    if (count < 0)
        return tern_error_code();
    TERN_TRY(draw_order(sampler, generator, order));
    for (int64_t i = 0; i < count; i++)
        TERN_CHECK(order[i] >= 0, TERN_ERR_STATE, "sampler_order: %s gave %lld as number %lld",
                   tern_sampler_name(sampler), (long long)order[i], (long long)i);
    return TERN_OK;
}
