// SPDX-License-Identifier: Apache-2.0
// Affine maps that are drawn.
#include <math.h>

#include "base/mem.h"
#include "data/transform/image.h"
#include "data/transform/transform.h"
#include "ops/op.h"

typedef struct affine {
    tern_transform base;
    bool rotation; // counter-clockwise alone, as torchvision's
    tern_range degrees, scale, shear_x, shear_y;
    tern_translation translate;
    tern_interpolate_mode mode;
    tern_channel_list fill;
} affine;

// What is drawn, in the order of their draws.
enum { ANGLE, X, Y, SCALE, SHEAR_X, SHEAR_Y, DRAWS };

static tern_image_matrix draw_matrix(const affine *self, const tern_draws *draws, int64_t index,
                                     const tern_tensor *x)
{
    tern_image_motion motion = {.scale = 1};
    motion.angle = tern_draw(draws, index, ANGLE, self->degrees.low, self->degrees.high);
    if (self->rotation) {
        motion.angle = -motion.angle;
        return tern_image_affine(&motion);
    }
    const double max_x = self->translate.x * (double)x->size[3];
    const double max_y = self->translate.y * (double)x->size[2];
    motion.x = rint(tern_draw(draws, index, X, -max_x, max_x));
    motion.y = rint(tern_draw(draws, index, Y, -max_y, max_y));
    motion.scale = tern_draw(draws, index, SCALE, self->scale.low, self->scale.high);
    motion.shear_x = tern_draw(draws, index, SHEAR_X, self->shear_x.low, self->shear_x.high);
    motion.shear_y = tern_draw(draws, index, SHEAR_Y, self->shear_y.low, self->shear_y.high);
    return tern_image_affine(&motion);
}

static tern_status run(const tern_transform *transform, const tern_sample_context *context,
                       int64_t first_draw, tern_batch *batch)
{
    const affine *self = (const affine *)transform;
    const char *op = transform->klass->name;
    const tern_draws draws = {context, first_draw};
    TERN_TRY(tern_image_check(op, batch->x, false, &self->fill, NULL));
    const size_t nbytes = (size_t)batch->size * sizeof(tern_image_matrix);
    tern_image_matrix *matrix = tern_cache_alloc(nbytes);
    if (!matrix)
        return TERN_ERR_NOMEM;
    for (int64_t n = 0; n < batch->size; n++)
        matrix[n] = draw_matrix(self, &draws, batch->index[n], batch->x);
    batch->at[0] = tern_image_warp(op, batch->x, matrix, self->mode, &self->fill);
    tern_cache_free(matrix, nbytes);
    return batch->at[0] ? TERN_OK : tern_error_code();
}

// ---- making them --------------------------------------------------------------------------------

tern_status tern_check_warp_mode(const char *op, tern_interpolate_mode mode)
{
    TERN_CHECK(mode == TERN_NEAREST || mode == TERN_BILINEAR, TERN_ERR_ARG,
               "%s: interpolation must be TERN_NEAREST or TERN_BILINEAR", op);
    return TERN_OK;
}

static tern_status check(const char *op, const affine *made)
{
    TERN_TRY(tern_check_number_range(op, "degrees", made->degrees));
    TERN_TRY(tern_check_number_range(op, "scale", made->scale));
    TERN_TRY(tern_check_number_range(op, "shear", made->shear_x));
    TERN_TRY(tern_check_number_range(op, "shear_y", made->shear_y));
    TERN_TRY(tern_check_warp_mode(op, made->mode));
    TERN_TRY(tern_check_channels(op, "fill", &made->fill));
    const tern_translation t = made->translate;
    TERN_CHECK(t.x >= 0 && t.x <= 1 && t.y >= 0 && t.y <= 1, TERN_ERR_ARG,
               "%s: translate is {%g, %g}, but shares of a size are 0 to 1", op, t.x, t.y);
    TERN_CHECK(made->scale.low > 0, TERN_ERR_ARG, "%s: scale is {%g, %g}, but must be above 0", op,
               made->scale.low, made->scale.high);
    TERN_CHECK(fabs(made->shear_x.low) < 90 && fabs(made->shear_x.high) < 90 &&
                   fabs(made->shear_y.low) < 90 && fabs(made->shear_y.high) < 90,
               TERN_ERR_ARG, "%s: shear reaches 90 degrees, where nothing is left of an image", op);
    return TERN_OK;
}

static tern_transform *make(const tern_transform_class *klass, const affine *wanted)
{
    if (check(klass->name, wanted))
        return NULL;
    affine *self = (affine *)tern_transform_new(klass);
    if (!self)
        return NULL;
    const tern_transform base = self->base;
    *self = *wanted;
    self->base = base;
    return &self->base;
}

tern_transform *tern_transform_random_affine_with(const tern_transform_random_affine_options *o)
{
    static const tern_transform_class klass = {
        .name = "transform_random_affine", .size = sizeof(affine), .draws = DRAWS, .apply = run};
    if (!o) {
        (void)tern_null_error(klass.name, "options");
        return NULL;
    }
    const affine wanted = {.degrees = tern_range_around(o->degrees, 0),
                           .scale = o->scale,
                           .shear_x = tern_range_around(o->shear, 0),
                           .shear_y = tern_range_around(o->shear_y, 0),
                           .translate = o->translate,
                           .mode = o->interpolation,
                           .fill = o->fill};
    return make(&klass, &wanted);
}

tern_transform *tern_transform_random_rotation_with(const tern_transform_random_rotation_options *o)
{
    static const tern_transform_class klass = {
        .name = "transform_random_rotation", .size = sizeof(affine), .draws = 1, .apply = run};
    if (!o) {
        (void)tern_null_error(klass.name, "options");
        return NULL;
    }
    const affine wanted = {.rotation = true,
                           .degrees = tern_range_around(o->degrees, 0),
                           .scale = {1, 1},
                           .mode = o->interpolation,
                           .fill = o->fill};
    return make(&klass, &wanted);
}
