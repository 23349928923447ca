// SPDX-License-Identifier: Apache-2.0
// Max pooling among equal elements, infinities and NaN, where the place counts; means of windows.
#include <math.h>

#include "support/memory_hook.h"
#include "support/tensor_check.h"

#define H 6
#define W 22

// Where the largest of the 2 x 2 window (r, c) of a plane is: what PyTorch says of ties and NaN.
static int64_t place_of(const float *plane, int64_t r, int64_t c)
{
    int64_t best = 2 * r * W + 2 * c;
    for (int64_t t = 1; t < 4; t++) {
        int64_t i = (2 * r + t / 2) * W + 2 * c + t % 2;
        if (plane[i] > plane[best] || isnan(plane[i]))
            best = i;
    }
    return best;
}

// Planes of a few numbers, so that most windows have ties; one in `nans` is NaN.
static void fill(float *x, int64_t count, unsigned nans)
{
    unsigned word = 1;
    for (int64_t i = 0; i < count; i++) {
        word = word * 1664525u + 1013904223u;
        x[i] = nans && (word >> 8) % nans == 0 ? NAN : (float)((word >> 16) % 3);
        if ((word >> 20) % 4 == 0)
            x[i] = -INFINITY;
    }
}

// The gradient of 1, 2, 3, .. at the outputs lands where the largest elements are.
static void check_gradient(unsigned nans)
{
    enum { PLANES = 3, OUT = H / 2 * (W / 2) };
    float x[PLANES * H * W], dy[PLANES * OUT], expected[PLANES * H * W] = {0};
    fill(x, PLANES * H * W, nans);
    for (int64_t i = 0; i < PLANES * OUT; i++) {
        const int64_t plane = i / OUT * H * W;
        dy[i] = (float)(i + 1);
        expected[plane + place_of(x + plane, i % OUT / (W / 2), i % (W / 2))] = dy[i];
    }
    tern_tensor *t = tern_from_data(tern_dims(1, PLANES, H, W), x, .requires_grad = true);
    tern_tensor *g = tern_from_data(tern_dims(1, PLANES, H / 2, W / 2), dy);
    assert_int_equal(tern_backward(tern_max_pool2d(t, 2), .gradient = g), TERN_OK);
    assert_memory_equal(tern_data(tern_grad(t)), expected, sizeof expected);
}

static void the_first_of_equal_elements_gets_the_gradient(void **state)
{
    (void)state;
    check_gradient(0);
}

static void the_last_of_several_nans_gets_the_gradient(void **state)
{
    (void)state;
    check_gradient(3);
}

// The largest is the last element of the window: up to 256 elements its place fits into a byte.
static void the_gradient_reaches_the_last_place_of_a_large_window(void **state)
{
    (void)state;
    for (int64_t kernel = 255; kernel <= 258; kernel++) {
        tern_tensor *x = tern_reshape(tern_arange(0, 2 * kernel, 1, .dtype = TERN_FLOAT32),
                                      tern_dims(1, 1, 2 * kernel));
        assert_non_null(tern_set_requires_grad(x, true));
        tern_tensor *y = tern_max_pool1d(x, kernel);
        assert_int_equal(tern_backward(y, .gradient = tern_ones_like(y)), TERN_OK);
        const float *dx = tern_data(tern_grad(x));
        for (int64_t i = 0; i < 2 * kernel; i++)
            assert_true(dx[i] == (i % kernel == kernel - 1 ? 1 : 0));
    }
}

static void indices_are_those_of_the_plane(void **state)
{
    (void)state;
    float x[H * W];
    fill(x, H * W, 3);
    tern_tensor *indices = NULL;
    tern_tensor *t = tern_from_data(tern_dims(1, 1, H, W), x);
    assert_non_null(tern_max_pool2d(t, 2, .indices = &indices));
    const int64_t *at = tern_data(indices);
    for (int64_t r = 0; r < H / 2; r++)
        for (int64_t c = 0; c < W / 2; c++)
            assert_int_equal(at[r * (W / 2) + c], place_of(x, r, c));
}

static void a_layer_gives_indices_as_its_second_output(void **state)
{
    (void)state;
    tern_tensor *x = tern_from_data(tern_dims(1, 4), (float[]){1, 3, 4, 4});
    tern_module *pool = tern_nn_max_pool1d(2, .return_indices = true);
    tern_tensors in = {.count = 1, .at = {x}}, out = {0};
    assert_int_equal(tern_module_forward(pool, &in, &out), TERN_OK);
    assert_int_equal(out.count, 2);
    const int64_t expected[] = {1, 2};
    assert_memory_equal(tern_data(out.at[1]), expected, sizeof expected);
    tern_module_free(pool);
}

// The time of a call does not grow with sizes that make nothing.
// Planes of all small sizes, some of them infinite, on either side of finite ones.
static void means_of_planes_stay_apart(void **state)
{
    (void)state;
    enum { PLANES = 21, MOST = 40 };
    float x[PLANES * MOST];
    for (int64_t n = 1; n <= MOST; n++) {
        double mean[PLANES] = {0};
        for (int64_t i = 0; i < PLANES * n; i++) {
            x[i] = i / n % 4 == 3 ? INFINITY : (float)(i * 7 % 23 - 11);
            mean[i / n] += (double)x[i] / (double)n;
        }
        tern_tensor *t = tern_from_data(tern_dims(1, PLANES, 1, n), x);
        tern_tensor *y = tern_adaptive_avg_pool2d(t, .size = {1, 1});
        for (int64_t p = 0; p < PLANES; p++) {
            const double got = (double)((const float *)tern_data(y))[p];
            assert_true(p % 4 == 3 ? got == (double)INFINITY : fabs(got - mean[p]) < 1e-5);
        }
    }
}

typedef struct windows {
    int64_t in, kernel, stride, padding;
    bool down, counts_padding;
} windows;

// Along one dimension of (in, 3) or (3, in); the loss is the sum of y times the output's number.
static void check_means(tern_tensor *x, tern_tensor *y, const windows *w)
{
    enum { LINES = 3 };
    const int64_t out = tern_numel(y) / LINES, step = w->down ? LINES : 1;
    double *slope = calloc((size_t)w->in, sizeof *slope);
    tern_tensor *factor = tern_arange(0, out, 1, .dtype = TERN_FLOAT32);
    factor = tern_reshape(factor, w->down ? tern_dims(1, 1, out, 1) : tern_dims(1, 1, 1, out));
    assert_int_equal(tern_backward(tern_sum(tern_mul(y, factor), TERN_ALL_AXES, false)), TERN_OK);
    for (int64_t o = 0; o < out; o++) {
        const int64_t begin = o * w->stride - w->padding, first = begin > 0 ? begin : 0;
        int64_t end = begin + w->kernel;
        const int64_t most = w->in + w->padding, padded = (end < most ? end : most) - begin;
        end = end < w->in ? end : w->in;
        const double count = (double)(w->counts_padding ? padded : end - first);
        for (int64_t line = 0; line < LINES; line++) {
            const int64_t at = w->down ? line : line * w->in;
            double sum = 0;
            for (int64_t i = first; i < end; i++)
                sum += (double)((const float *)tern_data(x))[at + i * step];
            const int64_t to = w->down ? o * LINES + line : line * out + o;
            assert_true(fabs(value_at(y, to) - sum / count) < 2e-6);
        }
        for (int64_t i = first; i < end; i++)
            slope[i] += (double)o / count;
    }
    for (int64_t i = 0; i < w->in; i++)
        assert_true(fabs(value_at(tern_grad(x), i * step) - slope[i]) < 1e-5 * (1 + slope[i]));
    free(slope);
}

static void adaptive_pools_of_nothing_are_at_once(void **state)
{
    (void)state;
    tern_tensor *x = tern_zeros(tern_dims(0, 3, 5));
    for (int64_t out = 1; out <= INT32_MAX / 2; out *= 2)
        assert_int_equal(tern_numel(tern_adaptive_max_pool1d(x, out)), 0);
}

// Every size and divisor of windows that overlap, most of which are too long to be listed.
static void long_windows_give_the_means_of_a_loop(void **state)
{
    (void)state;
    enum { IN = 1000 };
    for (int64_t kernel = 2; kernel <= IN; kernel = kernel * 3 + 1) {
        for (int64_t padding = 0; padding <= kernel / 2; padding += kernel / 2) {
            for (int64_t stride = 1; stride <= 3; stride += 2) {
                for (int line = 0; line < 2; line++) {
                    tern_tensor *x = tern_rand(tern_dims(1, 1, line ? IN : 3, line ? 3 : IN));
                    tern_set_requires_grad(x, true);
                    tern_tensor *y =
                        tern_avg_pool2d(x, .kernel_size = {line ? kernel : 1, line ? 1 : kernel},
                                        .stride = {line ? stride : 1, line ? 1 : stride},
                                        .padding = {line ? padding : 0, line ? 0 : padding},
                                        .count_include_pad = stride == 1);
                    assert_no_error();
                    check_means(x, y, &(windows){IN, kernel, stride, padding, line, stride == 1});
                }
            }
        }
    }
}

static void a_long_window_takes_no_list_of_its_taps(void **state)
{
    (void)state;
    tern_tensor *x = tern_ones(tern_dims(1, 1, 8000));
    tern_set_requires_grad(x, true);
    const int64_t before = memory.bytes;
    memory.peak = before;
    tern_tensor *y = tern_avg_pool1d(x, 4001, .stride = 1);
    assert_int_equal(tern_backward(tern_sum(y, TERN_ALL_AXES, false)), TERN_OK);
    assert_near(value_at(y, 0), 1, 1e-6, 0);
    assert_near(value_at(y, 3999), 1, 1e-6, 0);
    assert_near(value_at(tern_grad(x), 4000), 4000.0 / 4001, 1e-5, 0);
    assert_true(memory.peak - before < 1 << 20);
}

// Windows of every width: the bound that kernels take is that of the widest.
static void adaptive_windows_hold_what_they_begin_and_end_in(void **state)
{
    (void)state;
    for (int64_t in = 1; in <= 14; in++) {
        tern_tensor *x =
            tern_reshape(tern_arange(0, in, 1, .dtype = TERN_FLOAT32), tern_dims(1, 1, in));
        for (int64_t out = 1; out <= 16; out++) {
            tern_tensor *y = tern_adaptive_max_pool1d(x, out);
            for (int64_t o = 0; o < out; o++) // ceil((o + 1) in / out) - 1 is the last one
                assert_true(value_at(y, o) == (double)(((o + 1) * in + out - 1) / out - 1));
        }
    }
}

// 0 to 7 along the last of so many dimensions, resized by `scale` there.
static tern_tensor *resized(int dims, double scale, tern_interpolate_mode mode, tern_tensor **x)
{
    tern_shape shape = tern_dims(1, 1, 1, 1, 1);
    shape.rank = dims + 2;
    shape.dim[shape.rank - 1] = 8;
    tern_tensor *line = tern_reshape(tern_arange(0, 8, 1, .dtype = TERN_FLOAT64), shape);
    tern_interpolate_options o = tern_interpolate_defaults();
    for (int i = 0; i < dims; i++)
        o.scale.at[i] = i == dims - 1 ? scale : 1;
    o.mode = mode;
    o.x = *x = tern_set_requires_grad(line, true);
    tern_tensor *y = tern_interpolate_with(&o);
    assert_non_null(y);
    assert_int_equal(tern_backward(tern_sum_all(y)), TERN_OK);
    return tern_reshape(y, tern_dims(tern_numel(y)));
}

// As F.interpolate of PyTorch 2.15: 8 elements of 8 and 16 of 8, whatever the scale.
static void nearest_in_two_dimensions_copies_and_doubles_by_the_sizes(void **state)
{
    (void)state;
    tern_tensor *x;
    assert_tensor(resized(2, 1.1, TERN_NEAREST, &x), tern_dims(8), 0, 1, 2, 3, 4, 5, 6, 7);
    assert_tensor(tern_grad(x), tern_dims(1, 1, 1, 8), 1, 1, 1, 1, 1, 1, 1, 1);
    assert_tensor(resized(2, 2.1, TERN_NEAREST, &x), tern_dims(16), 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5,
                  5, 6, 6, 7, 7);
    assert_tensor(tern_grad(x), tern_dims(1, 1, 1, 8), 2, 2, 2, 2, 2, 2, 2, 2);
    assert_tensor(resized(2, 1.1, TERN_NEAREST_EXACT, &x), tern_dims(8), 0, 1, 2, 3, 4, 5, 5, 6);
    assert_tensor(tern_grad(x), tern_dims(1, 1, 1, 8), 1, 1, 1, 1, 1, 2, 1, 0);
}

// There PyTorch has these values, and the gradients of copies.
static void nearest_in_other_dimensions_goes_by_the_scale(void **state)
{
    (void)state;
    tern_tensor *x;
    assert_tensor(resized(1, 1.1, TERN_NEAREST, &x), tern_dims(8), 0, 0, 1, 2, 3, 4, 5, 6);
    assert_tensor(tern_grad(x), tern_dims(1, 1, 8), 2, 1, 1, 1, 1, 1, 1, 0);
    assert_tensor(resized(3, 1.1, TERN_NEAREST, &x), tern_dims(8), 0, 0, 1, 2, 3, 4, 5, 6);
    assert_tensor(tern_grad(x), tern_dims(1, 1, 1, 1, 8), 2, 1, 1, 1, 1, 1, 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(means_of_planes_stay_apart),
        CHECK_TEST(adaptive_pools_of_nothing_are_at_once),
        CHECK_TEST(long_windows_give_the_means_of_a_loop),
        CHECK_TEST(a_long_window_takes_no_list_of_its_taps),
        CHECK_TEST(adaptive_windows_hold_what_they_begin_and_end_in),
        CHECK_TEST(the_first_of_equal_elements_gets_the_gradient),
        CHECK_TEST(the_last_of_several_nans_gets_the_gradient),
        CHECK_TEST(the_gradient_reaches_the_last_place_of_a_large_window),
        CHECK_TEST(indices_are_those_of_the_plane),
        CHECK_TEST(a_layer_gives_indices_as_its_second_output),
        CHECK_TEST(nearest_in_two_dimensions_copies_and_doubles_by_the_sizes),
        CHECK_TEST(nearest_in_other_dimensions_goes_by_the_scale),
    };
    if (use_memory_hook())
        return 1;
    return cmocka_run_group_tests(tests, NULL, check_shutdown);
}
