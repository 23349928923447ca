// SPDX-License-Identifier: Apache-2.0
// Transforms one after another, and a function as a transform.
#include "base/callback.h"
#include "base/mem.h"
#include "data/transform/transform.h"

// ---- composition --------------------------------------------------------------------------------

typedef struct composition {
    tern_transform base;
    int64_t count;
    tern_transform **parts; // references of its own
} composition;

static tern_status run_parts(const tern_transform *transform, const tern_sample_context *context,
                             int64_t first_draw, tern_batch *batch)
{
    const composition *self = (const composition *)transform;
    for (int64_t i = 0; i < self->count; i++) {
        TERN_TRY(
            tern_transform_run("transform_compose", self->parts[i], context, first_draw, batch));
        first_draw += self->parts[i]->draws;
    }
    return TERN_OK;
}

static void free_list(int64_t count, tern_transform *const *parts)
{
    for (int64_t i = 0; i < count; i++)
        tern_transform_free(parts[i]);
}

static void free_parts(tern_transform *transform)
{
    composition *self = (composition *)transform;
    free_list(self->count, self->parts);
    tern_mem_free(self->parts, (size_t)self->count * sizeof *self->parts);
}

static const tern_transform_class composition_class = {.name = "transform_compose",
                                                       .size = sizeof(composition),
                                                       .apply = run_parts,
                                                       .free = free_parts};

static tern_status check_parts(int64_t count, tern_transform *const *parts)
{
    TERN_CHECK(count >= 1, TERN_ERR_ARG, "transform_compose: count is %lld, but must be at least 1",
               (long long)count);
    int64_t draws = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!parts[i])
            return tern_null_error("transform_compose", "a part");
        TERN_TRY(tern_check_transform("transform_compose", parts[i]));
        TERN_CHECK(!__builtin_add_overflow(draws, parts[i]->draws, &draws) && draws <= UINT32_MAX,
                   TERN_ERR_ARG, "transform_compose: its parts use more than 2^32 random numbers");
    }
    return TERN_OK;
}

static composition *new_composition(int64_t count)
{
    composition *self = (composition *)tern_transform_new(&composition_class);
    if (!self)
        return NULL;
    self->parts = tern_mem_alloc((size_t)count * sizeof *self->parts);
    if (self->parts)
        return self;
    tern_transform_free(&self->base);
    return NULL;
}

tern_transform *tern_transform_compose_new(int64_t count, tern_transform *const *parts)
{
    if (!parts) {
        (void)tern_null_error("transform_compose", "parts");
        return NULL;
    }
    composition *self = check_parts(count, parts) ? NULL : new_composition(count);
    if (!self) {
        free_list(count, parts);
        return NULL;
    }
    for (; self->count < count; self->count++) {
        self->parts[self->count] = parts[self->count];
        self->base.draws += parts[self->count]->draws;
        self->base.mixes |= parts[self->count]->mixes;
    }
    return &self->base;
}

// ---- a function ---------------------------------------------------------------------------------

typedef struct lambda {
    tern_transform base;
    tern_transform_lambda_fn *function;
    void *user;
    tern_free_fn *free;
} lambda;

static tern_status call(const tern_transform *transform, const tern_sample_context *context,
                        int64_t first_draw, tern_batch *batch)
{
    (void)context;
    (void)first_draw;
    const lambda *self = (const lambda *)transform;
    batch->at[0] = self->function(self->user, batch->x);
    if (batch->at[0] || tern_error_pending())
        return tern_error_code();
    return tern_error_raise(TERN_ERR_STATE,
                            "transform_lambda: the function gave NULL and did not say why");
}

static void free_user(tern_transform *transform)
{
    const lambda *self = (const lambda *)transform;
    tern_free_user(self->free, self->user);
}

static const tern_transform_class lambda_class = {
    .name = "transform_lambda", .size = sizeof(lambda), .apply = call, .free = free_user};

tern_transform *tern_transform_lambda(tern_transform_lambda_fn *function, void *user,
                                      tern_free_fn *free)
{
    lambda *self = NULL;
    if (!function)
        (void)tern_null_error("transform_lambda", "function");
    else
        self = (lambda *)tern_transform_new(&lambda_class);
    if (!self) {
        tern_free_user(free, user);
        return NULL;
    }
    self->function = function;
    self->user = user;
    self->free = free;
    return &self->base;
}
