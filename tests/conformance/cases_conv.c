// SPDX-License-Identifier: Apache-2.0
// Convolutions and transposed ones, against loops over every output and tap.
#include "conformance.h"

#include <math.h>

#define S(...)                                                                                     \
    {                                                                                              \
        (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                                 \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

// Options, by p[0] of a setup. Operations of one dim read the third, of two the last two.
typedef struct way {
    tern_sizes stride, padding, dilation, output_padding, output_size;
    int64_t groups;
} way;

#define ONES                                                                                       \
    {                                                                                              \
        1, 1, 1                                                                                    \
    }
#define TWOS                                                                                       \
    {                                                                                              \
        2, 2, 2                                                                                    \
    }
#define NONE                                                                                       \
    {                                                                                              \
        0, 0, 0                                                                                    \
    }
#define SAME                                                                                       \
    {                                                                                              \
        TERN_SAME_PADDING, TERN_SAME_PADDING, TERN_SAME_PADDING                                    \
    }
static const way ways[] = {
    {ONES, NONE, ONES, NONE, NONE, 1},                     // 0
    {ONES, {1, 1, 1}, ONES, NONE, NONE, 1},                // 1
    {TWOS, {1, 1, 1}, ONES, NONE, NONE, 1},                // 2
    {{1, 2, 3}, {2, 0, 3}, {1, 3, 2}, NONE, NONE, 1},      // 3
    {ONES, {1, 1, 1}, ONES, NONE, NONE, 2},                // 4
    {{2, 3, 1}, {0, 1, 2}, {2, 1, 1}, NONE, NONE, 3},      // 5
    {ONES, SAME, {2, 1, 3}, NONE, NONE, 1},                // 6
    {ONES, {7, 7, 7}, ONES, NONE, NONE, 1},                // 7
    {TWOS, {1, 1, 1}, ONES, {1, 0, 1}, NONE, 1},           // 8
    {{3, 1, 2}, {0, 1, 1}, {2, 3, 1}, {2, 2, 1}, NONE, 2}, // 9
    {TWOS, {1, 1, 1}, ONES, NONE, {4, 8, 6}, 1},           // 10
    {{3, 4, 5}, NONE, ONES, NONE, NONE, 1},                // 11: windows apart
    {ONES, NONE, ONES, NONE, NONE, 2},                     // 12
};

// Sizes that belong together: a setup with a shape is not enlarged (tests/reliability).
#define WAY(index) .shape = {1, {1}}, .p = {index}

static const setup conv1d_setups[] = {
    {.in = {S(2, 3, 9), S(4, 3, 3), S(4)}, WAY(0)},
    {.in = {S(3, 9), S(4, 3, 3), S(4)}, WAY(1)},
    {.in = {S(1, 4, 10), S(6, 2, 4), S(6)}, WAY(4)},
    {.in = {S(2, 3, 8), S(2, 3, 2), S(2)}, WAY(3)},
    {.in = {S(2, 2, 7), S(3, 2, 4), S(3)}, WAY(6)},
    {.in = {S(1, 1, 1), S(1, 1, 1), S(1)}, WAY(0)},
    {.in = {S(0, 3, 9), S(4, 3, 3), S(4)}, WAY(1)},
    {.in = {S(1, 2, 150), S(3, 2, 11), S(3)}, WAY(2)},
};
static const setup conv2d_setups[] = {
    {.in = {S(2, 3, 5, 7), S(4, 3, 3, 3), S(4)}, WAY(1)},
    {.in = {S(3, 5, 7), S(4, 3, 3, 3), S(4)}, WAY(2)},
    {.in = {S(1, 2, 8, 9), S(5, 2, 2, 3), S(5)}, WAY(3)},
    {.in = {S(2, 4, 6, 5), S(6, 2, 3, 2), S(6)}, WAY(4)},
    {.in = {S(2, 3, 7, 6), S(6, 1, 3, 3), S(6)}, WAY(5)},
    {.in = {S(1, 2, 4, 6), S(3, 2, 4, 2), S(3)}, WAY(6)},
    {.in = {S(1, 1, 4, 4), S(1, 1, 3, 3), S(1)}, WAY(7)},
    {.in = {S(2, 6, 5, 5), S(7, 6, 1, 1), S(7)}, WAY(0)},
    {.in = {S(1, 2, 9, 11), S(2, 2, 2, 3), S(2)}, WAY(11)},
    {.in = {S(0, 3, 5, 7), S(4, 3, 3, 3), S(4)}, WAY(1)},
    {.in = {S(2, 9, 17, 23), S(19, 9, 3, 3), S(19)}, WAY(1)},
    // on both sides of what chooses whole batches: images, channels, filters, groups
    {.in = {S(8, 17, 3, 2), S(18, 17, 3, 3), S(18)}, WAY(1)},
    {.in = {S(8, 3, 3, 2), S(18, 3, 3, 3), S(18)}, WAY(1)},
    {.in = {S(8, 17, 3, 2), S(2, 17, 3, 3), S(2)}, WAY(1)},
    {.in = {S(8, 2, 3, 2), S(2, 2, 3, 3), S(2)}, WAY(1)},
    {.in = {S(3, 17, 3, 2), S(18, 17, 3, 3), S(18)}, WAY(2)},
    {.in = {S(8, 34, 2, 2), S(34, 17, 2, 2), S(34)}, WAY(4)},
    // and products of points, or of windows that are apart
    {.in = {S(2, 6, 7, 9), S(7, 6, 1, 1), S(7)}, WAY(0)},
    {.in = {S(2, 6, 7, 9), S(8, 3, 1, 1), S(8)}, WAY(12)},
    {.in = {S(2, 3, 26, 31), S(4, 3, 3, 4), S(4)}, WAY(11)},
    {.in = {S(2, 3, 26, 31), S(4, 3, 3, 1), S(4)}, WAY(11)},
};
static const setup conv3d_setups[] = {
    {.in = {S(1, 2, 3, 4, 5), S(3, 2, 2, 3, 3), S(3)}, WAY(1)},
    {.in = {S(2, 3, 5, 4), S(2, 2, 2, 2, 2), S(2)}, WAY(2)},
    {.in = {S(1, 3, 6, 5, 4), S(3, 1, 2, 2, 2), S(3)}, WAY(5)},
    {.in = {S(1, 2, 3, 7, 6), S(2, 2, 2, 2, 2), S(2)}, WAY(3)},
    {.in = {S(1, 1, 3, 3, 4), S(2, 1, 2, 4, 2), S(2)}, WAY(6)},
    {.in = {S(0, 2, 3, 4, 5), S(3, 2, 2, 3, 3), S(3)}, WAY(1)},
    {.in = {S(8, 17, 2, 2, 3), S(18, 17, 1, 2, 2), S(18)}, WAY(0)},
    {.in = {S(8, 17, 1, 2, 3), S(18, 17, 2, 2, 2), S(18)}, WAY(1)},
    {.in = {S(2, 3, 4, 5, 6), S(4, 3, 1, 1, 1), S(4)}, WAY(0)},
};
static const setup transpose1d_setups[] = {
    {.in = {S(2, 3, 5), S(3, 4, 3), S(4)}, WAY(0)},
    {.in = {S(3, 5), S(3, 4, 3), S(4)}, WAY(8)},
    {.in = {S(1, 4, 4), S(4, 3, 4), S(6)}, WAY(9)},
    {.in = {S(0, 3, 5), S(3, 4, 3), S(4)}, WAY(2)},
};
static const setup transpose2d_setups[] = {
    {.in = {S(2, 3, 3, 4), S(3, 2, 3, 3), S(2)}, WAY(1)},
    {.in = {S(3, 3, 4), S(3, 2, 3, 3), S(2)}, WAY(8)},
    {.in = {S(1, 4, 3, 3), S(4, 3, 2, 3), S(6)}, WAY(9)},
    {.in = {S(1, 2, 3, 3), S(2, 2, 2, 3), S(2)}, WAY(11)},
    {.in = {S(0, 3, 3, 4), S(3, 2, 3, 3), S(2)}, WAY(2)},
    {.in = {S(1, 9, 8, 9), S(9, 10, 4, 4), S(10)}, WAY(2)},
    {.in = {S(8, 17, 2, 3), S(17, 18, 3, 3), S(18)}, WAY(2)},
    {.in = {S(8, 17, 3, 4), S(17, 2, 3, 3), S(2)}, WAY(1)},
    {.in = {S(2, 6, 7, 9), S(6, 7, 1, 1), S(7)}, WAY(0)},
    {.in = {S(2, 3, 6, 6), S(3, 4, 3, 4), S(4)}, WAY(11)},
    // kernels of which few taps meet the image
    {.in = {S(1, 2, 2, 3), S(2, 3, 13, 3), S(3)}, WAY(1)},
    {.in = {S(2, 2, 2, 3), S(2, 3, 25, 3), S(3)}, WAY(8)},
    {.in = {S(1, 2, 4, 3), S(2, 2, 16, 2), S(2)}, WAY(3)},
    {.in = {S(1, 36, 3, 40), S(36, 1, 24, 3), S(1)}, WAY(1)}, // in two bands
};
static const setup transpose3d_setups[] = {
    {.in = {S(1, 2, 2, 3, 3), S(2, 3, 2, 3, 3), S(3)}, WAY(8)},
    {.in = {S(2, 2, 3, 2), S(2, 2, 3, 2, 3), S(4)}, WAY(9)},
    {.in = {S(1, 2, 2, 2, 3), S(2, 2, 12, 2, 3), S(2)}, WAY(1)},
    {.in = {S(1, 2, 1, 2, 3), S(2, 2, 9, 13, 2), S(2)}, WAY(3)},
};
// With an output_size, which layers do not have.
static const setup transpose2d_sized[] = {
    {.in = {S(2, 2, 4, 3), S(2, 3, 3, 3), S(3)}, WAY(10)},
};
static const setup transpose3d_sized[] = {
    {.in = {S(1, 2, 2, 4, 3), S(2, 1, 3, 3, 3), S(1)}, WAY(10)},
};

// ---- the reference ------------------------------------------------------------------------------

// Three spatial dims each; x is what a convolution reads, y what it writes.
typedef struct problem {
    const array *in;
    int64_t batch, channels, filters, groups; // of x and y
    int64_t x[3], y[3], kernel[3], stride[3], padding[3], dilation[3];
    bool transposed;
} problem;

static void sizes(tern_sizes size, int64_t *to)
{
    to[0] = size.first;
    to[1] = size.second;
    to[2] = size.third;
}

static void space(tern_shape shape, int dims, int64_t *to)
{
    for (int i = 0; i < 3; i++)
        to[i] = i < 3 - dims ? 1 : shape.dim[shape.rank - 3 + i];
}

static problem problem_of(const op_case *c, const setup *s, const array *in)
{
    const way *w = &ways[(int)s->p[0]];
    int dims = (int)c->p[1];
    int64_t extra[3], asked[3], from[3];
    problem p = {.in = in, .groups = w->groups, .transposed = c->p[2] != 0};
    sizes(w->stride, p.stride);
    sizes(w->padding, p.padding);
    sizes(w->dilation, p.dilation);
    sizes(w->output_padding, extra);
    sizes(w->output_size, asked);
    space(in[1].shape, dims, p.kernel);
    space(in[0].shape, dims, from);
    for (int i = 0; i < 3; i++) {
        bool spatial = i >= 3 - dims;
        if (!spatial) {
            p.stride[i] = p.dilation[i] = 1;
            p.padding[i] = extra[i] = 0;
        }
        int64_t reach = p.dilation[i] * (p.kernel[i] - 1), both = 2 * p.padding[i];
        if (p.padding[i] == TERN_SAME_PADDING) {
            both = reach;
            p.padding[i] = reach / 2;
        }
        int64_t wide = (from[i] - 1) * p.stride[i] - both + reach + 1 + extra[i];
        if (spatial && asked[i] > 0)
            wide = asked[i];
        p.x[i] = p.transposed ? wide : from[i];
        p.y[i] = p.transposed ? from[i] : (from[i] + both - reach - 1) / p.stride[i] + 1;
    }
    p.batch = in[0].shape.rank == dims + 2 ? in[0].shape.dim[0] : 1;
    p.filters = in[1].shape.dim[0];
    p.channels = in[1].shape.dim[1] * w->groups;
    return p;
}

static int64_t at(int64_t row, const int64_t *index, const int64_t *size)
{
    return ((row * size[0] + index[0]) * size[1] + index[1]) * size[2] + index[2];
}

static void step(int64_t *index, const int64_t *size)
{
    for (int i = 2; i >= 0; i--) {
        if (++index[i] < size[i])
            return;
        index[i] = 0;
    }
}

// Adds what one filter and one channel of an image give at one tap.
static void add_tap(const problem *p, int64_t n, int64_t k, int64_t channel, const int64_t *tap,
                    expected *out)
{
    int64_t each = p->channels / p->groups, group = k / (p->filters / p->groups);
    int64_t weight_row = k * each + channel, c = group * each + channel;
    real weight = p->in[1].data[at(weight_row, tap, p->kernel)];
    int64_t o[3] = {0}, i[3], count = p->y[0] * p->y[1] * p->y[2];
    for (int64_t q = 0; q < count; q++, step(o, p->y)) {
        bool inside = true;
        for (int d = 0; d < 3; d++) {
            i[d] = o[d] * p->stride[d] - p->padding[d] + tap[d] * p->dilation[d];
            inside = inside && i[d] >= 0 && i[d] < p->x[d];
        }
        if (!inside)
            continue;
        int64_t x = at(n * p->channels + c, i, p->x), y = at(n * p->filters + k, o, p->y);
        int64_t to = p->transposed ? x : y, from = p->transposed ? y : x;
        out->value.data[to] += p->in[0].data[from] * weight;
        out->magnitude.data[to] += fabsl(p->in[0].data[from] * weight);
    }
}

static void reference_conv(const op_case *c, const setup *s, const array *in, expected *out)
{
    problem p = problem_of(c, s, in);
    int dims = (int)c->p[1], rank = in[0].shape.rank;
    int64_t channels = p.transposed ? p.channels : p.filters;
    tern_shape shape = in[0].shape;
    shape.dim[rank - dims - 1] = channels;
    for (int i = 0; i < dims; i++)
        shape.dim[rank - dims + i] = (p.transposed ? p.x : p.y)[3 - dims + i];
    out->value = array_new(out->value.dtype, shape);
    out->magnitude = array_new(TERN_FLOAT64, shape);
    int64_t taps = p.kernel[0] * p.kernel[1] * p.kernel[2], tap[3];
    out->terms = (double)(p.filters * p.channels / p.groups * taps) + 8;
    out->in_between = c->each != NULL;
    int64_t positions = out->value.numel / (p.batch * channels > 0 ? p.batch * channels : 1);
    for (int64_t i = 0; i < out->value.numel && c->inputs > 2; i++) {
        out->value.data[i] = in[2].data[i / positions % channels];
        out->magnitude.data[i] = fabsl(out->value.data[i]);
    }
    for (int64_t n = 0; n < p.batch; n++)
        for (int64_t k = 0; k < p.filters; k++)
            for (int64_t channel = 0; channel < p.channels / p.groups; channel++) {
                for (int64_t t = 0; t < taps; t++) {
                    tap[2] = t % p.kernel[2];
                    tap[1] = t / p.kernel[2] % p.kernel[1];
                    tap[0] = t / p.kernel[2] / p.kernel[1];
                    add_tap(&p, n, k, channel, tap, out);
                }
            }
    for (int64_t i = 0; i < out->value.numel && c->each; i++)
        out->value.data[i] = c->each(&out->value.data[i], c->p);
    for (int64_t i = 0; i < out->value.numel; i++)
        out->magnitude.data[i] *= 1.2L; // no activation is steeper
}

// ---- calls --------------------------------------------------------------------------------------

#define SIZE_1(t) tern_sizes_of((t).third, TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST)
#define SIZE_2(t) tern_sizes_of((t).second, (t).third, TERN_SAME_AS_FIRST)
#define SIZE_3(t) (t)
#define WORDS(of)                                                                                  \
    in[0], in[1], c->inputs > 2 ? in[2] : NULL,                                                    \
        .stride = of(w->stride), .padding = of(w->padding), .dilation = of(w->dilation),           \
        .groups = w->groups, .activation = (tern_activation)c->p[0]
#define TRANSPOSED(of)                                                                             \
    WORDS(of), .output_padding = of(w->output_padding), .output_size = of(w->output_size)

static tern_tensor *call_conv(tern_tensor *const *in, const op_case *c, const setup *s)
{
    const way *w = &ways[(int)s->p[0]];
    int dims = (int)c->p[1];
    if (c->p[2] != 0)
        return dims == 1   ? tern_conv_transpose1d(TRANSPOSED(SIZE_1))
               : dims == 2 ? tern_conv_transpose2d(TRANSPOSED(SIZE_2))
                           : tern_conv_transpose3d(TRANSPOSED(SIZE_3));
    return dims == 1   ? tern_conv1d(WORDS(SIZE_1))
           : dims == 2 ? tern_conv2d(WORDS(SIZE_2))
                       : tern_conv3d(WORDS(SIZE_3));
}

bool conv_case_is_module(const op_case *c)
{
    for (int i = 0; i < c->setup_count; i++)
        if (ways[(int)c->setups[i].p[0]].output_size.third > 0)
            return false;
    return c->p[0] <= TERN_ACT_NONE;
}

#define MODULE_WORDS(of)                                                                           \
    channels, filters, .kernel_size = of(kernel), .stride = of(w->stride),                         \
                       .padding = of(w->padding), .dilation = of(w->dilation),                     \
                       .groups = w->groups, .bias = c->inputs > 2
#define MODULE_TRANSPOSED(of) MODULE_WORDS(of), .output_padding = of(w->output_padding)

tern_module *conv_case_module(tern_tensor *const *in, const op_case *c, const setup *s)
{
    const way *w = &ways[(int)s->p[0]];
    int dims = (int)c->p[1];
    bool transposed = c->p[2] != 0;
    tern_shape shape = tern_shape_of(in[1]);
    int64_t k[3], across = shape.dim[1] * w->groups;
    space(shape, dims, k);
    tern_sizes kernel = {k[0], k[1], k[2]};
    int64_t channels = transposed ? shape.dim[0] : across;
    int64_t filters = transposed ? across : shape.dim[0];
    if (transposed)
        return dims == 1   ? tern_nn_conv_transpose1d(MODULE_TRANSPOSED(SIZE_1))
               : dims == 2 ? tern_nn_conv_transpose2d(MODULE_TRANSPOSED(SIZE_2))
                           : tern_nn_conv_transpose3d(MODULE_TRANSPOSED(SIZE_3));
    return dims == 1   ? tern_nn_conv1d(MODULE_WORDS(SIZE_1))
           : dims == 2 ? tern_nn_conv2d(MODULE_WORDS(SIZE_2))
                       : tern_nn_conv3d(MODULE_WORDS(SIZE_3));
}

static real each_relu(const real *x, const double *p)
{
    (void)p;
    return x[0] > 0 ? x[0] : 0;
}

static real each_silu(const real *x, const double *p)
{
    (void)p;
    return x[0] / (1 + expl(-x[0]));
}

// p: the activation, dims, transposed
#define CONV(name, words, list, count, dims, transposed, activation, ...)                          \
    {                                                                                              \
        .op = name, .note = words, .call = call_conv, .reference = reference_conv, .setups = list, \
        .setup_count = COUNT(list), .inputs = count, .values = {ORDINARY, ORDINARY, ORDINARY},     \
        .dtypes = FLOATS, .p = {activation, dims, transposed}, .gradients = (1 << count) - 1,      \
        __VA_ARGS__                                                                                \
    }

static const op_case cases[] = {
    CONV("conv1d", "bias", conv1d_setups, 3, 1, 0, TERN_ACT_NONE, .each = NULL),
    CONV("conv2d", "bias", conv2d_setups, 3, 2, 0, TERN_ACT_UNSPECIFIED, .each = NULL),
    CONV("conv2d", "no bias", conv2d_setups, 2, 2, 0, TERN_ACT_NONE, .each = NULL),
    CONV("conv2d", "relu", conv2d_setups, 3, 2, 0, TERN_ACT_RELU, .each = each_relu,
         .kinks_inside = true),
    CONV("conv2d", "silu", conv2d_setups, 3, 2, 0, TERN_ACT_SILU, .each = each_silu),
    CONV("conv3d", "bias", conv3d_setups, 3, 3, 0, TERN_ACT_NONE, .each = NULL),
    CONV("conv_transpose1d", "bias", transpose1d_setups, 3, 1, 1, TERN_ACT_NONE, .each = NULL),
    CONV("conv_transpose2d", "bias", transpose2d_setups, 3, 2, 1, TERN_ACT_NONE, .each = NULL),
    CONV("conv_transpose2d", "relu, no bias", transpose2d_setups, 2, 2, 1, TERN_ACT_RELU,
         .each = each_relu, .kinks_inside = true),
    CONV("conv_transpose2d", "output_size", transpose2d_sized, 3, 2, 1, TERN_ACT_NONE,
         .each = NULL),
    CONV("conv_transpose3d", "bias", transpose3d_setups, 3, 3, 1, TERN_ACT_NONE, .each = NULL),
    CONV("conv_transpose3d", "output_size", transpose3d_sized, 3, 3, 1, TERN_ACT_NONE,
         .each = NULL),
};
const case_list conv_cases = {cases, COUNT(cases)};
