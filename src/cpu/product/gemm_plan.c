// SPDX-License-Identifier: Apache-2.0
// There are three ways to compute a product: tiles of c, tiles of c transposed, and dot products.
// The one with the least estimated cost is taken; the estimate knows shape and strides and nothing
// else.
#include <stddef.h>
#include <tern/threads.h>
#include "base/mem.h"
#include "cpu/product/gemm_block.h"
#include "cpu/product/gemm_dot.h"
#include "cpu/product/gemm_name.h"

typedef enum gemm_way { WAY_TILES, WAY_TRANSPOSED, WAY_DOTS } gemm_way;

typedef struct gemm_plan {
    gemm_way way;
    GEMM_ARGS args;      // with canonical strides; of the first product
    bool pack_a, pack_b; // as the tiles see a and b
    int64_t a_scratch,
        b_scratch;         // elements of scratch for one product; b_scratch for each of the workers
    int64_t batch, groups; // the batch is cut into groups that run side by side, or 1
    int64_t workers;       // threads for one product
    real *scratch;         // (groups, scratch_of_one())
} gemm_plan;

// A stride along a dimension of size 1 says nothing; it becomes 1 where that gives a unit stride.
static void canonicalize_strides(int64_t rows, int64_t cols, int64_t *row, int64_t *col)
{
    if (*row == 1 || *col == 1)
        return;
    if (rows == 1)
        *row = 1;
    else if (cols == 1)
        *col = 1;
}

// Estimated cycles of each way. Two multiply-adds start in a cycle and eight are under way, which
// tiles of a few rows and one vector cannot fill.
static double tiles_cost(double m, double n, double k, bool packs)
{
    const double vecs = (double)parts_of((int64_t)n, VEC_WIDTH);
    return (m * vecs < 8 ? 8 : m * vecs) * k / 2 + (packs ? n * k / 4 : 0);
}

static double transposed_cost(double m, double n, double k, bool packs)
{
    return tiles_cost(n, m, k, packs) + m * n / 4;
}

static double dots_cost(double m, double n, double k)
{
    return m * n * ((double)parts_of((int64_t)k, VEC_WIDTH) * 0.6 + 5);
}

static gemm_way choose_way(const GEMM_ARGS *g)
{
    const double m = (double)g->m, n = (double)g->n, k = (double)g->k;
    const double tiles = tiles_cost(m, n, k, g->b_col != 1);
    const double transposed = transposed_cost(m, n, k, g->a_row != 1);
    if (g->a_col == 1 && g->b_row == 1) {
        const double dots = dots_cost(m, n, k);
        if (dots < tiles && dots < transposed)
            return WAY_DOTS;
    }
    return transposed < tiles ? WAY_TRANSPOSED : WAY_TILES;
}

// What reading an operand in place costs more than reading it packed, in cycles for each tile and
// each of its steps along k, and what packing a step costs; measured. An operand's steps are a
// stride apart: where that is a multiple of a large power of two, their lines share few sets of a
// cache and drive each other out.
#define CACHE_LINE 64
#define CACHE_WAYS 8
#define L1_SETS    64
#define L2_SETS    2048
#define PAGE_BYTES 4096
#define TLB_PAGES  64
#define L2_COST    0.5
#define L3_COST    1.5
#define PACK_COST  16.0
#define MIN_K      32 // less is not worth the question

static int64_t power_of_two_in(int64_t count)
{
    return count & -count;
}

static int64_t lines_apart(int64_t stride)
{
    const int64_t bytes = stride * (int64_t)sizeof(real);
    return bytes % CACHE_LINE ? 1 : bytes / CACHE_LINE;
}

// Do so many lines stay in half of a cache?
static bool stay_cached(int64_t lines, int64_t stride, int64_t sets)
{
    const int64_t shared = power_of_two_in(lines_apart(stride));
    return lines * (shared < sets ? shared : sets) <= sets * (CACHE_WAYS / 2);
}

// More pages than the first level of a TLB holds?
static bool touches_many_pages(int64_t steps, int64_t bytes)
{
    return steps * min_int64(bytes, PAGE_BYTES) > TLB_PAGES * PAGE_BYTES;
}

// `across`: elements of a step that a tile reads. What does not stay in the first cache when it is
// packed loses nothing there.
static double inplace_cost(int64_t k, int64_t stride, int64_t across)
{
    const int64_t bytes = stride * (int64_t)sizeof(real);
    const int64_t steps = min_int64(k, BLOCK_DEPTH);
    const int64_t lines = bytes < CACHE_LINE ? steps * bytes / CACHE_LINE : steps;
    if (!stay_cached(lines, stride, L2_SETS) || touches_many_pages(steps, bytes))
        return L3_COST;
    const int64_t packed = steps * across * (int64_t)sizeof(real);
    const bool near = packed <= L1_SETS * CACHE_WAYS / 2 * CACHE_LINE;
    return near && !stay_cached(lines, stride, L1_SETS) ? L2_COST : 0;
}

// An operand whose steps are read by so many tiles.
static bool worth_packing(int64_t tiles, int64_t k, int64_t stride, int64_t across)
{
    return (double)tiles * L3_COST > PACK_COST && k >= MIN_K &&
           (double)tiles * inplace_cost(k, stride, across) > PACK_COST;
}

// A transposed a is read again for every column of tiles. Else its rows lie along k, and are read
// nearly as well in place until every one needs a page of its own.
static bool worth_packing_a(const product *p)
{
    if (p->a_col == 1)
        return p->n >= 1024 && p->m >= 256 && p->k >= 64;
    return worth_packing(parts_of(p->n, p->tile_cols), p->k, p->a_col, TILE_ROWS);
}

static bool worth_packing_b(const product *p)
{
    return p->b_col != 1 || worth_packing(parts_of(p->m, TILE_ROWS), p->k, p->b_row, p->tile_cols);
}

static product tiles_product(const GEMM_ARGS *g)
{
    return (product){.m = g->m,
                     .n = g->n,
                     .k = g->k,
                     .a = g->a,
                     .a_row = g->a_row,
                     .a_col = g->a_col,
                     .b = g->b,
                     .b_row = g->b_row,
                     .b_col = g->b_col,
                     .c = g->c,
                     .c_row = g->c_row,
                     .bias = g->bias,
                     .relu = g->relu,
                     .add = g->accumulate,
                     .tile_cols = (g->m == 1   ? TILE_VECS_ROWS1
                                   : g->m == 2 ? TILE_VECS_ROWS2
                                               : TILE_VECS) *
                                  VEC_WIDTH};
}

static product transposed_product(const GEMM_ARGS *g)
{
    return (product){.m = g->n,
                     .n = g->m,
                     .k = g->k,
                     .a = g->b,
                     .a_row = g->b_col,
                     .a_col = g->b_row,
                     .b = g->a,
                     .b_row = g->a_col,
                     .b_col = g->a_row,
                     .c = g->c,
                     .c_row = g->c_row,
                     .bias = g->bias,
                     .relu = g->relu,
                     .add = g->accumulate,
                     .tile_cols = TILE_COLS,
                     .transposed = true};
}

static dot_block dots_product(const GEMM_ARGS *g)
{
    return (dot_block){.rows = g->m,
                       .cols = g->n,
                       .k = g->k,
                       .a = g->a,
                       .a_row = g->a_row,
                       .b = g->b,
                       .b_col = g->b_col,
                       .c = g->c,
                       .c_row = g->c_row,
                       .bias = g->bias,
                       .relu = g->relu,
                       .add = g->accumulate};
}

static int64_t whole_lines(int64_t count)
{
    return parts_of(count, 64) * 64;
}

static void plan_scratch(gemm_plan *plan)
{
    if (plan->way == WAY_DOTS)
        return;
    const product p =
        plan->way == WAY_TILES ? tiles_product(&plan->args) : transposed_product(&plan->args);
    const int64_t depth = min_int64(p.k, BLOCK_DEPTH);
    plan->pack_a = worth_packing_a(&p);
    plan->pack_b = worth_packing_b(&p);
    if (plan->pack_a)
        plan->a_scratch = whole_lines((min_int64(p.m, BLOCK_ROWS) + TILE_ROWS) * depth);
    if (plan->pack_b)
        plan->b_scratch = whole_lines(p.tile_cols * depth);
}

// A batch of small products is cut into groups; larger products are cut themselves.
#define GROUP_WORK (1 << 22)

// Half of what a core reads the other one has written, and a cache line takes some 10 ns from one
// to the other. Matrices of so few elements, which elementwise operations leave to one thread, are
// shared only where each element takes part in enough multiply-adds.
#define FEW_ELEMENTS 32768
#define MIN_REUSE    35

static bool worth_sharing(const GEMM_ARGS *g)
{
    const double m = (double)g->m, n = (double)g->n, k = (double)g->k;
    const bool few = m * k <= FEW_ELEMENTS && k * n <= FEW_ELEMENTS && m * n <= FEW_ELEMENTS;
    return !few || m * n * k > MIN_REUSE * (m * k + k * n + m * n);
}

static int64_t workers_for(const GEMM_ARGS *g)
{
    const int64_t worthwhile = chunk_count(g->m, (double)g->n, g->k);
    if (worthwhile == 1 || !worth_sharing(g))
        return 1;
    return min_int64(g->threads > 0 ? g->threads : tern_num_threads(), worthwhile);
}

static void make_plan(gemm_plan *plan, const GEMM_ARGS *args)
{
    static const real nothing;
    plan->args = *args;
    plan->pack_a = plan->pack_b = false;
    plan->a_scratch = plan->b_scratch = 0;
    plan->batch = args->batch > 1 ? args->batch : 1;
    plan->groups = 1;
    GEMM_ARGS *g = &plan->args;
    if (g->k == 0) {
        g->a = g->b = &nothing;
        g->a_row = g->b_row = g->a_batch = g->b_batch = 0;
        g->a_col = g->b_col = 1;
    }
    canonicalize_strides(g->m, g->k, &g->a_row, &g->a_col);
    canonicalize_strides(g->k, g->n, &g->b_row, &g->b_col);
    plan->way = choose_way(g);
    if (plan->batch > 1 && (double)g->m * (double)g->n * (double)g->k <= GROUP_WORK)
        plan->groups =
            min_int64(plan->batch, chunk_count(g->m, (double)g->n * (double)plan->batch, g->k));
    plan->workers = plan->groups > 1 ? 1 : workers_for(g);
    plan_scratch(plan);
}

static int64_t scratch_of_one(const gemm_plan *plan)
{
    return plan->a_scratch + plan->workers * plan->b_scratch;
}

static void run_one(const gemm_plan *plan, int64_t item, real *scratch)
{
    GEMM_ARGS args = plan->args;
    args.a += item * args.a_batch;
    args.b += item * args.b_batch;
    args.c += item * args.c_batch;
    if (plan->way == WAY_DOTS) {
        const dot_block dots = dots_product(&args);
        dot_product(&dots, plan->groups > 1);
        return;
    }
    product p = plan->way == WAY_TILES ? tiles_product(&args) : transposed_product(&args);
    p.packed_b = plan->pack_b ? scratch : NULL;
    p.packed_a = plan->pack_a ? scratch + plan->workers * plan->b_scratch : NULL;
    p.packed_stride = plan->b_scratch;
    p.workers = plan->workers;
    run_product(&p);
}

static void run_group(void *context, int64_t index)
{
    const gemm_plan *plan = context;
    real *scratch = plan->scratch + index * scratch_of_one(plan);
    const int64_t end = part_begin(plan->batch, plan->groups, index + 1);
    for (int64_t i = part_begin(plan->batch, plan->groups, index); i < end; i++)
        run_one(plan, i, scratch);
}

static void run_plan(gemm_plan *plan)
{
    if (plan->groups > 1) {
        tern_pool_run(plan->groups, run_group, plan);
        return;
    }
    for (int64_t i = 0; i < plan->batch; i++)
        run_one(plan, i, plan->scratch);
}

#define STACK_SCRATCH (8192 / sizeof(real))

int64_t GEMM_SCRATCH(const GEMM_ARGS *args)
{
    gemm_plan plan;
    make_plan(&plan, args);
    return plan.groups * scratch_of_one(&plan);
}

tern_status GEMM_NAME(const GEMM_ARGS *args)
{
    if (args->m == 0 || args->n == 0)
        return TERN_OK;
    gemm_plan plan;
    make_plan(&plan, args);
    const size_t needed = (size_t)(plan.groups * scratch_of_one(&plan));
    if (args->scratch) {
        plan.scratch = args->scratch;
        run_plan(&plan);
        return TERN_OK;
    }
    if (needed <= STACK_SCRATCH) {
        _Alignas(64) real local[STACK_SCRATCH];
        plan.scratch = local;
        run_plan(&plan);
        return TERN_OK;
    }
    plan.scratch = tern_cache_alloc(needed * sizeof(real));
    if (!plan.scratch)
        return TERN_ERR_NOMEM;
    run_plan(&plan);
    tern_cache_free(plan.scratch, needed * sizeof(real));
    return TERN_OK;
}
