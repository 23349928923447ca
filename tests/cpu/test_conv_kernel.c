// SPDX-License-Identifier: Apache-2.0
// The convolution kernels of every instruction set against a loop over all pairs that meet, for
// many shapes.
#include "conv_check.h"

// False for what is no convolution, or too large.
static bool make_shape(tern_conv_args *a)
{
    const bool flat = random_below(4) > 0, point = random_below(8) == 0;
    int64_t in[3], kernel[3];
    for (int d = 0; d < 3; d++) {
        in[d] = d == 0 && flat ? 1 : 1 + random_below(d == 0 ? 4 : 14);
        kernel[d] = (d == 0 && flat) || point ? 1 : 1 + random_below(5);
    }
    *a = shape_of(in, kernel);
    a->groups = random_below(3) ? 1 : 1 + random_below(4);
    const int64_t c = 1 + random_below(6), k = 1 + random_below(10);
    a->x.size[0] = a->y.size[0] = random_below(12) ? 1 + random_below(3) : 0;
    a->x.size[1] = c * a->groups;
    a->weight.size[0] = a->y.size[1] = k * a->groups;
    a->weight.size[1] = c;
    for (int d = flat ? 1 : 0; d < 3; d++) {
        a->stride[d] = random_below(2) ? 1 : 1 + random_below(3);
        a->padding[d] = random_below(3) ? random_below(3) : random_below(7);
        a->dilation[d] = random_below(3) ? 1 : 1 + random_below(3);
        if (random_below(5) == 0) // taps that meet nothing but padding
            a->padding[d] = a->dilation[d] = 10 + random_below(30);
        if (random_below(8) == 0) // inputs that no tap meets
            a->stride[d] = 4 + random_below(20);
    }
    return make_result(a);
}

// Batches of images whose channels fill vectors, and some that just do not.
static bool make_batch(tern_conv_args *a)
{
    const bool flat = random_below(8) > 0, row = random_below(6) == 0, wide = random_below(10) == 0;
    int64_t in[3], kernel[3];
    for (int d = 0; d < 3; d++) {
        in[d] = d == 0 && flat ? 1 : 1 + random_below(d == 0 ? 2 : row ? 20 : 6);
        kernel[d] = d == 0 && flat ? 1 : 1 + random_below(wide ? 10 : 3);
    }
    if (row)
        in[1] = kernel[1] = 1;
    *a = shape_of(in, kernel);
    a->groups = random_below(8) ? 1 : 2;
    a->x.size[0] = a->y.size[0] = 2 + random_below(40);
    a->weight.size[1] = random_below(4) ? 3 + random_below(20) : 1 + random_below(2);
    a->x.size[1] = a->weight.size[1] * a->groups;
    a->weight.size[0] = (random_below(4) ? 3 + random_below(40) : 1 + random_below(2)) * a->groups;
    a->y.size[1] = a->weight.size[0];
    for (int d = flat ? 1 : 0; d < 3; d++) {
        a->stride[d] = 1 + random_below(3) / 2 * (1 + random_below(2));
        a->dilation[d] = 1 + random_below(3) / 2;
        a->padding[d] = random_below(3) + (wide ? 4 : 0);
    }
    return make_result(a);
}

static void many_shapes_give_what_a_loop_gives(void **state)
{
    (void)state;
    check_shapes(make_shape);
}

static void many_batches_give_what_a_loop_gives(void **state)
{
    (void)state;
    check_shapes(make_batch);
}

// Large enough for several bands, blocks of channels and parts of the batch.
static tern_conv_args large(int64_t batch, int64_t channels, int64_t filters, int64_t size,
                            int64_t stride)
{
    tern_conv_args a = shape_of((const int64_t[]){1, size, size}, (const int64_t[]){1, 3, 3});
    const int64_t out = (size + 2 - 3) / stride + 1;
    a.x.size[0] = a.y.size[0] = batch;
    a.x.size[1] = a.weight.size[1] = channels;
    a.weight.size[0] = a.y.size[1] = filters;
    a.stride[1] = a.stride[2] = stride;
    a.padding[1] = a.padding[2] = 1;
    a.y.size[2] = 1;
    a.y.size[3] = a.y.size[4] = out;
    return a;
}

// Of one channel of the last image.
static void check_input_gradient(const tern_kernels *kernels, const tern_conv_args *a)
{
    const int64_t batch = a->x.size[0], channels = a->x.size[1], filters = a->y.size[1];
    const int64_t size = a->x.size[3], side = a->y.size[3], stride = a->stride[1];
    const int64_t c = channels / 2;
    const float *out = a->y.data, *w = a->weight.data;
    assert_int_equal(kernels->conv_grad_input(&kernel_exec, a), TERN_OK);
    const float *in = (const float *)a->x.data + ((batch - 1) * channels + c) * size * size;
    for (int64_t at = 0; at < size * size; at += 5) {
        double sum = 0;
        for (int64_t i = 0; i < filters * 9; i++) {
            const int64_t h = at / size + 1 - i % 9 / 3, v = at % size + 1 - i % 3;
            const float *plane = out + ((batch - 1) * filters + i / 9) * side * side;
            if (h >= 0 && v >= 0 && h % stride == 0 && v % stride == 0 && h / stride < side &&
                v / stride < side)
                sum += (double)plane[h / stride * side + v / stride] *
                       (double)w[(i / 9 * channels + c) * 9 + i % 9];
        }
        assert_true(in[at] == (float)sum);
    }
}

// Small integers: every sum is exact, so that one loop in any order has the same bits.
static void check_large(int64_t batch, int64_t channels, int64_t filters, int64_t size,
                        int64_t stride)
{
    tern_conv_args a = large(batch, channels, filters, size, stride);
    a.x.rank = a.y.rank = a.weight.rank = 5;
    float *in = numbers(tern_strided_numel(&a.x), 3),
          *w = numbers(tern_strided_numel(&a.weight), 5);
    float *out = numbers(tern_strided_numel(&a.y), 7);
    settle(&a.x, in, TERN_FLOAT32);
    settle(&a.y, out, TERN_FLOAT32);
    settle(&a.weight, w, TERN_FLOAT32);
    const int64_t n = batch - 1, k = filters - 1, c = channels / 2, side = a.y.size[3];
    FOR_EACH_TABLE(kernels)
    {
        assert_int_equal(kernels->conv(&kernel_exec, &a), TERN_OK);
        for (int64_t at = 0; at < side * side; at += 3) {
            double sum = 0;
            for (int64_t i = 0; i < channels * 9; i++) {
                const int64_t h = at / side * stride - 1 + i % 9 / 3;
                const int64_t v = at % side * stride - 1 + i % 3;
                if (h >= 0 && h < size && v >= 0 && v < size)
                    sum += (double)in[((n * channels + i / 9) * size + h) * size + v] *
                           (double)w[k * channels * 9 + i];
            }
            assert_true(out[(n * filters + k) * side * side + at] == (float)sum);
        }
        for (int64_t i = 0; i < tern_strided_numel(&a.y); i++)
            out[i] = (float)(i * 7 % 17 - 8);
        assert_int_equal(kernels->conv_grad_weight(&kernel_exec, &a), TERN_OK);
        double sum = 0; // of the tap in the middle
        for (int64_t image = 0; image < batch; image++)
            for (int64_t at = 0; at < side * side; at++)
                sum += (double)out[(image * filters + k) * side * side + at] *
                       (double)in[((image * channels + c) * size + at / side * stride) * size +
                                  at % side * stride];
        assert_true(w[(k * channels + c) * 9 + 4] == (float)sum);
        for (int64_t i = 0; i < tern_strided_numel(&a.weight); i++)
            w[i] = (float)(i * 5 % 17 - 8);
        check_input_gradient(kernels, &a);
        for (int64_t i = 0; i < tern_strided_numel(&a.x); i++)
            in[i] = (float)(i * 3 % 17 - 8);
    }
    free(in);
    free(w);
    free(out);
}

static void bands_blocks_and_parts_come_together(void **state)
{
    (void)state;
    check_large(5, 70, 11, 37, 1);
    check_large(5, 130, 5, 23, 2);
    check_large(5, 3, 33, 64, 2);
    check_large(60, 130, 35, 9, 1); // several blocks of channels, chunks of images
    check_large(17, 33, 130, 12, 2);
    check_large(8, 16, 17, 128, 1); // as large as images of a batch may be
    check_large(8, 17, 16, 128, 1); // and larger
}

// One long row, in one dimension: it is cut across.
static void a_long_row_gives_what_a_loop_gives(void **state)
{
    (void)state;
    enum { LENGTH = 9001, CHANNELS = 21, OUT = (LENGTH + 4 - 5) / 2 + 1 };
    tern_conv_args a = shape_of((const int64_t[]){1, 1, LENGTH}, (const int64_t[]){1, 1, 5});
    a.x.size[0] = a.y.size[0] = 1;
    a.x.size[1] = a.weight.size[1] = CHANNELS;
    a.weight.size[0] = a.y.size[1] = 3;
    a.stride[2] = 2;
    a.padding[2] = 2;
    a.y.size[2] = a.y.size[3] = 1;
    a.y.size[4] = OUT;
    a.x.rank = a.y.rank = a.weight.rank = 5;
    float *in = numbers(CHANNELS * LENGTH, 3), *w = numbers(3 * CHANNELS * 5, 5);
    float *out = numbers(3 * OUT, 7);
    settle(&a.x, in, TERN_FLOAT32);
    settle(&a.y, out, TERN_FLOAT32);
    settle(&a.weight, w, TERN_FLOAT32);
    FOR_EACH_TABLE(kernels)
    {
        assert_int_equal(kernels->conv(&kernel_exec, &a), TERN_OK);
        double last = 0; // tap of the weight
        for (int64_t o = 0; o < OUT; o++) {
            double sum = 0;
            for (int64_t i = 0; i < CHANNELS * 5; i++) {
                const int64_t at = o * 2 - 2 + i % 5;
                if (at >= 0 && at < LENGTH)
                    sum += (double)in[i / 5 * LENGTH + at] * (double)w[2 * CHANNELS * 5 + i];
            }
            assert_true(out[2 * OUT + o] == (float)sum);
            if (o * 2 + 2 < LENGTH)
                last += sum * (double)in[(CHANNELS - 1) * LENGTH + o * 2 + 2];
        }
        assert_int_equal(kernels->conv_grad_weight(&kernel_exec, &a), TERN_OK);
        assert_within(w[3 * CHANNELS * 5 - 1], last, 1e-6 * fabs(last) + 1, kernels);
        for (int64_t i = 0; i < 3 * CHANNELS * 5; i++)
            w[i] = (float)(i * 5 % 17 - 8);
    }
    free(in);
    free(w);
    free(out);
}

// So many channels in and out.
static void check_infinity(int64_t batch, int64_t channels)
{
    float *in = malloc((size_t)(batch * channels * 36) * sizeof *in);
    float *out = malloc((size_t)(batch * channels * 16) * sizeof *out);
    float *w = malloc((size_t)(channels * channels * 9) * sizeof *w);
    tern_conv_args a = shape_of((const int64_t[]){1, 6, 6}, (const int64_t[]){1, 3, 3});
    a.x.size[0] = a.y.size[0] = batch;
    a.x.size[1] = a.y.size[1] = a.weight.size[0] = a.weight.size[1] = channels;
    a.y.size[2] = 1;
    a.y.size[3] = a.y.size[4] = 4;
    const int64_t n = batch / 2, c = channels / 3, at = (n * channels + c) * 36 + 5;
    for (int64_t i = 0; i < batch * channels * 36; i++)
        in[i] = i == at ? INFINITY : 1; // the last of a first row: only the third tap meets it
    for (int64_t i = 0; i < batch * channels * 16; i++)
        out[i] = 1;
    settle(&a.x, in, TERN_FLOAT32);
    settle(&a.y, out, TERN_FLOAT32);
    settle(&a.weight, w, TERN_FLOAT32);
    FOR_EACH_TABLE(kernels)
    {
        assert_int_equal(kernels->conv_grad_weight(&kernel_exec, &a), TERN_OK);
        for (int64_t i = 0; i < channels * channels * 9; i++) {
            const bool meets = i / 9 % channels == c && i % 9 == 2;
            assert_within(w[i], meets ? INFINITY : (double)(batch * 16), 0, kernels);
        }
    }
    free(in);
    free(out);
    free(w);
}

// A gradient that has nothing to do with an infinity is finite.
static void infinities_stay_where_they_meet(void **state)
{
    (void)state;
    check_infinity(1, 1);
    check_infinity(9, 19);
}

// Root mean square of the relative errors, in units of 2^-24.
static double weight_error(const tern_kernels *kernels, int64_t batch, int64_t kernel)
{
    enum { CHANNELS = 8, SIZE = 21 };
    const int64_t padding = kernel / 2, taps = kernel * kernel, space = SIZE * SIZE;
    float *in = malloc((size_t)(batch * CHANNELS * space) * sizeof *in);
    float *out = malloc((size_t)(batch * CHANNELS * space) * sizeof *out);
    float w[CHANNELS * CHANNELS * 9];
    tern_conv_args a = shape_of((const int64_t[]){1, SIZE, SIZE}, (int64_t[]){1, kernel, kernel});
    a.x.size[0] = a.y.size[0] = batch;
    a.x.size[1] = a.y.size[1] = a.weight.size[0] = a.weight.size[1] = CHANNELS;
    a.y.size[2] = 1;
    a.y.size[3] = a.y.size[4] = SIZE;
    a.padding[1] = a.padding[2] = padding;
    for (int64_t i = 0; i < batch * CHANNELS * space; i++) {
        in[i] = (float)(random_value() + 1);
        out[i] = (float)(random_value() + 1);
    }
    settle(&a.x, in, TERN_FLOAT32);
    settle(&a.y, out, TERN_FLOAT32);
    settle(&a.weight, w, TERN_FLOAT32);
    assert_int_equal(kernels->conv_grad_weight(&kernel_exec, &a), TERN_OK);
    double squares = 0;
    for (int64_t i = 0; i < CHANNELS * CHANNELS * taps; i++) {
        const int64_t k = i / taps / CHANNELS, c = i / taps % CHANNELS;
        const int64_t down = i % taps / kernel - padding, right = i % kernel - padding;
        long double sum = 0;
        for (int64_t p = 0; p < batch * space; p++) {
            const int64_t row = p % space / SIZE + down, col = p % SIZE + right;
            if (row >= 0 && row < SIZE && col >= 0 && col < SIZE)
                sum += (long double)out[(p / space * CHANNELS + k) * space + p % space] *
                       (long double)in[(p / space * CHANNELS + c) * space + row * SIZE + col];
        }
        const double error = (double)(((long double)w[i] - sum) / sum);
        squares += error * error;
    }
    free(in);
    free(out);
    return sqrt(squares / (double)(CHANNELS * CHANNELS * taps)) * 0x1p24;
}

// In one chain, 441 terms have an error of 5 such units.
static void portable_gradients_of_the_weight_are_summed_in_blocks(void **state)
{
    (void)state;
    const tern_kernels *kernels = tern_cpu_kernel_table_for("portable");
    const struct {
        int64_t batch, kernel;
    } shapes[] = {{1, 1}, {1, 3}, {4, 3}, {16, 1}, {21, 3}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const double error = weight_error(kernels, shapes[i].batch, shapes[i].kernel);
        if (!(error < 2))
            fail_msg("%lld images, kernel %lld: %.2f units", (long long)shapes[i].batch,
                     (long long)shapes[i].kernel, error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_shapes_give_what_a_loop_gives),
        cmocka_unit_test(many_batches_give_what_a_loop_gives),
        cmocka_unit_test(bands_blocks_and_parts_come_together),
        cmocka_unit_test(a_long_row_gives_what_a_loop_gives),
        cmocka_unit_test(portable_gradients_of_the_weight_are_summed_in_blocks),
        cmocka_unit_test(infinities_stay_where_they_meet),
    };
    return cmocka_run_group_tests(tests, kernel_setup, NULL);
}
