// SPDX-License-Identifier: Apache-2.0
// The pieces of docs/transforms.md.
#include "check.h"

// Eight images of 28 x 28 bytes and their labels, as a dataset.
static tern_dataset *images_new(void)
{
    tern_tensor *x = tern_randint(0, 256, tern_dims(8, 1, 28, 28), .dtype = TERN_UINT8);
    return tern_data_tensors(x, tern_randint(0, 10, tern_dims(8)));
}

static void augmented(void)
{
    tern_dataset *images = images_new();
    // [augment]
    tern_transform *augment = tern_transform_compose(
        tern_transform_random_crop(28, .padding = 2), tern_transform_random_horizontal_flip(0.5),
        tern_transform_to_float(),
        tern_transform_normalize(tern_channels(0.286), tern_channels(0.353)));
    tern_dataset *train = tern_data_transform(images, augment); // it holds both
    // [/augment]
    tern_loader *loader = tern_loader_new(train, .batch_size = 4);
    int batches = 0;
    tern_each_batch (b, loader)
        batches += tern_shape_equal(tern_shape_of(b.x), tern_dims(4, 1, 28, 28));
    expect(batches == 2);
    // [look]
    tern_sample sample;
    if (!tern_dataset_item(images, 3, &sample)) {
        tern_tensor *seen = tern_transform_apply(augment, sample.x, 7); // sample 0 under seed 7
        assert(tern_shape_equal(tern_shape_of(seen), tern_dims(1, 28, 28)));
    }
    // [/look]
    tern_free(loader, train, images, augment);
}

static void mixed(void)
{
    tern_dataset *images = images_new();
    tern_transform *to_float = tern_transform_to_float();
    tern_dataset *train = tern_data_transform(images, to_float);
    tern_loader *loader = tern_loader_new(train, .batch_size = 4);
    // [mixup]
    tern_transform *mixup = tern_transform_mixup(10, .alpha = 0.2);
    tern_sample_context context = {.seed = 42, .epoch = 1};
    tern_each_batch (b, loader) {
        if (tern_transform_batch(mixup, &context, &b))
            break;
        assert(tern_shape_equal(tern_shape_of(b.y), tern_dims(4, 10)));
    }
    // [/mixup]
    tern_free(loader, mixup, train, to_float, images);
}

// [own]
// Adds a number to each sample, the same one to all its pixels.
typedef struct brighter {
    tern_transform base; // first
    double most;
} brighter;

static tern_status brighten(const tern_transform *self, const tern_sample_context *context,
                            int64_t first_draw, tern_batch *batch)
{
    const double most = ((const brighter *)self)->most;
    float by[64];
    if (batch->size > 64)
        return tern_error_raise(TERN_ERR_ARG, "brighter: batches have at most 64 samples");
    for (int64_t n = 0; n < batch->size; n++)
        by[n] = (float)(most * tern_sample_rand(context, batch->index[n], first_draw));
    tern_tensor *shift =
        tern_from_data(tern_dims(batch->size, 1, 1, 1), by, .device = tern_device_of(batch->x));
    batch->at[0] = tern_add(batch->x, shift);
    return tern_error_code();
}

static const tern_transform_class brighter_class = {
    .name = "brighter", .size = sizeof(brighter), .draws = 1, .apply = brighten};
// [/own]

static void own(void)
{
    // [new]
    brighter *shift = (brighter *)tern_transform_new(&brighter_class);
    if (shift)
        shift->most = 0.25;
    // [/new]
    tern_tensor *y = tern_transform_apply(&shift->base, tern_zeros(tern_dims(3, 2, 2)), 1);
    expect(tern_item(tern_amax(y, TERN_ALL_AXES, false)) <= 0.25);
    tern_transform_free(&shift->base);
}

static void bytes(void)
{
    tern_transform *t = tern_transform_normalize(tern_channels(0.286), tern_channels(0.353));
    tern_tensor *x = tern_zeros(tern_dims(1, 28, 28), .dtype = TERN_UINT8);
    expect(!tern_transform_apply(t, x, 0));
    expect_error(TERN_ERR_DTYPE);
    tern_transform_free(t);
}

int main(void)
{
    tern_scope scope = tern_scope_open();
    tern_manual_seed(0);
    augmented();
    mixed();
    own();
    bytes();
    tern_scope_close(scope);
    return finished();
}
