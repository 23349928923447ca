// SPDX-License-Identifier: Apache-2.0
// Colours that are drawn, and none.
#include <math.h>
#include <tern/ops.h>

#include "base/mem.h"
#include "data/transform/color.h"
#include "data/transform/transform.h"
#include "ops/op.h"

// ---- jitter -------------------------------------------------------------------------------------

enum { KINDS = 4 };

typedef struct jitter {
    tern_transform base;
    tern_range range[KINDS]; // of brightness, contrast, saturation, hue
    bool used[KINDS];
} jitter;

static const tern_image_adjustment kinds[KINDS] = {TERN_ADJUST_BRIGHTNESS, TERN_ADJUST_CONTRAST,
                                                   TERN_ADJUST_SATURATION, TERN_ADJUST_HUE};

// The first draw is the order, each of 24; then come the amounts.
static void draw_steps(const jitter *self, const tern_draws *draws, int64_t index,
                       tern_image_step *steps)
{
    int left[KINDS] = {0, 1, 2, 3};
    int64_t order = tern_draw_int(draws, index, 0, 24);
    for (int i = 0; i < KINDS; i++) {
        const int remaining = KINDS - i, chosen = (int)(order % remaining), kind = left[chosen];
        const tern_range range = self->range[kind];
        order /= remaining;
        left[chosen] = left[remaining - 1];
        steps[i] = (tern_image_step){0};
        if (self->used[kind])
            steps[i] = (tern_image_step){kinds[kind],
                                         tern_draw(draws, index, 1 + kind, range.low, range.high)};
    }
}

static tern_status run_jitter(const tern_transform *transform, const tern_sample_context *context,
                              int64_t first_draw, tern_batch *batch)
{
    const jitter *self = (const jitter *)transform;
    const char *op = transform->klass->name;
    const tern_draws draws = {context, first_draw};
    TERN_TRY(tern_image_check_colors(op, batch->x));
    const size_t nbytes = (size_t)batch->size * KINDS * sizeof(tern_image_step);
    tern_image_step *steps = tern_cache_alloc(nbytes);
    if (!steps)
        return TERN_ERR_NOMEM;
    for (int64_t n = 0; n < batch->size; n++)
        draw_steps(self, &draws, batch->index[n], steps + n * KINDS);
    batch->at[0] = tern_image_adjust(op, batch->x, steps, KINDS);
    tern_cache_free(steps, nbytes);
    return batch->at[0] ? TERN_OK : tern_error_code();
}

static tern_status check_factor(const char *op, const char *name, tern_range range)
{
    TERN_TRY(tern_check_number_range(op, name, range));
    TERN_CHECK(range.low >= 0, TERN_ERR_ARG, "%s: %s is {%g, %g}, but factors are not negative", op,
               name, range.low, range.high);
    return TERN_OK;
}

static tern_range factors(tern_range given)
{
    const tern_range range = tern_range_around(given, 1);
    return (tern_range){given.low > 0 && given.high == 0 ? fmax(0, range.low) : range.low,
                        range.high};
}

static tern_status check_jitter(const char *op, const tern_range range[KINDS])
{
    TERN_TRY(check_factor(op, "brightness", range[0]));
    TERN_TRY(check_factor(op, "contrast", range[1]));
    TERN_TRY(check_factor(op, "saturation", range[2]));
    TERN_TRY(tern_check_number_range(op, "hue", range[3]));
    TERN_CHECK(range[3].low >= -0.5 && range[3].high <= 0.5, TERN_ERR_ARG,
               "%s: hue is {%g, %g}, but must be -0.5 to 0.5", op, range[3].low, range[3].high);
    return TERN_OK;
}

tern_transform *tern_transform_color_jitter_with(const tern_transform_color_jitter_options *o)
{
    static const tern_transform_class klass = {.name = "transform_color_jitter",
                                               .size = sizeof(jitter),
                                               .draws = 1 + KINDS,
                                               .apply = run_jitter};
    if (!o) {
        (void)tern_null_error(klass.name, "options");
        return NULL;
    }
    const tern_range given[] = {o->brightness, o->contrast, o->saturation, o->hue};
    const tern_range range[] = {factors(given[0]), factors(given[1]), factors(given[2]),
                                tern_range_around(given[3], 0)};
    if (check_jitter(klass.name, range))
        return NULL;
    jitter *self = (jitter *)tern_transform_new(&klass);
    if (!self)
        return NULL;
    for (int i = 0; i < KINDS; i++) {
        self->range[i] = range[i];
        self->used[i] = given[i].low != 0 || given[i].high != 0;
    }
    return &self->base;
}

// ---- grey ---------------------------------------------------------------------------------------

typedef struct grayscale {
    tern_transform base;
    int64_t channels;
} grayscale;

static tern_status run_grayscale(const tern_transform *transform,
                                 const tern_sample_context *context, int64_t first_draw,
                                 tern_batch *batch)
{
    (void)context;
    (void)first_draw;
    const grayscale *self = (const grayscale *)transform;
    TERN_TRY(tern_image_check_colors(transform->klass->name, batch->x));
    tern_tensor *y = tern_image_gray(batch->x);
    if (y && self->channels == 3)
        y = tern_contiguous(tern_expand(y, tern_dims(y->size[0], 3, y->size[2], y->size[3])));
    batch->at[0] = y;
    return y ? TERN_OK : tern_error_code();
}

tern_transform *tern_transform_grayscale(int64_t channels)
{
    static const tern_transform_class klass = {
        .name = "transform_grayscale", .size = sizeof(grayscale), .apply = run_grayscale};
    TERN_CHECK_PTR(channels == 1 || channels == 3, TERN_ERR_ARG,
                   "%s: channels is %lld, but must be 1 or 3", klass.name, (long long)channels);
    grayscale *self = (grayscale *)tern_transform_new(&klass);
    if (!self)
        return NULL;
    self->channels = channels;
    return &self->base;
}
