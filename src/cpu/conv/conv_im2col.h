// SPDX-License-Identifier: Apache-2.0
// Convolutions as matrix products, where the patches, the inputs of one output each, do not
// overlap: the stride is at least the kernel, nothing is padded. Patches are gathered as rows
// (positions, filter), a few images or a few lines of one image at a time. A kernel of one element
// at stride 1 needs no copy: the image is that matrix, transposed. Chunks are cut by the shape
// alone.
#ifndef TERN_SRC_CPU_CONV_CONV_IM2COL_H
#define TERN_SRC_CPU_CONV_CONV_IM2COL_H

#include "cpu/product/gemm_name.h"
#include "base/mem.h"
#include "base/thread_pool.h"
#include "cpu/conv/conv_source.h"
#include "cpu/product/gemm.h"
#include "device/kernels.h"

typedef struct im2col_conv im2col_conv;
typedef GEMM_ARGS im2col_product_fn(const im2col_conv *c);
typedef void im2col_chunk_fn(im2col_conv *c);

struct im2col_conv {
    int64_t batch, channels, filters;
    int64_t in[3], out[3], kernel[3], stride[3];
    int64_t space, positions; // elements of a channel of x, and of y
    int64_t filter;           // elements: channels times taps
    real *x, *y, *weight;
    const real *bias;
    bool relu, accumulate;
    bool inplace; // no gathering

    int64_t max_images, max_lines; // of a chunk; lines are rows of positions
    int64_t image, images;         // of the chunk that is worked on: first and count
    int64_t line, lines;
    int64_t turn;  // image of the chunk, whose part of the weight's gradient is added
    real *patches; /* (images, lines, out[2], filter) */
    real *scratch; // of the products
    int64_t scratch_size, threads;
    im2col_product_fn *product;
};

#define IM2COL_CHUNK          (1 << 18) // gathered elements
#define IM2COL_MIN_POSITIONS  32        // of an image: they fill tiles of a product
#define IM2COL_MANY_POSITIONS 512       // that pay for packing an operand for each image
#define IM2COL_MIN_RUN        2         // elements that are copied at a time

// `batched`: there is the way of whole batches, which packs the weights once; then only images of
// many points are better off as products.
static bool im2col_suits(const tern_conv_args *args, bool batched)
{
    const tern_strided *x = &args->x, *y = &args->y, *w = &args->weight;
    bool apart = args->groups == 1, point = true;
    for (int d = 0; d < 3; d++) {
        const int64_t kernel = w->size[d + 2], stride = args->stride[d];
        apart = apart && args->padding[d] == 0 && (kernel == 1 || args->dilation[d] == 1) &&
                (stride >= kernel || y->size[d + 2] == 1) &&
                (y->size[d + 2] - 1) * stride + kernel <= x->size[d + 2];
        point = point && kernel == 1 && x->size[d + 2] == y->size[d + 2];
    }
    const int64_t positions = y->size[2] * y->size[3] * y->size[4];
    return apart && (point || (!batched && w->size[4] >= IM2COL_MIN_RUN)) &&
           positions >= (batched ? IM2COL_MANY_POSITIONS : IM2COL_MIN_POSITIONS) &&
           tern_strided_numel(x) > 0 && tern_strided_numel(w) > 0;
}

static int64_t im2col_all_lines(const im2col_conv *c)
{
    return c->out[0] * c->out[1];
}

// By what is gathered, or, in place, by the result, which begins as the bias and is soon read
// again.
static void im2col_cut(im2col_conv *c)
{
    const int64_t all = im2col_all_lines(c);
    const int64_t widest = max_int64(c->filters, c->channels);
    const int64_t line = c->out[2] * (c->inplace ? widest : c->filter);
    const int64_t lines = IM2COL_CHUNK / line, images = lines / all;
    c->max_lines = c->inplace || images > 0 ? all : lines > 0 ? lines : 1;
    c->max_images = images > 0 ? images : 1;
    c->max_images = c->max_images < c->batch ? c->max_images : c->batch;
}

static im2col_conv im2col_conv_of(const tern_conv_args *args)
{
    im2col_conv c = {.batch = args->x.size[0],
                     .channels = args->x.size[1],
                     .filters = args->weight.size[0],
                     .space = 1,
                     .positions = 1,
                     .filter = args->x.size[1],
                     .x = args->x.data,
                     .y = args->y.data,
                     .weight = args->weight.data,
                     .bias = args->bias ? args->bias->data : NULL,
                     .relu = args->relu,
                     .accumulate = args->accumulate,
                     .inplace = true,
                     .threads = tern_num_threads()};
    for (int d = 0; d < 3; d++) {
        c.space *= c.in[d] = args->x.size[d + 2];
        c.positions *= c.out[d] = args->y.size[d + 2];
        c.filter *= c.kernel[d] = args->weight.size[d + 2];
        c.stride[d] = args->stride[d];
        c.inplace = c.inplace && c.kernel[d] == 1 && c.in[d] == c.out[d];
    }
    im2col_cut(&c);
    return c;
}

// A plane of one channel: the bias, or 0.
static void conv_fill_plane(void *context, int64_t index)
{
    const tern_conv_args *args = context;
    const int64_t numel = args->x.size[2] * args->x.size[3] * args->x.size[4];
    const real bias = args->bias ? ((const real *)args->bias->data)[index % args->x.size[1]] : 0;
    const real value = args->relu && bias < 0 ? 0 : bias;
    real *to = (real *)args->x.data + index * numel;
    for (int64_t i = 0; i < numel; i++)
        to[i] = value;
}

// x, of which some elements reach no tap.
static void conv_fill(const tern_conv_args *args)
{
    tern_conv_args all = *args;
    tern_pool_run(args->x.size[0] * args->x.size[1], conv_fill_plane, &all);
}

// ---- the chunk's products -----------------------------------------------------------------------

static int64_t im2col_count(const im2col_conv *c)
{
    return c->lines * c->out[2];
}

// y, an image's (filters, positions), from the first position of the chunk on.
static real *im2col_y(const im2col_conv *c)
{
    return c->y + c->image * c->filters * c->positions + c->line * c->out[2];
}

// The chunk's patches as (positions, filter): how far apart two positions are, and two elements of
// one.
static real *im2col_matrix(const im2col_conv *c, int64_t *position, int64_t *element,
                           int64_t *image)
{
    *position = c->inplace ? 1 : c->filter;
    *element = c->inplace ? c->space : 1;
    *image = c->inplace ? c->channels * c->space : im2col_count(c) * c->filter;
    return c->inplace ? c->x + c->image * *image : c->patches;
}

// y = weight patches^T
static GEMM_ARGS im2col_forward(const im2col_conv *c)
{
    GEMM_ARGS g = {.m = c->filters,
                   .n = im2col_count(c),
                   .k = c->filter,
                   .a = c->weight,
                   .a_row = c->filter,
                   .a_col = 1,
                   .c = im2col_y(c),
                   .c_row = c->positions,
                   .relu = c->relu,
                   .accumulate = c->accumulate || c->bias,
                   .batch = c->images,
                   .c_batch = c->filters * c->positions,
                   .scratch = c->scratch,
                   .threads = c->threads};
    g.b = im2col_matrix(c, &g.b_col, &g.b_row, &g.b_batch);
    return g;
}

// patches = y^T weight, or its transpose in place
static GEMM_ARGS im2col_input(const im2col_conv *c)
{
    GEMM_ARGS g = {
        .k = c->filters, .batch = c->images, .scratch = c->scratch, .threads = c->threads};
    int64_t position, element;
    g.c = im2col_matrix(c, &position, &element, &g.c_batch);
    if (c->inplace) {
        g.m = c->filter, g.n = c->positions, g.c_row = element;
        g.a = c->weight, g.a_row = 1, g.a_col = c->filter;
        g.b = im2col_y(c), g.b_row = c->positions, g.b_col = 1;
        g.b_batch = c->filters * c->positions;
        g.relu = c->relu;
        g.accumulate = c->accumulate || c->bias;
        return g;
    }
    g.m = im2col_count(c), g.n = c->filter, g.c_row = position;
    g.a = im2col_y(c), g.a_row = 1, g.a_col = c->positions;
    g.a_batch = c->filters * c->positions;
    g.b = c->weight, g.b_row = c->filter, g.b_col = 1;
    return g;
}

// weight += y patches, of one image of the chunk
static GEMM_ARGS im2col_weight(const im2col_conv *c)
{
    GEMM_ARGS g = {.m = c->filters,
                   .n = c->filter,
                   .k = im2col_count(c),
                   .a = im2col_y(c) + c->turn * c->filters * c->positions,
                   .a_row = c->positions,
                   .a_col = 1,
                   .c = c->weight,
                   .c_row = c->filter,
                   .accumulate = c->accumulate || c->image + c->turn > 0 || c->line > 0,
                   .scratch = c->scratch,
                   .threads = c->threads};
    int64_t image;
    g.b = im2col_matrix(c, &g.b_row, &g.b_col, &image);
    if (c->turn > 0) // patches have no memory yet where products are measured
        g.b += c->turn * image;
    return g;
}

// ---- patches ------------------------------------------------------------------------------------

VEC_INLINE void im2col_write(const im2col_conv *c, real *to, const real *from, int64_t count,
                             int64_t channel)
{
    const real bias = c->bias ? c->bias[channel] : 0;
    for (int64_t i = 0; i < count; i++) {
        const real sum = from[i] + (c->accumulate ? to[i] : 0) + bias;
        to[i] = c->relu && sum < 0 ? 0 : sum;
    }
}

// One row of one channel, `row` of each patch's elements: to the patches, or back.
VEC_INLINE void im2col_row(const im2col_conv *c, real *im2col, real *x, int64_t channel, bool back)
{
    const int64_t count = c->kernel[2], stride = c->stride[2], filter = c->filter;
    const bool plain = !c->bias && !c->accumulate && !c->relu;
    for (int64_t w = 0; w < c->out[2]; w++, im2col += filter, x += stride) {
        if (!back)
            conv_copy(im2col, x, 1, count);
        else if (plain)
            conv_copy(x, im2col, 1, count);
        else
            im2col_write(c, x, im2col, count, channel);
    }
}

// A line of positions of one image.
VEC_INLINE void im2col_line(const im2col_conv *c, int64_t index, bool back)
{
    const int64_t image = c->image + index / c->lines, line = c->line + index % c->lines;
    const int64_t depth = line / c->out[1] * c->stride[0], high = line % c->out[1] * c->stride[1];
    real *im2col = c->patches + index * c->out[2] * c->filter;
    for (int64_t channel = 0; channel < c->channels; channel++) {
        const int64_t plane = (image * c->channels + channel) * c->in[0] + depth;
        for (int64_t d = 0; d < c->kernel[0]; d++) {
            real *x = c->x + ((plane + d) * c->in[1] + high) * c->in[2];
            for (int64_t h = 0; h < c->kernel[1]; h++, x += c->in[2], im2col += c->kernel[2])
                im2col_row(c, im2col, x, channel, back);
        }
    }
}

static void im2col_gather(void *context, int64_t index)
{
    im2col_line(context, index, false);
}

static void im2col_scatter(void *context, int64_t index)
{
    im2col_line(context, index, true);
}

// What the product is added to: the bias of a channel of the result, of one image.
static void im2col_begin(const im2col_conv *c, real *to, int64_t row, int64_t channels,
                         int64_t index)
{
    to += index * row;
    const real bias = c->bias[index % channels];
    for (int64_t i = 0; i < im2col_count(c); i++)
        to[i] = c->accumulate ? to[i] + bias : bias;
}

static void im2col_begin_y(void *context, int64_t index)
{
    const im2col_conv *c = context;
    im2col_begin(c, im2col_y(c), c->positions, c->filters, index);
}

static void im2col_begin_x(void *context, int64_t index)
{
    const im2col_conv *c = context;
    im2col_begin(c, c->x + c->image * c->channels * c->space, c->space, c->channels, index);
}

// ---- chunk after chunk --------------------------------------------------------------------------

// With scratch none of the products can fail.
static void im2col_multiply(GEMM_ARGS product)
{
    const tern_status status = GEMM_NAME(&product);
    (void)status;
}

static void im2col_chunk_forward(im2col_conv *c)
{
    if (!c->inplace)
        tern_pool_run(c->images * c->lines, im2col_gather, c);
    if (c->bias)
        tern_pool_run(c->images * c->filters, im2col_begin_y, c);
    im2col_multiply(im2col_forward(c));
}

static void im2col_chunk_input(im2col_conv *c)
{
    if (c->inplace && c->bias)
        tern_pool_run(c->images * c->channels, im2col_begin_x, c);
    im2col_multiply(im2col_input(c));
    if (!c->inplace)
        tern_pool_run(c->images * c->lines, im2col_scatter, c);
}

static void im2col_chunk_weight(im2col_conv *c)
{
    if (!c->inplace)
        tern_pool_run(c->images * c->lines, im2col_gather, c);
    for (c->turn = 0; c->turn < c->images; c->turn++)
        im2col_multiply(im2col_weight(c));
}

static void im2col_each_chunk(im2col_conv *c, im2col_chunk_fn *fn)
{
    const int64_t all = im2col_all_lines(c);
    for (c->image = 0; c->image < c->batch; c->image += c->max_images) {
        const int64_t images = c->batch - c->image;
        c->images = images < c->max_images ? images : c->max_images;
        for (c->line = 0; c->line < all; c->line += c->max_lines) {
            const int64_t lines = all - c->line;
            c->lines = lines < c->max_lines ? lines : c->max_lines;
            fn(c);
        }
    }
}

static void im2col_measure(im2col_conv *c)
{
    const GEMM_ARGS product = c->product(c);
    c->scratch_size = max_int64(GEMM_SCRATCH(&product), c->scratch_size);
}

// Elements of x that are in no patch.
static bool im2col_has_gaps(const im2col_conv *c)
{
    for (int d = 0; d < 3; d++)
        if (c->out[d] * c->kernel[d] < c->in[d])
            return true;
    return false;
}

static tern_status im2col_run(const tern_conv_args *args, im2col_product_fn *product,
                              im2col_chunk_fn *chunk)
{
    im2col_conv c = im2col_conv_of(args);
    c.product = product;
    im2col_each_chunk(&c, im2col_measure); // the last one is of another shape
    const int64_t positions = c.max_images * c.max_lines * c.out[2];
    const int64_t patches = conv_lines(c.inplace ? 1 : positions * c.filter);
    const size_t nbytes = (size_t)(patches + conv_lines(c.scratch_size + 1)) * sizeof(real);
    c.patches = tern_cache_alloc(nbytes);
    if (!c.patches)
        return TERN_ERR_NOMEM;
    c.scratch = c.patches + patches;
    if (chunk == im2col_chunk_input && !args->accumulate && im2col_has_gaps(&c))
        conv_fill(args);
    im2col_each_chunk(&c, chunk);
    tern_cache_free(c.patches, nbytes);
    return TERN_OK;
}

#endif
