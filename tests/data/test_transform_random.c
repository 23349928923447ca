// SPDX-License-Identifier: Apache-2.0
// What transforms draw: ranges, means and distributions, seen in images whose pixels say where they
// were. A mean of n draws is within 4 standard deviations of its own.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "transform_test.h"

static const double pi = 3.14159265358979323846;

// ---- statistics ---------------------------------------------------------------------------------

typedef struct statistics {
    double sum, squares, low, high;
    int64_t count;
} statistics;

static void add(statistics *s, double value)
{
    s->low = s->count == 0 || value < s->low ? value : s->low;
    s->high = s->count == 0 || value > s->high ? value : s->high;
    s->sum += value;
    s->squares += value * value;
    s->count++;
}

// Of numbers from `low` to `high`, each rounded by up to `slack`, which cancels in sums.
static void assert_uniform(const char *what, const statistics *s, double low, double high,
                           double slack)
{
    const double n = (double)s->count, mean = s->sum / n, spread = (high - low) / sqrt(12);
    const double deviation = sqrt(s->squares / n - mean * mean);
    if (!(s->low >= low - slack && s->high <= high + slack))
        fail_msg("%s is %g to %g, not %g to %g", what, s->low, s->high, low, high);
    if (!(fabs(mean - (low + high) / 2) <= 4 * spread / sqrt(n) + slack / 16))
        fail_msg("the mean of %s is %g, not %g", what, mean, (low + high) / 2);
    // of a uniform number's fourth moment, 9/5 of the square of the second
    if (!(fabs(deviation - spread) <= 4 * spread * sqrt(0.8 / n) / 2 + slack / 16))
        fail_msg("the deviation of %s is %g, not %g", what, deviation, spread);
}

static void assert_share(const char *what, int64_t hits, int64_t count, double p)
{
    const double n = (double)count;
    if (!(fabs((double)hits / n - p) <= 4 * sqrt(p * (1 - p) / n)))
        fail_msg("%s: %lld of %lld, not %g", what, (long long)hits, (long long)count, p);
}

// `count` equal images (2, h, w) whose channels are the row and the column of each pixel.
static tern_tensor *places(int64_t count, int64_t h, int64_t w)
{
    tern_tensor *rows =
        tern_reshape(tern_arange(0, (double)h, 1, .dtype = TERN_FLOAT32), tern_dims(1, 1, h, 1));
    tern_tensor *cols =
        tern_reshape(tern_arange(0, (double)w, 1, .dtype = TERN_FLOAT32), tern_dims(1, 1, 1, w));
    const tern_shape full = tern_dims(1, 1, h, w);
    tern_tensor *both[] = {tern_expand(rows, full), tern_expand(cols, full)};
    return tern_expand(tern_cat(both, 2, 1), tern_dims(count, 2, h, w));
}

static tern_tensor *apply(tern_transform *transform, tern_tensor *x, uint64_t seed)
{
    tern_tensor *y = tern_transform_apply(transform, x, seed);
    tern_transform_free(transform);
    return y;
}

// ---- parts of images ----------------------------------------------------------------------------

static void parts_have_shares_and_ratios_of_their_ranges(void **state)
{
    (void)state;
    enum { COUNT = 2000, SIZE = 40 };
    const float *y = values_of(
        apply(tern_transform_random_resized_crop(SIZE, .scale = {0.2, 0.5}, .ratio = {0.75, 1.2},
                                                 .interpolation = TERN_NEAREST),
              places(COUNT, SIZE, SIZE), 3));
    statistics share = {0}, ratio = {0}, top = {0}, left = {0};
    for (int n = 0; n < COUNT; n++, y += (ptrdiff_t)2 * SIZE * SIZE) {
        const float *cols = y + (ptrdiff_t)SIZE * SIZE;
        const double first_row = (double)y[0], first_col = (double)cols[0];
        const double height = (double)y[SIZE * SIZE - 1] - first_row + 1;
        const double width = (double)cols[SIZE * SIZE - 1] - first_col + 1;
        add(&share, height * width / (SIZE * SIZE));
        add(&ratio, log(width / height));
        add(&top, (first_row + drawn(1, n, 0)) / (SIZE - height + 1)); // uniform between places
        add(&left, (first_col + drawn(1, n, 1)) / (SIZE - width + 1));
    }
    // half a pixel of 18 on either side
    assert_uniform("the share", &share, 0.2, 0.5, 0.02);
    assert_uniform("the ratio's logarithm", &ratio, log(0.75), log(1.2), 0.06);
    assert_uniform("the top", &top, 0, 1, 0);
    assert_uniform("the left", &left, 0, 1, 0);
}

static void where_no_part_fits_it_is_the_middle(void **state)
{
    (void)state;
    tern_transform *wide = tern_transform_random_resized_crop(
        2, 3, .scale = {1, 1}, .ratio = {1.5, 1.6}, .interpolation = TERN_NEAREST);
    const float *y = values_of(tern_transform_apply(wide, places(1, 2, 60), 0));
    assert_memory_equal(y, ((float[]){0, 0, 0, 1, 1, 1, 28, 29, 30, 28, 29, 30}), 48);
    tern_tensor *x = places(1, 60, 3);
    const float *z = values_of(tern_transform_apply(wide, x, 0));
    assert_memory_equal(z, ((float[]){29, 29, 29, 30, 30, 30, 0, 1, 2, 0, 1, 2}), 48);
    tern_transform_free(wide);
}

static void rectangles_are_erased_with_shares_and_ratios_of_their_ranges(void **state)
{
    (void)state;
    enum { COUNT = 3000, SIZE = 40 };
    tern_tensor *x = tern_zeros(tern_dims(COUNT, 1, SIZE, SIZE));
    const float *y = values_of(
        apply(tern_transform_random_erasing(.p = 0.7, .scale = {0.1, 0.2}, .ratio = {0.5, 1.5},
                                            .value = tern_channels(5)),
              x, 4));
    statistics share = {0}, ratio = {0}, top = {0};
    for (int n = 0; n < COUNT; n++, y += (ptrdiff_t)SIZE * SIZE) {
        int rows = 0, cols = 0, first = -1, pixels = 0;
        for (int i = 0; i < SIZE * SIZE; i++) {
            assert_true(y[i] == 0 || y[i] == 5);
            pixels += y[i] == 5;
            first = first < 0 && y[i] == 5 ? i : first;
        }
        if (first < 0)
            continue;
        while (first + cols < SIZE * SIZE && y[first + cols] == 5 && (first + cols) % SIZE >= cols)
            cols++;
        while (first + rows * SIZE < SIZE * SIZE && y[first + rows * SIZE] == 5)
            rows++;
        assert_int_equal(pixels, rows * cols);
        add(&share, (double)pixels / (SIZE * SIZE));
        add(&ratio, log((double)rows / cols));
        add(&top, (first / SIZE + drawn(1, n, 0)) / (SIZE - rows + 1));
    }
    assert_share("erased", share.count, COUNT, 0.7);
    assert_uniform("the share", &share, 0.1, 0.2, 0.01);
    assert_uniform("the ratio's logarithm", &ratio, log(0.5), log(1.5), 0.085);
    assert_uniform("the top", &top, 0, 1, 0);
}

static void noise_is_normal_and_another_in_each_sample(void **state)
{
    (void)state;
    enum { COUNT = 50, ELEMENTS = 3 * 20 * 20 };
    tern_tensor *x = tern_full(tern_dims(COUNT, 3, 20, 20), 100);
    tern_transform *t = tern_transform_random_erasing(.p = 1, .scale = {0.3, 0.5}, .noise = true);
    const float *y = values_of(tern_transform_apply(t, x, 4));
    statistics noise = {0};
    int64_t beyond = 0, above = 0;
    for (int64_t i = 0; i < (int64_t)COUNT * ELEMENTS; i++)
        if (y[i] != 100) {
            add(&noise, (double)y[i]);
            beyond += fabsf(y[i]) > 1.959964F;
            above += y[i] > 0;
        }
    assert_true(noise.count > 10000);
    const double n = (double)noise.count, mean = noise.sum / n;
    assert_true(fabs(mean) <= 4 / sqrt(n));
    assert_true(fabs(noise.squares / n - 1) <= 4 * sqrt(2 / n));
    assert_share("beyond 1.96", beyond, noise.count, 0.05);
    assert_share("above 0", above, noise.count, 0.5);
    assert_same_bits(tern_transform_apply(t, x, 4), tern_transform_apply(t, x, 4));
    assert_null(tern_transform_apply(t, tern_zeros(tern_dims(1, 3, 3), .dtype = TERN_UINT8), 0));
    assert_error(TERN_ERR_DTYPE, "transform_random_erasing: x is uint8, but must be float32");
    tern_transform_free(t);
}

// ---- affine maps --------------------------------------------------------------------------------

enum { EDGE = 9, MIDDLE = 4, IMAGE = 2 * EDGE * EDGE };

// Where a pixel of an image of `places` was, from the middle: (right, down).
typedef struct vector {
    double x, y;
} vector;

static vector source_of(const float *y, int right, int down)
{
    const int i = (MIDDLE + down) * EDGE + MIDDLE + right;
    return (vector){(double)y[EDGE * EDGE + i] - MIDDLE, (double)y[i] - MIDDLE};
}

static const float *map_places(tern_transform *transform, int64_t count)
{
    return values_of(apply(transform, places(count, EDGE, EDGE), 6));
}

static void angles_and_scales_are_of_their_ranges(void **state)
{
    (void)state;
    enum { COUNT = 4000 };
    const float *y = map_places(tern_transform_random_affine(.degrees = 30, .scale = {0.8, 1.25},
                                                             .interpolation = TERN_BILINEAR),
                                COUNT);
    statistics angle = {0}, scale = {0};
    for (int n = 0; n < COUNT; n++) {
        const vector at = source_of(y + (ptrdiff_t)n * IMAGE, 2, 0);
        add(&angle, -atan2(at.y, at.x) * 180 / pi);
        add(&scale, 2 / hypot(at.x, at.y));
    }
    assert_uniform("the angle", &angle, -30, 30, 1e-3);
    assert_uniform("the scale", &scale, 0.8, 1.25, 1e-4);
}

static void rotations_are_counter_clockwise_by_angles_of_their_range(void **state)
{
    (void)state;
    enum { COUNT = 4000 };
    const float *y = map_places(
        tern_transform_random_rotation(.degrees = {10, 40}, .interpolation = TERN_BILINEAR), COUNT);
    statistics angle = {0};
    for (int n = 0; n < COUNT; n++) {
        const vector at = source_of(y + (ptrdiff_t)n * IMAGE, 2, 0);
        add(&angle, atan2(at.y, at.x) * 180 / pi); // rows grow downwards
    }
    assert_uniform("the angle", &angle, 10, 40, 1e-3);
}

static void shears_are_of_their_ranges(void **state)
{
    (void)state;
    enum { COUNT = 4000 };
    const float *y = map_places(tern_transform_random_affine(.shear = 20, .shear_y = {5, 15},
                                                             .interpolation = TERN_BILINEAR),
                                COUNT);
    statistics x = {0}, down = {0};
    for (int n = 0; n < COUNT; n++) {
        const vector a = source_of(y + (ptrdiff_t)n * IMAGE, 1, 0);
        const vector b = source_of(y + (ptrdiff_t)n * IMAGE, 0, 1);
        add(&x, atan(b.x) * 180 / pi);
        add(&down, atan(a.y) * 180 / pi);
    }
    assert_uniform("the shear along x", &x, -20, 20, 0.01);
    assert_uniform("the shear along y", &down, 5, 15, 0.01);
}

static void shifts_are_whole_pixels_and_the_ends_have_half(void **state)
{
    (void)state;
    enum { COUNT = 4000 };
    const float *y = map_places( // at most 2 columns and 3 rows
        tern_transform_random_affine(.translate = {2.0 / EDGE, 3.0 / EDGE}), COUNT);
    double right[5] = {0}, down[7] = {0}, chi_square[2] = {0};
    for (int n = 0; n < COUNT; n++) {
        const vector at = source_of(y + (ptrdiff_t)n * IMAGE, 0, 0);
        assert_true(fabs(at.x) <= 2 && fabs(at.y) <= 3);
        right[(int)at.x + 2]++;
        down[(int)at.y + 3]++;
    }
    for (int i = 0; i < 5; i++) {
        const double want = COUNT / 4.0 / (i == 0 || i == 4 ? 2 : 1);
        chi_square[0] += (right[i] - want) * (right[i] - want) / want;
    }
    for (int i = 0; i < 7; i++) {
        const double want = COUNT / 6.0 / (i == 0 || i == 6 ? 2 : 1);
        chi_square[1] += (down[i] - want) * (down[i] - want) / want;
    }
    assert_true(chi_square[0] < 18.5); // 4 degrees of freedom: 0.999
    assert_true(chi_square[1] < 22.5); // 6
}

// ---- colours ------------------------------------------------------------------------------------

static void a_factor_is_of_its_range_and_one_number_goes_both_ways(void **state)
{
    (void)state;
    enum { COUNT = 4000 };
    tern_tensor *x = tern_full(tern_dims(COUNT, 1, 1, 1), 0.25);
    const tern_range given[] = {{0.4, 0}, {0.5, 0.9}, {2.5, 0}};
    const tern_range want[] = {{0.6, 1.4}, {0.5, 0.9}, {0, 3.5}};
    for (int i = 0; i < 3; i++) {
        const float *y =
            values_of(apply(tern_transform_color_jitter(.brightness = given[i]), x, 1));
        statistics factor = {0};
        for (int n = 0; n < COUNT; n++)
            add(&factor, (double)y[n] * 4);
        assert_uniform("the factor", &factor, want[i].low, want[i].high, 1e-6);
    }
}

// (count, 3, 4, 4) of numbers from 0 to 1.
static tern_tensor *any_colors(int64_t count)
{
    tern_tensor *x = tern_zeros(tern_dims(count, 3, 4, 4));
    float *to = tern_data(x);
    for (int64_t i = 0; i < count * 48; i++)
        to[i] = (float)drawn(77, i, 0);
    return x;
}

static tern_transform *one_kind(int kind, double amount)
{
    const tern_range range = {amount, amount};
    return kind == 0   ? tern_transform_color_jitter(.brightness = range)
           : kind == 1 ? tern_transform_color_jitter(.contrast = range)
           : kind == 2 ? tern_transform_color_jitter(.saturation = range)
                       : tern_transform_color_jitter(.hue = range);
}

static void colours_are_changed_one_after_another_in_the_order_that_is_drawn(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    tern_tensor *x = any_colors(COUNT);
    tern_tensor *y = apply(tern_transform_color_jitter(.brightness = 0.4, .contrast = {0.5, 0.9},
                                                       .saturation = 0.3, .hue = 0.2),
                           x, 2);
    const double low[] = {0.6, 0.5, 0.7, -0.2}, high[] = {1.4, 0.9, 1.3, 0.2};
    bool seen[24] = {false};
    int kinds = 0;
    for (int n = 0; n < COUNT; n++) {
        tern_scope inside = tern_scope_open();
        tern_tensor *image = tern_select(x, 0, n);
        int64_t order = drawn_int(2, n, 0, 24);
        kinds += !seen[order];
        seen[order] = true;
        int left[] = {0, 1, 2, 3};
        for (int i = 4; i > 0; order /= i, i--) {
            const int kind = left[order % i];
            left[order % i] = left[i - 1];
            const double amount = low[kind] + (high[kind] - low[kind]) * drawn(2, n, 1 + kind);
            image = apply(one_kind(kind, amount), image, 0);
        }
        assert_same_bits(image, tern_select(y, 0, n));
        tern_scope_close(inside);
    }
    assert_int_equal(kinds, 24);
}

static void without_options_colours_stay(void **state)
{
    (void)state;
    tern_tensor *x = any_colors(3);
    assert_same_bits(apply(tern_transform_color_jitter(), x, 0), x);
}

// ---- mixing -------------------------------------------------------------------------------------

// Batches of a 0 and a 1, which show lambda, by the number of their first sample.
static double draw_lambda(const tern_transform *mixup, int64_t first)
{
    tern_scope inside = tern_scope_open();
    const tern_sample_context context = {.seed = 8, .epoch = 2};
    const int64_t index[] = {first, 5}, labels[] = {2, 0};
    tern_batch b = {.size = 2, .count = 2, .index = index};
    b.at[0] = tern_from_data(tern_dims(2, 1, 1, 1), ((float[]){0, 1}));
    b.at[1] = tern_from_data(tern_dims(2), labels);
    assert_int_equal(tern_transform_batch(mixup, &context, &b), TERN_OK);
    const double lambda = (double)values_of(b.x)[1];
    const float *y = values_of(b.y), share = (float)lambda;
    assert_float_equal(values_of(b.x)[0], 1 - share, 1e-6);
    const float want[] = {1 - share, 0, share, share, 0, 1 - share};
    for (int i = 0; i < 6; i++)
        assert_float_equal(y[i], want[i], 1e-6);
    tern_scope_close(inside);
    return lambda;
}

static void lambda_is_of_the_beta_distribution(void **state)
{
    (void)state;
    enum { COUNT = 4000 };
    const double alphas[] = {0.2, 1, 4};
    for (int i = 0; i < 3; i++) {
        tern_transform *mixup = tern_transform_mixup(3, .alpha = alphas[i]);
        statistics lambda = {0};
        double bins[10] = {0}, chi_square = 0;
        for (int64_t n = 0; n < COUNT; n++) {
            const double value = draw_lambda(mixup, n);
            add(&lambda, value);
            bins[value < 1 ? (int)(value * 10) : 9]++;
        }
        const double variance = 1 / (4 * (2 * alphas[i] + 1)), n = COUNT;
        const double mean = lambda.sum / n, found = lambda.squares / n - mean * mean;
        const double kurtosis = 3 - 6 / (2 * alphas[i] + 3);
        assert_true(lambda.low >= 0 && lambda.high <= 1);
        assert_true(fabs(mean - 0.5) <= 4 * sqrt(variance / n));
        assert_true(fabs(found - variance) <= 4 * variance * sqrt((kurtosis - 1) / n) + 1e-3 / n);
        for (int k = 0; k < 10; k++)
            chi_square += (bins[k] - n / 10) * (bins[k] - n / 10) / (n / 10);
        assert_true(alphas[i] != 1 || chi_square < 27.9); // 9 degrees of freedom: 0.999
        tern_transform_free(mixup);
    }
}

static void a_cut_is_a_rectangle_that_the_labels_account_for(void **state)
{
    (void)state;
    enum { COUNT = 500, SIZE = 12 };
    tern_transform *cutmix = tern_transform_cutmix(2);
    const tern_sample_context context = {.seed = 8};
    tern_tensor *images[] = {tern_zeros(tern_dims(1, 1, SIZE, SIZE)),
                             tern_ones(tern_dims(1, 1, SIZE, SIZE))};
    tern_tensor *x = tern_cat(images, 2, 0);
    statistics share = {0};
    for (int64_t n = 0; n < COUNT; n++) {
        tern_scope inside = tern_scope_open();
        const int64_t index[] = {n, 5}, labels[] = {0, 1};
        tern_batch b = {.size = 2, .count = 2, .index = index};
        b.at[0] = x;
        b.at[1] = tern_from_data(tern_dims(2), labels);
        assert_int_equal(tern_transform_batch(cutmix, &context, &b), TERN_OK);
        const float *pixels = values_of(b.x), *y = values_of(b.y);
        int cut = 0, rows = 0, cols = 0;
        for (int i = 0; i < SIZE; i++) {
            float row = 0, col = 0;
            for (int k = 0; k < SIZE; k++) {
                cut += pixels[i * SIZE + k] == 1;
                row += pixels[i * SIZE + k];
                col += pixels[k * SIZE + i];
                assert_float_equal(pixels[SIZE * SIZE + i * SIZE + k], 1 - pixels[i * SIZE + k], 0);
            }
            rows += row > 0;
            cols += col > 0;
        }
        assert_int_equal(cut, rows * cols);
        assert_float_equal(y[1], (float)cut / (SIZE * SIZE), 1e-6);
        assert_float_equal(y[0] + y[1], 1, 1e-6);
        assert_float_equal(y[3], y[0], 1e-6);
        add(&share, (double)cut / (SIZE * SIZE));
        tern_scope_close(inside);
    }
    assert_true(share.low < 0.05 && share.high > 0.6);
    tern_transform_free(cutmix);
}

static void samples_are_no_batch_to_mix(void **state)
{
    (void)state;
    tern_dataset *set = tern_data_tensors(ramp(2, 1, 2, 2), tern_arange(0, 2, 1));
    tern_transform *t =
        tern_transform_compose(tern_transform_random_horizontal_flip(0.5), tern_transform_mixup(3));
    assert_null(tern_data_transform(set, t));
    assert_error(TERN_ERR_ARG, "data_transform: transform_compose mixes the samples of a batch");
    assert_null(tern_transform_apply(t, ramp(2, 1, 2, 2), 0));
    assert_error(TERN_ERR_ARG, "transform_mixup: the batch has no labels to mix");
    tern_free(set, t);
}

int main(void)
{
    if (use_memory_hook())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(parts_have_shares_and_ratios_of_their_ranges),
        DATA_TEST(where_no_part_fits_it_is_the_middle),
        DATA_TEST(rectangles_are_erased_with_shares_and_ratios_of_their_ranges),
        DATA_TEST(noise_is_normal_and_another_in_each_sample),
        DATA_TEST(angles_and_scales_are_of_their_ranges),
        DATA_TEST(rotations_are_counter_clockwise_by_angles_of_their_range),
        DATA_TEST(shears_are_of_their_ranges),
        DATA_TEST(shifts_are_whole_pixels_and_the_ends_have_half),
        DATA_TEST(a_factor_is_of_its_range_and_one_number_goes_both_ways),
        DATA_TEST(colours_are_changed_one_after_another_in_the_order_that_is_drawn),
        DATA_TEST(without_options_colours_stay),
        DATA_TEST(lambda_is_of_the_beta_distribution),
        DATA_TEST(a_cut_is_a_rectangle_that_the_labels_account_for),
        DATA_TEST(samples_are_no_batch_to_mix),
    };
    return cmocka_run_group_tests_name("transform_random", tests, start_group, end_group);
}
