// SPDX-License-Identifier: Apache-2.0
// Transforms of datasets and batches that live on a device: the draws, and what comes of them, are
// the CPU's.
#include "device_check.h"
#include "sim.h"

#define COUNT  6
#define HEIGHT 11
#define WIDTH  14

// (COUNT, channels, HEIGHT, WIDTH) of numbers from 0 to 1, or bytes.
static tern_tensor *images(int channels, bool bytes)
{
    const tern_sample_context context = {.seed = 1};
    tern_tensor *x = tern_zeros(tern_dims(COUNT, channels, HEIGHT, WIDTH),
                                .dtype = bytes ? TERN_UINT8 : TERN_FLOAT32);
    for (int64_t i = 0; i < tern_numel(x); i++) {
        const double value = tern_sample_rand(&context, i, 0);
        if (bytes)
            ((uint8_t *)tern_data(x))[i] = (uint8_t)(value * 255.99);
        else
            ((float *)tern_data(x))[i] = (float)value;
    }
    return x;
}

static void compare(const char *what, tern_tensor *far, tern_tensor *near, bool exact)
{
    if (!far || !near)
        fail_msg("%s: %s", what, tern_error_message());
    assert_true(is_on(far, here));
    tern_tensor *copy = tern_to(far, tern_cpu(0));
    assert_true(tern_shape_equal(tern_shape_of(copy), tern_shape_of(near)));
    assert_int_equal(tern_dtype_of(copy), tern_dtype_of(near));
    const size_t nbytes = (size_t)tern_numel(near) * tern_dtype_size(tern_dtype_of(near));
    copy = tern_contiguous(copy);
    near = tern_contiguous(near);
    if (exact && memcmp(tern_data(copy), tern_data(near), nbytes) != 0)
        fail_msg("%s: other bits than on the CPU", what);
    for (int64_t i = 0; !exact && i < tern_numel(near); i++)
        if (!(fabsf(((float *)tern_data(copy))[i] - ((float *)tern_data(near))[i]) <= 1e-6F))
            fail_msg("%s: element %lld is %.9g, on the CPU %.9g", what, (long long)i,
                     (double)((float *)tern_data(copy))[i], (double)((float *)tern_data(near))[i]);
}

static void check(tern_transform *transform, tern_tensor *x, bool exact)
{
    if (!transform)
        fail_msg("%s", tern_error_message());
    for (uint64_t seed = 0; seed < 3; seed++)
        compare(transform->klass->name, tern_transform_apply(transform, tern_to(x, here), seed),
                tern_transform_apply(transform, x, seed), exact);
    tern_transform_free(transform);
}

static void pixels_that_are_moved_have_the_bits_of_the_cpu(void **state)
{
    (void)state;
    for (int bytes = 0; bytes < 2; bytes++) {
        tern_tensor *x = images(3, bytes);
        const tern_channel_list fill = tern_channels(0.25, 100, 7);
        check(tern_transform_random_horizontal_flip(0.5), x, true);
        check(tern_transform_random_vertical_flip(0.5), x, true);
        check(tern_transform_center_crop(5, 20), x, true);
        check(tern_transform_random_crop(9, 12, .padding = {3, 4}, .fill = fill), x, true);
        check(tern_transform_random_crop(9, 12, .padding = 3, .padding_mode = TERN_PAD_REFLECT), x,
              true);
        check(tern_transform_random_crop(9, 12, .padding = 3, .padding_mode = TERN_PAD_REPLICATE),
              x, true);
        check(tern_transform_random_erasing(.p = 0.7, .value = fill), x, true);
        check(tern_transform_resize(7, 20, .interpolation = TERN_NEAREST), x, true);
        check(tern_transform_random_resized_crop(6, .interpolation = TERN_NEAREST_EXACT), x, true);
        check(tern_transform_to_float(), x, true);
    }
}

static void values_have_those_of_the_cpu(void **state)
{
    (void)state;
    for (int channels = 1; channels <= 3; channels += 2) {
        tern_tensor *x = images(channels, false);
        check(tern_transform_normalize(tern_channels(0.4), tern_channels(0.3)), x, true);
        check(tern_transform_random_erasing(.p = 0.7, .noise = true), x, true);
        check(tern_transform_resize(7), x, false);
        check(tern_transform_resize(5, 20, .interpolation = TERN_BICUBIC, .antialias = false), x,
              false);
        check(tern_transform_random_resized_crop(8, .interpolation = TERN_BICUBIC), x, false);
        check(tern_transform_random_affine(.degrees = 40, .translate = {0.2, 0.2},
                                           .scale = {0.7, 1.3}, .shear = 10,
                                           .fill = tern_channels(0.5)),
              x, true);
        check(tern_transform_random_rotation(.degrees = 90, .interpolation = TERN_BILINEAR,
                                             .fill = tern_channels(0.5)),
              x, false);
        check(tern_transform_color_jitter(.brightness = 0.4, .contrast = 0.4, .saturation = 0.4,
                                          .hue = 0.3),
              x, false);
        check(tern_transform_grayscale(3), x, false);
    }
}

static void each_of_trivial_augments_changes_is_that_of_the_cpu(void **state)
{
    (void)state;
    tern_tensor *x = images(3, false);
    tern_transform *t = tern_transform_trivial_augment(.interpolation = TERN_BILINEAR);
    for (uint64_t seed = 0; seed < 20; seed++) // 120 samples of 14 changes
        compare("trivial_augment", tern_transform_apply(t, tern_to(x, here), seed),
                tern_transform_apply(t, x, seed), false);
    tern_transform_free(t);
}

static const int64_t numbers[] = {3, 0, 3, 5};

static void a_moved_dataset_is_transformed_where_it_is(void **state)
{
    (void)state;
    tern_tensor *x = images(1, false);
    tern_dataset *set = tern_data_tensors(x, tern_arange(0, COUNT, 1));
    tern_transform *transform = tern_transform_compose(
        tern_transform_random_crop(8, .padding = 2), tern_transform_random_horizontal_flip(0.5),
        tern_transform_normalize(tern_channels(0.3), tern_channels(0.4)));
    tern_dataset *transformed = tern_data_transform(set, transform);
    tern_batch near, far;
    assert_int_equal(tern_dataset_get(transformed, numbers, 4, &near), TERN_OK);
    assert_ptr_equal(tern_dataset_to(transformed, here), transformed);
    assert_int_equal(tern_dataset_get(transformed, numbers, 4, &far), TERN_OK);
    compare("the dataset", far.x, near.x, true);
    assert_true(is_on(far.y, here));
    tern_free(transformed, set, transform);
}

static void mixed_batches_are_those_of_the_cpu(void **state)
{
    (void)state;
    const tern_sample_context context = {.seed = 4, .epoch = 1};
    const int64_t index[COUNT] = {5, 4, 3, 2, 1, 0};
    for (int cut = 0; cut < 2; cut++) {
        tern_transform *mix = cut ? tern_transform_cutmix(COUNT) : tern_transform_mixup(COUNT);
        tern_batch near = {.size = COUNT, .count = 2, .index = index};
        near.at[0] = images(3, false);
        near.at[1] = tern_arange(0, COUNT, 1);
        tern_batch far = near;
        far.at[0] = tern_to(near.at[0], here);
        far.at[1] = tern_to(near.at[1], here);
        assert_int_equal(tern_transform_batch(mix, &context, &near), TERN_OK);
        assert_int_equal(tern_transform_batch(mix, &context, &far), TERN_OK);
        compare("x", far.x, near.x, cut);
        compare("y", far.y, near.y, false);
        tern_transform_free(mix);
    }
}

static void run_once(const tern_transform *transform, tern_tensor *x)
{
    tern_scope inside = tern_scope_open();
    assert_non_null(tern_transform_apply(transform, x, 0));
    tern_scope_close(inside);
}

static void no_transform_waits_for_the_device(void **state)
{
    (void)state;
    tern_tensor *x = tern_to(images(3, false), here);
    tern_transform *transform = tern_transform_compose(
        tern_transform_random_crop(9, .padding = 2), tern_transform_random_horizontal_flip(0.5),
        tern_transform_random_affine(.degrees = 10), tern_transform_random_resized_crop(8),
        tern_transform_color_jitter(.brightness = 0.4, .hue = 0.1),
        tern_transform_trivial_augment(), tern_transform_random_erasing());
    run_once(transform, x);                            // memory of these sizes is there from now on
    assert_int_equal(tern_synchronize(here), TERN_OK); // and all staging buffers are free
    tern_sim_counts c;
    sim.count_reset();
    run_once(transform, x);
    sim.count(&c);
    tern_transform_free(transform);
    assert_int_equal(c.device_waits + c.stream_waits + c.event_waits + c.copy_waits + c.free_waits,
                     0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, check_open, check_close)

int main(int argc, char **argv)
{
    const int nothing = choose_devices(argc, argv);
    const struct CMUnitTest tests[] = {
        TEST(pixels_that_are_moved_have_the_bits_of_the_cpu),
        TEST(values_have_those_of_the_cpu),
        TEST(each_of_trivial_augments_changes_is_that_of_the_cpu),
        TEST(a_moved_dataset_is_transformed_where_it_is),
        TEST(mixed_batches_are_those_of_the_cpu),
    };
    const struct CMUnitTest on_simulated[] = {
        TEST(no_transform_waits_for_the_device),
    };
    if (nothing)
        return nothing;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (sim_begin())
        failed += cmocka_run_group_tests(on_simulated, NULL, NULL);
    tern_shutdown();
    return failed;
}
