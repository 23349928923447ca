// SPDX-License-Identifier: Apache-2.0
#include "data/compose/inner.h"

#include "base/callback.h"

static tern_dataset *inner_of(const tern_dataset *self)
{
    return ((const tern_wrapper *)self)->inner;
}

static tern_dataset *inner_at(const tern_dataset *self, int64_t i)
{
    return i == 0 ? inner_of(self) : NULL;
}

tern_dataset *tern_wrapper_new(const tern_dataset_class *klass, tern_dataset *inner)
{
    tern_wrapper *self = (tern_wrapper *)tern_dataset_new(klass);
    if (!self)
        return NULL;
    self->inner = tern_dataset_retain_internal(inner);
    self->base.inner_ = inner_at;
    return &self->base;
}

int64_t tern_wrapper_count(const tern_dataset *self)
{
    return tern_dataset_count_for(self->klass->name, inner_of(self));
}

void tern_wrapper_free(tern_dataset *self)
{
    tern_dataset_release_internal(inner_of(self));
}

tern_status tern_wrapper_to(tern_dataset *self, tern_device device)
{
    return tern_dataset_to(inner_of(self), device) ? TERN_OK : tern_error_code();
}

tern_status tern_wrapper_visit(tern_dataset *self, tern_state_visitor *visitor)
{
    return tern_inner_visit(inner_of(self), visitor);
}

int64_t tern_wrapper_class_count(const tern_dataset *self)
{
    return tern_dataset_class_count(inner_of(self));
}

const char *tern_wrapper_class_name(const tern_dataset *self, int64_t label)
{
    return tern_dataset_class_name(inner_of(self), label);
}

bool tern_wrapper_sample_name(const tern_dataset *self, int64_t index, char *buffer, size_t size)
{
    return tern_dataset_write_sample_name(inner_of(self), index, buffer, size);
}

bool tern_wrapper_is_serial(const tern_dataset *self)
{
    return tern_dataset_is_serial(inner_of(self));
}

tern_status tern_inner_check(const char *op, tern_dataset *inner, int64_t max)
{
    const int64_t samples = tern_dataset_count_for(op, inner);
    if (samples < 0)
        return tern_error_code();
    TERN_CHECK(max < samples, TERN_ERR_STATE,
               "%s: %s has %lld samples now, and no number %lld, which it had before", op,
               tern_dataset_name(inner), (long long)samples, (long long)max);
    return TERN_OK;
}

void tern_inner_hand_on(const tern_batch *made, tern_batch *out)
{
    out->count = made->count;
    for (int i = 0; i < made->count; i++)
        out->at[i] = made->at[i];
}

tern_status tern_inner_visit(void *object, tern_state_visitor *visitor)
{
    tern_dataset *inner = object;
    if (!inner->klass->visit)
        return TERN_OK;
    const bool failed_before = tern_error_pending();
    tern_callback_begin();
    tern_status status = inner->klass->visit(inner, visitor);
    tern_callback_end();
    return tern_dataset_check_result("visit_loader", inner, status, failed_before,
                                     "its state known");
}
