// SPDX-License-Identifier: Apache-2.0
// Images of another size, whole or a part that is drawn.
#include <math.h>

#include "base/integer.h"
#include "base/mem.h"
#include "data/transform/image.h"
#include "data/transform/transform.h"
#include "ops/op.h"

// ---- the whole ----------------------------------------------------------------------------------

typedef struct resize {
    tern_transform base;
    int64_t height, width; // width 0: the shorter edge becomes `height`
    tern_image_resize_mode mode;
} resize;

static tern_status run_resize(const tern_transform *transform, const tern_sample_context *context,
                              int64_t first_draw, tern_batch *batch)
{
    (void)context;
    (void)first_draw;
    const resize *self = (const resize *)transform;
    const char *op = transform->klass->name;
    const bool nearest = self->mode.mode == TERN_NEAREST || self->mode.mode == TERN_NEAREST_EXACT;
    TERN_TRY(tern_image_check(op, batch->x, nearest, NULL, NULL));
    const tern_image_box whole = {0, 0, batch->x->size[2], batch->x->size[3]};
    int64_t height = self->height, width = self->width;
    if (width == 0 && whole.height <= whole.width)
        width = height * whole.width / whole.height;
    else if (width == 0) {
        width = height;
        height = width * whole.height / whole.width;
    }
    TERN_TRY(tern_check_image_size(op, height, width));
    if (height == whole.height && width == whole.width)
        return TERN_OK;
    batch->at[0] = tern_image_resized_crop(op, batch->x, &whole, 1, height, width, self->mode);
    return batch->at[0] ? TERN_OK : tern_error_code();
}

tern_transform *tern_transform_resize_with(const tern_transform_resize_options *o)
{
    static const tern_transform_class klass = {
        .name = "transform_resize", .size = sizeof(resize), .apply = run_resize};
    if (!o) {
        (void)tern_null_error(klass.name, "options");
        return NULL;
    }
    const tern_image_resize_mode mode = {o->interpolation, o->antialias};
    if (tern_check_image_size(klass.name, o->size, o->width ? o->width : o->size) ||
        tern_check_resize_mode(klass.name, mode))
        return NULL;
    resize *self = (resize *)tern_transform_new(&klass);
    if (!self)
        return NULL;
    self->height = o->size;
    self->width = o->width;
    self->mode = mode;
    return &self->base;
}

// ---- a part -------------------------------------------------------------------------------------

typedef struct resized_crop {
    tern_transform base;
    int64_t height, width;
    tern_range scale, ratio;
    tern_image_resize_mode mode;
} resized_crop;

// Of Inception: C. Szegedy et al., "Going deeper with convolutions", CVPR 2015.
enum { TRIES = 10, DRAWS = 2 * TRIES + 2 };

// The largest part in the middle whose ratio is among those allowed.
static tern_image_box middle(const resized_crop *self, int64_t height, int64_t width)
{
    const double ratio = (double)width / (double)height;
    tern_image_box box = {.height = height, .width = width};
    if (ratio < self->ratio.low)
        box.height = (int64_t)rint((double)width / self->ratio.low);
    else if (ratio > self->ratio.high)
        box.width = (int64_t)rint((double)height * self->ratio.high);
    box.height = clamp_int64(box.height, 1, height);
    box.width = clamp_int64(box.width, 1, width);
    box.top = (height - box.height) / 2;
    box.left = (width - box.width) / 2;
    return box;
}

static tern_image_box draw_box(const resized_crop *self, const tern_draws *draws, int64_t index,
                               int64_t height, int64_t width)
{
    const double low = log(self->ratio.low), high = log(self->ratio.high);
    for (int64_t k = 0; k < 2 * TRIES; k += 2) {
        const double share = tern_draw(draws, index, k, self->scale.low, self->scale.high);
        const double area = (double)height * (double)width * share;
        const double ratio = exp(tern_draw(draws, index, k + 1, low, high));
        const double h = rint(sqrt(area / ratio)), w = rint(sqrt(area * ratio));
        if (w < 1 || h < 1 || w > (double)width || h > (double)height)
            continue;
        tern_image_box box = {.height = (int64_t)h, .width = (int64_t)w};
        box.top = tern_draw_int(draws, index, 2 * TRIES, height - box.height + 1);
        box.left = tern_draw_int(draws, index, 2 * TRIES + 1, width - box.width + 1);
        return box;
    }
    return middle(self, height, width);
}

static tern_status run_resized_crop(const tern_transform *transform,
                                    const tern_sample_context *context, int64_t first_draw,
                                    tern_batch *batch)
{
    const resized_crop *self = (const resized_crop *)transform;
    const char *op = transform->klass->name;
    const bool nearest = self->mode.mode == TERN_NEAREST || self->mode.mode == TERN_NEAREST_EXACT;
    const tern_draws draws = {context, first_draw};
    TERN_TRY(tern_image_check(op, batch->x, nearest, NULL, NULL));
    const size_t nbytes = (size_t)batch->size * sizeof(tern_image_box);
    tern_image_box *boxes = tern_cache_alloc(nbytes);
    if (!boxes)
        return TERN_ERR_NOMEM;
    for (int64_t n = 0; n < batch->size; n++)
        boxes[n] = draw_box(self, &draws, batch->index[n], batch->x->size[2], batch->x->size[3]);
    batch->at[0] = tern_image_resized_crop(op, batch->x, boxes, batch->size, self->height,
                                           self->width, self->mode);
    tern_cache_free(boxes, nbytes);
    return batch->at[0] ? TERN_OK : tern_error_code();
}

static tern_status check_resized_crop(const char *op,
                                      const tern_transform_random_resized_crop_options *o,
                                      tern_image_resize_mode mode)
{
    TERN_TRY(tern_check_image_size(op, o->height, o->width ? o->width : o->height));
    TERN_TRY(tern_check_resize_mode(op, mode));
    TERN_TRY(tern_check_number_range(op, "scale", o->scale));
    TERN_TRY(tern_check_number_range(op, "ratio", o->ratio));
    TERN_CHECK(o->scale.low > 0 && o->scale.high <= 1, TERN_ERR_ARG,
               "%s: scale is {%g, %g}, but shares of an area are above 0 and at most 1", op,
               o->scale.low, o->scale.high);
    TERN_CHECK(o->ratio.low > 0, TERN_ERR_ARG, "%s: ratio is {%g, %g}, but must be above 0", op,
               o->ratio.low, o->ratio.high);
    return TERN_OK;
}

tern_transform *tern_transform_random_resized_crop_with(
    const tern_transform_random_resized_crop_options *o)
{
    static const tern_transform_class klass = {.name = "transform_random_resized_crop",
                                               .size = sizeof(resized_crop),
                                               .draws = DRAWS,
                                               .apply = run_resized_crop};
    if (!o) {
        (void)tern_null_error(klass.name, "options");
        return NULL;
    }
    const tern_image_resize_mode mode = {o->interpolation, o->antialias};
    if (check_resized_crop(klass.name, o, mode))
        return NULL;
    resized_crop *self = (resized_crop *)tern_transform_new(&klass);
    if (!self)
        return NULL;
    self->height = o->height;
    self->width = o->width ? o->width : o->height;
    self->scale = o->scale;
    self->ratio = o->ratio;
    self->mode = mode;
    return &self->base;
}
