// SPDX-License-Identifier: Apache-2.0
// Gradients of the weight over batches: outer products of what one tap joins, input channels by
// output channels, are added up over positions and images. Every element of the gradient is added
// up by one thread, chunk of images after chunk.
#ifndef TERN_SRC_CPU_CONV_CONV_WEIGHT_BATCH_H
#define TERN_SRC_CPU_CONV_CONV_WEIGHT_BATCH_H

#include "base/thread_pool.h"
#include "cpu/conv/conv_batch.h"
#include "cpu/conv/conv_range.h"
#include "cpu/conv/outer_product.h"

typedef struct weight_batch {
    int64_t batch, channels, filters;
    int64_t x_size[2], y_size[2], x_space, y_space;
    const real *x, *y;
    real *weight; /* (filters, channels, kernel) */
    int64_t kernel[2], taps;
    bool accumulate;

    int64_t chunk;            // images that are packed at a time
    int64_t image, images;    // those that are packed now: first and count
    int64_t pitch;            // of the channels of a tile
    int64_t row_block;        // rows of y that are added up at a time
    int64_t block;            // steps that are
    int32_t *source_index[2]; /* (y_size, kernel): positions in x, or -1 */
    real *sums;               /* (channels, taps, panels of filters, OUTER_LANES) */
    real *packed_x;           /* (tiles of channels, x_space, images, pitch) */
    real *packed_y;           /* (panels of filters, y_space, images, OUTER_LANES) */
} weight_batch;

#define WEIGHT_CHUNK     (1 << 19) // packed elements
#define WEIGHT_MIN_CHUNK 16        // images
#define WEIGHT_ROW_BLOCK 512       // steps of a tap, whose operands stay in the second cache
#define WEIGHT_RUNS      64

// Steps that are added up before the sum goes to those of others: of n terms about n^(2/3), which
// balances the errors within and between. Vectors of 16 bytes have few lanes to spread a sum over
// and mostly no fused product: in one chain its error is several times PyTorch's.
static int64_t weight_block(int64_t terms)
{
#if VEC_BYTES == 16
    int64_t block = 64;
    while (8.0 * (double)block * (double)block * (double)block <= (double)terms * (double)terms)
        block *= 2;
    return block;
#else
    (void)terms;
    return INT64_MAX;
#endif
}

static int64_t weight_sum_row(const weight_batch *g)
{
    return outer_panels(g->filters) * OUTER_LANES;
}

// ---- packing ------------------------------------------------------------------------------------

// Panels of filters first, then tiles of channels; of one image each.
static void weight_pack(void *context, int64_t index)
{
    const weight_batch *g = context;
    const int64_t n = index % g->images, panels = outer_panels(g->filters);
    int64_t tile = index / g->images;
    if (tile < panels) {
        const int64_t filter = tile * OUTER_LANES;
        outer_pack(g->packed_y + (tile * g->y_space * g->images + n) * OUTER_LANES,
                   g->images * OUTER_LANES, OUTER_LANES,
                   g->y + ((g->image + n) * g->filters + filter) * g->y_space, g->y_space,
                   min_int64(g->filters - filter, OUTER_LANES), g->y_space);
        return;
    }
    tile -= panels;
    const int64_t channel = outer_row(g->channels, tile);
    outer_pack(g->packed_x + (tile * g->x_space * g->images + n) * g->pitch, g->images * g->pitch,
               g->pitch, g->x + ((g->image + n) * g->channels + channel) * g->x_space, g->x_space,
               outer_row(g->channels, tile + 1) - channel, g->x_space);
}

// ---- sums ---------------------------------------------------------------------------------------

typedef struct weight_tile {
    outer_kernel *kernel;
    outer_tile tile;
    outer_run run[WEIGHT_RUNS];
    int64_t steps; // of all runs
} weight_tile;

static void weight_flush(weight_tile *t)
{
    if (t->tile.runs > 0)
        t->kernel(&t->tile);
    t->tile.runs = 0;
    t->steps = 0;
}

// Some steps of one place.
static void weight_add_run(const weight_batch *g, weight_tile *t, int64_t a, int64_t b,
                           int64_t steps)
{
    outer_run *last = t->run + t->tile.runs - 1;
    if (t->tile.runs > 0 && a == last->a + last->steps * g->pitch &&
        b == last->b + last->steps * OUTER_LANES) {
        last->steps += steps;
    } else {
        if (t->tile.runs == WEIGHT_RUNS)
            weight_flush(t);
        t->run[t->tile.runs++] = (outer_run){a, b, steps};
    }
    t->steps += steps;
}

// The positions of one row of y and what the tap joins them with.
static void weight_row(const weight_batch *g, weight_tile *t, int64_t y_row, int64_t x_row,
                       int64_t tap)
{
    const int32_t *col = g->source_index[1] + tap;
    for (int64_t i = 0; i < g->y_size[1]; i++, col += g->kernel[1]) {
        if (*col < 0)
            continue;
        int64_t a = (x_row * g->x_size[1] + *col) * g->images * g->pitch;
        int64_t b = (y_row * g->y_size[1] + i) * g->images * OUTER_LANES;
        for (int64_t left = g->images, some; left > 0; left -= some) {
            some = min_int64(left, g->block - t->steps);
            weight_add_run(g, t, a, b, some);
            a += some * g->pitch;
            b += some * OUTER_LANES;
            if (t->steps == g->block)
                weight_flush(t);
        }
    }
}

// An item is a tile of channels, a panel of filters and a row of the kernel.
static void weight_item(void *context, int64_t index)
{
    const weight_batch *g = context;
    const int64_t high = index % g->kernel[0], panels = outer_panels(g->filters);
    const int64_t panel = index / g->kernel[0] % panels, tile = index / g->kernel[0] / panels;
    const int64_t channel = outer_row(g->channels, tile);
    const int64_t filters = min_int64(g->filters - panel * OUTER_LANES, OUTER_LANES);
    const int64_t rows = outer_row(g->channels, tile + 1) - channel;
    weight_tile t = {.kernel = outer_kernel_for(rows, filters)};
    t.tile = (outer_tile){.a = g->packed_x + tile * g->x_space * g->images * g->pitch,
                          .b = g->packed_y + panel * g->y_space * g->images * OUTER_LANES,
                          .run = t.run,
                          .pitch = g->pitch,
                          .sum_row = g->taps * weight_sum_row(g),
                          .add = true};
    for (int64_t first = 0; first < g->y_size[0]; first += g->row_block) {
        const int64_t end = min_int64(first + g->row_block, g->y_size[0]);
        for (int64_t j = 0; j < g->kernel[1]; j++) {
            const int64_t tap = high * g->kernel[1] + j;
            t.tile.sum =
                g->sums + (channel * g->taps + tap) * weight_sum_row(g) + panel * OUTER_LANES;
            for (int64_t row = first; row < end; row++) {
                const int64_t x_row = g->source_index[0][row * g->kernel[0] + high];
                if (x_row >= 0)
                    weight_row(g, &t, row, x_row, j);
            }
            weight_flush(&t);
        }
    }
}

// ---- all of it ----------------------------------------------------------------------------------

static void weight_zero(void *context, int64_t channel)
{
    const weight_batch *g = context;
    const int64_t count = g->taps * weight_sum_row(g);
    memset(g->sums + channel * count, 0, (size_t)count * sizeof(real));
}

// The sums of a few filters to their positions.
static void weight_write(void *context, int64_t index)
{
    const weight_batch *g = context;
    const int64_t filter = index * VEC_WIDTH, row = g->channels * g->taps;
    outer_unpack(
        &(outer_result){.to = g->weight + filter * row, .to_row = row, .add = g->accumulate},
        g->sums + filter, weight_sum_row(g), min_int64(g->filters - filter, VEC_WIDTH), row);
}

static void weight_plan(weight_batch *g)
{
    g->pitch = outer_pitch(g->channels);
    g->block = weight_block(g->batch * g->y_space);
    const int64_t x = outer_tiles(g->channels) * g->x_space * g->pitch;
    const int64_t y = weight_sum_row(g) * g->y_space;
    const int64_t limit = WEIGHT_CHUNK / (x + y);
    g->chunk = min_int64(g->batch, limit > WEIGHT_MIN_CHUNK ? limit : WEIGHT_MIN_CHUNK);
    const int64_t chunks = (g->batch + g->chunk - 1) / g->chunk;
    g->chunk = (g->batch + chunks - 1) / chunks;
    const int64_t row = g->chunk * g->y_size[1];
    g->row_block = row < WEIGHT_ROW_BLOCK ? WEIGHT_ROW_BLOCK / row : 1;
}

static void weight_add_chunks(weight_batch *g)
{
    const int64_t tiles = outer_tiles(g->channels), panels = outer_panels(g->filters);
    tern_pool_run(g->channels, weight_zero, g);
    for (g->image = 0; g->image < g->batch; g->image += g->chunk) {
        g->images = min_int64(g->chunk, g->batch - g->image);
        tern_pool_run((panels + tiles) * g->images, weight_pack, g);
        tern_pool_run(tiles * panels * g->kernel[0], weight_item, g);
    }
    tern_pool_run((g->filters + VEC_WIDTH - 1) / VEC_WIDTH, weight_write, g);
}

static tern_status weight_batch_run(weight_batch *g, const conv_range *source_index)
{
    weight_plan(g);
    const int64_t sums = g->channels * g->taps * weight_sum_row(g);
    const int64_t x = outer_tiles(g->channels) * g->x_space * g->chunk * g->pitch;
    const int64_t y = weight_sum_row(g) * g->y_space * g->chunk;
    const int64_t positions = g->y_size[0] * g->kernel[0] + g->y_size[1] * g->kernel[1];
    const size_t in_range = (size_t)((positions + 15) / 16 * 16) * sizeof(int32_t);
    const size_t nbytes = in_range + (size_t)(sums + x + y) * sizeof(real);
    char *memory = tern_cache_alloc(nbytes);
    if (!memory)
        return TERN_ERR_NOMEM;
    g->source_index[0] = (int32_t *)(void *)memory;
    g->source_index[1] = g->source_index[0] + g->y_size[0] * g->kernel[0];
    g->sums = (real *)(void *)(memory + in_range);
    g->packed_x = g->sums + sums;
    g->packed_y = g->packed_x + x;
    for (int d = 0; d < 2; d++)
        conv_range_inputs(&source_index[d], g->source_index[d]);
    weight_add_chunks(g);
    tern_cache_free(memory, nbytes);
    return TERN_OK;
}

// The channels are the rows of the tiles: vectors of two elements are filled by fewer than a kernel
// has.
static bool weight_batch_suits(const tern_conv_args *args)
{
    return args->x.size[1] >= OUTER_MIN_ROWS && batch_suits(args, &args->y, &args->x);
}

static tern_status batch_grad_weight(const tern_conv_args *args)
{
    const int64_t *x = args->x.size, *y = args->y.size, *kernel = args->weight.size + 3;
    conv_range source_index[2];
    for (int d = 0; d < 2; d++)
        source_index[d] = conv_range_along(args, d);
    weight_batch g = {.batch = x[0],
                      .channels = x[1],
                      .filters = y[1],
                      .x_size = {x[3], x[4]},
                      .y_size = {y[3], y[4]},
                      .x_space = x[3] * x[4],
                      .y_space = y[3] * y[4],
                      .x = args->x.data,
                      .y = args->y.data,
                      .weight = args->weight.data,
                      .kernel = {kernel[0], kernel[1]},
                      .taps = kernel[0] * kernel[1],
                      .accumulate = args->accumulate};
    return weight_batch_run(&g, source_index);
}

#endif
