// SPDX-License-Identifier: Apache-2.0
// A matrix product as tiles. It is done in blocks, ranges of rows, columns and k, each of them a
// grid of tiles. Threads take columns of the grid, one after the other; where packing b pays, each
// packs what it takes for itself: what another core has written is slow to come by.
#ifndef TERN_SRC_CPU_PRODUCT_GEMM_BLOCK_H
#define TERN_SRC_CPU_PRODUCT_GEMM_BLOCK_H

#include "base/integer.h"
#include "base/thread_pool.h"
#include "base/work_range.h"
#include "cpu/product/gemm_pack.h"

// Sizes of a block: k so that panels stay near the core, rows and columns so that packed blocks
// stay small. Vectors of 16 bytes have mostly no fused product: a long sum in one chain loses more
// there, so their blocks are less deep.
#if VEC_BYTES == 16
#define BLOCK_DEPTH ((int64_t)(512 / sizeof(real)))
#else
#define BLOCK_DEPTH ((int64_t)(3200 / sizeof(real)))
#endif
#define BLOCK_ROWS 2048
#define BLOCK_COLS 4096
#define PACK_STEPS 16 // of k, of an operand whose steps are whole rows

#define CHUNK_WORK (1 << 18) // multiply-adds that are worth a chunk of their own
#define MAX_CHUNKS 64
#define SHARE      8 // chunks for each thread of the columns that are left to the end

// A product as the tiles see it. `transposed` computes the transpose of c = a b as b^T a^T: then
// rows of the grid are columns of c.
typedef struct product {
    int64_t m, n, k;
    const real *a; /* (m, k) */
    int64_t a_row, a_col;
    const real *b; /* (k, n) */
    int64_t b_row, b_col;
    real *c; /* (m, n), or (n, m) when transposed */
    int64_t c_row;
    const real *bias;
    bool relu, add, transposed;
    int64_t tile_cols;
    real *packed_a; // scratch for the largest block, NULL where a is read in place
    real *packed_b; // scratch for a column of tiles, NULL where b is read in place
    int64_t workers,
        packed_stride; // threads, and elements from the scratch of one to that of the next
} product;

typedef struct block {
    const product *p;
    int64_t row, rows, col, cols, depth, depths; // first and count, along m, n and k
    int64_t row_tiles, col_tiles;
    int64_t tile_rows, taller; // the first `taller` rows of tiles have one row more
    bool by_rows;              // chunks are ordered by rows, else by columns
    int64_t first_cols;        // columns that are a chunk each and come first
    int64_t split, parts;      // columns behind them, of so many chunks each
    int64_t workers, chunks;
    work_range left; // chunks to be taken
} block;

static inline int64_t parts_of(int64_t count, int64_t limit)
{
    if (count == 0 || count > limit)
        return (count + limit - 1) / limit;
    return 1; // most of a tiny product's
}

// The first of `count` things that part `index` of `parts` gets; parts differ by one thing at most.
static inline int64_t part_begin(int64_t count, int64_t parts, int64_t index)
{
    if (parts == 1)
        return index * count; // divisions are what a tiny product would wait for
    const int64_t each = count / parts, more = count % parts;
    return index * each + min_int64(index, more);
}

typedef struct chunk {
    int64_t col, row, row_end; // in tiles
} chunk;

typedef struct tile_position {
    int64_t row, rows, col, cols; // in the product
} tile_position;

static tile_position locate_tile(const block *b, int64_t row_tile, int64_t col_tile)
{
    const int64_t row = row_tile * b->tile_rows + min_int64(row_tile, b->taller);
    const int64_t col = col_tile * b->p->tile_cols;
    return (tile_position){
        .row = b->row + row,
        .rows = b->tile_rows + (row_tile < b->taller),
        .col = b->col + col,
        .cols = min_int64(b->p->tile_cols, b->cols - col),
    };
}

static tile_operands find_operands(const block *b, const tile_position *t, int64_t row_tile,
                                   const real *packed_b)
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
    if (packed_b) {
        operands.b = packed_b;
        operands.b_row = p->tile_cols;
    }
    return operands;
}

static void compute_transposed(const block *b, const tile_position *t,
                               const tile_operands *operands, tile_kernel *kernel,
                               vec_lanes last_lanes)
{
    const product *p = b->p;
    const bool last = b->depth + b->depths == p->k;
    real tile[TILE_ROWS * TILE_COLS];
    kernel(operands, &(tile_result){.c = tile, .c_row = TILE_COLS, .last = last_lanes});
    transpose_tile(&(transposed_tile){
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

// Tiles of one column, downwards: what they share is found once.
static void compute_column(const block *b, const chunk *at, const real *packed_b)
{
    const product *p = b->p;
    const bool last = b->depth + b->depths == p->k;
    tile_position t = locate_tile(b, at->row, at->col);
    tile_operands operands = find_operands(b, &t, at->row, packed_b);
    const int64_t vecs = parts_of(t.cols, VEC_WIDTH);
    const bool masked = !packed_b && t.cols % VEC_WIDTH != 0;
    tile_result result = {.c = p->c + t.row * p->c_row + t.col,
                          .c_row = p->c_row,
                          .bias = p->bias && last ? p->bias + t.col : NULL,
                          .last = vec_lanes_first(t.cols - (vecs - 1) * VEC_WIDTH),
                          .add = p->add || b->depth > 0,
                          .relu = p->relu && last};
    for (int64_t i = at->row; i < at->row_end; i++) {
        t.rows = b->tile_rows + (i < b->taller);
        tile_kernel *kernel = tile_kernels[t.rows][vecs - 1][masked];
        if (p->transposed)
            compute_transposed(b, &t, &operands, kernel, result.last);
        else
            kernel(&operands, &result);
        t.row += t.rows;
        operands.a += p->packed_a ? TILE_ROWS * b->depths : t.rows * p->a_row;
        result.c += t.rows * p->c_row;
    }
}

static void pack_b(const block *b, int64_t col_tile, real *packed)
{
    const product *p = b->p;
    const tile_position t = locate_tile(b, 0, col_tile);
    pack_panel(&(panel){
        .source = p->b + t.col * p->b_col + b->depth * p->b_row,
        .across = p->b_col,
        .along = p->b_row,
        .count = t.cols,
        .k = b->depths,
        .packed = packed,
        .pitch = p->tile_cols,
        .ahead = PACK_STEPS * p->b_row,
    });
}

// Where rows of a lie along k a chunk is a panel. Else it is some steps of k of all panels: that
// reads whole rows, one after the other.
static void pack_a(const block *b, int64_t first, int64_t panels, int64_t step, int64_t steps)
{
    const product *p = b->p;
    for (int64_t i = first; i < first + panels; i++) {
        const tile_position t = locate_tile(b, i, 0);
        pack_panel(&(panel){
            .source = p->a + t.row * p->a_row + (b->depth + step) * p->a_col,
            .across = p->a_row,
            .along = p->a_col,
            .count = t.rows,
            .k = steps,
            .packed = p->packed_a + (i * b->depths + step) * TILE_ROWS,
            .pitch = TILE_ROWS,
            .ahead = 2 * TILE_ROWS,
        });
    }
}

static int64_t pack_chunks(const block *b)
{
    return b->p->a_row == 1 ? parts_of(b->depths, PACK_STEPS) : b->row_tiles;
}

static void pack_chunk(void *context, int64_t index)
{
    const block *b = context;
    const int64_t step = index * PACK_STEPS;
    if (b->p->a_row == 1)
        pack_a(b, 0, b->row_tiles, step, min_int64(b->depths - step, PACK_STEPS));
    else
        pack_a(b, index, 1, 0, b->depths);
}

static chunk find_chunk(const block *b, int64_t index)
{
    const int64_t at = index - b->first_cols;
    if (at < 0)
        return (chunk){.col = index, .row_end = b->row_tiles};
    if (at >= b->split * b->parts)
        return (chunk){.col = index - b->split * (b->parts - 1), .row_end = b->row_tiles};
    const int64_t right = b->by_rows ? at % b->split : at / b->parts;
    const int64_t down = b->by_rows ? at / b->split : at % b->parts;
    return (chunk){.col = b->first_cols + right,
                   .row = part_begin(b->row_tiles, b->parts, down),
                   .row_end = part_begin(b->row_tiles, b->parts, down + 1)};
}

// What its tiles read of b stays in the nearer caches. Returns the column that is packed now.
static int64_t compute_chunk(const block *b, int64_t index, real *packed_b, int64_t packed)
{
    const chunk at = find_chunk(b, index);
    if (packed_b && at.col != packed)
        pack_b(b, at.col, packed_b);
    compute_column(b, &at, packed_b);
    return at.col;
}

static void work_on(void *context, int64_t worker)
{
    block *b = context;
    const product *p = b->p;
    real *packed_b = p->packed_b ? p->packed_b + worker * p->packed_stride : NULL;
    const bool last = 2 * worker >= b->workers; // as the pool's threads take
    int64_t packed = -1, first, count;
    while ((count = work_range_take(&b->left, last, 2 * (int)b->workers, &first)) > 0)
        for (int64_t i = first; i < first + count; i++)
            packed = compute_chunk(b, i, packed_b, packed);
}

static void run_alone(block *b)
{
    for (int64_t i = 0; b->p->packed_a && i < pack_chunks(b); i++)
        pack_chunk(b, i);
    b->first_cols = b->col_tiles;
    for (int64_t i = 0, packed = -1; i < b->col_tiles; i++)
        packed = compute_chunk(b, i, b->p->packed_b, packed);
}

// Products of few rows wait for memory: their work counts more.
static inline int64_t chunk_count(int64_t rows, double cols, int64_t depth)
{
    const double chunks = (double)(rows < 4 ? 4 : rows) * cols * (double)depth / CHUNK_WORK;
    return chunks < 1 ? 1 : chunks > MAX_CHUNKS ? MAX_CHUNKS : (int64_t)chunks;
}

// Threads take columns from both ends, and those in the middle are cut, so that all are done at
// about the same time. A result that is larger than both operands is taken by rows: a weight's
// gradient, whose rows the update reads in order, most likely on the same thread.
static void cut_block(block *b, int64_t workers, int64_t worthwhile)
{
    const product *p = b->p;
    b->workers = workers;
    b->by_rows = !p->packed_b && !p->transposed && b->depths <= min_int64(b->rows, b->cols);
    b->split = b->by_rows ? b->col_tiles : min_int64(b->col_tiles, 2 * workers);
    b->first_cols = (b->col_tiles - b->split + 1) / 2;
    const int64_t parts =
        b->by_rows ? SHARE * workers : parts_of(min_int64(SHARE * workers, worthwhile), b->split);
    b->parts = min_int64(b->row_tiles, parts);
    b->chunks = b->col_tiles + b->split * (b->parts - 1);
}

static void run_together(block *b, int64_t workers, int64_t worthwhile)
{
    cut_block(b, workers, worthwhile);
    work_range_fill(&b->left, b->chunks);
    if (b->p->packed_a)
        tern_pool_run(pack_chunks(b), pack_chunk, b);
    tern_pool_run(workers, work_on, b);
}

static inline void cut_tiles(block *b)
{
    b->row_tiles = parts_of(b->rows, TILE_ROWS);
    b->col_tiles = parts_of(b->cols, b->p->tile_cols);
    b->tile_rows = b->row_tiles == 1 ? b->rows : b->rows / b->row_tiles;
    b->taller = b->rows - b->row_tiles * b->tile_rows;
}

static void run_block(block *b)
{
    const product *p = b->p;
    cut_tiles(b);
    const int64_t worthwhile =
        p->workers > 1 ? chunk_count(b->rows, (double)b->cols, b->depths) : 1;
    const int64_t workers = min_int64(p->workers, worthwhile);
    if (workers > 1)
        run_together(b, workers, worthwhile);
    else
        run_alone(b);
}

// An empty k is one block as well: it writes the bias, or what c holds.
static void run_product(const product *p)
{
    const int64_t deep = p->k > 0 ? parts_of(p->k, BLOCK_DEPTH) : 1;
    const int64_t down = parts_of(p->m, BLOCK_ROWS);
    block b; // filled in by run_block
    b.p = p;
    for (b.col = 0; b.col < p->n; b.col += BLOCK_COLS) {
        b.cols = min_int64(p->n - b.col, BLOCK_COLS);
        for (int64_t k = 0; k < deep; k++) {
            b.depth = part_begin(p->k, deep, k);
            b.depths = part_begin(p->k, deep, k + 1) - b.depth;
            for (int64_t i = 0; i < down; i++) {
                b.row = part_begin(p->m, down, i);
                b.rows = part_begin(p->m, down, i + 1) - b.row;
                run_block(&b);
            }
        }
    }
}

#endif
