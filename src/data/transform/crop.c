// SPDX-License-Identifier: Apache-2.0
// Windows of images, and flips.
#include "base/integer.h"
#include "data/transform/image.h"
#include "data/transform/transform.h"
#include "ops/op.h"

// ---- flips --------------------------------------------------------------------------------------

typedef struct flip {
    tern_transform base;
    double p;
    bool vertical;
} flip;

static tern_status run_flip(const tern_transform *transform, const tern_sample_context *context,
                            int64_t first_draw, tern_batch *batch)
{
    const flip *self = (const flip *)transform;
    const char *op = transform->klass->name;
    const tern_draws draws = {context, first_draw};
    TERN_TRY(tern_image_check(op, batch->x, true, NULL, NULL));
    const int64_t *size = batch->x->size;
    tern_image_maps maps = {0};
    TERN_TRY(tern_image_maps_new(&maps, size[0], size[2], size[3]));
    for (int64_t n = 0; n < size[0]; n++) {
        const bool flipped = tern_draw(&draws, batch->index[n], 0, 0, 1) < self->p;
        tern_image_map_window(maps.rows + n * size[2], size[2], 0, size[2], TERN_PAD_CONSTANT,
                              flipped && self->vertical);
        tern_image_map_window(maps.cols + n * size[3], size[3], 0, size[3], TERN_PAD_CONSTANT,
                              flipped && !self->vertical);
    }
    batch->at[0] = tern_image_gather(op, batch->x, &maps);
    tern_image_maps_free(&maps);
    return batch->at[0] ? TERN_OK : tern_error_code();
}

static tern_transform *new_flip(const tern_transform_class *klass, double p, bool vertical)
{
    if (tern_check_probability(klass->name, p))
        return NULL;
    flip *self = (flip *)tern_transform_new(klass);
    if (!self)
        return NULL;
    self->p = p;
    self->vertical = vertical;
    return &self->base;
}

tern_transform *tern_transform_random_horizontal_flip(double p)
{
    static const tern_transform_class klass = {.name = "transform_random_horizontal_flip",
                                               .size = sizeof(flip),
                                               .draws = 1,
                                               .apply = run_flip};
    return new_flip(&klass, p, false);
}

tern_transform *tern_transform_random_vertical_flip(double p)
{
    static const tern_transform_class klass = {.name = "transform_random_vertical_flip",
                                               .size = sizeof(flip),
                                               .draws = 1,
                                               .apply = run_flip};
    return new_flip(&klass, p, true);
}

// ---- crops --------------------------------------------------------------------------------------

typedef struct crop {
    tern_transform base;
    bool centered;
    int64_t height, width;
    int64_t padding[2]; // of rows, of columns
    bool pad_if_needed;
    tern_pad_mode mode;
    tern_channel_list fill;
} crop;

// Along one dimension: how much is padded, and how many positions there are for the window.
typedef struct positions {
    int64_t padding, count;
} positions;

static tern_status find_positions(const crop *self, const tern_tensor *x, int dim, positions *out)
{
    const int64_t size = x->size[dim], length = dim == 2 ? self->height : self->width;
    out->padding = self->padding[dim - 2];
    int64_t missing = length - (size + 2 * out->padding);
    if (missing > 0 && self->pad_if_needed) { // on both sides, as torchvision does
        out->padding += missing;
        missing = -missing;
    }
    TERN_CHECK(missing <= 0, TERN_ERR_SHAPE,
               "%s: x has shape %s, so padded %lld %s, but %lld are to be cut out of them",
               self->base.klass->name, tern_shape_string(tern_shape_get(x)),
               (long long)(size + 2 * out->padding), dim == 2 ? "rows" : "columns",
               (long long)length);
    TERN_CHECK(self->mode != TERN_PAD_REFLECT || out->padding < size, TERN_ERR_SHAPE,
               "%s: x has shape %s, and reflecting pads it by less than its %lld %s, not by %lld",
               self->base.klass->name, tern_shape_string(tern_shape_get(x)), (long long)size,
               dim == 2 ? "rows" : "columns", (long long)out->padding);
    out->count = 1 - missing;
    return TERN_OK;
}

// Where the window begins among the rows or columns of x.
static int64_t center(int64_t size, int64_t length)
{
    if (length > size) // torchvision pads the smaller half before
        return -((length - size) / 2);
    const int64_t twice = size - length; // half of it, and half to even
    return twice / 2 + (twice % 4 == 3);
}

static tern_status map_windows(const crop *self, const tern_draws *draws, const tern_batch *batch,
                               tern_image_maps *maps)
{
    const int64_t *size = batch->x->size;
    positions vertical = {0}, horizontal = {0};
    if (!self->centered) {
        TERN_TRY(find_positions(self, batch->x, 2, &vertical));
        TERN_TRY(find_positions(self, batch->x, 3, &horizontal));
    }
    TERN_TRY(tern_image_maps_new(maps, size[0], self->height, self->width));
    for (int64_t n = 0; n < size[0]; n++) {
        int64_t top = center(size[2], self->height), left = center(size[3], self->width);
        if (!self->centered) {
            top = tern_draw_int(draws, batch->index[n], 0, vertical.count) - vertical.padding;
            left = tern_draw_int(draws, batch->index[n], 1, horizontal.count) - horizontal.padding;
        }
        tern_image_map_window(maps->rows + n * self->height, self->height, top, size[2], self->mode,
                              false);
        tern_image_map_window(maps->cols + n * self->width, self->width, left, size[3], self->mode,
                              false);
    }
    return TERN_OK;
}

static tern_status run_crop(const tern_transform *transform, const tern_sample_context *context,
                            int64_t first_draw, tern_batch *batch)
{
    const crop *self = (const crop *)transform;
    const char *op = transform->klass->name;
    const tern_draws draws = {context, first_draw};
    TERN_TRY(tern_image_check(op, batch->x, true, &self->fill, NULL));
    tern_image_maps maps = {.fill = &self->fill};
    TERN_TRY(map_windows(self, &draws, batch, &maps));
    batch->at[0] = tern_image_gather(op, batch->x, &maps);
    tern_image_maps_free(&maps);
    return batch->at[0] ? TERN_OK : tern_error_code();
}

tern_transform *tern_transform_center_crop(int64_t height, int64_t width)
{
    static const tern_transform_class klass = {
        .name = "transform_center_crop", .size = sizeof(crop), .apply = run_crop};
    if (tern_check_image_size(klass.name, height, width))
        return NULL;
    crop *self = (crop *)tern_transform_new(&klass);
    if (!self)
        return NULL;
    self->centered = true;
    self->height = height;
    self->width = width;
    self->mode = TERN_PAD_CONSTANT;
    return &self->base;
}

static tern_status check_crop(const char *op, const tern_transform_random_crop_options *o,
                              const int64_t padding[2])
{
    TERN_TRY(tern_check_image_size(op, o->height, o->width ? o->width : o->height));
    TERN_TRY(tern_check_channels(op, "fill", &o->fill));
    TERN_CHECK(o->padding.third == TERN_SAME_AS_FIRST || o->padding.third == 0, TERN_ERR_ARG,
               "%s: padding has three numbers, but an image only rows and columns", op);
    for (int i = 0; i < 2; i++)
        TERN_CHECK(padding[i] >= 0 && padding[i] <= INT32_MAX, TERN_ERR_ARG,
                   "%s: padding is %lld, but must be 0 to 2147483647", op, (long long)padding[i]);
    TERN_CHECK(o->padding_mode == TERN_PAD_UNSPECIFIED || o->padding_mode == TERN_PAD_CONSTANT ||
                   o->padding_mode == TERN_PAD_REFLECT || o->padding_mode == TERN_PAD_REPLICATE,
               TERN_ERR_ARG,
               "%s: padding_mode must be TERN_PAD_CONSTANT, TERN_PAD_REFLECT or TERN_PAD_REPLICATE",
               op);
    return TERN_OK;
}

tern_transform *tern_transform_random_crop_with(const tern_transform_random_crop_options *o)
{
    static const tern_transform_class klass = {
        .name = "transform_random_crop", .size = sizeof(crop), .draws = 2, .apply = run_crop};
    if (!o) {
        (void)tern_null_error(klass.name, "options");
        return NULL;
    }
    const int64_t rows = o->padding.first;
    const int64_t cols = o->padding.second == TERN_SAME_AS_FIRST ? rows : o->padding.second;
    if (check_crop(klass.name, o, (const int64_t[]){rows, cols}))
        return NULL;
    crop *self = (crop *)tern_transform_new(&klass);
    if (!self)
        return NULL;
    self->height = o->height;
    self->width = o->width ? o->width : o->height;
    self->padding[0] = rows;
    self->padding[1] = cols;
    self->pad_if_needed = o->pad_if_needed;
    self->mode = o->padding_mode ? o->padding_mode : TERN_PAD_CONSTANT;
    self->fill = o->fill;
    return &self->base;
}
