// SPDX-License-Identifier: Apache-2.0
// Convolutions and their gradients on a device against sums in double over every channel and tap:
// each kind of kernel, at sizes that fill no tile. Sums of the values are exact in float32, so that
// only 16-bit results are rounded, once.
#include "elements.h"
#include "plugin_check.h"

// What is 0 and cannot be is 1.
typedef struct conv_case {
    tern_dtype dtype;
    int64_t n, c, k, groups, in[3], kernel[3], stride[3], dilation[3];
    int64_t padding[3], behind[3]; // before the first element, and how much more behind the last
    bool relu, accumulate;
    const char *what; // in sentences about what failed
} conv_case;

enum { X, WEIGHT, Y, BIAS, VIEWS };

typedef struct conv_run {
    conv_case of;
    tern_strided view[VIEWS];
    piece memory[VIEWS];
    double *values[VIEWS];
} conv_run;

static void set_sizes(tern_strided *view, tern_dtype dtype, int rank, const int64_t *size)
{
    int64_t stride = 1;
    *view = (tern_strided){.dtype = dtype, .rank = rank};
    for (int d = rank - 1; d >= 0; d--) {
        view->size[d] = size[d];
        view->stride[d] = stride;
        stride *= size[d];
    }
}

static void set_ones(conv_case *of)
{
    int64_t *const numbers[] = {&of->in[0],      &of->in[1],     &of->in[2],       &of->kernel[0],
                                &of->kernel[1],  &of->kernel[2], &of->stride[0],   &of->stride[1],
                                &of->stride[2],  &of->groups,    &of->dilation[0], &of->dilation[1],
                                &of->dilation[2]};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (*numbers[i] == 0)
            *numbers[i] = 1;
    if (of->dtype == TERN_DTYPE_UNSPECIFIED)
        of->dtype = TERN_FLOAT32;
}

static void put(conv_run *r, int which)
{
    const tern_strided *view = &r->view[which];
    const int64_t size = (int64_t)tern_dtype_size(view->dtype), numel = tern_strided_numel(view);
    char *host = test_calloc((size_t)(numel * size) + 1, 1);
    for (int64_t i = 0; i < numel; i++)
        store_element(host, view->dtype, i, r->values[which][i]);
    assert_int_equal(plugin.device->to_device(0, view->data, host, numel * size), TERN_OK);
    test_free(host);
}

static void put_values(conv_run *r, int which)
{
    const int64_t numel = tern_strided_numel(&r->view[which]);
    r->memory[which] = take(0, numel * (int64_t)tern_dtype_size(r->of.dtype));
    r->view[which].data = r->memory[which].data;
    r->values[which] = test_calloc((size_t)numel + 1, sizeof(double));
    for (int64_t i = 0; i < numel; i++)
        r->values[which][i] = exact_value(i * (3 + 2 * which) + which);
    put(r, which);
}

static conv_run begin(conv_case of)
{
    set_ones(&of);
    conv_run r = {.of = of};
    int64_t x[5] = {of.n, of.c}, weight[5] = {of.k, of.c / of.groups}, y[5] = {of.n, of.k};
    const int64_t most = of.c > of.k ? of.c : of.k;
    for (int d = 0; d < 3; d++) {
        x[2 + d] = of.in[d];
        weight[2 + d] = of.kernel[d];
        y[2 + d] = (of.in[d] + 2 * of.padding[d] + of.behind[d] -
                    of.dilation[d] * (of.kernel[d] - 1) - 1) /
                       of.stride[d] +
                   1;
    }
    set_sizes(&r.view[X], of.dtype, 5, x);
    set_sizes(&r.view[WEIGHT], of.dtype, 5, weight);
    set_sizes(&r.view[Y], of.dtype, 5, y);
    set_sizes(&r.view[BIAS], of.dtype, 1, &most);
    for (int which = 0; which < VIEWS; which++)
        put_values(&r, which);
    return r;
}

static void end(conv_run *r)
{
    for (int which = 0; which < VIEWS; which++) {
        give(&r->memory[which]);
        test_free(r->values[which]);
    }
}

static int64_t offset(const tern_strided *view, int64_t outer, int64_t inner, const int64_t at[3])
{
    int64_t place = outer * view->stride[0] + inner * view->stride[1];
    for (int d = 0; d < 3; d++)
        place += at[d] * view->stride[2 + d];
    return place;
}

// Adds what one element of y and one of the kernel give, in all channels of the group.
static void add_tap(const conv_run *r, int which, int64_t n, int64_t k, const int64_t out[3],
                    const int64_t tap[3], double *sums)
{
    const int64_t channels = r->of.c / r->of.groups, group = k / (r->of.k / r->of.groups);
    int64_t in[3];
    for (int d = 0; d < 3; d++) {
        in[d] = out[d] * r->of.stride[d] - r->of.padding[d] + tap[d] * r->of.dilation[d];
        if (in[d] < 0 || in[d] >= r->of.in[d])
            return;
    }
    for (int64_t c = 0; c < channels; c++) {
        const int64_t at[] = {offset(&r->view[X], n, group * channels + c, in),
                              offset(&r->view[WEIGHT], k, c, tap), offset(&r->view[Y], n, k, out)};
        double product = 1;
        for (int i = X; i <= Y; i++)
            product *= i == which ? 1 : r->values[i][at[i]];
        sums[at[which]] += product;
    }
}

static void count_up(int64_t at[3], const int64_t *size)
{
    for (int d = 2; d >= 0; d--) {
        if (++at[d] < size[d] || d == 0)
            return;
        at[d] = 0;
    }
}

static void add_all(const conv_run *r, int which, double *sums)
{
    const tern_strided *y = &r->view[Y];
    for (int64_t n = 0; n < y->size[0]; n++)
        for (int64_t k = 0; k < y->size[1]; k++)
            for (int64_t out[3] = {0, 0, 0}; out[0] < y->size[2]; count_up(out, y->size + 2))
                for (int64_t tap[3] = {0, 0, 0}; tap[0] < r->of.kernel[0];
                     count_up(tap, r->of.kernel))
                    add_tap(r, which, n, k, out, tap, sums);
}

static double finished(const conv_run *r, int which, int64_t i, double sum)
{
    const tern_strided *view = &r->view[which];
    if (r->of.accumulate)
        return r->values[which][i] + sum;
    if (which == WEIGHT)
        return sum;
    sum += r->values[BIAS][i / view->stride[1] % view->size[1]];
    return r->of.relu && sum < 0 ? 0 : sum;
}

static tern_status launch(const conv_run *r, int which)
{
    tern_strided bias = r->view[BIAS];
    tern_conv_args args = {.x = r->view[X],
                           .weight = r->view[WEIGHT],
                           .y = r->view[Y],
                           .relu = which != WEIGHT && r->of.relu,
                           .accumulate = r->of.accumulate,
                           .groups = r->of.groups};
    bias.size[0] = r->view[which].size[1];
    args.bias = which == WEIGHT || r->of.accumulate ? NULL : &bias;
    memcpy(args.stride, r->of.stride, sizeof args.stride);
    memcpy(args.padding, r->of.padding, sizeof args.padding);
    memcpy(args.dilation, r->of.dilation, sizeof args.dilation);
    const tern_exec exec = exec_of(0);
    tern_kernel_conv *const kernels[] = {plugin.kernels->conv_grad_input,
                                         plugin.kernels->conv_grad_weight, plugin.kernels->conv};
    return kernels[which](&exec, &args);
}

static char *get(const conv_run *r, int which)
{
    char *host = test_calloc((size_t)r->memory[which].nbytes + 1, 1);
    assert_int_equal(plugin.device->to_host(0, host, r->view[which].data, r->memory[which].nbytes),
                     TERN_OK);
    return host;
}

static void assert_result(const conv_run *r, int which)
{
    static const char *const names[] = {"x", "weight", "y"};
    const int64_t numel = tern_strided_numel(&r->view[which]);
    double *sums = test_calloc((size_t)numel + 1, sizeof(double));
    add_all(r, which, sums);
    assert_int_equal(launch(r, which), TERN_OK);
    char *host = get(r, which);
    const double rounding = rounding_of(r->of.dtype);
    for (int64_t i = 0; i < numel; i++) {
        const double actual = load_element(host, r->of.dtype, i);
        const double expected = finished(r, which, i, sums[i]);
        if (!(fabs(actual - expected) <= rounding * fabs(expected)))
            fail_msg("%s: element %lld of %s is %.17g, expected %.17g", r->of.what, (long long)i,
                     names[which], actual, expected);
    }
    test_free(sums);
    test_free(host);
}

// y, and the gradients from y as it was before.
static void assert_conv(conv_case of)
{
    for (int which = X; which <= Y; which++) {
        conv_run r = begin(of);
        assert_result(&r, which);
        end(&r);
    }
}

// ---- tests --------------------------------------------------------------------------------------

static const tern_dtype dtypes[] = {TERN_FLOAT32, TERN_FLOAT64, TERN_FLOAT16, TERN_BFLOAT16};

// Tiles differ by the channels that are written: of y in the forward, of x in its gradient.
static void every_tile_of_every_dtype_gives_the_sums(void **state)
{
    (void)state;
    static const int64_t channels[] = {2, 5, 20, 40, 70};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (size_t i = 0; i < sizeof channels / sizeof *channels; i++)
            for (int swapped = 0; swapped < 2; swapped++)
                assert_conv((conv_case){.dtype = dtypes[d],
                                        .n = 2,
                                        .c = swapped ? channels[i] : 3,
                                        .k = swapped ? 3 : channels[i],
                                        .in = {1, 5, 7},
                                        .kernel = {1, 3, 3},
                                        .padding = {0, 1, 1},
                                        .relu = i % 2,
                                        .what = "tiles"});
}

static const conv_case shapes[] = {
    {.what = "stride 3", .stride = {1, 3, 3}, .in = {1, 11, 13}},
    {.what = "stride 2, dilation 2", .stride = {1, 2, 2}, .dilation = {1, 2, 2}, .in = {1, 9, 10}},
    {.what = "stride 4, dilation 6", .stride = {1, 4, 1}, .dilation = {1, 6, 3}, .in = {1, 19, 9}},
    {.what = "stride larger than the kernel", .stride = {1, 5, 4}, .in = {1, 17, 18}},
    {.what = "more phases than a launch has", .stride = {1, 1, 20}, .in = {1, 4, 50}},
    {.what = "uneven padding", .padding = {0, 1, 2}, .behind = {0, 1, 0}, .in = {1, 6, 7}},
    {.what = "elements that no window meets", .stride = {1, 3, 3}, .in = {1, 10, 8}},
    {.what = "kernel larger than the image", .padding = {0, 2, 1}, .in = {1, 2, 1}},
    {.what = "more padding than kernel", .padding = {0, 5, 4}, .in = {1, 3, 4}},
    {.what = "one dimension", .in = {1, 1, 23}, .kernel = {1, 1, 4}, .padding = {0, 0, 2}},
    {.what = "three dimensions",
     .in = {4, 5, 6},
     .kernel = {2, 3, 2},
     .stride = {2, 1, 2},
     .padding = {1, 0, 1}},
    {.what = "positions of several tiles and parts", .n = 3, .in = {1, 21, 19}},
    {.what = "no images", .n = -1, .in = {1, 5, 5}},
};

static void assert_shape(conv_case of, int64_t c, int64_t k, int64_t groups, bool accumulate)
{
    of.n = of.n == 0 ? 2 : of.n < 0 ? 0 : of.n;
    of.c = c;
    of.k = k;
    of.groups = groups;
    of.accumulate = accumulate;
    if (of.kernel[2] == 0)
        of.kernel[1] = of.kernel[2] = 3;
    assert_conv(of);
}

static void every_stride_padding_and_dilation_gives_the_sums(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        assert_shape(shapes[i], 4, 5, 1, false);
        assert_shape(shapes[i], 6, 6, 6, true);  // depthwise
        assert_shape(shapes[i], 3, 6, 3, false); // with two filters for each channel
        assert_shape(shapes[i], 6, 9, 3, true);  // groups
    }
}

static void tensor_cores_take_every_stride_padding_and_dilation(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        conv_case of = shapes[i];
        of.dtype = i % 2 ? TERN_FLOAT16 : TERN_BFLOAT16;
        assert_shape(of, 34, 36, 2, i % 3 == 0);
    }
}

static void one_tap_is_a_product(void **state)
{
    (void)state;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (int i = 0; i < 8; i++) {
            const bool one_element = i & 1, one_image = i & 2, accumulate = i & 4;
            const int64_t side = one_element ? 1 : 3;
            assert_conv((conv_case){.dtype = dtypes[d],
                                    .n = one_image ? 1 : 4,
                                    .c = 5,
                                    .k = 6,
                                    .in = {1, side, side},
                                    .relu = !accumulate,
                                    .accumulate = accumulate,
                                    .what = "one tap"});
        }
}

static void one_tap_of_groups_is_none(void **state)
{
    (void)state;
    assert_conv((conv_case){.n = 2,
                            .c = 4,
                            .k = 6,
                            .groups = 2,
                            .in = {1, 3, 3},
                            .accumulate = true,
                            .what = "one tap of groups"});
}

static float first_sum(void)
{
    conv_run r = begin((conv_case){.n = 1, .c = 8, .k = 17, .in = {1, 3, 3}, .kernel = {1, 3, 3}});
    for (int which = X; which <= BIAS; which++) {
        const int64_t numel = tern_strided_numel(&r.view[which]);
        for (int64_t i = 0; i < numel; i++)
            r.values[which][i] = which == X ? 1 + 0x1p-12 : which == WEIGHT ? 1 : 0;
        put(&r, which);
    }
    assert_int_equal(launch(&r, Y), TERN_OK);
    char *host = get(&r, Y);
    const float sum = (float)load_element(host, TERN_FLOAT32, 0);
    test_free(host);
    end(&r);
    return sum;
}

// An element of TF32 has 10 bits of fraction: 1 + 2^-12 is 1 there.
static void tf32_is_used_where_it_is_allowed_alone(void **state)
{
    (void)state;
    assert_near(first_sum(), 72 * (1 + 0x1p-12), 0, 0);
    plugin.cuda->allow_tf32(true);
    const float sum = first_sum();
    static const int64_t channels[] = {20, 40, 70};
    for (size_t i = 0; i < sizeof channels / sizeof *channels; i++)
        for (int swapped = 0; swapped < 2; swapped++)
            assert_conv((conv_case){.n = 2,
                                    .c = swapped ? channels[i] : 3,
                                    .k = swapped ? 3 : channels[i],
                                    .in = {1, 5, 7},
                                    .kernel = {1, 3, 3},
                                    .stride = {1, 2, 1},
                                    .padding = {0, 1, 1},
                                    .what = "TF32"});
    plugin.cuda->allow_tf32(false);
    assert_near(sum, 72, 0, 0);
}

static void what_a_kernel_cannot_count_is_refused(void **state)
{
    (void)state;
    conv_run r = begin((conv_case){.n = 1, .c = 1, .k = 1, .in = {1, 1, 4}, .kernel = {1, 1, 2}});
    r.of.dilation[2] = (int64_t)1 << 29;
    for (int which = X; which <= Y; which++)
        assert_int_equal(launch(&r, which), TERN_ERR_UNSUPPORTED);
    assert_error(TERN_ERR_UNSUPPORTED, "must be below 2^29");
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tile_of_every_dtype_gives_the_sums),
        cmocka_unit_test(every_stride_padding_and_dilation_gives_the_sums),
        cmocka_unit_test(tensor_cores_take_every_stride_padding_and_dilation),
        cmocka_unit_test(one_tap_is_a_product),
        cmocka_unit_test(one_tap_of_groups_is_none),
        cmocka_unit_test(tf32_is_used_where_it_is_allowed_alone),
        cmocka_unit_test(what_a_kernel_cannot_count_is_refused),
    };
    return cmocka_run_group_tests(tests, open_devices, NULL);
}
