// SPDX-License-Identifier: Apache-2.0
// transform.h
#include "errors.h"

#define NO_OPTIONS(name)                                                                           \
    REFUSES(tern_transform_##name##_with, "options that are NULL", TERN_ERR_NULL,                  \
            "transform_" #name ": options is NULL", tern_transform_##name##_with(NULL))

// ---- counting and using -------------------------------------------------------------------------

CANNOT_FAIL(tern_transform_retain, "NULL stays NULL", !tern_transform_retain(NULL))
static int free_twice(void)
{
    tern_transform *transform = tern_transform_to_float();
    tern_transform_free(transform);
    tern_transform_free(transform);
    return 1;
}

REFUSES(tern_transform_free, "a transform that was freed", TERN_ERR_STATE,
        "transform_free: transform_to_float was freed already", free_twice())
TAKES(tern_transform_free, "NULL", (tern_transform_free(NULL), 1))

// f->dataset beside a transform, which goes again.
static tern_dataset *transformed(tern_dataset *dataset, tern_transform *transform)
{
    tern_dataset *result = tern_data_transform(dataset, transform);
    tern_transform_free(transform);
    return result;
}

REFUSES(tern_data_transform, "a dataset that is NULL", TERN_ERR_NULL,
        "data_transform: dataset is NULL", transformed(NULL, tern_transform_to_float()))
REFUSES(tern_data_transform, "a transform that is NULL", TERN_ERR_NULL,
        "data_transform: transform is NULL", tern_data_transform(f->dataset, NULL))
REFUSES(tern_data_transform, "a transform of batches", TERN_ERR_ARG,
        "data_transform: transform_mixup mixes the samples of a batch|tern_transform_batch",
        transformed(f->dataset, tern_transform_mixup(3)))

static const tern_sample_context context = {.seed = 1};
static const int64_t index_[] = {0, 1};

// A batch of x, by a flip.
static tern_status run(tern_tensor *x, int64_t size, const int64_t *index)
{
    tern_transform *flip = tern_transform_random_horizontal_flip(0.5);
    tern_batch b = {.size = size, .count = 1, .index = index, .at = {x}};
    const tern_status status = tern_transform_batch(flip, &context, &b);
    tern_transform_free(flip);
    return b.at[0] == x ? status : TERN_OK;
}

static tern_status run_without(bool no_context, bool no_batch)
{
    tern_transform *flip = tern_transform_random_horizontal_flip(0.5);
    tern_batch b = {.size = 2, .count = 1, .index = index_};
    const tern_status status =
        tern_transform_batch(flip, no_context ? NULL : &context, no_batch ? NULL : &b);
    tern_transform_free(flip);
    return status;
}

REFUSES(tern_transform_batch, "a transform that is NULL", TERN_ERR_NULL,
        "transform_batch: transform is NULL", tern_transform_batch(NULL, &context, NULL))
REFUSES(tern_transform_batch, "a context that is NULL", TERN_ERR_NULL,
        "transform_batch: context is NULL", run_without(true, false))
REFUSES(tern_transform_batch, "a batch that is NULL", TERN_ERR_NULL,
        "transform_batch: batch is NULL", run_without(false, true))
REFUSES(tern_transform_batch, "a batch without x", TERN_ERR_NULL, "transform_batch: x is NULL",
        run_without(false, false))
REFUSES(tern_transform_batch, "a batch without numbers", TERN_ERR_NULL,
        "transform_batch: the batch's index is NULL", run(f->x, 2, NULL))
REFUSES(tern_transform_batch, "a batch of none", TERN_ERR_ARG,
        "transform_batch: the batch has 0 samples", run(f->x, 0, index_))
REFUSES(tern_transform_batch, "another number of samples", TERN_ERR_SHAPE,
        "transform_batch: x has shape (2, 3), but the batch 1 samples", run(f->x, 1, index_))
REFUSES(tern_transform_batch, "x that died", TERN_ERR_STATE, "transform_batch: x|died",
        run(f->dead, 2, index_))
REFUSES(tern_transform_batch, "x that are no images", TERN_ERR_SHAPE,
        "transform_random_horizontal_flip: x has shape (2, 3), but must be images",
        run(f->x, 2, index_))

static tern_tensor *apply(tern_transform *transform, tern_tensor *x)
{
    tern_tensor *y = tern_transform_apply(transform, x, 0);
    tern_transform_free(transform);
    return y;
}

REFUSES(tern_transform_apply, "a transform that is NULL", TERN_ERR_NULL,
        "transform_apply: transform is NULL", tern_transform_apply(NULL, f->x, 0))
REFUSES(tern_transform_apply, "x that is NULL", TERN_ERR_NULL, "transform_apply: x is NULL",
        apply(tern_transform_to_float(), NULL))
REFUSES(tern_transform_apply, "x that died", TERN_ERR_STATE, "transform_apply: x|died",
        apply(tern_transform_to_float(), f->dead))
REFUSES(tern_transform_apply, "x that is no image", TERN_ERR_SHAPE,
        "transform_apply: x has shape (2, 3), but must be (C, H, W) or (N, C, H, W)",
        apply(tern_transform_to_float(), f->x))

// ---- compositions and transforms of one's own ---------------------------------------------------

REFUSES(tern_transform_compose_new, "parts that are NULL", TERN_ERR_NULL,
        "transform_compose: parts is NULL", tern_transform_compose_new(1, NULL))
REFUSES(tern_transform_compose_new, "a part that is NULL", TERN_ERR_NULL,
        "transform_compose: a part is NULL",
        tern_transform_compose(tern_transform_to_float(), NULL))
REFUSES(tern_transform_compose_new, "no parts", TERN_ERR_ARG, "transform_compose: count is 0",
        tern_transform_compose_new(0, (tern_transform *const[]){NULL}))

static tern_status do_nothing(const tern_transform *self, const tern_sample_context *unused,
                              int64_t first_draw, tern_batch *batch)
{
    (void)self;
    (void)unused;
    (void)first_draw;
    (void)batch;
    return TERN_OK;
}

static const tern_transform_class short_class = {.name = "short", .size = 8, .apply = do_nothing};
static const tern_transform_class idle_class = {.name = "idle", .size = sizeof(tern_transform)};
static const tern_transform_class odd_class = {
    .name = "odd", .size = sizeof(tern_transform), .draws = -1, .apply = do_nothing};

REFUSES(tern_transform_new, "a class that is NULL", TERN_ERR_NULL,
        "transform_new: transform_class is NULL", tern_transform_new(NULL))
REFUSES(tern_transform_new, "a class without apply", TERN_ERR_NULL,
        "transform_new: the class's apply is NULL", tern_transform_new(&idle_class))
REFUSES(tern_transform_new, "a struct that is too small", TERN_ERR_ARG,
        "transform_new: the struct of short has 8 bytes", tern_transform_new(&short_class))
REFUSES(tern_transform_new, "negative draws", TERN_ERR_ARG,
        "transform_new: odd says that it uses -1 random numbers", tern_transform_new(&odd_class))
REFUSES(tern_transform_lambda, "a function that is NULL", TERN_ERR_NULL,
        "transform_lambda: function is NULL", tern_transform_lambda(NULL, NULL, NULL))

// ---- values -------------------------------------------------------------------------------------

CANNOT_FAIL(tern_channel_list_make, "keeps a count that every user refuses",
            tern_channel_list_make(17, (double[17]){0}).count == 17)
CANNOT_FAIL(tern_transform_to_float, "takes nothing",
            (tern_transform_free(tern_transform_to_float()), 1))
static const tern_channel_list many = {.count = 17}, none = {0}, one = {1, {1}}, zero = {1, {0}};
static const tern_channel_list endless = {1, {INFINITY}};
REFUSES(tern_transform_normalize, "too many means", TERN_ERR_ARG,
        "transform_normalize: mean has 17 numbers|16", tern_transform_normalize(many, one))
REFUSES(tern_transform_normalize, "no mean", TERN_ERR_ARG,
        "transform_normalize: mean has no numbers", tern_transform_normalize(none, one))
REFUSES(tern_transform_normalize, "no deviation", TERN_ERR_ARG,
        "transform_normalize: std has no numbers", tern_transform_normalize(one, none))
REFUSES(tern_transform_normalize, "a deviation of 0", TERN_ERR_ARG,
        "transform_normalize: std[0] is 0", tern_transform_normalize(one, zero))
REFUSES(tern_transform_normalize, "a mean that is not finite", TERN_ERR_ARG,
        "transform_normalize: mean[0] is inf", tern_transform_normalize(endless, one))

// ---- crops and flips ----------------------------------------------------------------------------

NO_OPTIONS(random_crop)
REFUSES(tern_transform_random_crop_with, "no rows", TERN_ERR_ARG,
        "transform_random_crop: the result would have 0 rows", tern_transform_random_crop(0, 3))
REFUSES(tern_transform_random_crop_with, "negative padding", TERN_ERR_ARG,
        "transform_random_crop: padding is -2", tern_transform_random_crop(3, .padding = {1, -2}))
REFUSES(tern_transform_random_crop_with, "padding of three", TERN_ERR_ARG,
        "transform_random_crop: padding has three numbers",
        tern_transform_random_crop(3, .padding = {1, 2, 3}))
REFUSES(tern_transform_random_crop_with, "too much fill", TERN_ERR_ARG,
        "transform_random_crop: fill has 17 numbers", tern_transform_random_crop(3, .fill = many))
REFUSES(tern_transform_random_crop_with, "another padding", TERN_ERR_ARG,
        "transform_random_crop: padding_mode|TERN_PAD_REPLICATE",
        tern_transform_random_crop(3, .padding_mode = TERN_PAD_CIRCULAR))
REFUSES(tern_transform_center_crop, "no columns", TERN_ERR_ARG,
        "transform_center_crop: the result would have 3 rows and -1 columns",
        tern_transform_center_crop(3, -1))
REFUSES(tern_transform_random_horizontal_flip, "no probability", TERN_ERR_ARG,
        "transform_random_horizontal_flip: p is 1.5|0 to 1",
        tern_transform_random_horizontal_flip(1.5))
REFUSES(tern_transform_random_vertical_flip, "no number", TERN_ERR_ARG,
        "transform_random_vertical_flip: p is |nan", tern_transform_random_vertical_flip(NAN))

// ---- sizes and maps -----------------------------------------------------------------------------

NO_OPTIONS(resize)
REFUSES(tern_transform_resize_with, "no size", TERN_ERR_ARG,
        "transform_resize: the result would have 0 rows", tern_transform_resize(0))
REFUSES(tern_transform_resize_with, "another mode", TERN_ERR_ARG,
        "transform_resize: interpolation must be|TERN_BICUBIC",
        tern_transform_resize(3, .interpolation = TERN_AREA))
NO_OPTIONS(random_resized_crop)
REFUSES(tern_transform_random_resized_crop_with, "no size", TERN_ERR_ARG,
        "transform_random_resized_crop: the result would have 3 rows and -1 columns",
        tern_transform_random_resized_crop(3, -1))
REFUSES(tern_transform_random_resized_crop_with, "more than the whole", TERN_ERR_ARG,
        "transform_random_resized_crop: scale is {0.5, 1.5}",
        tern_transform_random_resized_crop(3, .scale = {0.5, 1.5}))
REFUSES(tern_transform_random_resized_crop_with, "a range that falls", TERN_ERR_ARG,
        "transform_random_resized_crop: ratio is {2, 1}",
        tern_transform_random_resized_crop(3, .ratio = {2, 1}))
REFUSES(tern_transform_random_resized_crop_with, "a ratio of 0", TERN_ERR_ARG,
        "transform_random_resized_crop: ratio is {0, 1}|above 0",
        tern_transform_random_resized_crop(3, .ratio = {0, 1}))
REFUSES(tern_transform_random_resized_crop_with, "another mode", TERN_ERR_ARG,
        "transform_random_resized_crop: interpolation",
        tern_transform_random_resized_crop(3, .interpolation = TERN_TRILINEAR))
NO_OPTIONS(random_affine)
REFUSES(tern_transform_random_affine_with, "an angle that is not finite", TERN_ERR_ARG,
        "transform_random_affine: degrees is {-inf, inf}",
        tern_transform_random_affine(.degrees = INFINITY))
REFUSES(tern_transform_random_affine_with, "a shift beyond the image", TERN_ERR_ARG,
        "transform_random_affine: translate is {0, 1.5}",
        tern_transform_random_affine(.translate = {0, 1.5}))
REFUSES(tern_transform_random_affine_with, "no scale", TERN_ERR_ARG,
        "transform_random_affine: scale is {0, 1}|above 0",
        tern_transform_random_affine(.scale = {0, 1}))
REFUSES(tern_transform_random_affine_with, "a shear to a line", TERN_ERR_ARG,
        "transform_random_affine: shear reaches 90 degrees",
        tern_transform_random_affine(.shear = 90))
REFUSES(tern_transform_random_affine_with, "a range that falls", TERN_ERR_ARG,
        "transform_random_affine: shear_y is {1, -1}",
        tern_transform_random_affine(.shear_y = {1, -1}))
REFUSES(tern_transform_random_affine_with, "another mode", TERN_ERR_ARG,
        "transform_random_affine: interpolation must be TERN_NEAREST or TERN_BILINEAR",
        tern_transform_random_affine(.interpolation = TERN_BICUBIC))
NO_OPTIONS(random_rotation)
REFUSES(tern_transform_random_rotation_with, "too much fill", TERN_ERR_ARG,
        "transform_random_rotation: fill has 17 numbers",
        tern_transform_random_rotation(.fill = many))

// ---- colours ------------------------------------------------------------------------------------

NO_OPTIONS(color_jitter)
REFUSES(tern_transform_color_jitter_with, "a negative factor", TERN_ERR_ARG,
        "transform_color_jitter: contrast is {-1, 1}",
        tern_transform_color_jitter(.contrast = {-1, 1}))
REFUSES(tern_transform_color_jitter_with, "a range that falls", TERN_ERR_ARG,
        "transform_color_jitter: brightness is {2, 1}",
        tern_transform_color_jitter(.brightness = {2, 1}))
REFUSES(tern_transform_color_jitter_with, "no number", TERN_ERR_ARG,
        "transform_color_jitter: saturation is {0, nan}",
        tern_transform_color_jitter(.saturation = {0, NAN}))
REFUSES(tern_transform_color_jitter_with, "more than half a turn", TERN_ERR_ARG,
        "transform_color_jitter: hue is {-0.6, 0.6}|0.5", tern_transform_color_jitter(.hue = 0.6))
REFUSES(tern_transform_grayscale, "two channels", TERN_ERR_ARG,
        "transform_grayscale: channels is 2", tern_transform_grayscale(2))
NO_OPTIONS(trivial_augment)
REFUSES(tern_transform_trivial_augment_with, "one strength", TERN_ERR_ARG,
        "transform_trivial_augment: bins is 1", tern_transform_trivial_augment(.bins = 1))
REFUSES(tern_transform_trivial_augment_with, "another mode", TERN_ERR_ARG,
        "transform_trivial_augment: interpolation",
        tern_transform_trivial_augment(.interpolation = TERN_BICUBIC))

// ---- erasing and mixing -------------------------------------------------------------------------

NO_OPTIONS(random_erasing)
REFUSES(tern_transform_random_erasing_with, "no probability", TERN_ERR_ARG,
        "transform_random_erasing: p is -1", tern_transform_random_erasing(.p = -1))
REFUSES(tern_transform_random_erasing_with, "more than the whole", TERN_ERR_ARG,
        "transform_random_erasing: scale is {0, 2}", tern_transform_random_erasing(.scale = {0, 2}))
REFUSES(tern_transform_random_erasing_with, "a ratio of 0", TERN_ERR_ARG,
        "transform_random_erasing: ratio is {0, 1}", tern_transform_random_erasing(.ratio = {0, 1}))
REFUSES(tern_transform_random_erasing_with, "a value and noise", TERN_ERR_ARG,
        "transform_random_erasing: value and noise",
        tern_transform_random_erasing(.value = one, .noise = true))
REFUSES(tern_transform_mixup_with, "options that are NULL", TERN_ERR_NULL,
        "transform_mixup: options is NULL", tern_transform_mixup_with(NULL))
REFUSES(tern_transform_mixup_with, "no classes", TERN_ERR_ARG, "transform_mixup: classes is 0",
        tern_transform_mixup(0))
REFUSES(tern_transform_mixup_with, "an alpha of 0", TERN_ERR_ARG, "transform_mixup: alpha is 0",
        tern_transform_mixup(3, .alpha = 0))
REFUSES(tern_transform_cutmix_with, "options that are NULL", TERN_ERR_NULL,
        "transform_cutmix: options is NULL", tern_transform_cutmix_with(NULL))
REFUSES(tern_transform_cutmix_with, "no alpha", TERN_ERR_ARG, "transform_cutmix: alpha is |nan",
        tern_transform_cutmix(3, .alpha = NAN))
