// SPDX-License-Identifier: Apache-2.0
// Convolutions of what is not finite: zeros of the padding are multiplied like other inputs, in
// each way to compute them and on each device. Argument: a device, cpu:0 unless given.
#include "support/check.h"

enum { DIMS = 3 };
typedef struct conv_shape {
    int64_t batch, channels, filters, groups;
    int64_t in[DIMS], kernel[DIMS], stride[DIMS], padding[DIMS], dilation[DIMS];
} conv_shape;

// Batches and single images; taps that meet padding alone; one way for each product.
static const conv_shape shapes[] = {
    {9, 16, 16, 1, {1, 4, 4}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}},
    {9, 16, 16, 1, {1, 1, 1}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}},
    {9, 16, 16, 1, {1, 2, 2}, {1, 3, 3}, {1, 1, 1}, {0, 9, 9}, {1, 9, 9}},
    {4, 2, 8, 1, {1, 4, 4}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}},
    {1, 2, 3, 1, {1, 4, 4}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}},
    {1, 2, 1, 1, {1, 2, 2}, {1, 3, 3}, {1, 1, 1}, {0, 9, 9}, {1, 9, 9}},
    {2, 3, 4, 1, {1, 6, 1}, {1, 3, 3}, {1, 2, 1}, {0, 2, 1}, {1, 1, 1}},
    {2, 4, 4, 2, {2, 3, 3}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {2, 4, 4, 4, {1, 5, 5}, {1, 3, 3}, {1, 1, 1}, {0, 4, 4}, {1, 2, 2}},
    {3, 2, 2, 1, {1, 1, 5}, {1, 1, 3}, {1, 1, 7}, {0, 0, 8}, {1, 1, 1}},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, MOST = 40000 };

static tern_device device;
static double x[MOST], weight[MOST], dy[MOST], want_y[MOST], want_weight[MOST];

static int64_t volume(const int64_t *size)
{
    return size[0] * size[1] * size[2];
}

static void sizes_out(const conv_shape *s, int64_t *out)
{
    for (int d = 0; d < DIMS; d++)
        out[d] = (s->in[d] + 2 * s->padding[d] - s->dilation[d] * (s->kernel[d] - 1) - 1) /
                     s->stride[d] +
                 1;
}

// The input that an output and a tap join, 0 where that is padding.
static double joined(const conv_shape *s, const double *channel, const int64_t *size, int64_t o,
                     int64_t tap)
{
    int64_t at = 0;
    const int64_t position[DIMS] = {o / (size[1] * size[2]), o / size[2] % size[1], o % size[2]};
    const int64_t taps[DIMS] = {tap / (s->kernel[1] * s->kernel[2]),
                                tap / s->kernel[2] % s->kernel[1], tap % s->kernel[2]};
    for (int d = 0; d < DIMS; d++) {
        const int64_t in = position[d] * s->stride[d] - s->padding[d] + taps[d] * s->dilation[d];
        if (in < 0 || in >= s->in[d])
            return 0;
        at = at * s->in[d] + in;
    }
    return channel[at];
}

// The sums of a loop over all outputs, channels and taps.
static void expect(const conv_shape *s, const int64_t *out)
{
    const int64_t channels = s->channels / s->groups, taps = volume(s->kernel);
    const int64_t outs = volume(out), each = s->filters / s->groups;
    memset(want_y, 0, sizeof want_y);
    memset(want_weight, 0, sizeof want_weight);
    for (int64_t i = 0; i < s->batch * s->filters * outs; i++) {
        const int64_t n = i / outs / s->filters, f = i / outs % s->filters;
        for (int64_t k = 0; k < channels * taps; k++) {
            const int64_t channel = n * s->channels + f / each * channels + k / taps;
            const double from = joined(s, x + channel * volume(s->in), out, i % outs, k % taps);
            want_y[i] += weight[f * channels * taps + k] * from;
            want_weight[f * channels * taps + k] += dy[i] * from;
        }
    }
}

static tern_tensor *tensor(tern_shape shape, const double *from)
{
    tern_tensor *t =
        tern_to_dtype(tern_from_data(shape, from, .dtype = TERN_FLOAT64), TERN_FLOAT32);
    return tern_to(t, device);
}

static void check(const char *what, int shape, tern_tensor *got, const double *want)
{
    tern_tensor *host = tern_to(got, (tern_device){TERN_CPU, 0});
    assert_no_error();
    const float *value = tern_data(host);
    for (int64_t i = 0; i < tern_numel(host); i++)
        if ((double)value[i] != want[i] && !(isnan(value[i]) && isnan(want[i])))
            fail_msg("%s of shape %d, element %lld: %g instead of %g", what, shape, (long long)i,
                     (double)value[i], want[i]);
}

static void run(int index)
{
    const conv_shape *s = &shapes[index];
    int64_t out[DIMS];
    sizes_out(s, out);
    expect(s, out);
    tern_scope scope = tern_scope_open();
    tern_tensor *w = tensor(
        tern_dims(s->filters, s->channels / s->groups, s->kernel[0], s->kernel[1], s->kernel[2]),
        weight);
    w = tern_clone(w);
    tern_set_requires_grad(w, true);
    tern_tensor *y = tern_conv3d(
        tensor(tern_dims(s->batch, s->channels, s->in[0], s->in[1], s->in[2]), x), w, NULL,
        .stride = {s->stride[0], s->stride[1], s->stride[2]},
        .padding = {s->padding[0], s->padding[1], s->padding[2]},
        .dilation = {s->dilation[0], s->dilation[1], s->dilation[2]}, .groups = s->groups);
    tern_tensor *slope = tensor(tern_dims(s->batch, s->filters, out[0], out[1], out[2]), dy);
    assert_int_equal(tern_backward(y, .gradient = slope), TERN_OK);
    check("y", index, y, want_y);
    check("the weight's gradient", index, tern_grad(w), want_weight);
    tern_scope_close(scope);
}

// Small whole numbers, whose sums are exact.
static void fill_inputs(void)
{
    for (int i = 0; i < MOST; i++) {
        x[i] = i * 7 % 5 + 1;
        weight[i] = i * 3 % 7 - 3;
        dy[i] = i * 5 % 9 - 4;
    }
}

static void gradients_that_are_not_finite_meet_padding(void **state)
{
    (void)state;
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < SHAPES; i++) {
        int64_t out[DIMS];
        sizes_out(&shapes[i], out);
        const int64_t all = shapes[i].batch * shapes[i].filters * volume(out);
        for (int k = 0; k < 12; k++) {
            fill_inputs();
            dy[k % 4 == 0 ? 0 : k % 4 == 1 ? all - 1 : (int64_t)k * 7919 % all] = bad[k % 3];
            run(i);
        }
    }
}

static void filters_that_are_not_finite_meet_padding(void **state)
{
    (void)state;
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < SHAPES; i++) {
        const int64_t taps = volume(shapes[i].kernel);
        const int64_t all = shapes[i].filters * shapes[i].channels / shapes[i].groups * taps;
        for (int k = 0; k < 12; k++) {
            fill_inputs();
            weight[k % 4 == 0 ? 0 : k % 4 == 1 ? all - 1 : (int64_t)k * 7919 % all] = bad[k % 3];
            run(i);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_that_are_not_finite_meet_padding),
        cmocka_unit_test(filters_that_are_not_finite_meet_padding),
    };
    if (tern_device_parse(argc > 1 ? argv[1] : "cpu:0", &device))
        return tern_error_print(stderr);
    return cmocka_run_group_tests_name("padding of convolutions", tests, NULL, NULL);
}
