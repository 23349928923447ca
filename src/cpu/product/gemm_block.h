// SPDX-License-Identifier: Apache-2.0
// A matrix product as tiles. It is done in blocks, ranges of rows, columns and k, each of which is
// packed where that pays and then computed as a grid of tiles, cut into pieces for the pool.
#ifndef TERN_SRC_CPU_PRODUCT_GEMM_BLOCK_H
#define TERN_SRC_CPU_PRODUCT_GEMM_BLOCK_H

#include "base/pool.h"
#include "cpu/product/gemm_pack.h"

// Sizes of a block: k so that panels stay near the core, rows and columns so that packed blocks
// stay small.
#define BLOCK_DEPTH ((int64_t)(3200 / sizeof(real)))
#define BLOCK_ROWS  2048
#define BLOCK_COLS  4096
#define PACK_STEPS  16 // of k, of an operand whose steps are whole rows

#define PIECE_WORK      (1 << 18) // multiply-adds that are worth a piece of their own
#define MAX_PIECES      64        // unless they are too large for the cache
#define PIECE_ROW_TILES 10

// A product as the tiles see it. `turned` computes the transpose of c = a b as b^T a^T: then rows
// of the grid are columns of c.
typedef struct product {
    int64_t m, n, k;
    const real *a; /* (m, k) */
    int64_t a_row, a_col;
    const real *b; /* (k, n) */
    int64_t b_row, b_col;
    real *c; /* (m, n), or (n, m) when turned */
    int64_t c_row;
    const real *bias;
    bool relu, add, turned;
    int64_t tile_cols;
    real *packed_a,
        *packed_b; // room for the largest block, NULL where the operand is read in place
    bool alone;    // runs on its caller, without the pool
} product;

typedef struct block {
    const product *p;
    int64_t row, rows, col, cols, depth, depths; // first and count, along m, n and k
    int64_t row_tiles, col_tiles, row_pieces, col_pieces;
    int64_t tile_rows, taller; // the first `taller` rows of tiles have one row more
    bool pack_b;               // else b is packed already, or read in place
} block;

static inline int64_t least(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

static inline int64_t parts_of(int64_t count, int64_t limit)
{
    return (count + limit - 1) / limit;
}

// The first of `count` things that part `index` of `parts` gets; parts differ by one thing at most.
static inline int64_t part_begin(int64_t count, int64_t parts, int64_t index)
{
    if (parts == 1)
        return index * count; // divisions are what a tiny product would wait for
    const int64_t each = count / parts, more = count % parts;
    return index * each + least(index, more);
}

typedef struct tile_place {
    int64_t row, rows, col, cols; // in the product
} tile_place;

static tile_place place_tile(const block *b, int64_t row_tile, int64_t col_tile)
{
    const int64_t row = row_tile * b->tile_rows + least(row_tile, b->taller);
    const int64_t col = col_tile * b->p->tile_cols;
    return (tile_place){
        .row = b->row + row,
        .rows = b->tile_rows + (row_tile < b->taller),
        .col = b->col + col,
        .cols = least(b->p->tile_cols, b->cols - col),
    };
}

static tile_operands find_operands(const block *b, const tile_place *t, int64_t row_tile,
                                   int64_t col_tile)
{
    const product *p = b->p;
    const int64_t unit = (int64_t)sizeof(real);
    tile_operands operands = {
        .k = b->depths,
        .a = p->a + t->row * p->a_row + b->depth * p->a_col,
        .a_row = p->a_row * unit,
        .a_col = p->a_col * unit,
        .b = p->b + t->col * p->b_col + b->depth * p->b_row,
        .b_row = p->b_row,
    };
    if (p->packed_a) {
        operands.a = p->packed_a + row_tile * TILE_ROWS * b->depths;
        operands.a_row = unit;
        operands.a_col = TILE_ROWS * unit;
    }
    if (p->packed_b) {
        operands.b = p->packed_b + col_tile * p->tile_cols * b->depths;
        operands.b_row = p->tile_cols;
    }
    return operands;
}

static void compute_turned(const block *b, const tile_place *t, const tile_operands *operands,
                           tile_kernel *kernel, lanes last_lanes)
{
    const product *p = b->p;
    const bool last = b->depth + b->depths == p->k;
    real tile[TILE_ROWS * TILE_COLS];
    kernel(operands, &(tile_result){.c = tile, .c_row = TILE_COLS, .last = last_lanes});
    turn_tile(&(turned_tile){
        .tile = tile,
        .c = p->c + t->col * p->c_row + t->row,
        .c_row = p->c_row,
        .rows = t->cols,
        .cols = t->rows,
        .bias = p->bias && last ? p->bias + t->row : NULL,
        .add = p->add || b->depth > 0,
        .relu = p->relu && last,
    });
}

static void compute_tile(const block *b, int64_t row_tile, int64_t col_tile)
{
    const product *p = b->p;
    const tile_place t = place_tile(b, row_tile, col_tile);
    const tile_operands operands = find_operands(b, &t, row_tile, col_tile);
    const int64_t vecs = parts_of(t.cols, VEC_WIDTH);
    const lanes last_lanes = lanes_first(t.cols - (vecs - 1) * VEC_WIDTH);
    const bool masked = !p->packed_b && t.cols % VEC_WIDTH != 0;
    tile_kernel *kernel = tile_kernels[t.rows][vecs - 1][masked];
    if (p->turned) {
        compute_turned(b, &t, &operands, kernel, last_lanes);
        return;
    }
    const bool last = b->depth + b->depths == p->k;
    kernel(&operands, &(tile_result){.c = p->c + t.row * p->c_row + t.col,
                                     .c_row = p->c_row,
                                     .bias = p->bias && last ? p->bias + t.col : NULL,
                                     .last = last_lanes,
                                     .add = p->add || b->depth > 0,
                                     .relu = p->relu && last});
}

// A row of tiles after the other: what they read of a stays in the nearest cache, of b in the next.
static void compute_piece(void *context, int64_t index)
{
    const block *b = context;
    const int64_t right = b->row_pieces == 1 ? index : index / b->row_pieces;
    const int64_t down = index - right * b->row_pieces;
    const int64_t row_end = part_begin(b->row_tiles, b->row_pieces, down + 1);
    const int64_t col_end = part_begin(b->col_tiles, b->col_pieces, right + 1);
    const int64_t col = part_begin(b->col_tiles, b->col_pieces, right);
    for (int64_t i = part_begin(b->row_tiles, b->row_pieces, down); i < row_end; i++) {
        for (int64_t j = col; j < col_end; j++)
            compute_tile(b, i, j);
    }
}

// How the panels of one operand are packed. Where an operand's rows lie along k a piece is a panel.
// Else it is some steps of k of all panels: that reads whole rows, one after the other.
static int64_t pack_pieces(int64_t panels, int64_t across, int64_t depths)
{
    return across == 1 ? parts_of(depths, PACK_STEPS) : panels;
}

typedef struct pack_range {
    int64_t panel, panels, step, steps; // first and count
} pack_range;

static pack_range range_of_piece(int64_t panels, int64_t across, int64_t depths, int64_t index)
{
    if (across != 1)
        return (pack_range){.panel = index, .panels = 1, .steps = depths};
    const int64_t step = index * PACK_STEPS;
    return (pack_range){.panels = panels, .step = step, .steps = least(depths - step, PACK_STEPS)};
}

static void pack_b(const block *b, pack_range range)
{
    const product *p = b->p;
    for (int64_t i = range.panel; i < range.panel + range.panels; i++) {
        const tile_place t = place_tile(b, 0, i);
        pack_panel(&(panel){
            .source = p->b + t.col * p->b_col + (b->depth + range.step) * p->b_row,
            .across = p->b_col,
            .along = p->b_row,
            .count = t.cols,
            .k = range.steps,
            .packed = p->packed_b + (i * b->depths + range.step) * p->tile_cols,
            .pitch = p->tile_cols,
        });
    }
}

static void pack_a(const block *b, pack_range range)
{
    const product *p = b->p;
    for (int64_t i = range.panel; i < range.panel + range.panels; i++) {
        const tile_place t = place_tile(b, i, 0);
        pack_panel(&(panel){
            .source = p->a + t.row * p->a_row + (b->depth + range.step) * p->a_col,
            .across = p->a_row,
            .along = p->a_col,
            .count = t.rows,
            .k = range.steps,
            .packed = p->packed_a + (i * b->depths + range.step) * TILE_ROWS,
            .pitch = TILE_ROWS,
        });
    }
}

// Pieces of b first, then of a.
static void pack_piece(void *context, int64_t index)
{
    const block *b = context;
    const product *p = b->p;
    const int64_t of_b = b->pack_b ? pack_pieces(b->col_tiles, p->b_col, b->depths) : 0;
    if (index < of_b)
        pack_b(b, range_of_piece(b->col_tiles, p->b_col, b->depths, index));
    else
        pack_a(b, range_of_piece(b->row_tiles, p->a_row, b->depths, index - of_b));
}

static void run_pieces(bool alone, int64_t pieces, tern_pool_fn *fn, void *context)
{
    if (!alone && pieces > 1) {
        tern_pool_run(pieces, fn, context);
        return;
    }
    for (int64_t i = 0; i < pieces; i++)
        fn(context, i);
}

// Products of few rows wait for memory: their work counts more.
static inline int64_t pieces_of(int64_t rows, double cols, int64_t depth)
{
    const double pieces = (double)(rows < 4 ? 4 : rows) * cols * (double)depth / PIECE_WORK;
    return pieces < 1 ? 1 : pieces > MAX_PIECES ? MAX_PIECES : (int64_t)pieces;
}

// About as many rows as columns in a piece: that reads the least. More pieces where theirs of a
// would not stay in the cache.
static void cut_block(block *b, int64_t pieces)
{
    int64_t down = 1;
    while (down < pieces && down < b->row_tiles && down * down * b->cols < pieces * b->rows)
        down++;
    const int64_t cached = parts_of(b->row_tiles, PIECE_ROW_TILES);
    b->row_pieces = down > cached ? down : cached;
    b->col_pieces = least(b->col_tiles, parts_of(pieces, down));
}

static void run_block(block *b)
{
    const product *p = b->p;
    b->row_tiles = parts_of(b->rows, TILE_ROWS);
    b->col_tiles = parts_of(b->cols, p->tile_cols);
    b->tile_rows = b->row_tiles == 1 ? b->rows : b->rows / b->row_tiles;
    b->taller = b->rows - b->row_tiles * b->tile_rows;
    const int64_t worthwhile = pieces_of(b->rows, (double)b->cols, b->depths);
    const bool alone = p->alone || worthwhile == 1;
    cut_block(b, worthwhile);
    const int64_t of_b = b->pack_b ? pack_pieces(b->col_tiles, p->b_col, b->depths) : 0;
    const int64_t of_a = p->packed_a ? pack_pieces(b->row_tiles, p->a_row, b->depths) : 0;
    run_pieces(alone, of_b + of_a, pack_piece, b);
    run_pieces(alone, b->row_pieces * b->col_pieces, compute_piece, b);
}

// An empty k is one block as well: it writes the bias, or what c holds.
static void run_product(const product *p)
{
    const int64_t deep = p->k > 0 ? parts_of(p->k, BLOCK_DEPTH) : 1;
    const int64_t down = parts_of(p->m, BLOCK_ROWS);
    block b = {.p = p};
    for (b.col = 0; b.col < p->n; b.col += BLOCK_COLS) {
        b.cols = least(p->n - b.col, BLOCK_COLS);
        for (int64_t k = 0; k < deep; k++) {
            b.depth = part_begin(p->k, deep, k);
            b.depths = part_begin(p->k, deep, k + 1) - b.depth;
            for (int64_t i = 0; i < down; i++) {
                b.row = part_begin(p->m, down, i);
                b.rows = part_begin(p->m, down, i + 1) - b.row;
                b.pack_b = p->packed_b && i == 0;
                run_block(&b);
            }
        }
    }
}

#endif
