// SPDX-License-Identifier: Apache-2.0
// Gradients of the weight: sums over the positions of all images, of products of dy and the input
// that a tap reaches. Images are cut into parts, whose sums are added in order at the end.
#ifndef TERN_SRC_CPU_CONV_CONV_WEIGHT_H
#define TERN_SRC_CPU_CONV_CONV_WEIGHT_H

#include "cpu/conv/conv_source.h"
#include "cpu/conv/conv_tile.h"
#include "cpu/work.h"

typedef struct weight_gradient {
    conv_source source;
    int64_t batch, groups;
    int64_t channels, filters; // of a group
    const real *x, *y;
    real *weight; /* (groups, filters, channels, taps of the kernel) */
    int64_t x_space, y_space;

    int64_t taps, planes;  // as in a correlation
    int64_t parts;         // of the batch
    int64_t blocks, block; // of the planes
    int64_t images, y_row; // of a row block; its positions, rounded up
    int64_t *offset;       /* (block, taps) */
    real *sums;            /* (parts - 1, numel of weight) */
    work_scratch scratches;
} weight_gradient;

#define X_ELEMENTS    (1 << 16) // of copied inputs in a row block, which are read again and again
#define Y_ELEMENTS    (1 << 18) // of copied gradients, which are read once
#define MIN_POSITIONS 1024      // for which a row block of several images is made
#define PART_ELEMENTS (1 << 20) // of all parts' sums
#define MAX_PARTS     16
#define MIN_CHUNKS    16
#define MIN_PLANES    8

static int64_t filter_numel(const weight_gradient *g)
{
    return g->planes * g->taps;
}

static int64_t weight_numel(const weight_gradient *g)
{
    return g->groups * g->filters * filter_numel(g);
}

static int64_t whole_vectors(int64_t count)
{
    return (count + VEC_WIDTH - 1) / VEC_WIDTH * VEC_WIDTH;
}

static bool fits(const weight_gradient *g)
{
    return g->block * g->source.plane <= X_ELEMENTS && g->filters * g->y_row <= Y_ELEMENTS;
}

static void set_row_block(weight_gradient *g, int64_t rows, int64_t images)
{
    conv_source_cut(&g->source, rows, images);
    g->images = images;
    g->y_row = conv_lines(images * g->source.image + VEC_WIDTH);
}

// Bands of some rows of an image, or of a few small images.
static void cut_row_blocks_of_weight(weight_gradient *g)
{
    const int64_t height = g->source.axis[1].count, limit = g->batch / g->parts;
    int64_t parts = 1;
    set_row_block(g, height, 1);
    for (; !fits(g) && g->source.rows > 1; parts++)
        set_row_block(g, (height + parts) / (parts + 1), 1);
    while (!fits(g) && g->source.cols > MIN_COLS) {
        g->source.cols = (g->source.cols + 1) / 2;
        set_row_block(g, g->source.rows, 1);
    }
    if (parts > 1 || g->source.axis[0].count > 1 || g->source.cols < g->source.axis[2].count)
        return;
    while (g->images < limit && g->y_row < MIN_POSITIONS) {
        set_row_block(g, height, g->images + 1);
        if (!fits(g)) {
            set_row_block(g, height, g->images - 1);
            break;
        }
    }
}

static void cut_work(weight_gradient *g)
{
    const int64_t scratch = PART_ELEMENTS / weight_numel(g);
    g->parts = scratch < 1 ? 1 : scratch < MAX_PARTS ? scratch : MAX_PARTS;
    g->parts = g->batch < g->parts && g->batch > 0 ? g->batch : g->parts;
    g->blocks = 1;
    while (g->parts * g->groups * g->blocks < MIN_CHUNKS &&
           g->planes / (g->blocks + 1) >= MIN_PLANES)
        g->blocks++;
    g->block = (g->planes + g->blocks - 1) / g->blocks;
    g->blocks = (g->planes + g->block - 1) / g->block;
    cut_row_blocks_of_weight(g);
}

// ---- one row block ------------------------------------------------------------------------------

// What a chunk of the work holds: copies, and whether those of a plane are all finite.
typedef struct dot_scratch {
    real *x;      /* (block, plane) */
    real *y;      /* (filters, y_row) */
    real *exact;  /* (CONV_DOT_COLS, y_row) */
    bool *finite; /* (block) */
} dot_scratch;

typedef struct dot_row_block {
    int64_t group, plane, planes; // planes: of the block
    int64_t image, images, rows, cols, positions;
    conv_position at;
    bool finite; // all inputs
    real *sums;  /* (groups, filters, planes, taps) */
} dot_row_block;

static bool all_finite(const real *x, int64_t count)
{
    vec sum = {0}; // zero times what is not finite is NaN
    for (int64_t i = 0; i < count; i += VEC_WIDTH)
        sum += vec_load(x + i) * (vec){0};
    bool finite = true;
    for (int j = 0; j < VEC_WIDTH; j++)
        finite = finite && sum[j] == 0;
    return finite;
}

static void copy_x(const weight_gradient *g, dot_row_block *b, const dot_scratch *scratch)
{
    const conv_source *s = &g->source;
    const int64_t depth = s->axis[0].taps;
    const int64_t image = g->groups * g->channels * g->x_space;
    const real *x = g->x + b->image * image + b->group * g->channels * g->x_space;
    b->finite = true;
    for (int64_t i = 0; i < b->planes; i++) {
        const int64_t plane = b->plane + i;
        for (int64_t n = 0; n < b->images; n++)
            conv_source_plane(s, scratch->x + i * s->plane, n, n == b->images - 1,
                              x + n * image + plane / depth * g->x_space, plane % depth, &b->at);
        scratch->finite[i] = all_finite(scratch->x + i * s->plane, s->plane);
        b->finite = b->finite && scratch->finite[i];
    }
}

// Rows of one image, with zeros at the positions up to the next that mean nothing.
static void copy_rows(const weight_gradient *g, const dot_row_block *b, real *to, const real *from,
                      int64_t from_pitch)
{
    const int64_t width = b->cols, pitch = g->source.pitch;
    for (int64_t i = 0; i < b->rows; i++) {
        conv_copy(to + i * pitch, from + i * from_pitch, 1, width);
        conv_zero(to + i * pitch + width, pitch - width);
    }
    conv_zero(to + b->rows * pitch, g->source.image - b->rows * pitch);
}

static void copy_y(const weight_gradient *g, const dot_row_block *b, const dot_scratch *scratch)
{
    const conv_axis *axis = g->source.axis;
    const int64_t width = axis[2].count, image = g->groups * g->filters * g->y_space;
    const real *y = g->y + b->image * image + b->group * g->filters * g->y_space +
                    (b->at.depth * axis[1].count + b->at.row) * width + b->at.col;
    for (int64_t k = 0; k < g->filters; k++, y += g->y_space) {
        real *to = scratch->y + k * g->y_row;
        for (int64_t n = 0; n < b->images; n++)
            copy_rows(g, b, to + n * g->source.image, y + n * image, width);
        conv_zero(to + b->positions, whole_vectors(b->positions) - b->positions);
    }
}

// The inputs of a tap, a copy with zeros at the positions that mean nothing: zero times infinity is
// not zero.
static const real *exact_inputs(const weight_gradient *g, const dot_row_block *b, const real *x,
                                real *exact)
{
    for (int64_t n = 0; n < b->images; n++)
        copy_rows(g, b, exact + n * g->source.image, x + n * g->source.image, g->source.pitch);
    conv_zero(exact + b->positions, whole_vectors(b->positions) - b->positions);
    return exact;
}

// Points the columns at the taps from `tap` on; those past the last repeat it.
static void set_columns(const weight_gradient *g, const dot_row_block *b,
                        const dot_scratch *scratch, int64_t tap, conv_dot *dot, int64_t cols)
{
    const int64_t last = b->planes * g->taps - 1;
    for (int64_t j = 0; j < cols; j++) {
        const int64_t t = tap + j < last ? tap + j : last;
        dot->col[j] = scratch->x + g->offset[t];
        if (!b->finite && !scratch->finite[t / g->taps])
            dot->col[j] = exact_inputs(g, b, dot->col[j], scratch->exact + j * g->y_row);
    }
}

// A few filters and all taps of the block.
static void add_filters(const weight_gradient *g, const dot_row_block *b,
                        const dot_scratch *scratch, int64_t filter)
{
    const int64_t left = g->filters - filter, rows = left < CONV_DOT_ROWS ? left : CONV_DOT_ROWS;
    const int64_t cols = conv_dots[rows].cols, taps = b->planes * g->taps;
    const int64_t to_row = filter_numel(g);
    conv_dot dot = {.positions = whole_vectors(b->positions)};
    for (int64_t i = 0; i < rows; i++)
        dot.row[i] = scratch->y + (filter + i) * g->y_row;
    real *to = b->sums + (b->group * g->filters + filter) * to_row + b->plane * g->taps;
    for (int64_t tap = 0; tap < taps; tap += cols, to += cols) {
        real sums[CONV_DOT_SUMS];
        const int64_t some = taps - tap < cols ? taps - tap : cols;
        set_columns(g, b, scratch, tap, &dot, cols);
        conv_dots[rows].run(&dot, sums);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < some; j++)
                to[i * to_row + j] += sums[i * cols + j];
    }
}

static void add_row_block(const weight_gradient *g, dot_row_block *b, const dot_scratch *scratch)
{
    const conv_source *s = &g->source;
    b->rows = s->axis[1].count - b->at.row < s->rows ? s->axis[1].count - b->at.row : s->rows;
    b->cols = s->axis[2].count - b->at.col < s->cols ? s->axis[2].count - b->at.col : s->cols;
    b->positions = (b->images - 1) * g->source.image + b->rows * g->source.pitch;
    copy_x(g, b, scratch);
    copy_y(g, b, scratch);
    for (int64_t k = 0; k < g->filters; k += CONV_DOT_ROWS)
        add_filters(g, b, scratch, k);
}

// ---- all of them --------------------------------------------------------------------------------

static int64_t x_scratch(const weight_gradient *g)
{
    return conv_lines(g->block * g->source.plane + CONV_MAX_VECS * VEC_WIDTH);
}

static int64_t dot_scratch_elements(const weight_gradient *g)
{
    return x_scratch(g) + (g->filters + CONV_DOT_COLS) * g->y_row +
           conv_lines(g->block / (int64_t)sizeof(real) + 1);
}

static dot_scratch scratch_in(const weight_gradient *g, void *memory)
{
    dot_scratch scratch = {.x = memory};
    scratch.y = scratch.x + x_scratch(g);
    scratch.exact = scratch.y + g->filters * g->y_row;
    scratch.finite = (bool *)(scratch.exact + CONV_DOT_COLS * g->y_row);
    return scratch;
}

static void add_images(const weight_gradient *g, dot_row_block *b, const dot_scratch *scratch)
{
    const conv_source *s = &g->source;
    for (b->at.depth = 0; b->at.depth < s->axis[0].count; b->at.depth++)
        for (b->at.row = 0; b->at.row < s->axis[1].count; b->at.row += s->rows)
            for (b->at.col = 0; b->at.col < s->axis[2].count; b->at.col += s->cols)
                add_row_block(g, b, scratch);
}

// An item is a part of the batch, a group and a block of planes.
static void run_block(void *context, int64_t item, void *memory)
{
    const weight_gradient *g = context;
    const dot_scratch scratch = scratch_in(g, memory);
    const int64_t part = item / (g->groups * g->blocks), block = item % g->blocks;
    dot_row_block b = {.group = item / g->blocks % g->groups, .plane = block * g->block};
    b.planes = g->planes - b.plane < g->block ? g->planes - b.plane : g->block;
    b.sums = part > 0 ? g->sums + (part - 1) * weight_numel(g) : g->weight;
    const int64_t end = (part + 1) * g->batch / g->parts;
    for (b.image = part * g->batch / g->parts; b.image < end; b.image += g->images) {
        b.images = end - b.image < g->images ? end - b.image : g->images;
        add_images(g, &b, &scratch);
    }
}

static void add_parts(const weight_gradient *g)
{
    const int64_t count = weight_numel(g);
    for (int64_t part = 1; part < g->parts; part++)
        for (int64_t i = 0; i < count; i++)
            g->weight[i] += g->sums[(part - 1) * count + i];
}

#endif
