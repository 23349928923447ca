// SPDX-License-Identifier: Apache-2.0
// Convolutions whose patches do not overlap, on every instruction set, against loops.
#include "conv_check.h"

// Patches that do not overlap, with elements between and behind them in some; points in others.
static bool make_patches(tern_conv_args *a)
{
    const bool flat = random_below(4) > 0, row = random_below(5) == 0, point = random_below(3) == 0;
    int64_t in[3], kernel[3];
    for (int d = 0; d < 3; d++) {
        const bool one = (d == 0 && flat) || (d == 1 && row);
        const int64_t out = one ? 1 : d == 0 ? 1 + random_below(3) : 5 + random_below(row ? 60 : 5);
        kernel[d] = one || point ? 1 : 1 + random_below(row ? 11 : 4);
        in[d] = out * (kernel[d] + (point ? 0 : random_below(4) / 3)) + random_below(4) / 2;
    }
    if (point && random_below(4))
        in[0] = kernel[0] = 1;
    *a = shape_of(in, kernel);
    for (int d = 0; d < 3; d++) {
        a->stride[d] = kernel[d] == 1 && point ? 1 : kernel[d] + random_below(5) / 4;
        if (kernel[d] == 1)
            a->dilation[d] = 1 + random_below(2);
    }
    a->x.size[0] = a->y.size[0] = 1 + random_below(point ? 12 : 4);
    a->x.size[1] = a->weight.size[1] = 1 + random_below(point ? 20 : 4);
    a->weight.size[0] = a->y.size[1] = 1 + random_below(20);
    return make_result(a) && a->y.size[2] * a->y.size[3] * a->y.size[4] > 20;
}

static void many_patches_give_what_a_loop_gives(void **state)
{
    (void)state;
    check_shapes(make_patches);
}

// Small integers, as above. y, dx and dweight of images of patches of `kernel` x `kernel`.
typedef struct patches {
    int64_t batch, channels, filters, size, kernel, side;
    float *x, *w, *y;
} patches;

static double patch_element(const patches *p, int64_t n, int64_t place, int64_t i)
{
    const int64_t taps = p->kernel * p->kernel;
    const int64_t h = place / p->side * p->kernel + i % taps / p->kernel;
    const int64_t v = place % p->side * p->kernel + i % p->kernel;
    return (double)p->x[((n * p->channels + i / taps) * p->size + h) * p->size + v];
}

// Every element of y and of the weight's gradient is looked at in some image or other.
static void check_patch_outputs(const patches *p)
{
    const int64_t places = p->side * p->side, filter = p->channels * p->kernel * p->kernel;
    for (int64_t at = 0; at < p->batch * p->filters * places; at += 7) {
        double sum = 0;
        for (int64_t i = 0; i < filter; i++)
            sum += patch_element(p, at / places / p->filters, at % places, i) *
                   (double)p->w[at / places % p->filters * filter + i];
        assert_true(p->y[at] == (float)sum);
    }
}

static void check_patch_weights(const patches *p)
{
    const int64_t places = p->side * p->side, filter = p->channels * p->kernel * p->kernel;
    for (int64_t at = 0; at < p->filters * filter; at += 11) {
        double sum = 0;
        for (int64_t i = 0; i < p->batch * places; i++)
            sum += patch_element(p, i / places, i % places, at % filter) *
                   (double)p->y[(i / places * p->filters + at / filter) * places + i % places];
        assert_true(p->w[at] == (float)sum);
    }
}

static void check_patch_inputs(const patches *p)
{
    const int64_t places = p->side * p->side, taps = p->kernel * p->kernel;
    for (int64_t at = 0; at < p->batch * p->channels * p->size * p->size; at += 5) {
        const int64_t h = at / p->size % p->size, v = at % p->size;
        const int64_t plane = at / p->size / p->size, n = plane / p->channels;
        const int64_t place = h / p->kernel * p->side + v / p->kernel;
        const int64_t i = plane % p->channels * taps + h % p->kernel * p->kernel + v % p->kernel;
        const bool inside = h / p->kernel < p->side && v / p->kernel < p->side;
        double sum = 0;
        for (int64_t k = 0; inside && k < p->filters; k++)
            sum += (double)p->y[(n * p->filters + k) * places + place] *
                   (double)p->w[k * p->channels * taps + i];
        assert_true(p->x[at] == (float)sum);
    }
}

static void refill(const tern_strided *view, int step)
{
    float *to = view->data;
    for (int64_t i = 0; i < tern_strided_numel(view); i++)
        to[i] = (float)(i * step % 17 - 8);
}

static void check_patches(int64_t batch, int64_t channels, int64_t filters, int64_t size,
                          int64_t kernel)
{
    patches p = {batch, channels, filters, size, kernel, size / kernel, NULL, NULL, NULL};
    tern_conv_args a =
        shape_of((const int64_t[]){1, size, size}, (const int64_t[]){1, kernel, kernel});
    a.x.size[0] = a.y.size[0] = batch;
    a.x.size[1] = a.weight.size[1] = channels;
    a.weight.size[0] = a.y.size[1] = filters;
    a.y.size[2] = 1;
    a.y.size[3] = a.y.size[4] = p.side;
    a.stride[1] = a.stride[2] = kernel;
    a.x.rank = a.y.rank = a.weight.rank = 5;
    settle(&a.x, p.x = numbers(tern_strided_numel(&a.x), 3), TERN_FLOAT32);
    settle(&a.weight, p.w = numbers(tern_strided_numel(&a.weight), 5), TERN_FLOAT32);
    settle(&a.y, p.y = numbers(tern_strided_numel(&a.y), 7), TERN_FLOAT32);
    FOR_EACH_TABLE(kernels)
    {
        assert_int_equal(kernels->conv(&kernel_exec, &a), TERN_OK);
        check_patch_outputs(&p);
        refill(&a.y, 7);
        assert_int_equal(kernels->conv_grad_weight(&kernel_exec, &a), TERN_OK);
        check_patch_weights(&p);
        refill(&a.weight, 5);
        assert_int_equal(kernels->conv_grad_input(&kernel_exec, &a), TERN_OK);
        check_patch_inputs(&p);
        refill(&a.x, 3);
    }
    free(p.x);
    free(p.w);
    free(p.y);
}

static void chunks_of_patches_come_together(void **state)
{
    (void)state;
    check_patches(7, 3, 20, 167, 16); // several images a chunk, and rows that no patch covers
    check_patches(2, 17, 9, 150, 5);  // several chunks an image
    check_patches(3, 70, 33, 19, 1);
    check_patches(9, 16, 17, 24, 1); // a batch of many points
    check_patches(2, 10, 300, 30, 1);
    check_patches(1, 9, 1000, 12, 2); // a product deeper than a block
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_patches_give_what_a_loop_gives),
        cmocka_unit_test(chunks_of_patches_come_together),
    };
    return cmocka_run_group_tests(tests, kernel_setup, NULL);
}
