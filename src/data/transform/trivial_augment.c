// SPDX-License-Identifier: Apache-2.0
// One of fourteen changes, by a strength that is drawn: S. G. Müller and F. Hutter,
// "TrivialAugment: Tuning-free Yet State-of-the-Art Data Augmentation", ICCV 2021, its wide space.
#include <math.h>

#include "base/mem.h"
#include "data/transform/color.h"
#include "data/transform/transform.h"
#include "ops/op.h"

typedef struct trivial_augment {
    tern_transform base;
    int64_t bins;
    tern_interpolate_mode mode;
    tern_channel_list fill;
} trivial_augment;

typedef enum change {
    IDENTITY,
    SHEAR_X,
    SHEAR_Y,
    TRANSLATE_X,
    TRANSLATE_Y,
    ROTATE,
    BRIGHTNESS,
    COLOR,
    CONTRAST,
    SHARPNESS,
    POSTERIZE,
    SOLARIZE,
    AUTOCONTRAST,
    EQUALIZE,
    CHANGES
} change;

// From the weakest to the strongest of the bins.
static const struct strength {
    double first, last;
    bool either_sign;
    tern_image_adjustment adjustment;
} strengths[CHANGES] = {
    [SHEAR_X] = {0, 0.99, true, TERN_ADJUST_NOTHING},
    [SHEAR_Y] = {0, 0.99, true, TERN_ADJUST_NOTHING},
    [TRANSLATE_X] = {0, 32, true, TERN_ADJUST_NOTHING},
    [TRANSLATE_Y] = {0, 32, true, TERN_ADJUST_NOTHING},
    [ROTATE] = {0, 135, true, TERN_ADJUST_NOTHING},
    [BRIGHTNESS] = {0, 0.99, true, TERN_ADJUST_BRIGHTNESS},
    [COLOR] = {0, 0.99, true, TERN_ADJUST_SATURATION},
    [CONTRAST] = {0, 0.99, true, TERN_ADJUST_CONTRAST},
    [SHARPNESS] = {0, 0.99, true, TERN_ADJUST_SHARPNESS},
    [POSTERIZE] = {8, 2, false, TERN_ADJUST_POSTERIZE},
    [SOLARIZE] = {1, 0, false, TERN_ADJUST_SOLARIZE},
    [AUTOCONTRAST] = {0, 0, false, TERN_ADJUST_AUTOCONTRAST},
    [EQUALIZE] = {0, 0, false, TERN_ADJUST_EQUALIZE},
};

static tern_image_matrix move_image(change kind, double by, const tern_tensor *x)
{
    tern_image_motion motion = {.scale = 1};
    const double degrees = atan(by) * (180 / 3.14159265358979323846);
    if (kind == SHEAR_X || kind == SHEAR_Y) { // about the upper left corner
        motion.center_x = -0.5 * (double)x->size[3];
        motion.center_y = -0.5 * (double)x->size[2];
        *(kind == SHEAR_X ? &motion.shear_x : &motion.shear_y) = degrees;
    }
    if (kind == TRANSLATE_X || kind == TRANSLATE_Y)
        *(kind == TRANSLATE_X ? &motion.x : &motion.y) = trunc(by);
    if (kind == ROTATE)
        motion.angle = -by;
    return tern_image_affine(&motion);
}

static tern_image_step color_step(change kind, double by)
{
    const bool factor = kind >= BRIGHTNESS && kind <= SHARPNESS;
    return (tern_image_step){strengths[kind].adjustment, factor              ? 1 + by
                                                         : kind == POSTERIZE ? rint(by)
                                                                             : by};
}

// What is done to a sample: the map of its pixels, then a step of its colours.
static void draw_change(const trivial_augment *self, const tern_draws *draws, int64_t index,
                        const tern_tensor *x, tern_image_matrix *matrix, tern_image_step *step)
{
    const change kind = (change)tern_draw_int(draws, index, 0, CHANGES);
    const struct strength *s = &strengths[kind];
    const double bin = (double)tern_draw_int(draws, index, 1, self->bins);
    double by = s->first + (s->last - s->first) * (bin / (double)(self->bins - 1));
    if (s->either_sign && tern_draw(draws, index, 2, 0, 1) < 0.5)
        by = -by;
    *matrix = move_image(kind, by, x);
    *step = color_step(kind, by);
}

static tern_tensor *change_images(const char *op, const trivial_augment *self,
                                  const tern_draws *draws, const tern_batch *batch,
                                  tern_image_matrix *matrix, tern_image_step *steps)
{
    for (int64_t n = 0; n < batch->size; n++)
        draw_change(self, draws, batch->index[n], batch->x, &matrix[n], &steps[n]);
    tern_tensor *y = tern_image_warp(op, batch->x, matrix, self->mode, &self->fill);
    return y ? tern_image_adjust(op, y, steps, 1) : NULL;
}

static tern_status run(const tern_transform *transform, const tern_sample_context *context,
                       int64_t first_draw, tern_batch *batch)
{
    const trivial_augment *self = (const trivial_augment *)transform;
    const char *op = transform->klass->name;
    const tern_draws draws = {context, first_draw};
    TERN_TRY(tern_image_check_colors(op, batch->x));
    TERN_TRY(tern_image_check(op, batch->x, false, &self->fill, NULL));
    const size_t nbytes =
        (size_t)batch->size * (sizeof(tern_image_matrix) + sizeof(tern_image_step));
    tern_image_matrix *matrix = tern_cache_alloc(nbytes);
    if (!matrix)
        return TERN_ERR_NOMEM;
    batch->at[0] = change_images(op, self, &draws, batch, matrix,
                                 (tern_image_step *)(void *)(matrix + batch->size));
    tern_cache_free(matrix, nbytes);
    return batch->at[0] ? TERN_OK : tern_error_code();
}

tern_transform *tern_transform_trivial_augment_with(const tern_transform_trivial_augment_options *o)
{
    static const tern_transform_class klass = {.name = "transform_trivial_augment",
                                               .size = sizeof(trivial_augment),
                                               .draws = 3,
                                               .apply = run};
    if (!o) {
        (void)tern_null_error(klass.name, "options");
        return NULL;
    }
    TERN_CHECK_PTR(o->bins >= 2, TERN_ERR_ARG, "%s: bins is %lld, but must be at least 2",
                   klass.name, (long long)o->bins);
    if (tern_check_warp_mode(klass.name, o->interpolation) ||
        tern_check_channels(klass.name, "fill", &o->fill))
        return NULL;
    trivial_augment *self = (trivial_augment *)tern_transform_new(&klass);
    if (!self)
        return NULL;
    self->bins = o->bins;
    self->mode = o->interpolation;
    self->fill = o->fill;
    return &self->base;
}
