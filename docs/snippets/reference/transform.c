// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/transform.h, for the site.
#include "examples.h"

static tern_status do_nothing(const tern_transform *self, const tern_sample_context *context,
                              int64_t first_draw, tern_batch *batch)
{
    (void)self;
    (void)context;
    (void)first_draw;
    (void)batch;
    return TERN_OK;
}

static const tern_transform_class nothing_class = {
    .name = "nothing", .size = sizeof(tern_transform), .apply = do_nothing};

static tern_tensor *halve(void *user, tern_tensor *x)
{
    (void)user;
    return tern_mul_scalar(x, 0.5);
}

static void show_transform_retain(void)
{
    tern_transform *flip = tern_transform_random_horizontal_flip(0.5);
    // [tern_transform_retain]
    tern_transform *mine = tern_transform_retain(flip);
    tern_transform_free(flip); // mine is still there
    // [/tern_transform_retain]
    expect(mine);
    tern_transform_free(mine);
}

static void show_data_transform(void)
{
    tern_tensor *x = tern_rand(tern_dims(8, 3, 32, 32));
    tern_dataset *images = tern_data_tensors(x);
    tern_transform *augment = tern_transform_random_horizontal_flip(0.5);
    // [tern_data_transform]
    tern_dataset *train = tern_data_transform(images, augment); // it holds both
    // [/tern_data_transform]
    expect(tern_dataset_count(train) == 8);
    tern_free(train, images, augment);
}

static void show_transform_apply(void)
{
    tern_tensor *x = tern_rand(tern_dims(8, 3, 32, 32));
    // [tern_transform_apply]
    tern_transform *flip = tern_transform_random_horizontal_flip(0.5);
    tern_tensor *y = tern_transform_apply(flip, x, 7); // image n as sample n under seed 7
    // [/tern_transform_apply]
    expect_shape(y, 8, 3, 32, 32);
    tern_transform_free(flip);
}

static void show_transform_compose_new(void)
{
    tern_tensor *x = tern_rand(tern_dims(8, 3, 32, 32));
    // [tern_transform_compose_new]
    tern_transform *parts[] = {tern_transform_random_crop(28), tern_transform_grayscale(1)};
    tern_transform *t = tern_transform_compose_new(2, parts); // it has taken them over
    tern_tensor *y = tern_transform_apply(t, x, 7);
    // [/tern_transform_compose_new]
    expect_shape(y, 8, 1, 28, 28);
    tern_transform_free(t);
}

static void show_transform_compose(void)
{
    tern_tensor *x = tern_rand(tern_dims(8, 3, 32, 32));
    // [tern_transform_compose]
    tern_transform *t =
        tern_transform_compose(tern_transform_random_crop(28), tern_transform_grayscale(1));
    tern_tensor *y = tern_transform_apply(t, x, 7);
    // [/tern_transform_compose]
    expect_shape(y, 8, 1, 28, 28);
    tern_transform_free(t);
}

static void show_transform_to_float(void)
{
    tern_tensor *x = tern_zeros(tern_dims(3, 32, 32), .dtype = TERN_UINT8);
    // [tern_transform_to_float]
    tern_transform *t = tern_transform_to_float();
    tern_tensor *y = tern_transform_apply(t, x, 0); // x / 255
    // [/tern_transform_to_float]
    expect_shape(y, 3, 32, 32);
    tern_transform_free(t);
}

static void show_transform_normalize(void)
{
    tern_tensor *x = tern_rand(tern_dims(8, 3, 32, 32));
    // [tern_transform_normalize]
    tern_transform *t = tern_transform_normalize(tern_channels(0.485, 0.456, 0.406),
                                                 tern_channels(0.229, 0.224, 0.225));
    tern_tensor *y = tern_transform_apply(t, x, 0);
    // [/tern_transform_normalize]
    expect_shape(y, 8, 3, 32, 32);
    tern_transform_free(t);
}

static void show_transform_random_crop(void)
{
    tern_tensor *x = tern_rand(tern_dims(8, 3, 32, 32));
    // [tern_transform_random_crop]
    tern_transform *t = tern_transform_random_crop(32, .padding = 4);
    tern_tensor *y = tern_transform_apply(t, x, 7);
    // [/tern_transform_random_crop]
    expect_shape(y, 8, 3, 32, 32);
    tern_transform_free(t);
}

static void show_transform_center_crop(void)
{
    tern_tensor *x = tern_rand(tern_dims(8, 3, 32, 32));
    // [tern_transform_center_crop]
    tern_transform *t = tern_transform_center_crop(24, 28);
    tern_tensor *y = tern_transform_apply(t, x, 7);
    // [/tern_transform_center_crop]
    expect_shape(y, 8, 3, 24, 28);
    tern_transform_free(t);
}

static void show_transform_random_horizontal_flip(void)
{
    tern_tensor *x = tern_rand(tern_dims(8, 3, 32, 32));
    // [tern_transform_random_horizontal_flip]
    tern_transform *t = tern_transform_random_horizontal_flip(0.5);
    tern_tensor *y = tern_transform_apply(t, x, 7);
    // [/tern_transform_random_horizontal_flip]
    expect_shape(y, 8, 3, 32, 32);
    tern_transform_free(t);
}

static void show_transform_random_vertical_flip(void)
{
    tern_tensor *x = tern_rand(tern_dims(8, 3, 32, 32));
    // [tern_transform_random_vertical_flip]
    tern_transform *t = tern_transform_random_vertical_flip(0.5);
    tern_tensor *y = tern_transform_apply(t, x, 7);
    // [/tern_transform_random_vertical_flip]
    expect_shape(y, 8, 3, 32, 32);
    tern_transform_free(t);
}

static void show_transform_resize(void)
{
    tern_tensor *x = tern_rand(tern_dims(8, 3, 32, 32));
    // [tern_transform_resize]
    tern_transform *t = tern_transform_resize(24, 48);
    tern_tensor *y = tern_transform_apply(t, x, 7);
    // [/tern_transform_resize]
    expect_shape(y, 8, 3, 24, 48);
    tern_transform_free(t);
}

static void show_transform_random_resized_crop(void)
{
    tern_tensor *x = tern_rand(tern_dims(8, 3, 32, 32));
    // [tern_transform_random_resized_crop]
    tern_transform *t = tern_transform_random_resized_crop(24, .scale = {0.2, 1});
    tern_tensor *y = tern_transform_apply(t, x, 7);
    // [/tern_transform_random_resized_crop]
    expect_shape(y, 8, 3, 24, 24);
    tern_transform_free(t);
}

static void show_transform_random_affine(void)
{
    tern_tensor *x = tern_rand(tern_dims(8, 3, 32, 32));
    // [tern_transform_random_affine]
    tern_transform *t = tern_transform_random_affine(.degrees = 10, .scale = {0.9, 1.1});
    tern_tensor *y = tern_transform_apply(t, x, 7);
    // [/tern_transform_random_affine]
    expect_shape(y, 8, 3, 32, 32);
    tern_transform_free(t);
}

static void show_transform_random_rotation(void)
{
    tern_tensor *x = tern_rand(tern_dims(8, 3, 32, 32));
    // [tern_transform_random_rotation]
    tern_transform *t = tern_transform_random_rotation(.degrees = 30);
    tern_tensor *y = tern_transform_apply(t, x, 7);
    // [/tern_transform_random_rotation]
    expect_shape(y, 8, 3, 32, 32);
    tern_transform_free(t);
}

static void show_transform_color_jitter(void)
{
    tern_tensor *x = tern_rand(tern_dims(8, 3, 32, 32));
    // [tern_transform_color_jitter]
    tern_transform *t = tern_transform_color_jitter(.brightness = 0.4, .hue = 0.1);
    tern_tensor *y = tern_transform_apply(t, x, 7);
    // [/tern_transform_color_jitter]
    expect_shape(y, 8, 3, 32, 32);
    tern_transform_free(t);
}

static void show_transform_grayscale(void)
{
    tern_tensor *x = tern_rand(tern_dims(8, 3, 32, 32));
    // [tern_transform_grayscale]
    tern_transform *t = tern_transform_grayscale(1);
    tern_tensor *y = tern_transform_apply(t, x, 7);
    // [/tern_transform_grayscale]
    expect_shape(y, 8, 1, 32, 32);
    tern_transform_free(t);
}

static void show_transform_trivial_augment(void)
{
    tern_tensor *x = tern_rand(tern_dims(8, 3, 32, 32));
    // [tern_transform_trivial_augment]
    tern_transform *t = tern_transform_trivial_augment();
    tern_tensor *y = tern_transform_apply(t, x, 7);
    // [/tern_transform_trivial_augment]
    expect_shape(y, 8, 3, 32, 32);
    tern_transform_free(t);
}

static void show_transform_random_erasing(void)
{
    tern_tensor *x = tern_rand(tern_dims(8, 3, 32, 32));
    // [tern_transform_random_erasing]
    tern_transform *t = tern_transform_random_erasing(.p = 0.25);
    tern_tensor *y = tern_transform_apply(t, x, 7);
    // [/tern_transform_random_erasing]
    expect_shape(y, 8, 3, 32, 32);
    tern_transform_free(t);
}

static void show_transform_mixup(void)
{
    tern_tensor *x = tern_rand(tern_dims(2, 3, 8, 8)), *y = tern_randint(0, 10, tern_dims(2));
    const tern_sample_context context = {.seed = 42, .epoch = 1};
    tern_batch b = {.size = 2, .count = 2, .index = (int64_t[]){0, 1}, .at = {x, y}};
    // [tern_transform_mixup]
    tern_transform *t = tern_transform_mixup(10, .alpha = 0.2);
    tern_status status = tern_transform_batch(t, &context, &b); // b.y is (N, 10) now
    // [/tern_transform_mixup]
    expect(status == TERN_OK);
    expect_shape(b.y, 2, 10);
    tern_transform_free(t);
}

static void show_transform_cutmix(void)
{
    tern_tensor *x = tern_rand(tern_dims(2, 3, 8, 8)), *y = tern_randint(0, 10, tern_dims(2));
    const tern_sample_context context = {.seed = 42, .epoch = 1};
    tern_batch b = {.size = 2, .count = 2, .index = (int64_t[]){0, 1}, .at = {x, y}};
    // [tern_transform_cutmix]
    tern_transform *t = tern_transform_cutmix(10, .alpha = 0.2);
    tern_status status = tern_transform_batch(t, &context, &b); // b.y is (N, 10) now
    // [/tern_transform_cutmix]
    expect(status == TERN_OK);
    expect_shape(b.y, 2, 10);
    tern_transform_free(t);
}

static void show_transform_new(void)
{
    tern_tensor *x = tern_rand(tern_dims(8, 3, 32, 32));
    // [tern_transform_new]
    tern_transform *t = tern_transform_new(&nothing_class);
    tern_tensor *y = tern_transform_apply(t, x, 7);
    // [/tern_transform_new]
    expect_shape(y, 8, 3, 32, 32);
    tern_transform_free(t);
}

static void show_transform_lambda(void)
{
    tern_tensor *x = tern_rand(tern_dims(8, 3, 32, 32));
    // [tern_transform_lambda]
    tern_transform *t = tern_transform_lambda(halve, NULL, NULL);
    tern_tensor *y = tern_transform_apply(t, x, 7);
    // [/tern_transform_lambda]
    expect_shape(y, 8, 3, 32, 32);
    tern_transform_free(t);
}

int transform_examples(void)
{
    show_transform_retain();
    show_data_transform();
    show_transform_apply();
    show_transform_compose_new();
    show_transform_compose();
    show_transform_to_float();
    show_transform_normalize();
    show_transform_random_crop();
    show_transform_center_crop();
    show_transform_random_horizontal_flip();
    show_transform_random_vertical_flip();
    show_transform_resize();
    show_transform_random_resized_crop();
    show_transform_random_affine();
    show_transform_random_rotation();
    show_transform_color_jitter();
    show_transform_grayscale();
    show_transform_trivial_augment();
    show_transform_random_erasing();
    show_transform_mixup();
    show_transform_cutmix();
    show_transform_new();
    show_transform_lambda();
    return failures;
}
