// SPDX-License-Identifier: Apache-2.0
// Transforms: values, crops and flips, compositions, and those of one's own.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "transform_test.h"

// ---- crops and flips ----------------------------------------------------------------------------

static void a_flip_mirrors_the_samples_whose_draw_is_below_p(void **state)
{
    (void)state;
    tern_tensor *x = ramp(8, 2, 3, 4);
    for (int vertical = 0; vertical < 2; vertical++) {
        tern_transform *flip = vertical ? tern_transform_random_vertical_flip(0.4)
                                        : tern_transform_random_horizontal_flip(0.4);
        const float *y = values_of(tern_transform_apply(flip, x, 5)), *from = tern_data(x);
        int flipped = 0;
        for (int n = 0; n < 8; n++) {
            const bool mirrored = drawn(5, n, 0) < 0.4;
            flipped += mirrored;
            for (int c = 0; c < 2; c++)
                for (int h = 0; h < 3; h++)
                    for (int w = 0; w < 4; w++) {
                        const int row = mirrored && vertical ? 2 - h : h;
                        const int col = mirrored && !vertical ? 3 - w : w;
                        assert_float_equal(y[at(n, c, h, w, 2, 3, 4)],
                                           from[at(n, c, row, col, 2, 3, 4)], 0);
                    }
        }
        assert_in_range(flipped, 1, 7);
        tern_transform_free(flip);
    }
}

static void certain_flips_flip_and_impossible_ones_do_not(void **state)
{
    (void)state;
    tern_tensor *x = tern_from_data(tern_dims(1, 1, 3), ((float[]){1, 2, 3}));
    tern_transform *always = tern_transform_random_horizontal_flip(1);
    tern_transform *never = tern_transform_random_horizontal_flip(0);
    assert_memory_equal(tern_data(tern_transform_apply(always, x, 0)), ((float[]){3, 2, 1}), 12);
    assert_memory_equal(tern_data(tern_transform_apply(never, x, 0)), ((float[]){1, 2, 3}), 12);
    tern_free(always, never);
}

// The element of the padded image, by hand.
static float padded(const float *plane, int row, int col, tern_pad_mode mode, float fill)
{
    int at[] = {row, col};
    const int size[] = {4, 5};
    for (int i = 0; i < 2; i++) {
        if (mode == TERN_PAD_CONSTANT && (at[i] < 0 || at[i] >= size[i]))
            return fill;
        if (mode == TERN_PAD_REFLECT)
            at[i] = at[i] < 0 ? -at[i] : at[i] >= size[i] ? 2 * size[i] - 2 - at[i] : at[i];
        else
            at[i] = at[i] < 0 ? 0 : at[i] >= size[i] ? size[i] - 1 : at[i];
    }
    return plane[at[0] * 5 + at[1]];
}

static void a_crop_is_a_window_of_the_padded_image(void **state)
{
    (void)state;
    tern_tensor *x = ramp(16, 2, 4, 5);
    const tern_pad_mode modes[] = {TERN_PAD_CONSTANT, TERN_PAD_REFLECT, TERN_PAD_REPLICATE};
    for (int m = 0; m < 3; m++) {
        tern_transform *crop = tern_transform_random_crop(
            3, 4, .padding = {2, 3}, .padding_mode = modes[m], .fill = tern_channels(-1, -2));
        const float *y = values_of(tern_transform_apply(crop, x, 7)), *from = tern_data(x);
        for (int n = 0; n < 16; n++) {
            const int top = (int)drawn_int(7, n, 0, 4 + 4 - 3 + 1) - 2;
            const int left = (int)drawn_int(7, n, 1, 5 + 6 - 4 + 1) - 3;
            for (int c = 0; c < 2; c++)
                for (int h = 0; h < 3; h++)
                    for (int w = 0; w < 4; w++)
                        assert_float_equal(y[at(n, c, h, w, 2, 3, 4)],
                                           padded(from + (n * 2 + c) * 20, top + h, left + w,
                                                  modes[m], c ? -2 : -1),
                                           0);
        }
        tern_transform_free(crop);
    }
}

static void every_window_is_drawn_as_often_as_another(void **state)
{
    (void)state;
    enum { DRAWS = 9000 };
    float pixels[9];
    for (int i = 0; i < 9; i++)
        pixels[i] = (float)i;
    tern_tensor *one = tern_from_data(tern_dims(1, 1, 3, 3), pixels);
    tern_tensor *x = tern_contiguous(tern_expand(one, tern_dims(DRAWS, 1, 3, 3)));
    tern_transform *crop = tern_transform_random_crop(1);
    const float *y = values_of(tern_transform_apply(crop, x, 11));
    double counts[9] = {0}, chi_square = 0;
    for (int i = 0; i < DRAWS; i++)
        counts[(int)y[i]]++;
    for (int i = 0; i < 9; i++)
        chi_square += (counts[i] - DRAWS / 9) * (counts[i] - DRAWS / 9) / (DRAWS / 9);
    assert_true(chi_square < 26.1); // 8 degrees of freedom: 0.999
    tern_transform_free(crop);
}

static void a_crop_of_an_image_that_is_too_small_pads_it_or_is_refused(void **state)
{
    (void)state;
    tern_tensor *x = ramp(4, 1, 2, 2);
    tern_transform *refuses = tern_transform_random_crop(3);
    tern_transform *pads = tern_transform_random_crop(3, .pad_if_needed = true);
    assert_null(tern_transform_apply(refuses, x, 0));
    assert_error(TERN_ERR_SHAPE, "transform_random_crop: x has shape (4, 1, 2, 2), so padded 2 "
                                 "rows, but 3 are to be cut out of them");
    const float *y = values_of(tern_transform_apply(pads, x, 3)), *from = tern_data(x);
    for (int n = 0; n < 4; n++) {
        const int top = (int)drawn_int(3, n, 0, 2) - 1, left = (int)drawn_int(3, n, 1, 2) - 1;
        for (int h = 0; h < 3; h++)
            for (int w = 0; w < 3; w++) {
                const int row = top + h, col = left + w;
                const bool inside = row >= 0 && row < 2 && col >= 0 && col < 2;
                assert_float_equal(y[n * 9 + h * 3 + w], inside ? from[n * 4 + row * 2 + col] : 0,
                                   0);
            }
    }
    tern_free(refuses, pads);
}

static void the_middle_is_cut_out_or_surrounded_by_zeros(void **state)
{
    (void)state;
    float pixels[12];
    for (int i = 0; i < 12; i++)
        pixels[i] = (float)(i + 1);
    tern_tensor *x = tern_from_data(tern_dims(1, 3, 4), pixels);
    tern_transform *inner = tern_transform_center_crop(1, 2);
    tern_transform *outer = tern_transform_center_crop(4, 6);
    assert_memory_equal(tern_data(tern_transform_apply(inner, x, 0)), ((float[]){6, 7}), 8);
    const float want[] = {0, 1, 2,  3,  4,  0, 0, 5, 6, 7, 8, 0,
                          0, 9, 10, 11, 12, 0, 0, 0, 0, 0, 0, 0};
    assert_memory_equal(tern_data(tern_transform_apply(outer, x, 0)), want, sizeof want);
    tern_free(inner, outer);
}

static void bytes_are_cropped_and_flipped_as_bytes(void **state)
{
    (void)state;
    uint8_t pixels[6] = {1, 2, 3, 4, 5, 6};
    tern_tensor *x = tern_from_data(tern_dims(1, 2, 3), pixels);
    tern_transform *t = tern_transform_compose(
        tern_transform_random_horizontal_flip(1),
        tern_transform_random_crop(4, 5, .padding = 1, .fill = tern_channels(300)));
    tern_tensor *y = tern_transform_apply(t, x, 0);
    const uint8_t want[] = {255, 255, 255, 255, 255, 255, 3,   2,   1,   255,
                            255, 6,   5,   4,   255, 255, 255, 255, 255, 255};
    assert_int_equal(tern_dtype_of(y), TERN_UINT8);
    assert_memory_equal(tern_data(y), want, sizeof want);
    tern_transform_free(t);
}

static void views_are_transformed_by_their_own_elements(void **state)
{
    (void)state;
    tern_tensor *x = ramp(2, 2, 3, 4);
    tern_tensor *turned = tern_transpose(x, 2, 3);
    tern_transform *t = tern_transform_compose(
        tern_transform_random_crop(3, 2, .padding = 1), tern_transform_random_horizontal_flip(0.5),
        tern_transform_normalize(tern_channels(1, 2), tern_channels(2)));
    tern_tensor *y = tern_transform_apply(t, turned, 1);
    tern_tensor *same = tern_transform_apply(t, tern_contiguous(turned), 1);
    assert_same_bits(y, same);
    tern_transform_free(t);
}

// ---- values -------------------------------------------------------------------------------------

static void means_and_deviations_are_those_of_the_channel(void **state)
{
    (void)state;
    const float pixels[] = {1, 2, 3, 4, 5, 6, 7, 8};
    tern_tensor *x = tern_from_data(tern_dims(2, 2, 1, 2), pixels);
    tern_transform *each = tern_transform_normalize(tern_channels(1, 2), tern_channels(2, 4));
    tern_transform *all = tern_transform_normalize(tern_channels(1), tern_channels(2));
    const float want_each[] = {0, 0.5F, 0.25F, 0.5F, 2, 2.5F, 1.25F, 1.5F};
    const float want_all[] = {0, 0.5F, 1, 1.5F, 2, 2.5F, 3, 3.5F};
    assert_memory_equal(tern_data(tern_transform_apply(each, x, 0)), want_each, 32);
    assert_memory_equal(tern_data(tern_transform_apply(all, x, 0)), want_all, 32);
    assert_null(tern_transform_apply(each, ramp(1, 3, 2, 2), 0));
    assert_error(TERN_ERR_SHAPE, "transform_normalize: x has shape (1, 3, 2, 2), so 3 channels, "
                                 "but there are numbers for 2");
    tern_free(each, all);
}

static void bytes_become_numbers_from_0_to_1(void **state)
{
    (void)state;
    uint8_t bytes[256];
    for (int i = 0; i < 256; i++)
        bytes[i] = (uint8_t)i;
    tern_transform *t = tern_transform_to_float();
    tern_tensor *y = tern_transform_apply(t, tern_from_data(tern_dims(1, 16, 16), bytes), 0);
    assert_int_equal(tern_dtype_of(y), TERN_FLOAT32);
    for (int i = 0; i < 256; i++)
        assert_float_equal(((float *)tern_data(y))[i], (float)i / 255.0F, 0);
    assert_same_bits(tern_transform_apply(t, y, 0), y);
    tern_transform_free(t);
}

static void what_takes_no_bytes_says_what_to_put_before_it(void **state)
{
    (void)state;
    tern_transform *t = tern_transform_normalize(tern_channels(0), tern_channels(1));
    assert_null(tern_transform_apply(t, tern_zeros(tern_dims(1, 2, 2), .dtype = TERN_UINT8), 0));
    assert_error(TERN_ERR_DTYPE, "transform_normalize: x is uint8, but must be float32: put "
                                 "tern_transform_to_float before it");
    assert_null(tern_transform_apply(t, tern_zeros(tern_dims(1, 2, 2), .dtype = TERN_FLOAT64), 0));
    assert_error(TERN_ERR_DTYPE, "transform_normalize: x is float64, but must be float32");
    tern_transform_free(t);
}

// ---- compositions -------------------------------------------------------------------------------

static void parts_draw_one_after_another(void **state)
{
    (void)state;
    tern_tensor *x = ramp(32, 1, 4, 4);
    tern_transform *inner = tern_transform_compose(tern_transform_random_crop(3),
                                                   tern_transform_random_vertical_flip(0.5));
    tern_transform *t = tern_transform_compose(tern_transform_random_horizontal_flip(0.5), inner,
                                               tern_transform_random_horizontal_flip(0.5));
    assert_int_equal(t->draws, 5);
    const float *y = values_of(tern_transform_apply(t, x, 2)), *from = tern_data(x);
    for (int n = 0; n < 32; n++) {
        const bool first = drawn(2, n, 0) < 0.5, last = drawn(2, n, 4) < 0.5;
        const bool vertical = drawn(2, n, 3) < 0.5;
        const int top = (int)drawn_int(2, n, 1, 2), left = (int)drawn_int(2, n, 2, 2);
        for (int h = 0; h < 3; h++)
            for (int w = 0; w < 3; w++) {
                const int row = top + (vertical ? 2 - h : h), col = left + (last ? 2 - w : w);
                assert_float_equal(y[n * 9 + h * 3 + w],
                                   from[n * 16 + row * 4 + (first ? 3 - col : col)], 0);
            }
    }
    tern_transform_free(t);
}

static void a_composition_with_a_failed_part_frees_the_others(void **state)
{
    (void)state;
    assert_null(tern_transform_compose(tern_transform_random_horizontal_flip(0.5),
                                       tern_transform_random_vertical_flip(2)));
    assert_error(TERN_ERR_ARG, "transform_random_vertical_flip: p is 2, but must be 0 to 1");
    assert_null(tern_transform_compose(tern_transform_to_float(), NULL));
    assert_error(TERN_ERR_NULL, "transform_compose: a part is NULL");
}

// ---- transforms of one's own --------------------------------------------------------------------

typedef struct noise {
    tern_transform base;
    float scale;
} noise;

static tern_status add_noise(const tern_transform *transform, const tern_sample_context *context,
                             int64_t first_draw, tern_batch *batch)
{
    const noise *self = (const noise *)transform;
    float shifts[8];
    for (int64_t n = 0; n < batch->size; n++)
        shifts[n] = self->scale * (float)tern_sample_rand(context, batch->index[n], first_draw + 1);
    tern_tensor *shift = tern_from_data(tern_dims(batch->size, 1, 1, 1), shifts);
    batch->at[0] = tern_add(batch->x, shift);
    return tern_error_code();
}

static const tern_transform_class noise_class = {
    .name = "noise", .size = sizeof(noise), .draws = 2, .apply = add_noise};

static tern_tensor *doubled(void *user, tern_tensor *x)
{
    return tern_mul_scalar(x, *(double *)user);
}

static void count_down(void *user)
{
    (*(double *)user)--;
}

static void a_class_of_ones_own_draws_behind_the_parts_before_it(void **state)
{
    (void)state;
    noise *own = (noise *)tern_transform_new(&noise_class);
    own->scale = 4;
    double factor = 2;
    tern_transform *t = tern_transform_compose(tern_transform_random_horizontal_flip(0), &own->base,
                                               tern_transform_lambda(doubled, &factor, count_down));
    tern_tensor *x = tern_zeros(tern_dims(3, 1, 1, 1));
    const float *y = values_of(tern_transform_apply(t, x, 9));
    for (int n = 0; n < 3; n++)
        assert_float_equal(y[n], 2 * (4 * (float)drawn(9, n, 2)), 0);
    tern_transform_free(t);
    assert_float_equal(factor, 1, 0);
}

static tern_tensor *no_tensor(void *user, tern_tensor *x)
{
    (void)x;
    return user;
}

static tern_tensor *one_sample(void *user, tern_tensor *x)
{
    (void)user;
    return tern_narrow(x, 0, 0, 1);
}

static void a_function_that_gives_no_batch_is_found(void **state)
{
    (void)state;
    tern_transform *none = tern_transform_lambda(no_tensor, NULL, NULL);
    tern_transform *fewer = tern_transform_lambda(one_sample, NULL, NULL);
    assert_null(tern_transform_apply(none, ramp(2, 1, 1, 1), 0));
    assert_error(TERN_ERR_STATE, "transform_lambda: the function gave NULL and did not say why");
    assert_null(tern_transform_apply(fewer, ramp(2, 1, 1, 1), 0));
    assert_error(TERN_ERR_SHAPE,
                 "transform_lambda made tensor 0 of shape (1, 1, 1, 1) for 2 samples");
    tern_free(none, fewer);
}

static tern_status make_nothing(const tern_transform *self, const tern_sample_context *context,
                                int64_t first_draw, tern_batch *batch)
{
    (void)self;
    (void)context;
    (void)first_draw;
    batch->at[0] = NULL;
    return TERN_OK;
}

static void a_class_that_makes_nothing_is_named(void **state)
{
    (void)state;
    static const tern_transform_class klass = {
        .name = "lazy", .size = sizeof(tern_transform), .apply = make_nothing};
    tern_transform *lazy = tern_transform_new(&klass);
    assert_null(tern_transform_apply(lazy, ramp(2, 1, 1, 1), 0));
    assert_error(TERN_ERR_NULL, "transform_apply: lazy made no tensor 0");
    tern_transform_free(lazy);
}

static void the_input_and_its_history_stay_as_they_were(void **state)
{
    (void)state;
    tern_tensor *x = ramp(2, 1, 3, 3), *before = tern_clone(x);
    tern_set_requires_grad(x, true);
    tern_transform *t = tern_transform_normalize(tern_channels(1), tern_channels(2));
    tern_tensor *y = tern_transform_apply(t, x, 0);
    assert_false(tern_requires_grad(y));
    assert_true(tern_grad_enabled());
    assert_same_bits(x, before);
    tern_transform_free(t);
}

// float32 stays as it is, and so does an image of the size that is asked for.
static void what_a_transform_leaves_as_it_was_has_no_history_either(void **state)
{
    (void)state;
    tern_tensor *x = tern_ones(tern_dims(2, 1, 3, 3), .requires_grad = true);
    tern_transform *same[] = {tern_transform_to_float(), tern_transform_resize(3, 3)};
    for (int i = 0; i < 2; i++) {
        const int64_t index[] = {0, 1};
        const tern_sample_context context = {.seed = 1};
        tern_batch batch = {.size = 2, .index = index, .count = 1, .at = {x}};
        assert_int_equal(tern_transform_batch(same[i], &context, &batch), TERN_OK);
        assert_false(tern_requires_grad(batch.x));
        assert_ptr_equal(batch.x, batch.at[0]);
        assert_same_bits(batch.x, x);
        tern_transform_free(same[i]);
    }
}

static tern_transform *everything(void)
{
    return tern_transform_compose(
        tern_transform_random_crop(5, .padding = 1), tern_transform_random_vertical_flip(0.5),
        tern_transform_to_float(),
        tern_transform_random_resized_crop(6, .interpolation = TERN_BICUBIC),
        tern_transform_random_affine(.degrees = 10), tern_transform_resize(5, 7),
        tern_transform_color_jitter(.brightness = 0.4, .hue = 0.2),
        tern_transform_trivial_augment(), tern_transform_random_erasing(.noise = true),
        tern_transform_normalize(tern_channels(1), tern_channels(2)));
}

static tern_transform *mixing(void)
{
    return tern_transform_compose(tern_transform_mixup(3), tern_transform_cutmix(3));
}

// Makes the transform and uses it on two images and labels.
static bool make_and_use(tern_transform *(*make)(void), tern_tensor *x, tern_tensor *y)
{
    static const int64_t index[] = {4, 7};
    const tern_sample_context context = {.seed = 3};
    tern_transform *t = make();
    tern_batch b = {.size = 2, .count = 2, .index = index, .at = {x, y}};
    const bool done = t && !tern_transform_batch(t, &context, &b);
    assert_true(done || b.at[0] == x);
    tern_transform_free(t);
    return done;
}

static void no_memory_at_any_allocation_leaves_nothing(void **state)
{
    (void)state;
    tern_tensor *x = tern_mul_scalar(ramp(2, 3, 6, 6), 0.004), *y = tern_arange(0, 2, 1);
    for (int kind = 0; kind < 2; kind++)
        for (int64_t n = 1;; n++) {
            tern_memory_trim();
            const int64_t before = memory.bytes;
            tern_scope inside = tern_scope_open();
            fail_nth_allocation(n);
            const bool done = make_and_use(kind ? mixing : everything, x, y);
            const bool failed = memory.calls >= n;
            fail_nth_allocation(0);
            tern_scope_close(inside);
            assert_int_equal(done, !failed);
            assert_int_equal(memory.bytes, before);
            if (!failed) {
                assert_true(n > (kind ? 10 : 40));
                break;
            }
            assert_error(TERN_ERR_NOMEM, "no memory");
        }
}

int main(void)
{
    setenv("TERN_CACHE", "0", 1); // so that the allocator sees everything
    if (use_memory_hook())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(a_flip_mirrors_the_samples_whose_draw_is_below_p),
        DATA_TEST(certain_flips_flip_and_impossible_ones_do_not),
        DATA_TEST(a_crop_is_a_window_of_the_padded_image),
        DATA_TEST(every_window_is_drawn_as_often_as_another),
        DATA_TEST(a_crop_of_an_image_that_is_too_small_pads_it_or_is_refused),
        DATA_TEST(the_middle_is_cut_out_or_surrounded_by_zeros),
        DATA_TEST(bytes_are_cropped_and_flipped_as_bytes),
        DATA_TEST(views_are_transformed_by_their_own_elements),
        DATA_TEST(means_and_deviations_are_those_of_the_channel),
        DATA_TEST(bytes_become_numbers_from_0_to_1),
        DATA_TEST(what_takes_no_bytes_says_what_to_put_before_it),
        DATA_TEST(parts_draw_one_after_another),
        DATA_TEST(a_composition_with_a_failed_part_frees_the_others),
        DATA_TEST(a_class_of_ones_own_draws_behind_the_parts_before_it),
        DATA_TEST(a_function_that_gives_no_batch_is_found),
        DATA_TEST(a_class_that_makes_nothing_is_named),
        DATA_TEST(the_input_and_its_history_stay_as_they_were),
        DATA_TEST(what_a_transform_leaves_as_it_was_has_no_history_either),
        DATA_TEST(no_memory_at_any_allocation_leaves_nothing),
    };
    return cmocka_run_group_tests_name("transform", tests, start_group, end_group);
}
