// SPDX-License-Identifier: Apache-2.0
// Holes in the table of matrix products, of the `real` that the build says.
#include <stdio.h>

#define GEMM_NAME    micro_gemm
#define GEMM_SCRATCH micro_scratch
#include "cpu/product/gemm_name.h"
#include "micro_kernels.h"

static tern_status micro_gemm(const GEMM_ARGS *args);
static int64_t micro_scratch(const GEMM_ARGS *args);
#include "cpu/product/gemm_plan.c"

static char hole[160];

// All tiles of the product's blocks.
static void look_up(const product *p)
{
    block b = {.p = p};
    const int64_t down = parts_of(p->m, BLOCK_ROWS);
    for (int64_t i = 0; i < down; i++) {
        b.rows = part_begin(p->m, down, i + 1) - part_begin(p->m, down, i);
        for (int64_t col = 0; col < p->n; col += BLOCK_COLS) {
            b.cols = min_int64(p->n - col, BLOCK_COLS);
            cut_tiles(&b);
            for (int64_t row = 0; row < b.row_tiles; row++) {
                for (int64_t tile = 0; tile < b.col_tiles; tile++) {
                    const tile_position t = locate_tile(&b, row, tile);
                    const int64_t vecs = parts_of(t.cols, VEC_WIDTH);
                    micro_kernels_seen++;
                    if (t.rows <= TILE_ROWS && vecs <= TILE_VECS_ROWS1 &&
                        tile_kernels[t.rows][vecs - 1][0] && tile_kernels[t.rows][vecs - 1][1])
                        continue;
                    snprintf(hole, sizeof hole, "tile_kernels[%lld][%lld], m %lld, n %lld",
                             (long long)t.rows, (long long)vecs - 1, (long long)p->m,
                             (long long)p->n);
                }
            }
        }
    }
}

const char *MICRO_NAME(product, TERN_ISA, TERN_REAL_TYPE)(void)
{
    static const int64_t sizes[] = {BLOCK_ROWS, BLOCK_ROWS + 1, BLOCK_COLS, BLOCK_COLS + 1};
    (void)micro_gemm;
    (void)micro_scratch;
    *hole = 0;
    for (int64_t i = 1; i < 74; i++) {
        for (int64_t j = 1; j < 74; j++) {
            const GEMM_ARGS g = {.m = i < 70 ? i : sizes[i - 70], .n = j < 70 ? j : sizes[j - 70]};
            const product tiles = tiles_product(&g), transposed = transposed_product(&g);
            look_up(&tiles);
            look_up(&transposed);
        }
    }
    return *hole ? hole : NULL;
}
