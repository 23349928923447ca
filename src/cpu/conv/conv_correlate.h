// SPDX-License-Identifier: Apache-2.0
// Convolutions whose result is an image: forward, and gradients of the input. Blocks of output
// rows are computed a few channels at a time from a copy of their inputs and from packed weights.
#ifndef TERN_SRC_CPU_CONV_CONV_CORRELATE_H
#define TERN_SRC_CPU_CONV_CONV_CORRELATE_H

#include "base/thread_pool.h"
#include "cpu/conv/conv_source.h"
#include "cpu/conv/conv_tile.h"
#include "cpu/work.h"

typedef struct correlation {
    conv_source source;
    int64_t batch, groups;
    int64_t channels, filters; // of a group: that are read, and written
    const real *from;          /* (batch, groups * channels, ..) */
    real *to;                  /* (batch, groups * filters, ..) */
    int64_t from_space, to_size[3];
    const real *weight, *bias;                     // bias: of each filter, or NULL
    int64_t filter_step, channel_step, group_step; // in weight, which has kernel[0..2] behind
    int64_t kernel[3];
    bool relu, accumulate;
    bool sparse; // row blocks leave out the taps at which they have no input
    int64_t threads;

    int64_t taps;                       // of one plane
    int64_t planes, block;              // of a group; those whose taps are added up at a time
    int64_t row_blocks, col_row_blocks; // of an image's depth, and across
    int64_t images;  // of a row block, which is more than one where they are small
    int64_t shares;  // of the filters, each for an item
    int64_t sum_row; // positions of a row block, rounded up
    int64_t *offset; /* (block, taps) */
    real *packed;    /* (groups, filters, planes, taps), a few filters interleaved */
    work_scratch scratches;
} correlation;

#define ROW_BLOCK_ELEMENTS (1 << 16) // of copied input: half of the second cache
#define BLOCK_TAPS         512       // their weights, for a tile, stay in the first
#define MIN_SHARES         4         // each copies the inputs of its row block
#define POSITIONS          256 // of several images in a row block, for which weights are read once

static int64_t positions_of(const conv_source *s, int64_t images)
{
    return (images - 1) * s->image + s->rows * s->pitch;
}

static int64_t panels_of(const correlation *c)
{
    return (c->filters + CONV_ROWS - 1) / CONV_ROWS;
}

// Row blocks whose inputs stay in the cache.
static void cut_row_blocks(correlation *c)
{
    conv_source *s = &c->source;
    const int64_t height = s->axis[1].count;
    for (int64_t parts = 1;; parts++) {
        const int64_t rows = (height + parts - 1) / parts;
        conv_source_cut(s, rows, 1);
        if (rows <= 1 || c->planes * s->plane <= ROW_BLOCK_ELEMENTS)
            break;
    }
    while (c->planes * s->plane > ROW_BLOCK_ELEMENTS && s->cols > MIN_COLS) {
        s->cols = (s->cols + 1) / 2;
        conv_source_cut(s, s->rows, 1);
    }
    c->row_blocks = (height + s->rows - 1) / s->rows;
    c->col_row_blocks = (s->axis[2].count + s->cols - 1) / s->cols;
}

// Several small images to a row block. Where that leaves few row blocks for the threads, they share
// the filters too.
static void join_images(correlation *c)
{
    conv_source *s = &c->source;
    const int64_t height = s->axis[1].count, width = s->axis[2].count;
    c->images = c->shares = 1;
    if (s->axis[0].count > 1 || height * (width + s->axis[2].reach) > POSITIONS / 2)
        return;
    s->cols = width;
    c->row_blocks = c->col_row_blocks = 1;
    int64_t images = c->batch;
    for (; images > 1; images = (images + 1) / 2) {
        conv_source_cut(s, height, images);
        if (positions_of(s, images) <= POSITIONS && c->planes * s->plane <= 2 * ROW_BLOCK_ELEMENTS)
            break;
    }
    conv_source_cut(s, height, images > 1 ? images : 1);
    c->images = images > 1 ? images : 1;
    const int64_t row_blocks = (c->batch + c->images - 1) / c->images * c->groups;
    const int64_t wanted = row_blocks > 0 ? (MIN_SHARES + row_blocks - 1) / row_blocks : 1;
    c->shares = wanted < panels_of(c) ? wanted : panels_of(c);
}

static void plan(correlation *c, const conv_axis *axis)
{
    c->source = conv_source_of(axis);
    c->taps = axis[1].taps * axis[2].taps;
    c->planes = c->taps > 0 ? c->channels * axis[0].taps : 0;
    const bool several = !c->sparse && c->taps > 0 && c->taps < BLOCK_TAPS;
    const int64_t limit = several ? BLOCK_TAPS / c->taps : 1;
    const int64_t blocks = (c->planes + limit - 1) / limit;
    c->block = blocks > 0 ? (c->planes + blocks - 1) / blocks : 1;
    cut_row_blocks(c);
    join_images(c);
    c->sum_row = conv_lines(positions_of(&c->source, c->images) + CONV_MAX_VECS * VEC_WIDTH);
}

// Shares of row blocks; none without a plan.
static int64_t items_of(const correlation *c)
{
    const int64_t groups = c->images ? (c->batch + c->images - 1) / c->images * c->groups : 0;
    return groups * c->source.axis[0].count * c->row_blocks * c->col_row_blocks * c->shares;
}

static int64_t packed_scratch(const correlation *c)
{
    return conv_lines(c->groups * c->filters * c->planes * c->taps);
}

static int64_t worker_scratch(const correlation *c)
{
    return conv_lines(c->planes * c->source.plane + CONV_MAX_VECS * VEC_WIDTH) +
           CONV_ROWS * c->sum_row;
}

// ---- weights ------------------------------------------------------------------------------------

static int64_t panel_rows(const correlation *c, int64_t panel)
{
    const int64_t left = c->filters - panel * CONV_ROWS;
    return left < CONV_ROWS ? left : CONV_ROWS;
}

static real *panel_weights(const correlation *c, int64_t group, int64_t panel)
{
    return c->packed + (group * c->filters + panel * CONV_ROWS) * c->planes * c->taps;
}

// The taps of one plane for the filters of a panel: (taps, rows).
static void pack_plane(const correlation *c, real *to, const real *from, int64_t rows)
{
    const conv_axis *h = &c->source.axis[1], *w = &c->source.axis[2];
    for (int64_t i = 0; i < h->taps; i++) {
        for (int64_t j = 0; j < w->taps; j++, to += rows) {
            const real *tap = from + conv_axis_tap(h, i) * c->kernel[2] + conv_axis_tap(w, j);
            for (int64_t row = 0; row < rows; row++)
                to[row] = tap[row * c->filter_step];
        }
    }
}

static void pack_panel(void *context, int64_t index)
{
    const correlation *c = context;
    const int64_t group = index / panels_of(c), panel = index % panels_of(c);
    const int64_t depth = c->source.axis[0].taps, rows = panel_rows(c, panel);
    real *to = panel_weights(c, group, panel);
    const real *from = c->weight + group * c->group_step + panel * CONV_ROWS * c->filter_step;
    for (int64_t p = 0; p < c->planes; p++, to += c->taps * rows) {
        const int64_t tap = conv_axis_tap(&c->source.axis[0], p % depth);
        pack_plane(c, to, from + p / depth * c->channel_step + tap * c->kernel[1] * c->kernel[2],
                   rows);
    }
}

// ---- row blocks ---------------------------------------------------------------------------------

typedef struct row_block {
    int64_t image, images, rows, cols, group, share;
    conv_position at;
    conv_taps depth_taps, row_taps; // that are added up
} row_block;

static row_block row_block_at(const correlation *c, int64_t item)
{
    const conv_source *s = &c->source;
    row_block b = {.share = item % c->shares};
    item /= c->shares;
    b.group = item % c->groups;
    item /= c->groups;
    b.at.col = item % c->col_row_blocks * s->cols;
    item /= c->col_row_blocks;
    b.at.row = item % c->row_blocks * s->rows;
    item /= c->row_blocks;
    b.at.depth = item % s->axis[0].count;
    b.image = item / s->axis[0].count * c->images;
    b.images = c->batch - b.image < c->images ? c->batch - b.image : c->images;
    b.rows = s->axis[1].count - b.at.row < s->rows ? s->axis[1].count - b.at.row : s->rows;
    b.cols = s->axis[2].count - b.at.col < s->cols ? s->axis[2].count - b.at.col : s->cols;
    b.depth_taps = (conv_taps){0, s->axis[0].taps};
    b.row_taps = (conv_taps){0, s->axis[1].taps};
    if (c->sparse) {
        b.depth_taps = conv_axis_valid_taps(&s->axis[0], b.at.depth, 1);
        b.row_taps = conv_axis_valid_taps(&s->axis[1], b.at.row, b.rows);
    }
    return b;
}

// Whether plane p counts; blocks of a sparse correlation are one plane.
static bool is_added(const correlation *c, const row_block *b, int64_t p)
{
    const int64_t tap = p % c->source.axis[0].taps;
    return !c->sparse || (tap >= b->depth_taps.first && tap < b->depth_taps.end);
}

static void copy_inputs(const correlation *c, const row_block *b, real *planes)
{
    const int64_t depth = c->source.axis[0].taps;
    const int64_t image = c->groups * c->channels * c->from_space;
    const real *from = c->from + b->image * image + b->group * c->channels * c->from_space;
    for (int64_t p = 0; p < c->planes; p++)
        for (int64_t n = 0; n < b->images && is_added(c, b, p); n++)
            conv_source_plane(&c->source, planes + p * c->source.plane, n, n == b->images - 1,
                              from + n * image + p / depth * c->from_space, p % depth, &b->at);
}

// Whole tiles and, where that leaves less over, half ones: three vectors and one are two and two.
static void run_tiles(conv_tile *tile, int64_t rows, const real *x, real *sum, int64_t positions)
{
    const int64_t vecs = conv_tiles[rows].vecs, half = conv_tiles[rows].half;
    int64_t left = (positions + VEC_WIDTH - 1) / VEC_WIDTH;
    tile->x = x;
    tile->sum = sum;
    while (left > 0) {
        const bool whole = left > half && !(left == vecs + 1 && 2 * half == vecs + 1);
        const int64_t done = whole ? vecs : half;
        (whole ? conv_tiles[rows].run : conv_tiles[rows].run_half)(tile);
        tile->x += done * VEC_WIDTH;
        tile->sum += done * VEC_WIDTH;
        left -= done;
    }
}

// sum (rows, positions) = weight (rows, planes, taps) times the inputs
static void add_up(const correlation *c, const row_block *b, int64_t rows, const real *weight,
                   const real *planes, real *sum)
{
    const int64_t positions = (b->images - 1) * c->source.image + b->rows * c->source.pitch;
    const int64_t width = c->source.axis[2].taps, before = b->row_taps.first * width;
    const int64_t left_out = c->taps - (b->row_taps.end - b->row_taps.first) * width;
    conv_tile tile = {.offset = c->offset + before, .sum_row = c->sum_row};
    for (int64_t p = 0; p < c->planes; p += c->block) {
        if (!is_added(c, b, p))
            continue;
        const int64_t count = c->planes - p < c->block ? c->planes - p : c->block;
        tile.taps = count * c->taps - left_out;
        tile.weight = weight + (p * c->taps + before) * rows;
        run_tiles(&tile, rows, planes + p * c->source.plane, sum, positions);
        tile.add = true;
    }
    tile.taps = 0;
    if (!tile.add)
        run_tiles(&tile, rows, planes, sum, positions);
}

VEC_INLINE void write_vectors(real *to, const real *sum, int64_t count, vec bias, bool relu)
{
    for (int64_t i = 0; i < count; i += VEC_WIDTH) {
        const int64_t at = i + VEC_WIDTH <= count ? i : count - VEC_WIDTH;
        const vec x = vec_load(sum + at) + bias;
        vec_store(to + at, relu ? vec_relu(x) : x);
    }
}

static void write_row(const correlation *c, real *to, const real *sum, int64_t count, real bias)
{
    const int64_t step = c->source.axis[2].to_step;
    if (step == 1 && count >= VEC_WIDTH && !c->accumulate) {
        write_vectors(to, sum, count, vec_set1(bias), c->relu);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        const real x = c->accumulate ? to[i * step] + sum[i] : sum[i] + bias;
        to[i * step] = c->relu && x < 0 ? 0 : x;
    }
}

// Of image `image` of the row block.
static void write_sums(const correlation *c, const row_block *b, int64_t image, int64_t filter,
                       const real *sum)
{
    const conv_axis *axis = c->source.axis;
    const int64_t d = axis[0].to_first + b->at.depth * axis[0].to_step;
    const int64_t channel = b->group * c->filters + filter;
    const real bias = c->bias ? c->bias[channel] : 0;
    real *to = c->to + ((b->image + image) * c->groups * c->filters + channel) * c->to_size[0] *
                           c->to_size[1] * c->to_size[2];
    sum += image * c->source.image;
    for (int64_t i = 0; i < b->rows; i++, sum += c->source.pitch) {
        const int64_t h = axis[1].to_first + (b->at.row + i) * axis[1].to_step;
        const int64_t w = axis[2].to_first + b->at.col * axis[2].to_step;
        write_row(c, to + (d * c->to_size[1] + h) * c->to_size[2] + w, sum, b->cols, bias);
    }
}

static void run_row_block(void *context, int64_t item, void *scratch)
{
    const correlation *c = context;
    const row_block b = row_block_at(c, item);
    real *planes = scratch;
    real *sum = planes + conv_lines(c->planes * c->source.plane + CONV_MAX_VECS * VEC_WIDTH);
    copy_inputs(c, &b, planes);
    const int64_t end = panels_of(c) * (b.share + 1) / c->shares;
    for (int64_t panel = panels_of(c) * b.share / c->shares; panel < end; panel++) {
        const int64_t rows = panel_rows(c, panel);
        add_up(c, &b, rows, panel_weights(c, b.group, panel), planes, sum);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t n = 0; n < b.images; n++)
                write_sums(c, &b, n, panel * CONV_ROWS + i, sum + i * c->sum_row);
    }
}

static void correlate(correlation *c)
{
    conv_source_offsets(&c->source, c->block, c->offset);
    tern_pool_run(c->groups * panels_of(c), pack_panel, c);
    work_run(&c->scratches, items_of(c), run_row_block, c);
}

#endif
